"""Explainers: ways to say which words the score of a network hangs on, behind one signature.

attention    where the network looked
gradient     gradient × input: what the vector of each word adds to the logit, to first order
attingrad    AttInGrad (Edin et al. 2024): attention times the size of gradient × input
integrated   integrated gradients (Sundararajan et al. 2017): gradients all the way from no words,
             which are vectors of zeros, to the document; they add up to what the words change
occlusion    what the logit loses when the vector of a word is put to zero

Each takes what is ``Asked`` and gives a weight for each word read and each label. Of a network it
needs the logits of these labels, its attention, and the vectors that its part ``words`` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from labelwise.kernels.eight_bits import eight_bits
from labelwise.methods.base import EvidenceKind
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.device import autocast, memory_errors
from labelwise.training.recipe import Precision

if TYPE_CHECKING:
    from labelwise.methods.base_network import BaseNetwork

ExplainerName = Literal["attention", "gradient", "attingrad", "integrated", "occlusion"]

STEPS = 32
"""Places on the way from no words to the document, chosen as Gauss and Legendre did. A recurrence
may tip over on the way, and no number of steps follows a jump: with 16, 32 and 64 of them the sum
of the weights is off by 31, 24 and 20 % (median) in a BIGRU-LWAN trained on laws of 200 words."""

WINDOWS = 128
"""Occlusions of a document at most: a longer one is occluded by windows of several words."""

COPIES = 16
"""Copies of a document that are read at once: their number bounds the memory."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One document before a network, and the labels that it is asked about."""

    network: BaseNetwork
    document: Gatherer  # of this one document
    columns: Tensor  # (n,) the labels
    precision: Precision

    def batch(self, copies: int = 1) -> Batch:
        """The document so many times; the rows of each copy are in the same order."""
        return self.document([0] * copies)


def attention(asked: Asked) -> Tensor:
    batch = asked.batch()
    with _reading(asked, batch):
        weights: Tensor = asked.network.attend(batch, asked.columns)
    return weights  # (S, T, n)


def gradient(asked: Asked) -> Tensor:
    products: Tensor = _products(asked).sum(3)  # (n, S, T)
    return torch.movedim(products, 0, 2)


def attingrad(asked: Asked) -> Tensor:
    sizes = torch.linalg.vector_norm(_products(asked), dim=3)  # (n, S, T)
    return attention(asked) * torch.movedim(sizes, 0, 2)


def integrated(asked: Asked) -> Tensor:
    nodes, weights = np.polynomial.legendre.leggauss(STEPS)
    columns = asked.columns.repeat_interleave(STEPS)
    scales = torch.tensor((nodes + 1) / 2, device=columns.device).repeat(len(asked.columns))
    found = [
        # The gradient at a vector scaled by s, times that vector, is s times what is wanted.
        _at(asked, columns[part], scales[part]).sum(3) / scales[part].view(-1, 1, 1)
        for part in _parts(len(columns))
    ]
    products = torch.stack(torch.cat(found).chunk(len(asked.columns)))  # (n, steps, S, T)
    along = torch.tensor(weights / 2, device=columns.device, dtype=products.dtype)
    return torch.einsum("nkst,k->stn", products, along)


def occlusion(asked: Asked) -> Tensor:
    whole = asked.batch()
    device = whole.tokens.device
    windows, sizes = _windows(whole)  # (S, T), (W,)
    without = []
    for among in _parts(len(sizes)):
        part = torch.arange(len(sizes), device=device)[among]
        batch = asked.batch(len(part))
        kept = windows[None] != part[:, None, None]  # (copies, S, T)
        mask = torch.empty(batch.tokens.shape, dtype=torch.bool, device=device)
        for copy, of_copy in enumerate(kept):
            mask[batch.owner == copy] = of_copy
        without.append(_logits(asked, batch, mask))
    lost = _logits(asked, whole) - torch.cat(without)  # (W, n)
    shared = lost / sizes[:, None]  # the words of a window share what it lost
    return shared[windows.clamp(min=0)] * (windows >= 0)[:, :, None]


EXPLAINERS: Mapping[ExplainerName, tuple[EvidenceKind, Callable[[Asked], Tensor]]] = {
    "attention": ("attention", attention),
    "gradient": ("contribution", gradient),
    "attingrad": ("attribution", attingrad),
    "integrated": ("contribution", integrated),
    "occlusion": ("contribution", occlusion),
}


def _products(asked: Asked) -> Tensor:
    """Gradient × input of the logit of each label, number by number: (n, S, T, E)."""
    scales = torch.ones(len(asked.columns))
    parts = _parts(len(scales))
    return torch.cat([_at(asked, asked.columns[part], scales[part]) for part in parts])


def _at(asked: Asked, columns: Tensor, scales: Tensor) -> Tensor:
    """Gradient × input at word vectors that are scaled first, a label and a scale a copy.

    (copies, S, T, E): the rows of a copy are those of the document read alone.
    """
    batch = asked.batch(len(columns))
    device = batch.tokens.device
    scale = scales.to(device)[batch.owner][:, None, None]
    read: list[Tensor] = []  # the word vectors, from where the gradients end

    def keep(vectors: Tensor) -> Tensor:
        read.append((vectors.detach() * scale.to(vectors.dtype)).requires_grad_())
        return read[0]

    # cuDNN gives no gradients of a recurrence outside of training.
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False), memory_errors(batch):
        with _words_replaced(asked.network, keep):
            logits = asked.network.logits(batch, columns)  # (copies, copies)
        chosen = logits.diagonal()
        (x,) = read
        product = torch.autograd.grad(chosen.sum(), x)[0] * x
    return torch.stack([product[batch.owner == copy] for copy in range(len(batch))]).detach()


def _logits(asked: Asked, batch: Batch, kept: Tensor | None = None) -> Tensor:
    """The logits of the labels, (copies, n), where only the words kept (rows, T) have a vector."""

    def mask(vectors: Tensor) -> Tensor:
        return vectors if kept is None else vectors * kept[:, :, None]

    with _reading(asked, batch), _words_replaced(asked.network, mask):
        logits = asked.network.logits(batch, asked.columns)
    return logits.double()


def _parts(count: int) -> list[slice]:
    """So many copies, a few at a time."""
    return [slice(start, start + COPIES) for start in range(0, count, COPIES)]


@contextmanager
def _reading(asked: Asked, batch: Batch) -> Iterator[None]:
    """As scores are made, without gradients."""
    device = batch.tokens.device
    with (
        torch.inference_mode(),
        autocast(device, asked.precision),
        eight_bits(asked.precision == "auto"),
        memory_errors(batch),
    ):
        yield


@contextmanager
def _words_replaced(network: BaseNetwork, replace: Callable[[Tensor], Tensor]) -> Iterator[None]:
    def hook(module: nn.Module, inputs: Any, vectors: Tensor) -> Tensor:
        return replace(vectors)

    handle = network.words.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _windows(batch: Batch) -> tuple[Tensor, Tensor]:
    """The window that each word of the one document belongs to, (S, T), -1 at padding; and the
    number of words of each window."""
    longest = batch.tokens.shape[1]
    windows = torch.full((len(batch.tokens), longest), -1, dtype=torch.int64)
    words = int(batch.cpu_lengths.sum())
    size = -(-words // WINDOWS)
    done = 0
    for row in torch.argsort(batch.position.cpu()).tolist():
        length = int(batch.cpu_lengths[row])
        windows[row, :length] = torch.arange(done, done + length) // size
        done += length
    sizes = torch.bincount(windows[windows >= 0])
    return windows.to(batch.tokens.device), sizes.to(batch.tokens.device)
