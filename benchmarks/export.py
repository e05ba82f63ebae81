"""An exported network beside the same network in PyTorch, on the same documents, in one run.

    python benchmarks/export.py BUNDLE [--documents N] [--repeats N] [--threads N]

Dev documents of EURLEX57K (LABELWISE_DATA), evenly spaced; from text to scores, in batches of
documents of like length, each way in turn; the quickest turn counts. Written to
benchmarks/results/export/METHOD-DATA.json, and the table in docs/export.md is made from the files
there.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labelwise import bundle as bundles
from labelwise.bench.results import machine
from labelwise.bench.runner import warn_if_busy
from labelwise.corpus.dataset import open_dataset
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import current_versions
from labelwise.export.onnx_file import write_onnx
from labelwise.export.parity import in_float32, onnx_inputs, open_onnx
from labelwise.methods.network import NetworkMethod

RESULTS = Path(__file__).parent / "results" / "export"
DOCS = Path(__file__).parents[1] / "docs" / "export.md"
BEGIN, END = "<!-- measured:begin -->\n", "<!-- measured:end -->\n"
BASE = "PyTorch, float32"
BATCH = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    load = warn_if_busy("export")
    torch.set_num_threads(options.threads)
    data = open_dataset(Path(os.environ["LABELWISE_DATA"]) / "eurlex57k")
    method = bundles.load(options.bundle)
    assert isinstance(method, NetworkMethod)
    every = max(1, len(data.dev) // options.documents)
    documents = sorted(data.dev[::every][: options.documents], key=lambda one: len(one.text))
    gold = method.label_space.gold(documents)

    def batched(score: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: np.concatenate(
            [score(documents[at : at + BATCH]) for at in range(0, len(documents), BATCH)]
        )

    exact = in_float32(method)
    ways: dict[str, Callable[[], Any]] = {
        BASE: lambda: exact.scores(documents),
        "PyTorch, as it chooses": lambda: method.scores(documents),
    }
    sizes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, int8 in (("ONNX", False), ("ONNX, int8", True)):
            path = Path(folder) / f"{name}.onnx"
            sizes[name] = write_onnx(method, path, int8=int8)
            run = open_onnx(path, threads=options.threads)
            ways[name] = batched(lambda some, run=run: run(onnx_inputs(method, some)))
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    scores = {}
    for _ in range(options.repeats):
        for name, way in ways.items():
            started = time.perf_counter()
            scores[name] = way()
            seconds[name].append(time.perf_counter() - started)
    rows = {
        name: {
            "documents a second": round(len(documents) / min(seconds[name]), 2),
            "seconds": [round(one, 3) for one in seconds[name]],
            "bytes": sizes.get(name),
            "largest difference": float(np.abs(found - scores[BASE]).max()),
            "RP@5": evaluate(found, gold, method.label_space).values["all"]["RP@5"],
            "nDCG@5": evaluate(found, gold, method.label_space).values["all"]["nDCG@5"],
        }
        for name, found in scores.items()
    }
    result = {
        "what": "an exported network beside the same network in PyTorch: from text to scores",
        "method": method.name,
        "bundle": bundles.describe(options.bundle)["digest"][:16],
        "settings": {**dataclasses.asdict(method.settings), "documents a batch": BATCH},
        "data": {"name": data.name, "fingerprint": data.fingerprint, "split": "dev"},
        "documents": len(documents),
        "words": int(onnx_inputs(method, documents)["lengths"].sum()),
        "threads": options.threads,
        "repeats": options.repeats,
        "machine": {**machine(), "load": load},
        "command": f"python benchmarks/export.py BUNDLE --documents {options.documents} "
        f"--repeats {options.repeats} --threads {options.threads}",
        "versions": current_versions("onnx", "onnxruntime"),
        "rows": rows,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{method.name}-{data.name}.json").write_text(json.dumps(result, indent=1) + "\n")
    write_table()


def write_table() -> None:
    """Put what was measured into the docs, between the two marks."""
    lines = []
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text())
        data = result["data"]
        lines += [
            f"{result['method']}, {result['documents']} documents of {data['name']} "
            f"{data['split']} (fingerprint `{data['fingerprint']}`), from text to scores, "
            f"{result['threads']} threads, the quickest of {result['repeats']} "
            f"turns (load {result['machine']['load']} at the start); from "
            f"`benchmarks/results/export/{path.name}`:",
            "",
            "| | speed, to PyTorch's in float32 | MB | largest difference of a score | RP@5 "
            "| nDCG@5 |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        base = result["rows"][BASE]["documents a second"]
        for name, row in result["rows"].items():
            size = f"{row['bytes'] / 1e6:.1f}" if row["bytes"] else "–"
            lines.append(
                f"| {name} | {row['documents a second'] / base:.2f} | {size} "
                f"| {row['largest difference']:.1g} | {row['RP@5']:.4f} | {row['nDCG@5']:.4f} |"
            )
        lines.append("")
    before, rest = DOCS.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    DOCS.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, "utf-8")


if __name__ == "__main__":
    main()
