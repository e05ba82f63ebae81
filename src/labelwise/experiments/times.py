"""How long a saved model takes to load and to answer, kept for its card."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.bench.results import machine
from labelwise.corpus.document import Document
from labelwise.corpus.readers import read
from labelwise.evaluation.runs import current_versions
from labelwise.files import write_whole

TIMES = "times.json"
SCORED = 200
"""Documents of a file that are scored: an encoder takes its time."""


def write_times(bundle: Path, documents: Path, folder: Path, command: str) -> Path:
    """Time a bundle on the first documents of a file; write the record into a folder of results."""
    manifest = bundles.describe(bundle)
    some = [one for one, _ in zip(read(documents), range(SCORED), strict=False)]
    record: dict[str, Any] = {
        "bundle": bundles.name_of(manifest["card"], manifest["method"]),
        "digest": manifest["digest"],
        "bytes": bundles.size_of(bundle),
        "seconds": timed(bundle, some),
        "machine": machine(),
        "versions": current_versions(),
        "command": command,
    }
    path = folder / TIMES
    write_whole(path, f"{json.dumps(record, indent=1)}\n".encode())
    return path


def timed(bundle: Path, documents: Sequence[Document]) -> dict[str, float]:
    """Seconds to load, and from a command to its first answer; documents a second, from text."""
    loads, answers = [], []
    for _ in range(3):
        started = time.perf_counter()
        method = bundles.load(bundle)
        loads.append(time.perf_counter() - started)
        started = time.perf_counter()
        text = documents[0].text.encode("utf-8", "replace")
        asked = ["tag", "-", "--bundle", str(bundle), "--json"]
        command = [sys.executable, "-m", "labelwise", *asked]
        subprocess.run(command, input=text, capture_output=True, check=True)
        answers.append(time.perf_counter() - started)
    some = documents[:1000]
    started = time.perf_counter()
    method.scores(some)
    rate = len(some) / (time.perf_counter() - started)
    return {
        "load": round(statistics.median(loads), 3),
        "first answer": round(statistics.median(answers), 3),
        "documents a second": round(rate, 1),
    }
