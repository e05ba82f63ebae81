"""Label-wise attention on a card, forward and backward, beside what others write, in one process.

The versions are compared at the sizes of EURLEX57K, in bfloat16 with full and with ragged
documents, and in float32; then a training step with very many labels; then curves over labels,
tokens and documents. What matters most comes first: once ``max_seconds`` have passed nothing new
is begun, and the result says what was left out.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.bench import Plan, Result, cuda
from labelwise.bench.attention import (
    OURS,
    OUTPUTS_FIRST,
    PLAIN,
    Inputs,
    Sizes,
    Version,
    blocked,
    compiled,
    curve_table,
    labelwise,
    libmultilabel,
    libmultilabel_name,
    make_inputs,
    outputs_first,
    plain,
    ragged_lengths,
    reference,
    relative_errors,
    useful_flops,
    values_and_gradients,
)
from labelwise.bench.page import cell
from labelwise.bench.results import spread
from labelwise.progress import track

COMPILED = "torch.compile of the quicker plain one"
LIBMULTILABEL = "LibMultiLabel"
BLOCKED = "labelwise, blocks of labels"

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


@dataclass(frozen=True)
class Comparison:
    """How versions are compared: how often each is measured, and where."""

    repeats: int
    device: str
    product: int  # rows of the square matrices whose product gives the card's rate

    def table(
        self, what: str, x: Inputs, peers: Mapping[str, Version], *, compile_too: bool
    ) -> Table:
        """A row for each version; the quicker of the two plain ones is what ratios refer to."""
        right = reference(x)
        rate = cuda.product_rate(x.h.dtype, self.device, self.product)
        rows = [
            self.row(name, version, x, right, rate)
            for name, version in {PLAIN: plain, OUTPUTS_FIRST: outputs_first}.items()
        ]
        quicker = min(rows, key=_seconds)
        version = plain if quicker[""] == PLAIN else outputs_first
        others = {
            **({COMPILED: compiled(version)} if compile_too else {}),
            **peers,
            BLOCKED: blocked,
            OURS: labelwise,
        }
        rows += [self.row(name, version, x, right, rate) for name, version in others.items()]
        return comparison_table(what, rows, quicker[""], rate)

    def row(
        self, name: str, version: Version, x: Inputs, right: list[torch.Tensor], rate: float
    ) -> dict[str, Any]:
        """What one version costs and how exact it is; in words where it could not run."""
        cuda.free(self.device)
        try:
            errors = relative_errors(values_and_gradients(version, x), right)
            step = lambda: values_and_gradients(version, x)
            seconds = cuda.seconds(step, repeats=self.repeats, device=self.device)
            memory = cuda.extra_memory(step, self.device)
        except torch.OutOfMemoryError:
            return {"": name, "seconds": cuda.OUT_OF_MEMORY}
        except Exception as error:
            if version is labelwise:
                raise
            # A peer that cannot run here is a finding, and no reason to lose the others.
            return {"": name, "seconds": f"failed ({type(error).__name__})"}
        flops = useful_flops(x.lengths.tolist(), x.h.shape[2], len(x.queries))
        reached = flops / spread(seconds)["median"]
        return {
            "": name,
            "seconds": spread(seconds),
            "bytes": memory,
            "TFLOP/s": round(reached / 1e12, 1),
            "share of rate": reached / rate,
            **errors,
        }


def comparison_table(what: str, rows: list[dict[str, Any]], peer: str, rate: float) -> Table:
    """The rows with what they mean beside the peer."""
    speed = {"key": "seconds", "name": "times as fast", "as": "times", "peer": peer}
    memory = {"key": "bytes", "name": "of its memory", "as": "share", "peer": peer}
    ours = next(row for row in rows if row[""] == OURS)
    times, share = (cell(column, ours, rows, "") for column in (speed, memory))
    return {
        "what": what,
        "text": f"labelwise is {times.split(' ')[0]} times as fast as {peer} and takes {share} of "
        f"its extra memory. The card's matrix product reaches {rate / 1e12:,.0f} TFLOP/s in this "
        "run.",
        "product rate": rate,
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            speed,
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
            memory,
            "TFLOP/s",
            {"key": "share of rate", "name": "of the product's", "as": "share"},
            {"key": "error of logits", "as": "error"},
            {"key": "error of gradients", "as": "error"},
        ],
        "rows": rows,
    }


def _seconds(row: dict[str, Any]) -> float:
    found = row["seconds"]
    return float(found["median"]) if isinstance(found, dict) else float("inf")


GOLD = 5  # labels of a document


def training_table(what: str, sizes: Sizes, repeats: int, device: str) -> Table:
    """Ours and the plain version, one after the other."""
    rows = [
        {"": name, **training_step(version, sizes, repeats, device)}
        for name, version in {OURS: labelwise, PLAIN: plain}.items()
    ]
    return {
        "what": what,
        "text": "Weights in float32, products in bfloat16 by autocast, binary cross-entropy over "
        "all labels, Adam. Memory is all that the step holds: operands, weights, gradients and "
        "Adam's state.",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            {"key": "bytes", "name": "memory in all", "as": "bytes"},
        ],
        "rows": rows,
    }


def training_step(version: Version, sizes: Sizes, repeats: int, device: str) -> dict[str, Any]:
    cuda.free(device)
    try:
        x = make_inputs(sizes, device=device)
        adam = torch.optim.Adam([x.queries, x.outputs, x.bias])
        targets = torch.zeros_like(x.grad)
        targets[:, :: max(1, sizes.labels // GOLD)] = 1

        def step() -> None:
            with torch.autocast(device, torch.bfloat16):
                logits = version(x)
            binary_cross_entropy_with_logits(logits.float(), targets).backward()  # type: ignore[no-untyped-call]
            adam.step()
            adam.zero_grad()
            x.h.grad = None

        seconds = cuda.seconds(step, repeats=repeats, device=device)
        return {"seconds": spread(seconds), "bytes": cuda.total_memory(step, device)}
    except torch.OutOfMemoryError:
        return {"seconds": cuda.OUT_OF_MEMORY, "bytes": cuda.OUT_OF_MEMORY}


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
        points.append({over: step, **point(sizes, device)})
    return {**curve_table(what, over, points, seconds=True), "left out": left_out}


def point(sizes: Sizes, device: str) -> dict[str, Any]:
    """Time and extra memory of a step forward and backward, of ours and of the plain version by
    turns; in words where it does not fit."""
    found: dict[str, Any] = {}
    steps: dict[str, cuda.Step] = {}
    x: Inputs | None = None
    cuda.free(device)
    for name, version in {OURS: labelwise, PLAIN: plain}.items():
        try:
            x = x or make_inputs(sizes, torch.bfloat16, device)
            step = partial(values_and_gradients, version, x)
            step()  # what is compiled for it stays
            found[f"{name} bytes"] = cuda.extra_memory(step, device)
            steps[name] = step
        except torch.OutOfMemoryError:
            found |= {f"{name} {of}": cuda.OUT_OF_MEMORY for of in ("bytes", "seconds")}
            cuda.free(device)
    seconds = cuda.in_turns(steps, repeats=CURVE_REPEATS, device=device, at_most=0.6)
    return found | {f"{name} seconds": spread(of) for name, of in seconds.items()}


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
