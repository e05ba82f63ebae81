"""Our SVM beside LibMultiLabel's, on the same documents, in one run.

Each repeat trains and scores both, one after the other, each in a process of its own. The same code
measures both: the threshold is tuned on dev, the figures are of test.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from labelwise.bench import Plan, Result
from labelwise.bench.processes import (
    LIBMULTILABEL,
    PROGRAMS,
    environment,
    run_apart,
    run_program,
    threads,
)
from labelwise.bench.results import data_facts, data_folder, spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import current_versions, peak_memory
from labelwise.evaluation.threshold import tune_threshold

OURS, PEER = "labelwise svm", "LibMultiLabel SVM"
MEASURES = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1 tuned"),
    ("few", "RP@5"),
    ("few", "nDCG@5"),
)
COSTS = ("fit seconds", "score seconds", "peak memory")


def run(plan: Plan) -> Result:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        where = data_folder(plan, folder)
        data = open_dataset(where)
        write_tsv(folder / "train.tsv", data.train)
        write_tsv(folder / "both.tsv", [*data.dev, *data.test])  # scored by the same model
        python = environment("libmultilabel", LIBMULTILABEL, plan.out)
        program = str(PROGRAMS / "libmultilabel_svm.py")

        def ours() -> dict[str, Any]:
            run_apart(train_ours, {"data": str(where), "out": str(folder / "ours")})
            return measured(folder / "ours", data)

        def peer() -> dict[str, Any]:
            files = [str(folder / name) for name in ("train.tsv", "both.tsv", "peer")]
            run_program([python, program, *files])
            return measured(folder / "peer", data)

        found = taking_turns({OURS: ours, PEER: peer}, plan.repeats or 1)
        documents = len(data.dev) + len(data.test)
        of_data = data_facts(data)
    return {
        "what": "One-vs-rest linear SVM: fit on train, score dev and test",
        "text": "The measures are of test. Ours scores from text, the peer from features: it turns "
        "text into features before, and that is in its time to fit.",
        "data": of_data,
        "threads": threads(),
        "repeats": plan.repeats or 1,
        "peer": LIBMULTILABEL[-1],
        "versions": current_versions("numba"),
        "columns": [
            "",
            *({"key": f"{group} {measure}", "as": "figure"} for group, measure in MEASURES),
            {"key": "fit seconds", "name": "time to fit", "as": "ratio", "peer": PEER},
            {
                "key": "score seconds",
                "name": f"time to score {documents:,} documents",
                "as": "ratio",
                "peer": PEER,
            },
            {"key": "peak memory", "as": "bytes"},
            {"key": "columns", "as": "count"},
        ],
        "rows": [row(name, repeats) for name, repeats in found.items()],
    }


def row(name: str, repeats: list[dict[str, Any]]) -> dict[str, Any]:
    """The repeats of one side as a row: costs with their spread, figures as they are each time."""
    costs = {key: spread([one[key] for one in repeats]) for key in COSTS}
    return {"": name, **repeats[0], **costs}


def train_ours(request: dict[str, str]) -> None:
    """Train and score in a process of our own, timed as the peer is: features, fit, scores."""
    from labelwise.methods.svm import SVM

    folder = Path(request["out"])
    folder.mkdir(parents=True, exist_ok=True)
    dataset = open_dataset(request["data"])
    scored_documents = [*dataset.dev, *dataset.test]
    train, space = dataset.train, dataset.label_space
    started = time.perf_counter()
    method = SVM()
    method.fit(train, dataset.dev, space)
    fitted = time.perf_counter()
    scores = method.scores(scored_documents)
    scored = time.perf_counter()
    np.save(folder / "scores.npy", scores)
    (folder / "labels.json").write_text(json.dumps(space.ids))
    cost = {
        "fit": fitted - started,
        "score": scored - fitted,
        "peak_memory": peak_memory(),
        "columns": len(method._tfidf.ngrams),
    }
    (folder / "cost.json").write_text(json.dumps(cost))


def write_tsv(path: Path, documents: Iterable[Document]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            file.write(f"{' '.join(document.labels)}\t{' '.join(document.text.split())}\n")


def measured(folder: Path, data: Dataset) -> dict[str, Any]:
    """What a side's scores are worth, and what they cost."""
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
        "score seconds": cost["score"],
        "peak memory": cost["peak_memory"],
        "columns": cost["columns"],
    }
