"""Tagging with BIGRU-LWAN on a CPU beside LibMultiLabel's BiGRULWAN of the same sizes, in one run.

Both get the same numbered words of the same test documents and give the probability of every label.
Each side is measured in a process of its own, one after the other, several times. The peer's
weights are random, which changes nothing of its speed; ours are those of a trained bundle where
there is one, so that its ranking can be held against its float32 ranking, on dev.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from labelwise import bundle as bundles
from labelwise.bench import Plan, Result
from labelwise.bench.processes import PROGRAMS, environment, run_apart, run_program, threads
from labelwise.bench.results import data_facts, data_folder, spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.methods.base import Method
from labelwise.methods.bigru_lwan import BigruLwan, BigruLwanNetwork
from labelwise.methods.network import NetworkMethod
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.batches import Gatherer
from labelwise.training.numbered import Numbered
from labelwise.training.predict import predict
from labelwise.training.prepared import prepare
from labelwise.training.recipe import Precision

M = TypeVar("M", bound=Method)

OURS, IN_FULL = "labelwise", "labelwise, float32"
PEER, SORTED = "LibMultiLabel", "LibMultiLabel, documents by length"
PACKAGES = ("torch==2.13.0", "libmultilabel[nn]==0.10.0")
PEER_BATCH = 16  # documents, as in LibMultiLabel's own settings for BiGRULWAN on EURLEX57K

DOCUMENTS = 160
RANKED = 600  # dev documents
MAX_TOKENS = 2_000
WORDS = 700  # of the act that is tagged alone
CALLS = 50
REPEATS = 3


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much is measured; a test takes less."""

    documents: int = DOCUMENTS
    ranked: int = RANKED
    calls: int = CALLS
    units: int = 300


def run(plan: Plan) -> Result:
    return benchmark(plan, Sizes())


def benchmark(plan: Plan, sizes: Sizes) -> Result:
    repeats = plan.repeats or REPEATS
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        data = open_dataset(data_folder(plan, folder))
        saved, method = model(plan, data, sizes, folder)
        documents, act = some(data.test, sizes.documents), of_length(data.test, WORDS)
        shapes = write_request(folder, method, documents, act)
        request = {**shapes, "folder": work, "calls": sizes.calls, "threads": threads()}
        python = environment("libmultilabel-nn", PACKAGES, plan.out)

        def ours(precision: str) -> Callable[[], dict[str, Any]]:
            asked = {**request, "bundle": str(saved), "precision": precision}
            return lambda: dict(run_apart(measure_ours, asked))

        def peer(by_length: bool) -> Callable[[], dict[str, Any]]:
            def measured() -> dict[str, Any]:
                asked, answer = folder / "asked.json", folder / "answer.json"
                program = str(PROGRAMS / "libmultilabel_bigru_lwan.py")
                calls = 0 if by_length else sizes.calls  # one act needs no order
                batching = {"batch": PEER_BATCH, "by_length": by_length, "calls": calls}
                asked.write_text(json.dumps({**request, **batching}))
                run_program([python, program, str(asked), str(answer)])
                return dict(json.loads(answer.read_text()))

            return measured

        found = taking_turns(
            {
                OURS: ours("auto"),
                IN_FULL: ours("float32"),
                PEER: peer(by_length=False),
                SORTED: peer(by_length=True),
            },
            repeats,
        )
        trained = not saved.is_relative_to(folder)
        ranking = ranked(method, some(data.dev, sizes.ranked)) if trained else {}
        told = {
            "data": data_facts(data),
            "bundle": bundles.describe(saved)["digest"] if trained else None,
        }
    tokens = shapes["tokens"] / len(documents)
    return {
        "what": "Tagging with BIGRU-LWAN on a CPU",
        "text": f"{len(documents)} test documents of {tokens:,.0f} tokens on average and at most "
        f"{MAX_TOKENS:,}, {sizes.units} units a direction, {shapes['labels']:,} labels, from "
        "numbered words to probabilities. The peer reads 16 documents at a time, as in its own "
        "settings for these data: in their order, padded to the longest, or, in the last row, "
        "helped by sorting them. Memory is the most that a process held. RP@5 is of "
        f"{min(sizes.ranked, len(data.dev)):,} dev documents.",
        **told,
        "settings": {**dataclasses.asdict(sizes), "max_tokens": MAX_TOKENS},
        "threads": threads(),
        "repeats": repeats,
        "peer": PACKAGES[-1],
        "tables": [
            {
                "what": "Many documents",
                "columns": [
                    "",
                    {"key": "documents a second", "as": "ratio", "peer": PEER},
                    {"key": "peak memory", "as": "bytes"},
                    {"key": "peak memory", "name": "… to the peer's", "as": "ratio", "peer": PEER},
                    *([{"key": "RP@5", "as": "figure"}] if ranking else []),
                ],
                "rows": [
                    {**row(name, one, len(documents)), "RP@5": ranking.get(name)}
                    for name, one in found.items()
                ],
            },
            {
                "what": f"One act of {len(act.text.split())} words, the model loaded",
                "text": "Ours from its text, the peer from its numbered words.",
                "columns": [
                    "",
                    {"key": "median", "as": "seconds"},
                    {"key": "99th percentile", "as": "seconds"},
                    {"key": "median", "name": "median, to the peer's", "as": "ratio", "peer": PEER},
                    {"key": "load", "name": "loading the bundle", "as": "seconds"},
                ],
                "rows": [alone(name, found[name]) for name in (OURS, IN_FULL, PEER)],
            },
        ],
    }


def model(plan: Plan, data: Dataset, sizes: Sizes, work: Path) -> tuple[Path, BigruLwan]:
    """A trained bundle of these sizes; else a network of these sizes as training would begin with
    it, in the work folder."""
    if found := trained_bundle(plan, data, BigruLwan, layers=1, units=sizes.units):
        return found
    method = BigruLwan(BigruLwan.Settings(units=sizes.units, max_tokens=MAX_TOKENS))
    space = data.label_space
    prepared = prepare(data.train, [], space, vectors=None, dim=100, min_count=2, seed=0)
    assert isinstance(prepared.vocabulary, Vocabulary)
    method._label_space, method.vocabulary = space, prepared.vocabulary
    method.network = BigruLwanNetwork(method._material(prepared), method.settings)
    bundles.save(method, work / "untrained")
    return work / "untrained", method


def trained_bundle(
    plan: Plan, data: Dataset, kind: type[M], **settings: Any
) -> tuple[Path, M] | None:
    """The first bundle of the method for these labels in ``bundles``, beside the results, among
    those with such settings."""
    for path in sorted((plan.out.parent / "bundles").glob("*/bundle.json")):
        told = bundles.describe(path.parent)
        if told["method"] == kind.name and settings.items() <= told["settings"].items():
            method = bundles.load(path.parent)
            if method.label_space.fingerprint == data.label_space.fingerprint:
                assert isinstance(method, kind)
                return path.parent, method
    return None


def some(documents: Sequence[Document], count: int) -> Sequence[Document]:
    """So many of the documents, evenly spaced.

    >>> some(range(10), 4)
    range(0, 8, 2)
    """
    return documents[:: max(1, len(documents) // count)][:count]


def of_length(documents: Sequence[Document], words: int) -> Document:
    """The first document whose number of words is nearest to this."""
    return min(documents, key=lambda one: abs(len(one.text.split()) - words))


def write_request(
    folder: Path, method: BigruLwan, documents: Sequence[Document], act: Document
) -> dict[str, int]:
    """The documents as both sides read them, the act for ours, and the shapes for the peer."""
    method.settings = dataclasses.replace(method.settings, max_tokens=MAX_TOKENS)
    rows, alone = method._number(documents), method._number([act])
    np.savez(
        folder / "documents.npz",
        tokens=rows.tokens,
        starts=rows.starts,
        lengths=rows.lengths,
        act=alone.tokens[: alone.lengths[0]],
    )
    sections = [dataclasses.asdict(section) for section in act.sections]
    (folder / "act.json").write_text(json.dumps({"title": act.title, "sections": sections}))
    vocabulary, width = method.network.words.weight.shape
    return {
        "tokens": int(rows.lengths.sum()),
        "labels": len(method.label_space),
        "units": method.settings.units,
        "vocabulary": vocabulary,
        "width": width,
        "max_tokens": MAX_TOKENS,
    }


def ranked(method: BigruLwan, documents: Sequence[Document]) -> dict[str, float]:
    """RP@5 of our two rows."""
    gold = method.label_space.gold(documents)
    figures = {}
    rows: tuple[tuple[str, Precision], ...] = ((OURS, "auto"), (IN_FULL, "float32"))
    for name, precision in rows:
        method.settings = dataclasses.replace(method.settings, precision=precision)
        scores = method.scores(documents)
        figures[name] = evaluate(scores, gold, method.label_space).values["all"]["RP@5"]
    return figures


def row(name: str, repeats: Sequence[dict[str, Any]], documents: int) -> dict[str, Any]:
    return {
        "": name,
        "documents a second": spread([documents / one["seconds"] for one in repeats]),
        "peak memory": spread([one["peak memory"] for one in repeats]),
    }


def alone(name: str, repeats: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The latencies of all calls of all repeats together."""
    calls = [seconds for one in repeats for seconds in one["calls"]]
    loads = [one["load"] for one in repeats if "load" in one]
    return {
        "": name,
        "median": float(np.median(calls)),
        "99th percentile": float(np.percentile(calls, 99)),
        "calls": len(calls),
        "load": spread(loads) if loads else None,
    }


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
