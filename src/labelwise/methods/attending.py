"""Networks whose logit is a mean over the words, weighed by attention.

    logit_l = Σ_t a_lt judged_lt        with Σ_t a_lt = 1

What is judged of each word does not depend on the attention. So another attention can be put in the
place of the network's own, and the score follows from a product: no network need be read again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.methods.base import Method
from labelwise.methods.base_network import in_order
from labelwise.methods.network import Network, NetworkMethod
from labelwise.training.batches import Batch, Gatherer


class AttendingNetwork(Network):
    """A network that says apart what it looks at and what it thinks of it."""

    @abstractmethod
    def weighed(self, batch: Batch, columns: Tensor) -> tuple[Tensor, Tensor]:
        """The attention of each label, and what its logit would be if it attended to that word
        alone: (D, T, columns) each."""

    def attend(self, batch: Batch, columns: Tensor) -> Tensor:
        return self.weighed(batch, columns)[0]

    def logits(self, batch: Batch, columns: Tensor) -> Tensor:
        attention, judged = self.weighed(batch, columns)
        return (attention * judged).sum(1)


@dataclass(frozen=True, eq=False)
class Attended:
    """One document as a network reads it: a row a word read, a column a label."""

    attention: NDArray[np.float64]  # (words, labels), a column sums to one
    judged: NDArray[np.float64]  # (words, labels), logits

    @property
    def logits(self) -> NDArray[np.float64]:  # (labels,)
        return np.asarray((self.attention * self.judged).sum(axis=0))


def attended(method: NetworkMethod, document: Document, labels: Sequence[str]) -> Attended:
    """What the network looks at in a document for these labels, and what it thinks of it."""
    network = method.network
    assert isinstance(network, AttendingNetwork)
    device = method._device()
    network.to(device).eval()
    batch = Gatherer(method._number([document]), device)([0])
    columns = torch.tensor([method.label_space.index[label] for label in labels], device=device)
    with torch.inference_mode():
        weights, judged = (in_order(x, batch) for x in network.weighed(batch, columns))
    return Attended(weights / weights.sum(axis=0), judged)


def require_attending(method: Method) -> NetworkMethod:
    """The method as a network whose attention can be replaced, or an error that says why not."""
    if isinstance(method, NetworkMethod) and isinstance(method.network, AttendingNetwork):
        return method
    raise LabelwiseError(
        f"the attention of {method.name} cannot be replaced: this is for networks whose score is a "
        "mean over the words weighed by attention, such as bigru-att, bigru-lwan and cnn-lwan"
    )
