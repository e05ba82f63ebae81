"""One point of a CPU curve, in a process of its own: how long a forward pass takes, and its memory.

python -m labelwise.bench.attention_point REQUEST.json ANSWER.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from labelwise.bench.attention_inputs import Sizes, make_inputs
from labelwise.bench.attention_versions import Version, labelwise, outputs_first, plain
from labelwise.bench.curves import OURS, OUTPUTS_FIRST, PLAIN
from labelwise.evaluation.runs import peak_memory

VERSIONS: dict[str, Version] = {
    OURS: labelwise,
    PLAIN: plain,
    OUTPUTS_FIRST: outputs_first,
}


def measure_point(request: dict[str, Any]) -> dict[str, Any]:
    """Seconds of each repeat, and what the first pass held beyond the operands, in bytes."""
    torch.set_num_threads(request["threads"])
    version = VERSIONS[request["version"]]
    inputs = make_inputs(Sizes(**request["sizes"]), getattr(torch, request["dtype"]))
    seconds: list[float] = []
    with torch.inference_mode():
        # The high-water mark stands at the operands now; the first pass, not timed, raises it.
        before = peak_memory() or 0
        version(inputs)
        extra = (peak_memory() or 0) - before
        for _ in range(request["repeats"]):
            started = time.perf_counter()
            version(inputs)
            seconds.append(time.perf_counter() - started)
    return {"seconds": seconds, "bytes": extra}


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(measure_point(json.loads(asked.read_text()))))
