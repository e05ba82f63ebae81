"""Label-wise attention on a card, forward and backward, beside what others write, in one process.

The versions are compared at the sizes of EURLEX57K, in bfloat16 with full and with ragged
documents, and in float32; then a training step with very many labels; then curves over labels,
tokens and documents. What matters most comes first: once ``max_seconds`` have passed nothing new
is begun, and the result says what was left out.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from labelwise.bench import cuda
from labelwise.bench.attention import (
    Sizes,
    Version,
    labelwise,
    libmultilabel,
    libmultilabel_name,
    make_inputs,
    plain,
    ragged_lengths,
    values_and_gradients,
)
from labelwise.bench.attention_comparison import LIBMULTILABEL, Comparison, training_table
from labelwise.bench.curves import OURS, PLAIN, curve_table
from labelwise.bench.plan import Plan, Result
from labelwise.bench.results import spread
from labelwise.progress import track

REPEATS = 30
CURVE_REPEATS = 20

Table = dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """The sizes of everything that is measured."""

    operator: Sizes
    many_labels: Sizes
    curve: Sizes
    labels: Sequence[int]
    tokens: Sequence[int]
    documents: Sequence[int]
    product: int  # rows of the square matrices whose product gives the card's rate


FULL = Scale(
    operator=Sizes(64, 729, 600, 4_271),
    many_labels=Sizes(16, 729, 600, 100_000),
    curve=Sizes(16, 729, 600, 4_271),
    labels=(1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000),
    tokens=(64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192),
    documents=(1, 4, 16, 64, 256, 1_024),
    product=8_192,
)


def run(plan: Plan) -> Result:
    return benchmark(plan, FULL, "cuda")


def benchmark(plan: Plan, scale: Scale, device: str) -> Result:
    """All parts, the most important first, written as they are done."""
    source = _peer_source(plan)
    result: Result = {
        "what": "Label-wise attention on a GPU, forward and backward",
        "text": "Time is by CUDA events. Extra memory is what a step holds beyond its operands, "
        "gradients included. Useful operations are two matrix products forward and four backward; "
        "what is computed again does not count. Errors are relative to float64.",
        "repeats": plan.repeats or REPEATS,
        "peer": libmultilabel_name(source) if source else None,
        "left out": [],
        "tables": [],
    }
    deadline = time.perf_counter() + plan.max_seconds
    with _tf32():
        for what, part in track(
            _parts(plan, source, scale, device, deadline), "label-wise attention"
        ):
            if time.perf_counter() > deadline:
                result["left out"].append(what)
                continue
            table = part()
            result["left out"] += table.pop("left out", [])
            result["tables"].append(table)
            plan.keep(result)
    return result


def _parts(
    plan: Plan, source: Path | None, scale: Scale, device: str, deadline: float
) -> list[tuple[str, Callable[[], Table]]]:
    """What is measured, by name, in order."""
    peers = {LIBMULTILABEL: libmultilabel(source)} if source else {}
    compare = Comparison(plan.repeats or REPEATS, device, scale.product)
    full, lengths = scale.operator, ragged_lengths(scale.operator.documents)
    padded = dataclasses.replace(full, tokens=max(lengths))

    def operator(what: str, dtype: torch.dtype) -> Table:
        return compare.table(what, make_inputs(full, dtype, device), peers, compile_too=True)

    def ragged(what: str) -> Table:
        # LibMultiLabel does not mask: where there is padding it computes something else.
        return compare.table(
            what, make_inputs(padded, torch.bfloat16, device, lengths), {}, compile_too=False
        )

    parts: list[tuple[str, Callable[[str], Table]]] = [
        (f"{full}, bfloat16", lambda what: operator(what, torch.bfloat16)),
        (
            f"{full.documents} documents as long as those of EURLEX57K ({min(lengths)} to "
            f"{max(lengths):,} tokens), else the same",
            ragged,
        ),
        (
            f"A training step with many labels: {scale.many_labels}",
            lambda what: training_table(what, scale.many_labels, CURVE_REPEATS, device),
        ),
        *(
            (
                f"Over {over}: {scale.curve.but(over)}, bfloat16",
                partial(
                    curve, over=over, fixed=scale.curve, steps=steps, device=device, until=deadline
                ),
            )
            for over, steps in (
                ("labels", scale.labels),
                ("tokens", scale.tokens),
                ("documents", scale.documents),
            )
        ),
        (f"{full}, float32 (tf32 allowed)", lambda what: operator(what, torch.float32)),
    ]
    return [(what, partial(part, what)) for what, part in parts]


def curve(
    what: str, *, over: str, fixed: Sizes, steps: Sequence[int], device: str, until: float
) -> Table:
    """Ours and the plain version while one size grows; it ends early when the time is up."""
    points: list[dict[str, Any]] = []
    left_out: list[str] = []
    for step in steps:
        if points and time.perf_counter() > until:
            left_out.append(f"{step:,} {over}")
            continue
        sizes = dataclasses.replace(fixed, **{over: step})
        points.append({over: step, **point(OURS, labelwise, sizes, device)})
        points[-1].update(point(PLAIN, plain, sizes, device))
    return {**curve_table(what, over, points, seconds=True), "left out": left_out}


def point(name: str, version: Version, sizes: Sizes, device: str) -> dict[str, Any]:
    """Time and extra memory of a step forward and backward; in words where it does not fit."""
    cuda.free(device)
    try:
        x = make_inputs(sizes, torch.bfloat16, device)
        step = partial(values_and_gradients, version, x)
        seconds = cuda.seconds(step, repeats=CURVE_REPEATS, device=device, at_most=0.3)
        memory = cuda.extra_memory(step, device)
    except torch.OutOfMemoryError:
        return {f"{name} seconds": cuda.OUT_OF_MEMORY, f"{name} bytes": cuda.OUT_OF_MEMORY}
    return {f"{name} seconds": spread(seconds), f"{name} bytes": memory}


def _peer_source(plan: Plan) -> Path | None:
    """LibMultiLabel's source as named, else where another benchmark has installed it."""
    if plan.libmultilabel_source is not None:
        return plan.libmultilabel_source
    installed = plan.out / ".peers" / "libmultilabel"
    return installed if installed.is_dir() else None


@contextmanager
def _tf32() -> Iterator[None]:
    """float32 products in tf32 for every version: what a card is used with, and all alike."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
