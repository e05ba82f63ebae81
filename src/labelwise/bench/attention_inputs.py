"""What the label-wise attention is measured on: random tensors of given sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor, nn

LONGEST = 2000
MEDIAN, SHAPE = 513.0, 0.853
"""The lengths of EURLEX57K's training documents are close to log-normal: median 513 words, nine in
ten below 1,531; training reads the first 2,000 tokens."""


@dataclass(frozen=True)
class Sizes:
    """How large the operands are; ``tokens`` counts the padding too."""

    documents: int
    tokens: int
    width: int
    labels: int

    def __str__(self) -> str:
        return " × ".join(self._words().values())

    def but(self, over: str) -> str:
        """All sizes but the one that a curve goes over.

        >>> Sizes(1, 128, 300, 4271).but("labels")
        '1 document × 128 tokens × 300 wide'
        """
        return " × ".join(word for size, word in self._words().items() if size != over)

    def _words(self) -> dict[str, str]:
        return {
            "documents": f"{self.documents:,} document{'s' * (self.documents != 1)}",
            "tokens": f"{self.tokens:,} tokens",
            "width": f"{self.width:,} wide",
            "labels": f"{self.labels:,} labels",
        }


@dataclass(frozen=True)
class Inputs:
    """The operands of label_attention; the lengths twice, where each version wants them."""

    h: Tensor  # (documents, tokens, width)
    queries: nn.Parameter  # (labels, width)
    outputs: nn.Parameter  # (labels, width)
    bias: nn.Parameter  # (labels,)
    lengths: Tensor  # (documents,), on the CPU
    device_lengths: Tensor  # the same beside h
    grad: Tensor  # (documents, labels): the gradient that the backward pass starts from

    @property
    def learned(self) -> list[Tensor]:
        return [self.h, self.queries, self.outputs, self.bias]

    def to(self, dtype: torch.dtype) -> Inputs:
        """The same numbers in another precision."""
        h, queries, outputs, bias = (x.detach().to(dtype) for x in self.learned)
        return _inputs(h, queries, outputs, bias, self.lengths, self.grad)


def make_inputs(
    sizes: Sizes,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    lengths: list[int] | None = None,
) -> Inputs:
    """Random operands, the same each time; every document is full unless lengths are given.

    Scores have a deviation of 2: some tokens outweigh the others, as in a trained network.
    """
    source = torch.Generator(device).manual_seed(0)

    def normal(*shape: int, deviation: float) -> Tensor:
        x = torch.randn(*shape, generator=source, device=device, dtype=dtype)
        return x.mul_(deviation)

    return _inputs(
        normal(sizes.documents, sizes.tokens, sizes.width, deviation=0.5),
        normal(sizes.labels, sizes.width, deviation=4 / math.sqrt(sizes.width)),
        normal(sizes.labels, sizes.width, deviation=1 / math.sqrt(sizes.width)),
        normal(sizes.labels, deviation=0.1),
        torch.tensor(lengths or [sizes.tokens] * sizes.documents),
        normal(sizes.documents, sizes.labels, deviation=1.0),
    )


def _inputs(  # noqa: PLR0917
    h: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor, lengths: Tensor, grad: Tensor
) -> Inputs:
    q, o, b = (nn.Parameter(x) for x in (queries, outputs, bias))
    return Inputs(h.requires_grad_(), q, o, b, lengths, lengths.to(h.device), grad)


def ragged_lengths(documents: int, longest: int = LONGEST) -> list[int]:
    """The lengths of a batch like one of EURLEX57K: its quantiles, the longest cut.

    >>> ragged_lengths(5)
    [172, 328, 513, 802, 1531]
    """
    quantile = NormalDist(math.log(MEDIAN), SHAPE).inv_cdf
    return [
        max(1, min(longest, round(math.exp(quantile((at + 0.5) / documents)))))
        for at in range(documents)
    ]


def useful_flops(lengths: list[int], width: int, labels: int) -> int:
    """Two products forward and four backward; what is computed again is not useful.

    >>> useful_flops([729] * 64, 600, 4271) / 1e12
    1.4347279872
    """
    return 6 * 2 * sum(lengths) * width * labels
