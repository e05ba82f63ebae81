"""Files that people drop: every format, every kind of rubbish, and nothing left on the disk."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import written_files
from serving_cases import ACT, PATIENCE, figure, wait_until

from labelwise.corpus.readers import read
from labelwise.methods import Method
from labelwise.serving import reading
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")

FILES = Path(__file__).parent.parent / "corpus" / "files"


def parse(client: httpx.Client, name: str, data: bytes) -> httpx.Response:
    return client.post("/v1/parse", files={"file": (name, data)})


@pytest.mark.parametrize(
    "name", ["oj_2006.html", "oj_2024.xhtml", "formex_act.xml", "act_1967.txt"]
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_an_uploaded_file_is_read_as_from_the_disk(
    name: str, pack: Callable[[bytes], bytes], client: httpx.Client
) -> None:
    data = (FILES / name).read_bytes()
    answer = parse(client, name, pack(data))
    assert answer.status_code == 200, answer.text
    (document,) = read(FILES / name)
    (found,) = answer.json()["documents"]
    assert found["title"] == document.title
    assert found["id"] == document.id
    assert [(one["kind"], one["text"]) for one in found["sections"]] == [
        (one.kind, one.text) for one in document.sections
    ]


@pytest.mark.parametrize("name", written_files.every_kind())
def test_printed_and_office_files_are_read_as_from_the_disk(
    name: str, client: httpx.Client, tmp_path: Path
) -> None:
    data = written_files.every_kind()[name]
    (tmp_path / name).write_bytes(data)
    (document,) = read(tmp_path)
    (found,) = parse(client, name, data).json()["documents"]
    assert [(one["kind"], one["text"]) for one in found["sections"]] == [
        (one.kind, one.text) for one in document.sections
    ]


def test_eurlex57k_json_brings_its_gold_labels_and_lines_are_counted(
    client: httpx.Client, synthetic: Any
) -> None:
    lines = synthetic.paths["test"].read_text("utf-8").splitlines()
    (found,) = parse(client, "act.json", lines[0].encode()).json()["documents"]
    assert found["labels"] == json.loads(lines[0])["concepts"]
    many = "\n".join(
        json.dumps({**json.loads(lines[0]), "celex_id": f"act {n}"}) for n in range(120)
    )
    answer = parse(client, "acts.jsonl", many.encode()).json()
    assert len(answer["documents"]) == 100
    assert answer["more"] is True


def test_what_is_parsed_can_be_sent_back_as_it_is(client: httpx.Client) -> None:
    (found,) = parse(client, "act.txt", ACT.encode()).json()["documents"]
    by_sections = client.post("/v1/tag", json={"sections": found["sections"], "top": 5}).json()
    by_text = client.post("/v1/tag", json={"text": ACT, "top": 5}).json()
    assert by_sections["predictions"] == by_text["predictions"]


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb.txt", b"0" * 5_000_000)
    return packed.getvalue()


RUBBISH = {
    "empty": b"",
    "blank": b" \n\t ",
    "random bytes": bytes(range(256)) * 40,
    "zeros": b"\0" * 10_000,
    "a picture": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    "a damaged PDF": b"%PDF-1.7 ...",
    "a scan": written_files.scanned(),
    "an encrypted PDF": written_files.pdf([["Figs."]], encrypt="secret"),
    "an old Word file": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500),
    "a zip archive": _zip(),
    "a cut gzip": gzip.compress(ACT.encode())[:-20],
    "a damaged gzip": b"\x1f\x8b\x08\x00" + b"\xff" * 50,
    "a cut xz": lzma.compress(ACT.encode() * 50)[:-30],
    "a damaged xz": b"\xfd7zXZ\x00" + b"\xff" * 50,
    "entities": b'<!DOCTYPE ACT [<!ENTITY a "x">]><ACT><TITLE>&a;</TITLE></ACT>',
    "broken XML": b"<ACT><TITLE>no end",
    "broken JSON": b'{"celex_id": "3',
    "deep JSON": b'[{"a":' * 50_000,
    "JSON of something else": b'{"name": "value"}',
}


@pytest.mark.parametrize("kind", RUBBISH)
def test_rubbish_is_refused_in_a_sentence(kind: str, client: httpx.Client) -> None:
    answer = parse(client, "upload", RUBBISH[kind])
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["field"] == "file"
    assert problem["type"] == "urn:labelwise:unreadable-file"
    assert len(problem["detail"]) > 15
    assert "/" not in problem["detail"].replace("XML/", "")


@pytest.mark.parametrize(
    "bomb",
    [
        gzip.compress(b"0" * 60_000_000),
        lzma.compress(b"0" * 60_000_000),
        gzip.compress(b"0" * 4_000_000) * 20,
        lzma.compress(b"0" * 4_000_000) * 20,
    ],
    ids=["gzip", "xz", "many gzip members", "many xz streams"],
)
def test_a_bomb_stops_at_the_limit(bomb: bytes, client: httpx.Client) -> None:
    answer = parse(client, "act.txt.gz", bomb)
    assert answer.status_code == 413, answer.text
    assert "unpacked" in answer.json()["detail"]


def test_a_file_packed_thrice_is_not_unpacked_further(client: httpx.Client) -> None:
    data = ACT.encode()
    for _ in range(3):
        data = gzip.compress(data)
    answer = parse(client, "act.txt.gz", data)
    assert answer.status_code == 422
    assert "compressed more than twice" in answer.json()["detail"]


@pytest.mark.parametrize(
    "name",
    ["../../../etc/passwd", "/etc/passwd", "C:\\acts\\act.txt", "a\u202etxt.exe", "x" * 4000],
)
def test_a_files_name_is_a_name_and_never_a_path(
    name: str, client: httpx.Client, tmp_path: Path
) -> None:
    before = _names()
    answer = parse(client, name, ACT.encode())
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["documents"]
    assert "/" not in found["id"]
    assert "\\" not in found["id"]
    assert len(found["id"]) <= 100
    assert not [one for one in _names() - before if "passwd" in one or "act" in one]


def _names() -> set[str]:
    return {
        one.name for folder in (Path(), Path(tempfile.gettempdir())) for one in folder.iterdir()
    }


def test_markup_stays_text(client: httpx.Client) -> None:
    hostile = 'Article 1\n<script>alert("x")</script> <a href="javascript:alert(1)">oranges</a>'
    (found,) = parse(client, "act.txt", hostile.encode()).json()["documents"]
    text = "\n".join(one["text"] for one in found["sections"])
    assert '<script>alert("x")</script>' in text
    answer = client.post("/v1/evidence", json={"text": hostile, "top": 2})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_form_without_a_file_is_told_which_field_is_missing(client: httpx.Client) -> None:
    answer = client.post("/v1/parse", files={"other": ("a.txt", b"text")})
    assert answer.status_code == 422
    assert answer.json()["field"] == "file"
    answer = client.post("/v1/parse", data={"file": "not a file"})
    assert answer.status_code == 422


def test_a_file_larger_than_the_limit_is_too_large(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method]
) -> None:
    client = serve(
        [Servable("exact-match", method=fitted["exact-match"])], limits=Limits(max_body=20_000)
    )
    assert parse(client, "act.txt", ACT.encode()).status_code == 200
    assert parse(client, "act.txt", b"oranges " * 5_000).status_code == 413


def readers() -> list[psutil.Process]:
    """The processes that read files for the services of these tests."""
    return [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE
        and re.search(r"labelwise\.serving(\.| import )reading", " ".join(child.cmdline()))
    ]


NEVER_DONE = """
import sys, time
from labelwise.serving import reading
answered = reading.answered
reading.answered = lambda asked, data: time.sleep(600) if b"slow" in data else answered(asked, data)
reading.main(sys.stdin.buffer, sys.stdout.buffer)
"""


def test_a_file_that_takes_too_long_is_given_up(
    serve: Callable[..., httpx.Client],
    fitted: dict[str, Method],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "PROGRAM", (sys.executable, "-c", NEVER_DONE))
    served = [Servable("exact-match", method=fitted["exact-match"])]
    client = serve(served, limits=Limits(timeout=4))
    # its process has begun, which on a busy machine takes longer than a request may
    wait_until(lambda: parse(client, "act.txt", ACT.encode()).status_code == 200)
    assert parse(client, "act.txt", b"slow oranges").status_code in (422, 504)
    wait_until(lambda: parse(client, "act.txt", ACT.encode()).status_code == 200)


def test_a_file_that_is_being_read_holds_up_nobody(
    serve: Callable[..., httpx.Client],
    fitted: dict[str, Method],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "PROGRAM", (sys.executable, "-c", NEVER_DONE))
    served = [Servable("exact-match", method=fitted["exact-match"])]
    client = serve(served, limits=Limits(timeout=PATIENCE))
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(parse, client, "act.txt", b"slow oranges")
        wait_until(lambda: figure(client, "labelwise_requests_under_way") == 2)
        for _ in range(20):
            assert client.post("/v1/tag", json={"text": ACT}).status_code == 200
        assert not slow.done()
        wait_until(lambda: bool(readers()))
        for child in readers():
            child.kill()
        assert slow.result().status_code != 200


def test_a_long_text_is_split_as_a_short_one_is(client: httpx.Client) -> None:
    long = ACT.replace("Article 2", "The import of fruit. " * 2_000 + "\nArticle 2")
    sections = client.post("/v1/evidence", json={"text": long, "top": 1}).json()["sections"]
    (parsed,) = parse(client, "act.txt", long.encode()).json()["documents"]
    assert sections == parsed["sections"]
    assert [one["kind"] for one in sections] == [
        "header",
        "recitals",
        "article",
        "article",
        "attachments",
    ]


def test_the_reading_process_is_started_again_when_it_was_killed(client: httpx.Client) -> None:
    assert parse(client, "act.txt", ACT.encode()).status_code == 200
    found = readers()
    assert found
    for child in found:
        child.kill()
    wait_until(lambda: parse(client, "act.txt", ACT.encode()).status_code == 200)
