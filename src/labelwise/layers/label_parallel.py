"""Label-wise attention whose labels are dealt over several processes: for more than one can hold.

Each process encodes documents of its own and has the queries, outputs and biases of its own labels.
The encoded tokens of all are gathered, and each scores all documents for its labels. Backwards, the
gradient of a token is the sum over all labels and goes to whoever encoded it. The loss of all
labels is the sum of what the processes find, and so is the gradient of an encoder that all share.
"""

from __future__ import annotations

import torch
from torch import Tensor, distributed, nn
from torch.nn.functional import pad

from labelwise.kernels.label_attention import label_attention
from labelwise.layers.labels import LabelWise


def own_labels(labels: int, rank: int, size: int) -> slice:
    """The labels of one of several processes: neighbours, and as many as the others have, or one
    more.

    >>> [own_labels(10, rank, 3) for rank in range(3)]
    [slice(0, 3, None), slice(3, 6, None), slice(6, 10, None)]
    """
    return slice(labels * rank // size, labels * (rank + 1) // size)


class LabelParallel(nn.Module):
    """The labels of this process, and their logits of the documents of all."""

    def __init__(self, width: int, prior: Tensor) -> None:  # prior (own labels,)
        super().__init__()
        self.labels = LabelWise(width, prior)

    def forward(self, h: Tensor, lengths: Tensor) -> Tensor:
        """h (D, T, H) with lengths (D,), of the documents of this process, to the logits (all
        documents, own labels). The documents are in the order of the processes."""
        h, lengths = gathered(h, lengths)
        return label_attention(h, lengths, *self.labels())


def gathered(h: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """What all processes have encoded: (all documents, longest, H), and the lengths beside it."""
    size = distributed.get_world_size()
    shapes = [torch.zeros(2, dtype=torch.int64, device=h.device) for _ in range(size)]
    distributed.all_gather(shapes, torch.tensor(h.shape[:2], device=h.device))
    counts = [int(shape[0]) for shape in shapes]
    most, longest = (int(torch.stack(shapes)[:, at].max()) for at in (0, 1))
    filled = pad(h, (0, 0, 0, longest - h.shape[1], 0, most - len(h)))
    every: Tensor = _Gathered.apply(filled)  # type: ignore[no-untyped-call]
    known = [torch.zeros(most, dtype=torch.int64, device=h.device) for _ in range(size)]
    distributed.all_gather(known, pad(lengths.to(h.device), (0, most - len(h))))
    real = torch.cat([torch.arange(most) < count for count in counts]).to(h.device)
    return every[real], torch.cat(known)[real]


class _Gathered(torch.autograd.Function):
    """The tensors of all processes, one after another; each gets its own gradient back, summed."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        parts = [torch.empty_like(x) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, x.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> Tensor:
        grad = grad.contiguous()
        distributed.all_reduce(grad)
        return grad.chunk(distributed.get_world_size())[distributed.get_rank()]
