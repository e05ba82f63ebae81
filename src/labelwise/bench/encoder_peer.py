"""A pretrained encoder with label-wise attention as one writes it with ``transformers``.

The encoder is theirs, with their own attention, over rows padded to the longest of the batch; the
attention of labels is plain PyTorch, with its weights held whole. The numbers are those of our
network: dropout acts at the same places, and the label side is the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from labelwise.errors import LabelwiseError
from labelwise.layers.encoder_files import EncoderShape
from labelwise.training.batches import Batch


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
