"""An exported network beside the same network in PyTorch, on the same documents, in one run.

    python benchmarks/export.py BUNDLE [--documents N] [--repeats N] [--threads N]

BUNDLE is a folder or the name of a model that ships; of a joined model its first network that can
be exported is measured. Dev documents of EURLEX57K (LABELWISE_DATA), evenly spaced; from text to
scores, in batches of documents of like length, each way in turn; the quickest turn counts. Written
to benchmarks/results/export/METHOD-DATA.json, and the tables in docs/export.md are made from the
files there.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.bench.results import machine
from labelwise.bench.runner import warn_if_busy
from labelwise.corpus.dataset import open_dataset
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.odds import log_odds
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.runs import current_versions
from labelwise.export.networks import NETWORKS
from labelwise.export.onnx_file import write_onnx
from labelwise.export.parity import in_float32, onnx_inputs, open_onnx
from labelwise.methods.base import Method, Scores, within
from labelwise.methods.base_network import BaseNetworkMethod

RESULTS = Path(__file__).parent / "results" / "export"
DOCS = Path(__file__).parents[1] / "docs" / "export.md"
BEGIN, END = "<!-- measured:begin -->\n", "<!-- measured:end -->\n"
BASE = "PyTorch, float32"
BATCH = 16
FIRST = 5  # labels of a document that are to stay the same
RARE = 1e-4
"""Chances that differ below it, or as far above the others, differ in nothing that is read: there
the sigmoid of a runtime is not exact."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("bundle")
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    load = warn_if_busy("export")
    torch.set_num_threads(options.threads)
    data = open_dataset(Path(os.environ["LABELWISE_DATA"]) / "eurlex57k")
    name = options.bundle if options.bundle in shipped.NAMES else None
    folder = shipped.folder_of(options.bundle)
    method = exportable(bundles.load(folder))
    every = max(1, len(data.dev) // options.documents)
    documents = sorted(data.dev[::every][: options.documents], key=lambda one: len(one.text))
    gold = method.label_space.known_gold(documents)

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
    with tempfile.TemporaryDirectory() as work:
        for way, int8 in (("ONNX", False), ("ONNX, int8", True)):
            path = Path(work) / f"{way}.onnx"
            sizes[way] = write_onnx(method, path, int8=int8)
            run = open_onnx(path, threads=options.threads)
            ways[way] = batched(lambda some, run=run: run(onnx_inputs(method, some)))
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    scores = {}
    for _ in range(options.repeats):
        for way, score in ways.items():
            started = time.perf_counter()
            scores[way] = score()
            seconds[way].append(time.perf_counter() - started)
    rows = {
        way: {
            "documents a second": round(len(documents) / min(seconds[way]), 2),
            "seconds": [round(one, 3) for one in seconds[way]],
            "bytes": sizes.get(way),
            "largest difference": float(np.abs(found - scores[BASE]).max()),
            "largest difference of a logit": float(np.abs(odds(found) - odds(scores[BASE])).max()),
            f"same first {FIRST}": float((first(found) == first(scores[BASE])).all(1).mean()),
            "RP@5": evaluate(found, gold, method.label_space).values["all"]["RP@5"],
            "nDCG@5": evaluate(found, gold, method.label_space).values["all"]["nDCG@5"],
        }
        for way, found in scores.items()
    }
    result = {
        "what": "an exported network beside the same network in PyTorch: from text to scores",
        "method": method.name,
        "model": name,
        "bundle": bundles.describe(folder)["digest"][:16],
        "labels": len(method.label_space),
        "settings": {**dataclasses.asdict(method.settings), "documents a batch": BATCH},
        "data": {"name": data.name, "fingerprint": data.fingerprint, "split": "dev"},
        "documents": len(documents),
        "words": int(onnx_inputs(method, documents)["lengths"].sum()),
        "threads": options.threads,
        "repeats": options.repeats,
        "machine": {**machine(), "load": load},
        "command": f"python benchmarks/export.py {name or 'BUNDLE'} --documents "
        f"{options.documents} --repeats {options.repeats} --threads {options.threads}",
        "versions": current_versions("onnx", "onnxruntime"),
        "rows": rows,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{method.name}-{data.name}.json").write_text(json.dumps(result, indent=1) + "\n")
    write_table()


def exportable(method: Method) -> BaseNetworkMethod:
    """The network that is measured: the method itself, or the first of its members that can be."""
    found = next(one for one in within(method) if one.name in NETWORKS)
    assert isinstance(found, BaseNetworkMethod)
    return found


def odds(scores: Scores) -> np.ndarray[Any, np.dtype[np.float64]]:
    return log_odds(scores, RARE, 1 - RARE)


def first(scores: Scores) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The columns of the highest scores of each document, in any order: (D, FIRST)."""
    return np.sort(top_k(scores, FIRST), axis=1)


def shown(row: Mapping[str, Any], name: str, form: str) -> str:
    """A figure; older records have not all of them."""
    return format(row[name], form) if name in row else "–"


def write_table() -> None:
    """Put what was measured into the docs, between the two marks."""
    lines = []
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text())
        data = result["data"]
        of = f" of {result['model']}, {result['labels']:,} labels" if result.get("model") else ""
        lines += [
            f"{result['method']}{of}, {result['documents']} documents of {data['name']} "
            f"{data['split']} (fingerprint `{data['fingerprint']}`), from text to scores, "
            f"{result['threads']} threads, the quickest of {result['repeats']} "
            f"turns (load {result['machine']['load']} at the start); from "
            f"`benchmarks/results/export/{path.name}`:",
            "",
            "| | speed, to PyTorch's in float32 | MB | largest difference of a score | of a logit "
            f"| the same first {FIRST} | RP@5 | nDCG@5 |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        base = result["rows"][BASE]["documents a second"]
        for name, row in result["rows"].items():
            size = f"{row['bytes'] / 1e6:.1f}" if row["bytes"] else "–"
            lines.append(
                f"| {name} | {row['documents a second'] / base:.2f} | {size} "
                f"| {row['largest difference']:.1g} "
                f"| {shown(row, 'largest difference of a logit', '.1g')} "
                f"| {shown(row, f'same first {FIRST}', '.3f')} "
                f"| {row['RP@5']:.4f} | {row['nDCG@5']:.4f} |"
            )
        lines.append("")
    before, rest = DOCS.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    DOCS.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, "utf-8")


if __name__ == "__main__":
    main()
