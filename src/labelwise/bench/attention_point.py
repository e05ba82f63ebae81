"""One point of a CPU curve, in a process of its own: what a forward pass holds, and how long.

Called as ``python -m labelwise.bench.attention_point REQUEST.json ANSWER.json``. The memory is that
of one version; where others are to be timed beside it, all take turns, so that what slows the
machine down meets all alike.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch

from labelwise.bench.attention_inputs import Inputs, Sizes, make_inputs
from labelwise.bench.attention_versions import Version, labelwise, outputs_first, plain
from labelwise.bench.curves import OURS, OUTPUTS_FIRST, PLAIN
from labelwise.bench.repeats import taking_turns
from labelwise.evaluation.runs import peak_memory

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


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(measure_point(json.loads(asked.read_text()))))
