"""Label-wise attention on a CPU: forward alone, as in tagging, beside plain materialised PyTorch,
and a step for a million labels, by one process and by two that share the labels.

The memory of every version at every point is the high-water mark of a process of its own. Where
others are to be timed beside it, all take turns in that process, so that what slows the machine
down meets all alike.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.bench import Plan, Result
from labelwise.bench.attention import (
    OURS,
    OUTPUTS_FIRST,
    PLAIN,
    Inputs,
    Sizes,
    Version,
    curve_table,
    labelwise,
    make_inputs,
    outputs_first,
    plain,
)
from labelwise.bench.processes import run_apart, run_together, threads
from labelwise.bench.results import memory, spread, taking_turns
from labelwise.evaluation.runs import peak_memory
from labelwise.kernels.label_attention import label_attention
from labelwise.layers.label_parallel import LabelParallel, own_labels
from labelwise.progress import track
from labelwise.training.processes import Processes, are_several, together

Curves = Mapping[str, tuple[Sizes, Sequence[int]]]

CURVES: Curves = {
    "labels": (Sizes(1, 128, 300, 0), (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)),
    "tokens": (Sizes(1, 0, 600, 4_271), (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)),
    "documents": (Sizes(0, 128, 600, 4_271), (1, 4, 16, 64, 256)),
}
"""The size that grows, the sizes that stay (0 stands for the one that grows), and its steps."""

BATCH = Sizes(8, 729, 600, 4_271)
"""A batch of EURLEX57K's mean length, as BIGRU-LWAN reads it."""

REPEATS = 3  # of a slow point; a quick one is repeated for a second
FLOOR = 32e6  # what PyTorch itself takes on its first products


def run(plan: Plan) -> Result:
    return benchmark(plan, BATCH, CURVES)


def benchmark(plan: Plan, batch: Sizes, curves: Curves) -> Result:
    repeats = plan.repeats or REPEATS
    result: Result = {
        "what": "Label-wise attention on the CPU, forward",
        "text": "Ours computes a block of labels at a time; plain PyTorch holds the attention of "
        "all labels. Memory is what the process held beyond the operands.",
        "threads": threads(),
        "tables": [batch_table(batch, repeats)],
    }
    for over, (fixed, steps) in curves.items():
        points = []
        for step in track(steps, f"over {over}"):
            sizes = dataclasses.replace(fixed, **{over: step})
            found = point((OURS, PLAIN), sizes, repeats)
            costs = {f"{name} {key}": cost for name in found for key, cost in found[name].items()}
            points.append({over: step, **costs})
        what = f"Over {over}: {fixed.but(over)}, float32"
        result["tables"].append(curve_table(what, over, points, seconds=False, floor=FLOOR))
        plan.keep(result)
    return result


def batch_table(batch: Sizes, repeats: int) -> dict[str, Any]:
    """Each version in each precision, at the sizes of real work."""
    rows = []
    for dtype in track(("float32", "bfloat16"), "a batch"):
        found = point((PLAIN, OUTPUTS_FIRST, OURS), batch, repeats, dtype)
        rows += [{"": f"{version}, {dtype}", **costs} for version, costs in found.items()]
    return {
        "what": f"A batch: {batch}",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "ratio", "peer": f"{PLAIN}, float32"},
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def point(
    versions: Sequence[str], sizes: Sizes, repeats: int, dtype: str = "float32"
) -> dict[str, dict[str, Any]]:
    """What each version takes at these sizes: ``seconds`` and extra ``bytes``.

    The memory of each is measured in a process of its own; the first of these times them all.
    """
    limit = 0.7 * (memory() or float("inf"))
    fitting = [version for version in versions if needed(sizes, version) < limit]
    found: dict[str, dict[str, Any]] = {
        version: dict.fromkeys(("seconds", "bytes"), "does not fit") for version in versions
    }
    for version in fitting:
        request = {
            "version": version,
            "timed": fitting if version == fitting[0] else [],
            "sizes": dataclasses.asdict(sizes),
            "dtype": dtype,
            "repeats": repeats,
            "threads": threads(),
        }
        answer = run_apart(measure_point, request)
        found[version]["bytes"] = answer["bytes"]
        for name, seconds in answer["seconds"].items():
            found[name]["seconds"] = spread(seconds)
    return found


def needed(sizes: Sizes, version: str) -> int:
    """About how many bytes a point takes: the operands and, materialised, what stands between."""
    operands = sizes.width * (sizes.documents * sizes.tokens + 2 * sizes.labels)
    between = sizes.documents * sizes.labels * (3 * sizes.tokens + 2 * sizes.width)
    return 4 * (operands + (0 if version == OURS else between))


VERSIONS: dict[str, Version] = {OURS: labelwise, PLAIN: plain, OUTPUTS_FIRST: outputs_first}

ENOUGH = 1.0
"""Seconds of a version after which a point that is quick has been repeated often enough."""


def measure_point(request: dict[str, Any]) -> dict[str, Any]:
    """Bytes that the version's pass held beyond the operands; seconds of each pass, by version."""
    torch.set_num_threads(request["threads"])
    inputs = make_inputs(Sizes(**request["sizes"]), getattr(torch, request["dtype"]))
    timed = {name: partial(_seconds, VERSIONS[name], inputs) for name in request["timed"]}
    with torch.inference_mode():
        # The high-water mark stands at the operands now; the first pass, not timed, raises it.
        before = peak_memory() or 0
        VERSIONS[request["version"]](inputs)
        extra = (peak_memory() or 0) - before
        slowest = max((seconds() for seconds in timed.values()), default=ENOUGH)
        repeats = max(request["repeats"], min(50, int(ENOUGH / slowest)))
        found = taking_turns(timed, repeats)
    return {"bytes": extra, "seconds": found}


def _seconds(version: Version, inputs: Inputs) -> float:
    started = time.perf_counter()
    version(inputs)
    return time.perf_counter() - started


SHARED = Sizes(2, 128, 300, 1_000_000)
"""The largest point of the curve over labels, and a document for each of two processes."""

ALONE = "one process"


def run_shared(plan: Plan) -> Result:
    """Labels shared by processes: what each of two holds beside one that has all."""
    return benchmark_shared(plan, SHARED)


def benchmark_shared(plan: Plan, sizes: Sizes) -> Result:
    rows = []
    for count, name in track([(1, ALONE), (2, "two processes")], "label-parallel"):
        rows.append({"": name, **step(sizes, count)})
        plan.keep(_shared(sizes, rows))
    return _shared(sizes, rows)


def step(sizes: Sizes, processes: int) -> dict[str, Any]:
    """What a step holds, where the largest of the processes counts, and the loss it finds."""
    request = {
        "sizes": dataclasses.asdict(sizes),
        "threads": max(1, threads() // processes),
    }
    answers = run_together(measure_step, request, processes)
    return {
        "bytes": max(one["bytes"] for one in answers),
        "loss": sum(one["loss"] for one in answers),
    }


def _shared(sizes: Sizes, rows: list[dict[str, Any]]) -> Result:
    return {
        "what": "Labels shared by processes: a step of label-wise attention on the CPU",
        "text": f"Forward and backward, {sizes}, float32. Each process has one part of the labels "
        "and of the documents, and gathers the encoded documents of all (gloo). Memory is the most "
        "that a process held: its weights, their gradients, and PyTorch itself. The loss is the "
        "sum over all labels, the same but for the order of summing.",
        "columns": [
            "",
            {"key": "bytes", "name": "memory of a process", "as": "bytes"},
            {"key": "bytes", "name": "of that of one", "as": "ratio", "peer": ALONE},
            {"key": "loss", "as": "figure"},
        ],
        "rows": rows,
        "threads": threads(),
    }


AT_ONCE = 10_000
"""Labels drawn from one generator, so that each is the same whoever holds it."""


def measure_step(request: dict[str, Any]) -> dict[str, Any]:
    """The loss over own labels of a step, forward and backward, and the most memory held."""
    torch.set_num_threads(request["threads"])
    sizes = Sizes(**request["sizes"])
    if not are_several():
        return _step(sizes, Processes())
    with together("cpu") as processes:
        return _step(sizes, processes)


def _step(sizes: Sizes, processes: Processes) -> dict[str, Any]:
    own = own_labels(sizes.labels, processes.rank, processes.size)
    read = own_labels(sizes.documents, processes.rank, processes.size)
    drawn = _drawn(0, sizes.documents, sizes.tokens, sizes.width)
    h = drawn[read].mul_(0.5).requires_grad_()
    lengths = torch.full((len(h),), sizes.tokens)
    model = LabelParallel(sizes.width, torch.full((own.stop - own.start,), -5.0))
    with torch.no_grad():
        _fill(model.labels.queries, own, deviation=4.0, kind=1)
        _fill(model.labels.outputs, own, deviation=1.0, kind=2)
    logits = (
        model(h, lengths) if processes.size > 1 else label_attention(h, lengths, *model.labels())
    )
    loss = binary_cross_entropy_with_logits(logits, torch.zeros_like(logits), reduction="sum")
    (loss / sizes.documents).backward()  # type: ignore[no-untyped-call]
    return {"loss": float(loss) / sizes.documents, "bytes": peak_memory()}


def _fill(weight: Tensor, own: slice, *, deviation: float, kind: int) -> None:
    """Draw the rows of own labels, (own labels, width), a block at a time."""
    width = weight.shape[1]
    for first in range(own.start // AT_ONCE * AT_ONCE, own.stop, AT_ONCE):
        low, high = max(first, own.start), min(first + AT_ONCE, own.stop)
        block = _drawn(2 * first + kind, AT_ONCE, width)[low - first : high - first]
        weight[low - own.start : high - own.start] = block * (deviation / math.sqrt(width))


def _drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
