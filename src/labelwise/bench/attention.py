"""Label-wise attention to be measured: random operands, the versions of others and ours, how far
the logits and gradients of each lie from those of float64, and how time and memory grow on a curve.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import torch
from torch import Tensor, nn

from labelwise.errors import InputError
from labelwise.kernels.blocked import blocked_logits
from labelwise.kernels.label_attention import label_attention

OURS, PLAIN = "labelwise", "plain PyTorch"
OUTPUTS_FIRST = "plain PyTorch, outputs first"

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


Version = Callable[[Inputs], Tensor]
"""The logits (documents, labels) of the operands, differentiable."""

MODULES = "nn/networks/modules.py"
"""Where LibMultiLabel has its label-wise attention."""


def plain(x: Inputs) -> Tensor:
    """As the paper writes it: what each label read, (documents, labels, width), then its output."""
    return plain_logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def plain_logits(
    h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    read = plain_weights(h, lengths, queries) @ h  # (documents, labels, width)
    return (read * outputs).sum(-1) + bias


def outputs_first(x: Inputs) -> Tensor:
    """The output of every token first, (documents, labels, tokens), then their weighted sum."""
    return outputs_first_logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def outputs_first_logits(
    h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    said = outputs @ h.transpose(1, 2)  # (documents, labels, tokens)
    return (plain_weights(h, lengths, queries) * said).sum(-1) + bias


def plain_weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """The attention, (documents, labels, tokens), zero at padding."""
    padding = torch.arange(h.shape[1], device=h.device) >= lengths[:, None]
    scores = queries @ h.transpose(1, 2)
    return scores.masked_fill(padding[:, None], float("-inf")).softmax(-1)


def compiled(version: Version) -> Version:
    """A plain version through torch.compile, for the very shapes that it is called with."""
    logits = torch.compile(
        plain_logits if version is plain else outputs_first_logits, dynamic=False
    )
    return lambda x: logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def blocked(x: Inputs) -> Tensor:
    """Ours in plain PyTorch, a block of labels at a time: the operator where Triton is not."""
    return blocked_logits(x.h, x.h, x.device_lengths, x.queries, x.outputs) + x.bias


def labelwise(x: Inputs) -> Tensor:
    """Ours, as the methods call it."""
    return label_attention(x.h, x.lengths, x.queries, x.outputs, x.bias)


def libmultilabel(source: Path) -> Version:
    """LibMultiLabel's modules, which attend to padding as well, from its source alone."""
    modules = libmultilabel_modules(source)

    def logits(x: Inputs) -> Tensor:
        labels, width = x.queries.shape
        with torch.device("meta"):  # no memory for weights that are replaced at once
            attention = modules.LabelwiseAttention(width, labels)
            output = modules.LabelwiseLinearOutput(width, labels)
        attention.attention.weight = x.queries
        output.output.weight, output.output.bias = x.outputs, x.bias
        found: Tensor = output(attention(x.h)[0])
        return found

    return logits


def libmultilabel_name(source: Path) -> str:
    """Which source it is, by its checksum: a copied file does not say its version."""
    checksum = hashlib.sha256(_modules_file(source).read_bytes()).hexdigest()
    return f"libmultilabel, {MODULES} (sha256 {checksum[:12]})"


def libmultilabel_modules(source: Path) -> Any:
    """The one file with its attention, loaded without the package, whose imports are many.

    ``source`` is the file itself or any folder above it: the package, a checkout, site-packages, or
    an environment.
    """
    file = _modules_file(source)
    spec = importlib.util.spec_from_file_location("libmultilabel_modules", file)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python module", file=file)
    modules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(modules)
    return modules


def _modules_file(source: Path) -> Path:
    if source.is_file():
        return source
    places = (MODULES, f"libmultilabel/{MODULES}", f"lib/*/site-packages/libmultilabel/{MODULES}")
    found = [path for place in places for path in sorted(source.glob(place))]
    if not found:
        raise InputError(
            f"LibMultiLabel's {MODULES} is not below this folder: name the folder of its package",
            file=source,
        )
    return found[0]


GRADIENTS = ("h", "queries", "outputs", "bias")


def values_and_gradients(version: Version, x: Inputs) -> list[Tensor]:
    """The logits, and the gradients of all that is learned: one step forward and backward."""
    logits = version(x)
    return [logits.detach(), *torch.autograd.grad(logits, x.learned, x.grad.to(logits.dtype))]


def reference(x: Inputs) -> list[Tensor]:
    """Values and gradients of the same numbers in float64, by the plain version.

    A few documents at a time: in float64 all of them would take more memory than a card has left.
    The gradients of what belongs to the labels add up over documents.
    """
    wide = x.to(torch.float64)
    found: list[list[Tensor]] = []
    for at in range(0, len(wide.h), 8):
        part = slice(at, at + 8)
        some = Inputs(
            wide.h[part].detach().requires_grad_(),
            wide.queries,
            wide.outputs,
            wide.bias,
            wide.lengths[part],
            wide.device_lengths[part],
            wide.grad[part],
        )
        found.append(values_and_gradients(plain, some))
    logits, of_h, *of_labels = zip(*found, strict=True)
    return [torch.cat(logits), torch.cat(of_h), *(torch.stack(g).sum(0) for g in of_labels)]


def relative_errors(found: list[Tensor], right: list[Tensor]) -> dict[str, float]:
    """|x − right| / |right| of logits and of each gradient, and the largest of the latter."""
    errors = {
        name: float((x.double() - y).norm() / y.norm())
        for name, x, y in zip(("logits", *GRADIENTS), found, right, strict=True)
    }
    return {
        "error of logits": errors["logits"],
        "error of gradients": max(errors[name] for name in GRADIENTS),
        **{f"error of gradient of {name}": errors[name] for name in GRADIENTS},
    }


def exponents(sizes: Sequence[float], costs: Sequence[Any]) -> list[float | None]:
    """For each point, the exponent since the one before it; None where one of the two is missing.

    Of several repeats the quickest counts: whatever else a machine does makes the others slower.

    >>> exponents([1, 10, 100], [2.0, 20.0, 2000.0])
    [None, 1.0, 2.0]
    """
    found: list[float | None] = [None]
    for at in range(1, len(sizes)):
        before, after = _lowest(costs[at - 1]), _lowest(costs[at])
        if _positive(before) and _positive(after):
            grown = math.log(after / before) / math.log(sizes[at] / sizes[at - 1])
            found.append(round(grown, 3))
        else:
            found.append(None)
    return found


def steepest(found: Sequence[float | None]) -> float | None:
    """The largest exponent of a curve: above 1 by more than noise, it has a cliff."""
    return max((one for one in found if one is not None), default=None)


def _lowest(value: Any) -> Any:
    return value["lowest"] if isinstance(value, Mapping) else value


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and value > 0


CLIFF = 1.25
"""An exponent above this is no longer linear growth with noise on it."""


def curve_table(
    what: str, over: str, points: Sequence[dict[str, Any]], *, seconds: bool, floor: float = 0
) -> dict[str, Any]:
    """The points of a curve, in order of their size, with how ours grows from one to the next.

    A point has the size under the key ``over``, and ``labelwise seconds``, ``labelwise bytes`` and
    the same of the plain version, which may be words where it could not run. ``seconds`` shows the
    times themselves, where the machine is a known card; else ratios. Memory below the ``floor`` is
    what any program needs.
    """
    sizes = [point[over] for point in points]
    grown = {
        "time exponent": exponents(sizes, [point[f"{OURS} seconds"] for point in points]),
        "memory exponent": exponents(
            sizes, [_at_least(point[f"{OURS} bytes"], floor) for point in points]
        ),
    }
    highest = {key: steepest(found) for key, found in grown.items()}
    rows = [
        {**point, **{key: found[at] for key, found in grown.items()}}
        for at, point in enumerate(points)
    ]
    times: list[dict[str, Any]] = [
        {"key": f"{name} seconds", "name": f"{name}: time", "as": "seconds"}
        for name in (OURS, PLAIN)
        if seconds
    ]
    how, name = ("times", "times as fast") if seconds else ("ratio", "time, ratio to plain PyTorch")
    to = {"key": f"{OURS} seconds", "name": name, "as": how, "to": f"{PLAIN} seconds"}
    memory = [
        {"key": f"{name} bytes", "name": f"{name}: extra memory", "as": "bytes"}
        for name in (OURS, PLAIN)
    ]
    shown = (("time exponent", "growth of time"), ("memory exponent", "growth of memory"))
    return {
        "what": what,
        "text": _finding(highest),
        "steepest": highest,
        "linear": all(one is None or one <= CLIFF for one in highest.values()),
        "columns": [
            {"key": over, "as": "count"},
            *times,
            to,
            *memory,
            *({"key": key, "name": name, "as": "exponent"} for key, name in shown),
        ],
        "rows": rows,
        "figure": {
            "over": over,
            "panels": [
                {"what": "seconds", "relative": not seconds},
                {"what": "bytes", "relative": False},
            ],
            "lines": [OURS, PLAIN],
        },
    }


def _finding(highest: dict[str, float | None]) -> str:
    time, memory = highest["time exponent"], highest["memory exponent"]
    if time is None or memory is None:
        return "Too few points were measured to say how it grows."
    linear = max(time, memory) <= CLIFF
    return (
        f"From each point to the next, time grows at most with the power {time:.2f} of the size "
        f"and memory with {memory:.2f} (1 is linear; the quickest repeats are compared): "
        f"{'no cliff' if linear else 'there is a cliff'}."
    )


def _at_least(value: Any, floor: float) -> Any:
    return max(value, floor) if isinstance(value, int | float) else value
