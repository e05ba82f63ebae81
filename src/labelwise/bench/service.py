"""Our service beside Annif's, on the same documents and routes, in one run.

Both serve omikuji's Bonsai trees, trained by each in its own way on the same documents; ours serves
the SVM besides. Both are asked over Annif's REST interface by the same clients: one document a
request, alone and eight at a time, and batches of 32. Models are kept below ``.prepared`` for the
next run. Annif's tokenizer needs data of NLTK, which a package on PyPI carries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from labelwise.bench.facts import data_facts, data_folder
from labelwise.bench.load import Measured, Request, free_port, load, memory_of, running
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import environment, run_program, threads
from labelwise.bench.results import spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
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
        folder = Path(work)
        both = both_sides(plan, folder)
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
    return {
        "what": "The service beside Annif's: tagging over REST",
        "text": f"Both are asked over Annif's routes for the {LIMIT} best labels of the same "
        f"{len(documents):,} test documents, by clients in one process on the same machine. Models "
        f"are trained on {len(train):,} documents. Ours is one process with two models, whose "
        "memory is that of both; Annif's has one model in every worker.",
        "data": of_data,
        "threads": threads(),
        "repeats": plan.repeats or 3,
        "peer": ANNIF[0],
        "settings": {"clients": CLIENTS, "batch": BATCH, "trained": len(train), "limit": LIMIT},
        "versions": current_versions("uvicorn", "fastapi", "omikuji"),
        "tables": [
            table("One document a request, 8 clients", found["together"], documents, before, after),
            table("One document a request, 1 client", found["alone"], documents),
            table(f"{BATCH} documents a request, 2 clients", found["batches"], documents),
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
    python = Path(annif_environment(plan.out))
    kept = (plan.out / ".prepared" / f"service-{data.fingerprint}").absolute()
    bundles = our_models(kept, data, train)
    annif = annif_model(kept / "annif", python, data, train)
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


def table(
    what: str,
    found: Mapping[str, list[Measured]],
    documents: Sequence[Document],
    before: Mapping[str, int] | None = None,
    after: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    rows = []
    for name, repeats in found.items():
        row = {
            "": name,
            "documents a second": spread([one.rate for one in repeats]),
            "median": spread([one.median for one in repeats]),
            "99th percentile": spread([one.slowest for one in repeats]),
            "RP@5": relevant(repeats[0].answers, documents),
        }
        if before is not None and after is not None:
            row |= {"memory before": before[name], "memory after": after[name]}
        rows.append(row)
    columns: list[Any] = [
        "",
        {"key": "documents a second", "as": "plain"},
        {
            "key": "documents a second",
            "name": "to Annif's 2 workers",
            "as": "ratio",
            "peer": PEERS,
        },
        {"key": "median", "as": "seconds"},
        {"key": "99th percentile", "as": "seconds"},
        {"key": "RP@5", "as": "figure"},
    ]
    if before is not None:
        columns += [{"key": f"memory {when}", "as": "bytes"} for when in ("before", "after")]
    return {"what": what, "columns": columns, "rows": rows}


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


def annif_environment(out: Path) -> str:
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
    return python


def annif_model(
    folder: Path, python: Path, data: Dataset, train: Sequence[Document]
) -> dict[str, str]:
    """Train Annif's omikuji backend as Bonsai, unless it is there; the variables to run it with."""
    variables = {
        **os.environ,
        "ANNIF_PROJECTS": str(folder / "projects.cfg"),
        "ANNIF_DATADIR": str(folder / "data"),
    }
    done = folder / "trained"
    if done.is_file():
        return variables
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
        called = subprocess.run(
            [str(python.parent / "annif"), *arguments],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if called.returncode:
            last = (called.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise LabelwiseError(f"`annif {arguments[0]}` ended with {called.returncode}: {last}")
    done.touch()
    return variables
