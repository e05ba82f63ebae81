"""A tiny network and tiny documents, so that the loop itself can be tried in every way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.layers import BiGRU, LabelUnits, SelfAttention
from labelwise.text.flat_tokens import FlatTokens
from labelwise.training.batches import Batch
from labelwise.training.loop import Progress, RunFolder, train
from labelwise.training.numbered import Numbered, Reading, number
from labelwise.training.recipe import Recipe

LABELS = 12


class TinyNetwork(nn.Module):
    """Word vectors, a BiGRU with dropout, attention, a unit a label."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(40, 8)
        self.encoder = BiGRU(8, 6, dropout=0.2)
        self.attention = SelfAttention(12)
        self.decoder = LabelUnits(12, torch.full((LABELS,), -2.0))

    def forward(self, batch: Batch) -> Tensor:
        h = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        logits: Tensor = self.decoder(self.attention(h, batch.lengths))
        return logits


def examples(documents: int, seed: int = 0) -> Numbered:
    """Word 2 + l speaks for label l, among words that say nothing."""
    random = np.random.default_rng(seed)
    texts, gold = [], np.zeros((documents, LABELS))
    for document in range(documents):
        labels = random.choice(LABELS, 2, replace=False)
        gold[document, labels] = 1
        noise = random.integers(2 + LABELS, 40, random.integers(1, 12))
        text = np.concatenate([np.repeat(labels + 2, 2), noise])
        texts.append(random.permutation(text))
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    tokens = np.concatenate(texts).astype(np.int32)
    rows = number(FlatTokens(tokens, starts, np.arange(documents + 1)), Reading(30))
    ids = [f"32001R{n:04d}" for n in range(documents)]
    return replace(rows, ids=ids, gold=sp.csr_matrix(gold))


def run(
    folder: Path | None = None,
    *,
    resume: bool = False,
    documents: int = 120,
    siblings: NDArray[np.int64] | None = None,
    **settings: Any,
) -> tuple[TinyNetwork, Progress]:
    network = TinyNetwork()
    recipe = Recipe(**{"device": "cpu", "epochs": 4, **settings})
    progress = train(
        network,
        examples(documents),
        examples(40, seed=1),
        recipe,
        name="tiny",
        run=RunFolder(folder, resume) if folder else None,
        identity={"learning_rate": recipe.learning_rate, "documents": documents},
        siblings=siblings,
    )
    return network, progress
