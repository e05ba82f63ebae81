"""What is given changed inputs, and what may come of it: a result, or a sentence."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from labelwise import bundle as bundles
from labelwise.bench.load import free_port, running
from labelwise.campaigns import fuzz_samples as samples
from labelwise.campaigns.chaos_works import PROGRAM
from labelwise.campaigns.fuzz_mutations import Form
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.readers import read_stream
from labelwise.corpus.synthetic import make_dataset
from labelwise.corpus.thesaurus import read_thesaurus
from labelwise.errors import LabelwiseError
from labelwise.methods import get
from labelwise.methods.base import Method
from labelwise.training.checkpoint import UNSIGNED, read_checkpoint, write_checkpoint

UNFORESEEN = "worth a report"
"""What a reader says of an error that it did not foresee: no crash to users, and one to us."""

SERVED = "served.bundle"

PATIENCE = 60.0
"""Seconds for a service to answer one request."""

_CHECKSUM = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|/\S+|\d[\d.,]*")


class WrongError(Exception):
    """What may not come of any input."""


@dataclass(frozen=True)
class Target:
    """Something that reads inputs. ``run`` tells in a few words what became of one; inputs of which
    something new became are changed further. It raises nothing, or a fault was found."""

    kind: str
    name: str
    form: Form
    sample: bytes
    run: Callable[[bytes], str]


def _told(run: Callable[[bytes], str]) -> Callable[[bytes], str]:
    """With the errors that users may see as words, without what differs from input to input."""

    def told(data: bytes) -> str:
        try:
            return run(data)
        except LabelwiseError as error:
            sentence = str(error)
            if UNFORESEEN in sentence or "\n" in sentence.strip():
                raise WrongError(sentence) from error
            return _QUOTED.sub("*", sentence)[:120]

    return told


def _form(name: str) -> Form:
    if name.endswith((".docx", ".odt", ".epub")):
        return "zip"
    if name.endswith((".html", ".xhtml", ".xml")):
        return "markup"
    if name.endswith(".jsonl"):
        return "lines"
    return "json" if name.endswith(".json") else "bytes"


def readers(folder: Path | None) -> list[Target]:
    def reads(name: str) -> Callable[[bytes], str]:
        def run(data: bytes) -> str:
            found = list(islice(read_stream(io.BytesIO(data), name), 50))
            for one in found:
                one.text.encode()
            kinds = "".join(section.kind[0] for one in found for section in one.sections)
            return f"{len(found)} documents {kinds[:20]}"

        return _told(run)

    return [
        Target("files", name, _form(name), data, reads(name))
        for name, data in samples.files(folder).items()
    ]


def thesauri(scratch: Path) -> list[Target]:
    def reads(name: str) -> Callable[[bytes], str]:
        def run(data: bytes) -> str:
            (scratch / name).write_bytes(data)
            found = read_thesaurus(scratch / name)
            json.dumps(found.to_json(), ensure_ascii=False).encode()
            return f"{len(found.concepts)} concepts"

        return _told(run)

    return [
        Target("thesauri", name, _form(name), data, reads(name))
        for name, data in samples.thesauri().items()
    ]


SAVED: dict[str, dict[str, Any]] = {
    "cnn-lwan": {"epochs": 1, "dim": 4, "filters": 4, "kernel": 3, "device": "cpu"},
    "svm": {},
    "tree": {},
}
"""Methods whose bundles are changed, and settings that make them small: what is longer than an
input may be is always cut off."""

FORMS: dict[str, Form] = {"arrays": "tensors", "labels": "json", "values": "json"}


def saved(scratch: Path) -> list[Target]:
    """Bundles, part by part, with checksums that fit what is wrong in them; and a checkpoint."""
    data = _small_data(scratch)
    found = []
    for name in SAVED:
        method = _trained(name, data)
        folder = scratch / f"{name}.bundle"
        bundles.save(method, folder)
        found += _of_bundle(name, folder)
    checkpoint = scratch / "checkpoint.safetensors"
    _write_checkpoint(checkpoint)

    def checkpoint_reads(content: bytes) -> str:
        checkpoint.write_bytes(_signed(content))
        tensors, _ = read_checkpoint(checkpoint)
        return f"{len(tensors)} tensors"

    sample = checkpoint.read_bytes()
    run = _told(checkpoint_reads)
    return [*found, Target("checkpoints", "checkpoint", "tensors", sample, run)]


def _small_data(scratch: Path) -> Dataset:
    make_dataset(scratch / "data", train=16, dev=6, test=6)
    return open_dataset(scratch / "data")


def _trained(name: str, data: Dataset) -> Method:
    cls = get(name)
    method = cls(cls.Settings(**SAVED[name]))
    method.fit(data.train, data.dev, data.label_space)
    return method


def _of_bundle(name: str, folder: Path) -> list[Target]:
    manifest = json.loads((folder / bundles.MANIFEST).read_bytes())
    parts = {part: (folder / one["file"]).read_bytes() for part, one in manifest["files"].items()}
    act = Document("act", "", (Section("article", "The import of oranges."),))

    def part_loads(part: str) -> Callable[[bytes], str]:
        def run(content: bytes) -> str:
            _write_bundle(folder, manifest, {**parts, part: content})
            return _scored(folder, act)

        return _told(run)

    def manifest_loads(content: bytes) -> str:
        try:
            changed = json.loads(content)
            _write_bundle(folder, changed, parts)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError):
            (folder / bundles.MANIFEST).write_bytes(content)
        return _scored(folder, act)

    sample = json.dumps(manifest).encode()
    return [
        *(
            Target("bundles", f"{name}/{part}", form, parts[part], part_loads(part))
            for part, form in FORMS.items()
        ),
        Target("bundles", f"{name}/manifest", "json", sample, _told(manifest_loads)),
    ]


def _write_checkpoint(file: Path) -> None:
    import torch

    write_checkpoint(file, {"weights": torch.arange(12.0).reshape(3, 4)}, {"epoch": 3, "seed": 0})


def _signed(content: bytes) -> bytes:
    """A checkpoint as somebody would write it who computes its checksum again."""
    found = _CHECKSUM.search(content)
    if found is None:
        return content
    start, end = found.span(1)
    unsigned = hashlib.sha256(content[:start] + UNSIGNED.encode() + content[end:])
    return content[:start] + unsigned.hexdigest().encode() + content[end:]


def _write_bundle(folder: Path, manifest: Mapping[str, object], parts: Mapping[str, bytes]) -> None:
    """As somebody would who recomputes every checksum."""
    changed = json.loads(json.dumps(manifest))
    for part, content in parts.items():
        if part in changed["files"]:
            entry = changed["files"][part]
            (folder / Path(entry["file"]).name).write_bytes(content)
            entry |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    rest = {key: value for key, value in changed.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    changed["digest"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    (folder / bundles.MANIFEST).write_bytes(json.dumps(changed).encode())


def _scored(folder: Path, act: Document) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = bundles.load(folder)
        scores = method.scores([act])
    if not np.isfinite(scores).all():
        raise WrongError("a bundle that was accepted gives scores that are no numbers")
    return f"{scores.shape[1]} scores"


def requests(port: int) -> list[Target]:
    """Requests to a service that is running; each gets an answer that is no fault of the service,
    or its connection is closed, and the service lives on."""

    def run(data: bytes) -> str:
        answer = _asked(port, data)
        status = answer[9:12].decode("latin-1")
        if answer and not answer.startswith(b"HTTP/1.1 "):
            raise WrongError(f"the answer is not HTTP: {answer[:50]!r}")
        if status == "500":
            raise WrongError("the service answers 500")
        if b"Traceback" in answer:
            raise WrongError("the answer holds a traceback")
        kind = re.search(rb"urn:labelwise:[a-z-]+", answer)
        return f"{status} {kind[0].decode() if kind else ''}"

    return [
        Target("requests", name, "request", data, run) for name, data in samples.requests().items()
    ]


def _asked(port: int, data: bytes) -> bytes:
    """All that the service says to these bytes, after which no more come."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as made:
        made.settimeout(PATIENCE)
        with suppress(ConnectionError):
            made.sendall(data)
            with suppress(OSError):  # the service has answered and hung up already
                made.shutdown(socket.SHUT_WR)
            while piece := made.recv(65536):
                answer += piece
    return answer


@contextmanager
def service(scratch: Path) -> Iterator[tuple[int, int]]:
    """A service with a small model: its port and its process."""
    bundles.save(_trained("svm", _small_data(scratch)), scratch / SERVED)
    port = free_port()
    words = ("--quiet", "serve", f"svm={scratch / SERVED}", "--port", str(port))
    command = [sys.executable, "-c", PROGRAM, *words]
    ready = running(command, port=port, ready="/ready", env=os.environ, folder=scratch)
    with ready as process:
        yield port, process
