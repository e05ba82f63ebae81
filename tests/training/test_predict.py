"""Scoring on a CPU: a batch a core, in 8 bits where that is quicker, the same scores whatever."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from labelwise.kernels import eight_bits
from labelwise.kernels.label_attention import label_attention
from labelwise.layers import BiGRU, LabelWise
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.numbered import Numbered
from labelwise.training.predict import CPU_BATCH, predict, predict_batches
from labelwise.training.recipe import Recipe

LABELS = 300


class Reader(nn.Module):
    """A BIGRU-LWAN large enough for products in 8 bits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(50, 20)
        self.encoder = BiGRU(20, 150)
        self.labels = LabelWise(300, torch.zeros(LABELS))

    def forward(self, batch: Batch) -> Tensor:
        h = self.encoder(self.words(batch.tokens), batch.cpu_lengths)
        return label_attention(h, batch.lengths, *self.labels())


def documents(count: int = 40, seed: int = 0) -> Numbered:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 90, count)
    starts = np.cumsum(lengths) - lengths
    tokens = random.integers(1, 50, lengths.sum()).astype(np.int32)
    return Numbered(tokens, starts, lengths, np.arange(count + 1))


def part(of: Numbered, chosen: slice) -> Numbered:
    lengths = of.lengths[chosen]
    return Numbered(of.tokens, of.starts[chosen], lengths, np.arange(len(lengths) + 1))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("precision", ["auto", "float32"])
def test_a_document_scores_the_same_alone_and_among_others(precision: str, threads: int) -> None:
    torch.set_num_threads(threads)
    network, all_of_them, device = Reader(), documents(), torch.device("cpu")
    recipe = Recipe(device="cpu", precision=precision)  # type: ignore[arg-type]
    together = predict(network, Gatherer(all_of_them, device), recipe, LABELS)
    for chosen in (slice(0, 1), slice(7, 8), slice(30, 33)):
        alone = predict(network, Gatherer(part(all_of_them, chosen), device), recipe, LABELS)
        np.testing.assert_allclose(alone, together[chosen], rtol=0, atol=1e-6)


def test_auto_is_close_to_float32_and_not_the_same_where_bytes_are_quick() -> None:
    network, gather = Reader(), Gatherer(documents(), torch.device("cpu"))
    exact, rough = (
        predict(network, gather, Recipe(precision=precision), LABELS)  # type: ignore[arg-type]
        for precision in ("float32", "auto")
    )
    difference = abs(exact - rough)
    assert difference.max() < 0.01
    assert bool(difference.max() > 1e-6) is eight_bits.available()


def test_batches_stay_small_on_a_cpu_and_within_the_recipe() -> None:
    gather = Gatherer(documents(), torch.device("cpu"))
    for recipe, most in ((Recipe(), CPU_BATCH), (Recipe(batch=3), 3)):
        found = list(predict_batches(Reader(), gather, recipe))
        assert max(len(batch) for batch, _ in found) == most
        assert sorted(one for batch, _ in found for one in batch.documents) == list(range(40))
