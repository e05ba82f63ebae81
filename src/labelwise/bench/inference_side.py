"""Our side of the inference benchmark, in a process of its own.

python -m labelwise.bench.inference_side REQUEST.json ANSWER.json
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labelwise import bundle as bundles
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.methods.network import NetworkMethod
from labelwise.training.batches import Gatherer
from labelwise.training.numbered import Numbered
from labelwise.training.predict import predict

WARM_UP = 32  # documents


def measure_ours(request: dict[str, Any]) -> dict[str, Any]:
    """Seconds of tagging all documents, the memory it took, and the seconds of each act alone."""
    torch.set_num_threads(request["threads"])
    started = time.perf_counter()
    method = bundles.load(request["bundle"])
    load = time.perf_counter() - started
    assert isinstance(method, NetworkMethod)
    method.settings = dataclasses.replace(
        method.settings,
        precision=request["precision"],
        max_tokens=request["max_tokens"],
        device="cpu",
    )
    folder = Path(request["folder"])
    found = np.load(folder / "documents.npz")
    score(method, found, WARM_UP)
    started = time.perf_counter()
    score(method, found, len(found["lengths"]))
    seconds = time.perf_counter() - started
    peak = peak_memory()
    told = json.loads((folder / "act.json").read_text())
    act = Document("act", told["title"], tuple(Section(**one) for one in told["sections"]))
    return {
        "seconds": seconds,
        "peak memory": peak,
        "calls": [seconds_of(method, act) for _ in range(request["calls"] + 3)][3:],
        "load": load,
    }


def score(method: NetworkMethod, found: Any, documents: int) -> None:
    starts, lengths = found["starts"][:documents], found["lengths"][:documents]
    rows = Numbered(found["tokens"], starts, lengths, np.arange(len(lengths) + 1))
    gather = Gatherer(rows, torch.device("cpu"))
    predict(method.network, gather, method.settings, len(method.label_space))


def peak_memory() -> int:
    """The most memory this program has held, in bytes. What getrusage gives begins with what the
    process had that started it, however little the program itself takes."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise LabelwiseError("this system does not say how much memory a process has held at most")


def seconds_of(method: NetworkMethod, act: Document) -> float:
    started = time.perf_counter()
    method.scores([act])
    return time.perf_counter() - started


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    answer.write_text(json.dumps(measure_ours(json.loads(asked.read_text()))))
