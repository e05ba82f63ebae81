"""Fetching EURLEX57K, from a server on this machine that misbehaves in all the usual ways."""

from __future__ import annotations

import io
import json
import re
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus import fetch as fetching
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.fetch import Download, fetch, fetch_eurlex57k
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import LabelwiseError

COUNTS = {"train": 12, "dev": 4, "test": 5}


@dataclass
class Served:
    """A file on the server, and what goes wrong with it."""

    data: bytes
    version: str = '"v1"'
    knows_ranges: bool = True
    cuts: int = 0
    """How many answers break off half-way."""
    refusals: list[int] = field(default_factory=list)
    """Status codes that are answered first, one a request."""


@dataclass
class Server:
    address: str
    files: dict[str, Served] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Range header of each request."""

    def source(self, archive: str = "dataset.zip", base: str | None = None) -> Download:
        base = base or self.address
        return Download(f"{base}/{archive}", f"{base}/concepts.jsonl", "eurovoc_concepts.jsonl")

    def ranges(self, name: str) -> list[str | None]:
        return [asked for path, asked in self.requests if path == name]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        state: Server = self.server.state
        name = self.path.lstrip("/")
        asked = self.headers.get("Range")
        state.requests.append((name, asked))
        served = state.files.get(name)
        if served is None or served.refusals:
            self.send_error(404 if served is None else served.refusals.pop(0))
            return
        start = 0
        same = self.headers.get("If-Range") == served.version
        if asked and same and served.knows_ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])  # type: ignore[index]
        if start >= len(served.data):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(served.data)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        rest = served.data[start:]
        self.send_response(206 if start else 200)
        if start:
            end, total = len(served.data) - 1, len(served.data)
            self.send_header("Content-Range", f"bytes {start}-{end}/{total}")
        if served.version:
            self.send_header("ETag", served.version)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if served.cuts:
            served.cuts -= 1
            self.wfile.write(rest[: len(rest) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(rest)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "synthetic"
    make_dataset(folder, train=COUNTS["train"], dev=COUNTS["dev"], test=COUNTS["test"])
    return folder


def zip_of(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def archive(corpus: Path) -> bytes:
    """As archive.org has it: three JSONL files whose labels are under ``eurovoc_concepts``."""
    return zip_of(
        {
            f"{split}.jsonl": (corpus / f"{split}.jsonl")
            .read_bytes()
            .replace(b'"concepts"', b'"eurovoc_concepts"')
            for split in COUNTS
        }
    )


@pytest.fixture(scope="module")
def authors_archive(corpus: Path) -> bytes:
    """As the authors have it: a folder a split, a JSON file a document, and macOS leftovers."""
    files = {"dataset/": b"", "__MACOSX/dataset/train/._x.json": b"\x00\x05", "dataset/.DS": b""}
    for split in COUNTS:
        for line in (corpus / f"{split}.jsonl").read_text("utf-8").splitlines():
            document = json.loads(line)
            name = f"dataset/{split}/{document['celex_id']}.json"
            files[name] = json.dumps(document, indent=2).encode()
    return zip_of(files)


@pytest.fixture(scope="module")
def concepts(corpus: Path) -> bytes:
    entries = json.loads((corpus / "descriptors.json").read_text("utf-8")).values()
    lines = ({"id": e["concept_id"], "title": e["label"], "alt_labels": []} for e in entries)
    return "\n".join(map(json.dumps, lines)).encode()


@pytest.fixture
def server(archive: bytes, concepts: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.state = Server(f"http://127.0.0.1:{running.server_port}")  # type: ignore[attr-defined]
    running.state.files = {  # type: ignore[attr-defined]
        "dataset.zip": Served(archive),
        "concepts.jsonl": Served(concepts),
    }
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running.state  # type: ignore[attr-defined]
    running.shutdown()
    running.server_close()
    thread.join()


def get(folder: Path, *sources: Download, **options: Any) -> bool:
    settings: dict[str, Any] = {"counts": COUNTS, "timeout": 5, "attempts": 3, "pause": 0}
    return fetch_eurlex57k(folder, sources=sources, **(settings | options))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


WHOLE = {"train.jsonl", "dev.jsonl", "test.jsonl", "eurovoc_concepts.jsonl"}


def test_what_was_fetched_is_a_data_set_and_nothing_else_stays_behind(
    server: Server, tmp_path: Path, corpus: Path
) -> None:
    assert get(tmp_path / "new" / "eurlex57k", server.source())
    folder = tmp_path / "new" / "eurlex57k"
    assert names(folder) == WHOLE
    data = open_dataset(folder)
    assert {split: data.counts[split] for split in COUNTS} == COUNTS
    assert list(data.train) == list(open_dataset(corpus).train)
    label = data.label_space.labels[0]
    assert label.descriptor == open_dataset(corpus).label_space.labels[0].descriptor != label.id


def test_complete_data_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.source())
    server.requests.clear()
    assert not get(tmp_path, server.source())
    assert server.requests == []


def test_only_what_is_missing_is_downloaded(server: Server, tmp_path: Path) -> None:
    get(tmp_path, server.source())
    (tmp_path / "eurovoc_concepts.jsonl").unlink()
    server.requests.clear()
    assert get(tmp_path, server.source())
    assert server.requests == [("concepts.jsonl", None)]
    before = (tmp_path / "train.jsonl").stat()
    (tmp_path / "dev.jsonl").unlink()
    assert get(tmp_path, server.source())
    assert names(tmp_path) == WHOLE
    after = (tmp_path / "train.jsonl").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_second_source_serves_where_the_first_does_not(
    server: Server, tmp_path: Path, authors_archive: bytes, corpus: Path
) -> None:
    server.files["datasets.zip"] = Served(authors_archive)
    get(tmp_path, server.source("gone.zip"), server.source("datasets.zip"))
    assert names(tmp_path) == WHOLE
    assert list(open_dataset(tmp_path).test) == list(open_dataset(corpus).test)


def test_a_download_that_breaks_off_goes_on_where_it_stopped(
    server: Server, tmp_path: Path, archive: bytes
) -> None:
    server.files["dataset.zip"].cuts = 1
    get(tmp_path, server.source())
    assert names(tmp_path) == WHOLE
    assert server.ranges("dataset.zip") == [None, f"bytes={len(archive) // 2}-"]


def test_a_later_call_goes_on_as_well(server: Server, tmp_path: Path, archive: bytes) -> None:
    server.files["dataset.zip"].cuts = 1
    with pytest.raises(LabelwiseError, match="broke off after"):
        get(tmp_path, server.source(), attempts=1)
    half = archive[: len(archive) // 2]
    assert (tmp_path / "dataset.zip.part").read_bytes() == half
    get(tmp_path, server.source(), attempts=1)
    assert server.ranges("dataset.zip") == [None, f"bytes={len(half)}-"]
    assert names(tmp_path) == WHOLE


def test_breaking_off_often_is_no_failure_as_long_as_bytes_come(
    server: Server, tmp_path: Path
) -> None:
    server.files["dataset.zip"].cuts = 7
    get(tmp_path, server.source(), attempts=2)
    assert names(tmp_path) == WHOLE


@pytest.mark.parametrize("version", ['"v1"', ""], ids=["ignores ranges", "names no version"])
def test_a_server_that_cannot_go_on_is_asked_for_all_of_it(
    server: Server, tmp_path: Path, version: str
) -> None:
    served = server.files["dataset.zip"]
    served.knows_ranges, served.version, served.cuts = False, version, 1
    get(tmp_path, server.source())
    assert names(tmp_path) == WHOLE


def test_a_file_that_changed_on_the_server_is_started_over(server: Server, tmp_path: Path) -> None:
    served = server.files["dataset.zip"]
    served.cuts = 1
    with pytest.raises(LabelwiseError):
        get(tmp_path, server.source(), attempts=1)
    served.version = '"v2"'
    get(tmp_path, server.source(), attempts=1)
    assert names(tmp_path) == WHOLE
    assert len(server.ranges("dataset.zip")) == 2


def test_a_part_that_was_complete_already_is_used(
    server: Server, tmp_path: Path, archive: bytes
) -> None:
    (tmp_path / "dataset.zip.part").write_bytes(archive)
    notes = {"address": f"{server.address}/dataset.zip", "version": '"v1"'}
    (tmp_path / "dataset.zip.part.json").write_text(json.dumps(notes))
    get(tmp_path, server.source())
    assert server.ranges("dataset.zip") == [f"bytes={len(archive)}-"]
    assert names(tmp_path) == WHOLE


def test_a_part_without_notes_is_not_trusted(
    server: Server, tmp_path: Path, archive: bytes
) -> None:
    (tmp_path / "dataset.zip.part").write_bytes(b"<html>not what you think</html>")
    (tmp_path / "dataset.zip.part.json").write_text("{broken")
    get(tmp_path, server.source())
    assert server.ranges("dataset.zip") == [None]
    assert names(tmp_path) == WHOLE


def test_a_truncated_archive_is_downloaded_once_more_and_then_refused(
    server: Server, tmp_path: Path, archive: bytes
) -> None:
    server.files["dataset.zip"].data = archive[: len(archive) // 2]
    with pytest.raises(LabelwiseError, match="is no complete zip archive: it was cut short"):
        get(tmp_path, server.source())
    assert server.ranges("dataset.zip") == [None, None]
    assert names(tmp_path) == set()


def test_an_archive_with_one_altered_word_is_refused(
    server: Server, tmp_path: Path, corpus: Path
) -> None:
    files = {f"{split}.jsonl": (corpus / f"{split}.jsonl").read_bytes() for split in COUNTS}
    archive = zip_of(files, zipfile.ZIP_STORED)
    server.files["dataset.zip"].data = archive.replace(b"Treaty", b"Treatx", 1)
    with pytest.raises(LabelwiseError, match=r"train\.jsonl is damaged \(Bad CRC-32"):
        get(tmp_path, server.source())
    assert names(tmp_path) == set()


@pytest.mark.parametrize("at", [0.1, 0.3, 0.5, 0.7])
def test_an_archive_with_a_flipped_bit_is_refused(
    server: Server, tmp_path: Path, archive: bytes, at: float
) -> None:
    damaged = bytearray(archive)
    damaged[int(len(archive) * at)] ^= 0x40
    server.files["dataset.zip"].data = bytes(damaged)
    with pytest.raises(LabelwiseError, match=r"EURLEX57K could not be fetched .*dataset\.zip"):
        get(tmp_path, server.source())
    assert names(tmp_path) == set()


def test_an_incomplete_archive_is_refused_with_both_counts(server: Server, tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match="has 12 train documents, not 45,000"):
        get(tmp_path, server.source(), counts={"train": 45_000, "dev": 4, "test": 5})
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("train.jsonl", b'{"celex_id": "32001R9001"\n', r"train\.jsonl, document 1: broken JSON"),
        ("train.jsonl", b"[1, 2]\n", "document 1: this is no document"),
        ("train.jsonl", b'{"celex_id": "32001R9001"}\n', "field 'header': missing key"),
        ("notes.txt", b"hello", "has no train documents"),
        (".", b"hello", "has no train documents"),
        ("../train.jsonl", b"{}", r"would lie outside the folder, '\.\./train\.jsonl'"),
        ("/etc/train.jsonl", b"{}", "would lie outside the folder"),
        ("C:\\train.jsonl", b"{}", "would lie outside the folder"),
    ],
)
def test_an_archive_of_something_else_is_refused(
    server: Server, tmp_path: Path, file: str, content: bytes, problem: str
) -> None:
    others = {"dev.jsonl": b"{}", "test.jsonl": b"{}"}
    server.files["dataset.zip"].data = zip_of({file: content} | others)
    with pytest.raises(LabelwiseError, match=problem):
        get(tmp_path / "data", server.source())
    assert names(tmp_path) == {"data"}
    assert names(tmp_path / "data") == set()


def test_documents_that_are_there_twice_are_refused(
    server: Server, tmp_path: Path, corpus: Path
) -> None:
    files = {f"{split}.jsonl": (corpus / f"{split}.jsonl").read_bytes() for split in COUNTS}
    files["dev.jsonl"] *= 2
    server.files["dataset.zip"].data = zip_of(files)
    with pytest.raises(LabelwiseError, match=r"dev\.jsonl, document 5: 3\d+[RDL]9\d+ is there twi"):
        get(tmp_path, server.source())


def test_more_bytes_than_due_are_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "UNPACKED_LIMIT", 1000)
    with pytest.raises(LabelwiseError, match=r"would unpack to .* more than the 1,000 due"):
        get(tmp_path, server.source())
    monkeypatch.setattr(fetching, "ARCHIVE_LIMIT", 1000)
    with pytest.raises(LabelwiseError, match="bytes, more than the 1,000 due"):
        get(tmp_path, server.source())


def test_a_missing_file_is_final_but_a_busy_server_is_asked_again(
    server: Server, tmp_path: Path
) -> None:
    with pytest.raises(LabelwiseError, match=r"gone\.zip: the server answered 404 Not Found"):
        get(tmp_path, server.source("gone.zip"))
    assert len(server.ranges("gone.zip")) == 1
    server.files["dataset.zip"].refusals = [500, 503]
    get(tmp_path, server.source())
    assert len(server.ranges("dataset.zip")) == 3
    assert names(tmp_path) == WHOLE


def test_a_server_that_stays_broken_is_given_up(server: Server, tmp_path: Path) -> None:
    server.files["dataset.zip"].refusals = [500] * 9
    with pytest.raises(LabelwiseError, match="the server answered 500 Internal Server Error"):
        get(tmp_path, server.source())
    assert len(server.ranges("dataset.zip")) == 3


def test_pauses_double_between_attempts(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("labelwise.corpus.download.time.sleep", pauses.append)
    server.files["dataset.zip"].refusals = [503] * 9
    with pytest.raises(LabelwiseError):
        get(tmp_path, server.source(), attempts=4, pause=1.0)
    assert pauses == [1.0, 2.0, 4.0]


def test_no_network_is_one_sentence_that_says_what_to_place_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"  # bound, but nobody listens
        source = Download(f"{address}/dataset.zip", f"{address}/concepts.jsonl", "concepts.jsonl")
        with pytest.raises(LabelwiseError) as raised:
            get(tmp_path, source)
    message = str(raised.value)
    assert f"{address}/dataset.zip: connection refused" in message
    assert f"place both files in {tmp_path} and run the same command again" in message
    assert "\n" not in message


def test_a_server_that_says_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        source = Download(f"{address}/dataset.zip", f"{address}/concepts.jsonl", "concepts.jsonl")
        with pytest.raises(LabelwiseError, match="the server did not answer in time"):
            get(tmp_path, source, timeout=0.2, attempts=2)


def test_an_archive_placed_by_hand_is_used_and_kept(
    tmp_path: Path, archive: bytes, authors_archive: bytes, concepts: bytes
) -> None:
    nowhere = "http://127.0.0.1:9"
    sources = [
        Download(f"{nowhere}/dataset.zip", f"{nowhere}/a", "eurovoc_concepts.jsonl"),
        Download(f"{nowhere}/datasets.zip", f"{nowhere}/b", "EURLEX57K.json"),
    ]
    for name, content in (("dataset.zip", archive), ("datasets.zip", authors_archive)):
        folder = tmp_path / name.removesuffix(".zip")
        folder.mkdir()
        (folder / name).write_bytes(content)
        (folder / "eurovoc_concepts.jsonl").write_bytes(concepts)
        get(folder, *sources)
        assert names(folder) == {*WHOLE, name}


def test_a_damaged_archive_placed_by_hand_is_named_and_left_alone(
    tmp_path: Path, archive: bytes
) -> None:
    (tmp_path / "dataset.zip").write_bytes(archive[:500])
    nowhere = "http://127.0.0.1:9"
    with pytest.raises(LabelwiseError, match=r"dataset\.zip is no complete zip .* delete the file"):
        get(tmp_path, Download(f"{nowhere}/dataset.zip", f"{nowhere}/c", "c.jsonl"))
    assert (tmp_path / "dataset.zip").read_bytes() == archive[:500]


def test_other_documents_are_never_overwritten(server: Server, corpus: Path) -> None:
    before = (corpus / "train.jsonl").read_bytes()
    with pytest.raises(LabelwiseError, match=r"train\.jsonl has 12 documents, not the 45,000"):
        fetch_eurlex57k(corpus, sources=[server.source()])
    assert (corpus / "train.jsonl").read_bytes() == before
    assert server.requests == []


def test_descriptors_that_are_none_are_refused(server: Server, tmp_path: Path) -> None:
    server.files["concepts.jsonl"].data = b"<html>Sign in to the hotel's network</html>"
    with pytest.raises(LabelwiseError, match=r"concepts\.jsonl: these are no descriptors"):
        get(tmp_path, server.source())
    assert names(tmp_path) == WHOLE - {"eurovoc_concepts.jsonl"}


def test_an_unknown_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match="no data set is called 'eurlex99k'; there are: cell"):
        fetch("eurlex99k", tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(LabelwiseError, match="cannot be used as a folder"):
        get(tmp_path / "data", Download("http://127.0.0.1:9/a.zip", "http://127.0.0.1:9/c", "c"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_said_to_be_one_and_not_tried_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "dataset.zip.part").symlink_to("/dev/full")
    with pytest.raises(LabelwiseError, match=r"cannot be written \(No space left on device\)"):
        get(tmp_path, server.source())
    assert len(server.ranges("dataset.zip")) == 1


@pytest.mark.real
def test_the_real_data_counts_as_complete(real_data: Path) -> None:
    nowhere = Download("http://127.0.0.1:9/a.zip", "http://127.0.0.1:9/c", "EURLEX57K.json")
    assert not fetch_eurlex57k(real_data / "eurlex57k", sources=[nowhere])
