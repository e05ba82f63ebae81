"""Our SVM beside LibMultiLabel's, on the same documents, in one run.

    python benchmarks/svm.py [--repeats N]

Uses EURLEX57K where LABELWISE_DATA names it, else the synthetic corpus. The peer is installed from
PyPI into an environment of its own. Each repeat trains and scores both, one after the other, and
the medians are written to benchmarks/results/svm-DATA.json; benchmarks/README.md is made from it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from peers import environment
from tables import write_readme

from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import current_versions
from labelwise.evaluation.threshold import tune_threshold

HERE = Path(__file__).parent
PEER = "libmultilabel==0.10.0"
MEASURES = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1 tuned"),
    ("few", "RP@5"),
    ("few", "nDCG@5"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        ours(Path(options.ours))
        return
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        data = find_data(folder)
        for split in ("train", "dev", "test"):
            write_tsv(folder / f"{split}.tsv", data, split)
        # dev and test in one file: both are scored by the same model
        both = (folder / "dev.tsv").read_text("utf-8") + (folder / "test.tsv").read_text("utf-8")
        (folder / "both.tsv").write_text(both, "utf-8")
        python = environment("libmultilabel", ["torch==2.13.0", PEER])
        runs: dict[str, list[dict[str, Any]]] = {"labelwise svm": [], "LibMultiLabel SVM": []}
        for repeat in range(options.repeats):
            run([sys.executable, __file__, "--ours", str(folder / "ours")])
            run([
                python, str(HERE / "peer_programs" / "libmultilabel_svm.py"),
                str(folder / "train.tsv"), str(folder / "both.tsv"), str(folder / "peer"),
            ])  # fmt: skip
            runs["labelwise svm"].append(measured(folder / "ours", data))
            runs["LibMultiLabel SVM"].append(measured(folder / "peer", data))
            print(f"repeat {repeat + 1}: {runs['labelwise svm'][-1]}", file=sys.stderr)
            print(f"repeat {repeat + 1}: {runs['LibMultiLabel SVM'][-1]}", file=sys.stderr)
    rows = {
        name: {key: median(one[key] for one in found) for key in found[0]}
        for name, found in runs.items()
    }
    result = {
        "what": "one-vs-rest linear SVM: fit on train, score dev and test",
        "data": {"name": data.name, "fingerprint": data.fingerprint, "counts": data.counts},
        "threads": len(os.sched_getaffinity(0)),
        "repeats": options.repeats,
        "peer": PEER,
        "versions": current_versions("numba"),
        "rows": rows,
        "runs": runs,
    }
    path = HERE / "results" / f"svm-{data.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    write_readme(HERE)


def find_data(folder: Path) -> Dataset:
    if os.environ.get("LABELWISE_DATA"):
        return open_dataset(os.environ["LABELWISE_DATA"])
    make_dataset(folder / "synthetic", seed=0)
    return open_dataset(folder / "synthetic")


def ours(out: Path) -> None:
    """Train and score in a process of our own, timed as the peer is: features, fit, scores."""
    from labelwise.methods.svm import SVM

    out.mkdir(parents=True, exist_ok=True)
    data = find_data(out)
    scored_documents = [*data.dev, *data.test]
    train, space = data.train, data.label_space
    started = time.perf_counter()
    method = SVM()
    method.fit(train, data.dev, space)
    fitted = time.perf_counter()
    scores = method.scores(scored_documents)
    scored = time.perf_counter()
    np.save(out / "scores.npy", scores)
    (out / "labels.json").write_text(json.dumps(space.ids))
    cost = {
        "fit": fitted - started,
        "score": scored - fitted,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "columns": len(method._tfidf.ngrams),
    }
    (out / "cost.json").write_text(json.dumps(cost))


def write_tsv(path: Path, data: Dataset, split: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for document in getattr(data, split):
            file.write(f"{' '.join(document.labels)}\t{' '.join(document.text.split())}\n")


def measured(folder: Path, data: Dataset) -> dict[str, Any]:
    """Measure both with the same code; the threshold is tuned on dev, the figures are of test."""
    space, found = data.label_space, np.load(folder / "scores.npy")
    labels = json.loads((folder / "labels.json").read_text())
    scores = np.full((len(found), len(space)), found.min() - 1, dtype=np.float32)
    scores[:, [space.index[label] for label in labels]] = found
    dev, test = scores[: len(data.dev)], scores[len(data.dev) :]
    threshold = tune_threshold(dev, space.gold(data.dev))
    figures = evaluate(test, space.gold(data.test), space, tuned_threshold=threshold)
    cost = json.loads((folder / "cost.json").read_text())
    return {
        **{f"{group} {measure}": figures[group][measure] for group, measure in MEASURES},
        "fit seconds": cost["fit"],
        "documents scored a second": len(found) / cost["score"],
        "peak memory": cost["peak_memory"],
        "columns": cost["columns"],
    }


def run(command: list[str]) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
