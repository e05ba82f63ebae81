"""Scores from a trained network, whatever the batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.training.batches import Batch, Gatherer, by_length, plan
from labelwise.training.device import autocast, memory_errors
from labelwise.training.recipe import Recipe


def predict_batches(
    network: nn.Module, gather: Gatherer, recipe: Recipe
) -> Iterator[tuple[Batch, Tensor]]:
    """Batches of documents of like length, the longest first, and their logits in float32."""
    network.eval()
    order = by_length(gather.documents).tolist()
    for chosen in plan(order, gather.documents, recipe.batch, recipe.batch_tokens):
        batch = gather(chosen)
        with (
            torch.inference_mode(),
            autocast(gather.device, recipe.precision),
            memory_errors(batch),
        ):
            yield batch, network(batch).float()


def predict(
    network: nn.Module, gather: Gatherer, recipe: Recipe, labels: int
) -> NDArray[np.float32]:
    """The probability of each label, documents × labels, in the documents' own order."""
    scores = np.empty((len(gather.documents), labels), dtype=np.float32)
    for batch, logits in predict_batches(network, gather, recipe):
        scores[batch.documents] = logits.sigmoid().cpu().numpy()
    return scores
