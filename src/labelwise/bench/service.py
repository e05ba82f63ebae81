"""Our service beside Annif's, on the same documents and routes, in one run; then by 1, 2 and 4
workers of each.

Both serve omikuji's Bonsai trees, trained by each in its own way on the same documents; ours serves
the SVM besides. Both are asked over Annif's REST interface by the same clients: one document a
request, alone and eight at a time, and batches of 32. Models are kept below ``.prepared`` for the
next run. Annif's tokenizer needs data of NLTK, which a package on PyPI carries.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from labelwise.bench import Plan, Result
from labelwise.bench.load import Measured, Request, free_port, load, memory_of, running
from labelwise.bench.processes import environment, run_program, threads
from labelwise.bench.results import data_facts, data_folder, spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.evaluation.counts import at_k, bitmask
from labelwise.evaluation.runs import current_versions

ANNIF = ("annif[omikuji]==1.4.3", "annif-client==0.5.0")
TOKENIZER = "llama-index-core==0.14.25"
"""A package that carries NLTK's punkt tables, for machines that reach PyPI alone."""

TRAINED, ASKED = 15_000, 400
"""Training documents, and test documents that are asked about, at most."""

CLIENTS, BATCH, LIMIT = 8, 32, 10

URI = "http://eurovoc.europa.eu/"
OURS, SVM = "labelwise, Bonsai", "labelwise, SVM"
PEER, PEERS = "Annif, Bonsai, 1 worker", "Annif, Bonsai, 2 workers"


def run(plan: Plan) -> Result:
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        both = both_sides(plan, Path(work))
        train, documents = both.train, both.documents
        of_data = data_facts(both.data)
        served = [f"{name}={path}" for name, path in both.bundles.items()]
        ours = stack.enter_context(both.ours(*served))
        sides = {
            OURS: (*ours, "tree"),
            SVM: (*ours, "svm"),
            PEER: (*stack.enter_context(both.theirs(1)), "bonsai"),
            PEERS: (*stack.enter_context(both.theirs(2)), "bonsai"),
        }
        for one, _, project in sides.values():  # what is loaded at the first request is loaded now
            load(one, single(project, documents[:BATCH]), 2)
        before = {name: memory_of(side[1]) for name, side in sides.items()}
        found = {
            what: taking_turns(
                {
                    name: measuring(side[0], make(side[2], documents), clients)
                    for name, side in sides.items()
                },
                plan.repeats or 3,
            )
            for what, (make, clients) in {
                "alone": (single, 1),
                "together": (single, CLIENTS),
                "batches": (batches, 2),
            }.items()
        }
        after = {name: memory_of(side[1]) for name, side in sides.items()}
        memory = {"memory before": before, "memory after": after}
    return {
        "what": "The service beside Annif's: tagging over REST",
        "text": f"Both are asked over Annif's routes for the {LIMIT} best labels of the same "
        f"{len(documents):,} test documents, by clients in one process on the same machine. Models "
        f"are trained on {len(train):,} documents. Ours is one process with two models, whose "
        "memory is that of both; Annif's has one model in every worker.",
        "data": of_data,
        **_setting(plan),
        "settings": {"clients": CLIENTS, "batch": BATCH, "trained": len(train), "limit": LIMIT},
        "tables": [
            {
                "what": f"One document a request, {CLIENTS} clients",
                **table(found["together"], documents, PEERS, **memory),
            },
            {
                "what": "One document a request, 1 client",
                **table(found["alone"], documents, PEERS),
            },
            {
                "what": f"{BATCH} documents a request, 2 clients",
                **table(found["batches"], documents, PEERS),
            },
        ],
    }


WORKERS = (1, 2, 4)


def run_workers(plan: Plan) -> Result:
    """Bonsai by 1, 2 and 4 workers of each side, with the clients of the run above."""
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        both = both_sides(plan, Path(work))
        documents = both.documents
        of_data = data_facts(both.data)
        sides = {}
        for workers in WORKERS:
            ours = both.ours(f"bonsai={both.bundles['tree']}", "--workers", str(workers))
            sides[name_of("labelwise", workers)] = stack.enter_context(ours)
            sides[name_of("Annif", workers)] = stack.enter_context(both.theirs(workers))
        requests = single("bonsai", documents)
        for port, _ in sides.values():  # every worker loads at its first request, or has loaded
            load(port, requests[: 8 * max(WORKERS)], CLIENTS)
        found = taking_turns(
            {name: measuring(port, requests, CLIENTS) for name, (port, _) in sides.items()},
            plan.repeats or 3,
        )
        memory = {name: memory_of(process) for name, (_, process) in sides.items()}
    return {
        "what": "The service by 1, 2 and 4 workers beside Annif's",
        "text": f"Both serve Bonsai trees trained on {len(both.train):,} documents, and are asked "
        f"over Annif's routes for the {LIMIT} best labels of {len(documents):,} test documents, "
        f"one a request, by {CLIENTS} clients in one process on the same {threads()} cores. Memory "
        "is that of all processes of a side; what they share is counted once.",
        "data": of_data,
        **_setting(plan),
        **table(found, documents, name_of("Annif", 1), memory=memory),
    }


def name_of(side: str, workers: int) -> str:
    """
    >>> name_of("Annif", 1), name_of("Annif", 2)
    ('Annif, 1 worker', 'Annif, 2 workers')
    """
    return f"{side}, {workers} worker{'s' if workers > 1 else ''}"


def _setting(plan: Plan) -> Result:
    return {
        "threads": threads(),
        "repeats": plan.repeats or 3,
        "peer": ANNIF[0],
        "versions": current_versions("uvicorn", "fastapi", "omikuji"),
    }


def table(
    found: Mapping[str, list[Measured]],
    documents: Sequence[Document],
    peer: str,
    **memory: Mapping[str, int],
) -> dict[str, Any]:
    """A row for each side, with its rate to the peer's, and its memory under the names given."""
    return {
        "columns": [
            "",
            {"key": "documents a second", "as": "plain"},
            {
                "key": "documents a second",
                "name": f"to Annif's {peer.rpartition(', ')[2]}",
                "as": "ratio",
                "peer": peer,
            },
            {"key": "median", "as": "seconds"},
            {"key": "99th percentile", "as": "seconds"},
            {"key": "RP@5", "as": "figure"},
            *({"key": when, "as": "bytes"} for when in memory),
        ],
        "rows": [
            {
                "": name,
                "documents a second": spread([one.rate for one in repeats]),
                "median": spread([one.median for one in repeats]),
                "99th percentile": spread([one.slowest for one in repeats]),
                "RP@5": relevant(repeats[0].answers, documents),
                **{when: held[name] for when, held in memory.items()},
            }
            for name, repeats in found.items()
        ],
    }


class Side(NamedTuple):
    """A service that runs."""

    port: int
    process: int


class BothSides(NamedTuple):
    """What is asked about, and the models of both, trained or found."""

    data: Dataset
    train: list[Document]
    documents: list[Document]
    python: Path
    """Annif's."""
    bundles: dict[str, Path]
    annif: dict[str, str]
    """The variables that Annif runs with."""
    folder: Path
    """Where services run, and log what they say."""

    def ours(self, *arguments: str) -> AbstractContextManager[Side]:
        """``labelwise serve`` with these arguments."""
        command = [sys.executable, "-m", "labelwise", "serve", *arguments]
        return self._serving(command, "/ready", os.environ)

    def theirs(self, workers: int) -> AbstractContextManager[Side]:
        """Annif by uvicorn, as it comes."""
        command = [str(self.python), "-m", "uvicorn", "--factory", "annif:create_app"]
        options = ["--workers", str(workers), "--log-level", "warning"]
        return self._serving([*command, *options], "/v1/projects/bonsai", self.annif)

    @contextmanager
    def _serving(self, command: list[str], ready: str, env: Mapping[str, str]) -> Iterator[Side]:
        port = free_port()
        with running(
            [*command, "--port", str(port)], port=port, ready=ready, env=env, folder=self.folder
        ) as process:
            yield Side(port, process)


def both_sides(plan: Plan, folder: Path) -> BothSides:
    data = open_dataset(data_folder(plan, folder))
    train, documents = list(data.train[:TRAINED]), list(data.test[:ASKED])
    bundles = our_models(kept_models(plan, data), data, train)
    python, annif = annif_model(plan, data, train)
    return BothSides(data, train, documents, python, bundles, annif, folder)


def measuring(port: int, requests: Sequence[Request], clients: int) -> Callable[[], Measured]:
    return lambda: load(port, requests, clients)


def single(project: str, documents: Sequence[Document]) -> list[Request]:
    """One request a document, as Annif's ``http`` backend asks."""
    return [
        Request(
            f"/v1/projects/{project}/suggest",
            urlencode({"text": one.text, "limit": LIMIT}).encode(),
            "application/x-www-form-urlencoded",
        )
        for one in documents
    ]


def batches(project: str, documents: Sequence[Document]) -> list[Request]:
    """Batches as Annif's client sends them."""
    cut = [documents[at : at + BATCH] for at in range(0, len(documents), BATCH)]
    return [
        Request(
            f"/v1/projects/{project}/suggest-batch?limit={LIMIT}",
            json.dumps(
                {"documents": [{"document_id": one.id, "text": one.text} for one in some]}
            ).encode(),
            "application/json",
            len(some),
        )
        for some in cut
    ]


def relevant(answers: Sequence[bytes], documents: Sequence[Document]) -> float:
    """RP@5 of what came back: both sides answered in earnest."""
    parsed = [json.loads(answer) for answer in answers]
    found = [one for answer in parsed for one in (answer if isinstance(answer, list) else [answer])]
    hits, gold_labels = [], []
    for one, document in zip(found, documents, strict=True):
        gold = {URI + label for label in document.labels}
        if gold:
            is_gold = [hit["uri"] in gold for hit in one["results"][:5]]
            hits.append(is_gold + [False] * (5 - len(is_gold)))
            gold_labels.append(len(gold))
    return float(at_k("RP@5", bitmask(np.array(hits)), np.array(gold_labels)).mean())


def kept_models(plan: Plan, data: Dataset) -> Path:
    return (plan.out / ".prepared" / f"service-{data.fingerprint}").absolute()


def our_models(kept: Path, data: Dataset, train: Sequence[Document]) -> dict[str, Path]:
    """Bundles of Bonsai and of the SVM, trained unless they are there."""
    from labelwise import bundle
    from labelwise.methods import get

    found = {}
    for name in ("tree", "svm"):
        found[name] = kept / f"{name}.bundle"
        if not (found[name] / bundle.MANIFEST).is_file():
            method = get(name)()
            method.fit(train, data.dev, data.label_space)
            bundle.save(method, found[name])
    return found


def annif_environment(out: Path) -> Path:
    """The Python of an environment with Annif and the tables that its tokenizer needs."""
    python = environment("annif", ANNIF, out)
    folder = (out / ".peers" / "annif" / "nltk_data").absolute()
    if not (folder / "tokenizers" / "punkt_tab" / "english").is_dir():
        with tempfile.TemporaryDirectory() as work:
            pip = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work]
            run_program([*pip, TOKENIZER])
            (wheel,) = Path(work).glob("*.whl")
            with zipfile.ZipFile(wheel) as packed:
                before = "llama_index/core/_static/nltk_cache/"
                for name in packed.namelist():
                    if name.startswith(f"{before}tokenizers/punkt_tab/english/"):
                        path = folder / name.removeprefix(before)
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(packed.read(name))
    return Path(python)


def annif_model(
    plan: Plan, data: Dataset, train: Sequence[Document]
) -> tuple[Path, dict[str, str]]:
    """Train Annif's omikuji backend as Bonsai, unless it is there; its Python, and the variables to
    run it with."""
    python, folder = annif_environment(plan.out), kept_models(plan, data) / "annif"
    variables = {
        **os.environ,
        "ANNIF_PROJECTS": str(folder / "projects.cfg"),
        "ANNIF_DATADIR": str(folder / "data"),
    }
    done = folder / "trained"
    if done.is_file():
        return python, variables
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "projects.cfg").write_text(
        "[bonsai]\nname=Omikuji Bonsai\nlanguage=en\nbackend=omikuji\nvocab=labels\nlimit=100\n"
        "analyzer=snowball(english)\ncluster_balanced=False\ncluster_k=100\nmax_depth=3\nmin_df=3\n"
    )
    with (folder / "labels.tsv").open("w", encoding="utf-8") as file:
        for label in data.label_space.labels:
            file.write(f"<{URI}{label.id}>\t{label.descriptor}\n")
    with (folder / "train.tsv").open("w", encoding="utf-8") as file:
        for one in train:
            gold = " ".join(f"<{URI}{label}>" for label in one.labels)
            file.write(f"{' '.join(one.text.split())}\t{gold}\n")
    for arguments in (
        ["load-vocab", "--language", "en", "labels", "labels.tsv"],
        ["train", "--jobs", str(threads()), "bonsai", "train.tsv"],
    ):
        run_program([str(python.parent / "annif"), *arguments], env=variables, cwd=folder)
    done.touch()
    return python, variables
