"""What the training of an encoder is measured on and beside: a prepared corpus, else random pieces,
and a pretrained encoder with label-wise attention as one writes it with ``transformers``.

That encoder is theirs, with their own attention, over rows padded to the longest of the batch; the
attention of labels is plain PyTorch, with its weights held whole. The numbers are those of our
network: dropout acts at the same places, and the label side is the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.errors import LabelwiseError
from labelwise.layers.encoder_files import EncoderShape
from labelwise.text.pieces import Pieces
from labelwise.training.batches import Batch
from labelwise.training.prepared import NumberedSplit, read_prepared

SHARES = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
PIECES = (60, 349, 426, 545, 719, 1214, 2110, 2775, 6000)
"""So many of EURLEX57K's training documents have at most so many of MiniLM's word pieces."""

GOLD = 5  # labels of a document


def split_of(
    folder: Path | None, documents: int, labels: int, rows: int
) -> tuple[NumberedSplit, Any]:
    """The training documents of a prepared corpus and what is told of them; without such a folder,
    random ones, and None."""
    if folder is None or not (folder / "data.json").is_file():
        return random_split(documents, labels, rows), None
    prepared, _ = read_prepared(folder)
    if not isinstance(prepared.vocabulary, Pieces):
        raise LabelwiseError(
            f"{folder} is prepared in words, and encoders read word pieces: prepare it with "
            "`labelwise prepare --encoder`"
        )
    record = json.loads((folder / "data.json").read_text("utf-8"))
    return prepared.train, record["data"]


def random_split(documents: int, labels: int, rows: int) -> NumberedSplit:
    """Documents as long as those of EURLEX57K, of random pieces and with random labels."""
    random = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(lengths(documents))]).astype(np.int64)
    tokens = random.integers(min(1_000, rows // 2), rows, starts[-1]).astype(np.int32)
    gold = random.integers(0, labels, (documents, GOLD))
    each = np.repeat(np.arange(documents), GOLD)
    matrix = sp.csr_matrix(
        (np.ones(documents * GOLD, np.int8), (each, gold.ravel())), shape=(documents, labels)
    )
    ids = [str(number) for number in range(documents)]
    return NumberedSplit(tokens, starts, np.arange(documents + 1), ids, matrix)


def lengths(documents: int) -> NDArray[np.int64]:
    """Word pieces of so many documents like those of EURLEX57K, the shortest first.

    >>> lengths(4).tolist()
    [445, 632, 966, 1960]
    """
    share = (np.arange(documents) + 0.5) / documents
    return np.interp(share, SHARES, PIECES).astype(np.int64)


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise LabelwiseError(
            "encoders are held against those of transformers, which is not installed: "
            "pip install transformers"
        ) from None
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return transformers


def transformers_version() -> dict[str, str]:
    return {"transformers": _transformers().__version__}


def transformers_model(shape: EncoderShape, *, dropout: float = 0.0) -> Any:
    """An encoder of this shape with random weights."""
    transformers = _transformers()
    bert = shape.kind == "bert"
    config_type = transformers.BertConfig if bert else transformers.MPNetConfig
    config = config_type(
        vocab_size=shape.rows,
        hidden_size=shape.width,
        num_attention_heads=shape.heads,
        num_hidden_layers=shape.layers,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions + (0 if bert else 2),
        layer_norm_eps=shape.epsilon,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,  # ours has none among tokens
        **({} if bert else {"relative_attention_num_buckets": shape.buckets}),
    )
    model_type = transformers.BertModel if bert else transformers.MPNetModel
    return model_type(config, add_pooling_layer=False)


class PlainEncoder(nn.Module):
    """The logits of a batch, as ours gives them, from the same word pieces."""

    def __init__(self, model: Any, labels: nn.Module, special: tuple[int, int]) -> None:
        super().__init__()
        self.model, self.labels, self.special = model, labels, special

    def forward(self, batch: Batch) -> Tensor:
        longest = batch.tokens.shape[1]
        at = torch.arange(longest + 2, device=batch.tokens.device)
        lengths = batch.lengths[:, None]  # (S, 1)
        first, last = self.special
        ids = nn.functional.pad(batch.tokens, (1, 1), value=last)  # (S, T + 2)
        ids = torch.where(at > lengths, last, ids)
        ids[:, 0] = first
        real = at < lengths + 2
        h = self.model(input_ids=ids, attention_mask=real.long()).last_hidden_state[:, 1:-1]

        # (S, T, H) to (D, K · T, H): the pieces of a document side by side, padding and all.
        documents, most = len(batch), int(batch.cpu_counts.max())
        tokens = h.new_zeros(documents, most, longest, h.shape[2])
        tokens[batch.owner, batch.position] = h
        there = torch.zeros(documents, most, longest, dtype=torch.bool, device=h.device)
        there[batch.owner, batch.position] = at[:longest] < lengths
        return plain_attention(tokens.flatten(1, 2), there.flatten(1), *self.labels())


def plain_attention(
    h: Tensor, there: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    """Tokens (D, M, H) and which are there (D, M) to the logits (D, L), every weight held."""
    scores = queries @ h.transpose(1, 2)  # (D, L, M)
    weights = scores.masked_fill(~there[:, None], float("-inf")).softmax(-1)
    read = weights.to(h.dtype) @ h  # (D, L, H)
    return (read * outputs).sum(-1) + bias
