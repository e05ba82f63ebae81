"""Fetching acts from Cellar, held against a small one on this machine that also misbehaves."""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cellar_server import Server, running
from rdflib import Literal, URIRef

from labelwise.corpus import cellar_service
from labelwise.corpus.cellar import Year, fetch_cellar
from labelwise.corpus.cellar_service import Service
from labelwise.corpus.more import read_more
from labelwise.corpus.polite import Polite
from labelwise.corpus.readers import read
from labelwise.errors import LabelwiseError

FILES = Path(__file__).parent / "files"
ACT = (FILES / "oj_2024.xhtml").read_bytes()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running() as state:
        yield state


def get(
    folder: Path, server: Server, first: int = 2016, last: int = 2016, **how: Any
) -> list[Year]:
    polite = Polite(how.pop("rate", 1000.0), timeout=5, attempts=3, pause=0.01)
    return fetch_cellar(folder, first, last, service=server.service, polite=polite, **how)


def records(folder: Path, year: int = 2016) -> dict[str, dict[str, Any]]:
    rows = (folder / f"{year}.jsonl").read_text("utf-8").splitlines()
    return {row["celex_id"]: row for row in map(json.loads, rows)}


def test_an_act_comes_with_its_concepts_its_title_and_its_zones(
    server: Server, tmp_path: Path
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    (year,) = get(tmp_path, server)
    assert (year.listed, year.fetched, year.there) == (1, 1, 0)
    (record,) = records(tmp_path).values()
    (page,) = read(FILES / "oj_2024.xhtml")
    assert record["concepts"] == ["1309", "693"]
    assert record["title"] == "Regulation on oranges"
    assert record["date"] == "2016-01-05"
    assert record["source"] == f"{server.service.content}32016R0001"
    (document,) = read(tmp_path)
    assert document.id == "32016R0001"
    assert document.labels == ("1309", "693")
    assert document.sections == page.sections


def test_more_reads_what_was_fetched(server: Server, tmp_path: Path) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.add("32017R0001", date="2017-01-05", text=ACT)
    get(tmp_path / "cellar", server, 2016, 2017)
    found, repeated = read_more([tmp_path / "cellar"], {"32016R0001": "train"})
    assert [document.id for _, document in found] == ["32017R0001"]
    assert [one.id for one in repeated] == ["32016R0001"]


def test_years_and_types_are_those_asked_for(server: Server, tmp_path: Path) -> None:
    server.add("32016R0001", date="2015-12-30", text=ACT)  # numbered by the year of publication
    server.add("32016R0002", date="2016-12-31", text=ACT)
    server.add("32016L0003", date="2016-01-01", type="DIR", text=ACT)
    server.add("32016H0004", date="2016-05-01", type="RECO", text=ACT)
    get(tmp_path / "all", server)
    assert list(records(tmp_path / "all")) == ["32016L0003", "32016R0002"]
    get(tmp_path / "directives", server, types=["DIR"])
    assert list(records(tmp_path / "directives")) == ["32016L0003"]


def test_corrigenda_hidden_copies_and_other_sectors_are_not_asked_for(
    server: Server, tmp_path: Path
) -> None:
    corrigendum = URIRef(
        "http://publications.europa.eu/resource/authority/resource-type/CORRIGENDUM"
    )
    hidden = Literal(True)
    day = "2016-02-01"
    server.add("32016R0001", date=day, text=ACT)
    server.add(
        "32016R0001R(01)", date=day, text=ACT, extra=(("work_has_resource-type", corrigendum),)
    )
    server.add("32016R0002", date=day, text=ACT, extra=(("do_not_index", hidden),))
    server.add("02016R0003", date=day, text=ACT)
    server.add("52016R0004", date=day, text=ACT)
    server.add("22016A0201(01)", date=day, text=ACT, type="AGREE_INTERNATION")
    (year,) = get(tmp_path / "acts", server)
    assert year.listed == 1
    assert list(records(tmp_path / "acts")) == ["32016R0001"]
    get(tmp_path / "agreements", server, types=["AGREE_INTERNATION"])
    assert list(records(tmp_path / "agreements")) == ["22016A0201(01)"]


def test_pages_follow_each_other_until_one_is_empty(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cellar_service, "PAGE", 3)
    for number in range(1, 8):
        server.add(f"32016R{number:04d}", date="2016-03-01", text=ACT)
    (year,) = get(tmp_path, server)
    assert year.listed == year.fetched == len(records(tmp_path)) == 7
    assert server.requests.count("sparql") == 4


def test_acts_without_concepts_or_without_english_are_named_and_not_asked_for(
    server: Server, tmp_path: Path
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.add("32016R0002", date="2016-01-05", text=ACT, concepts=())
    server.add("32016R0003", date="2016-01-05", title=None)
    server.add("32016R0004", date="2016-01-05")  # printed only, say
    (year,) = get(tmp_path, server)
    assert year.no_concepts == ["32016R0002"]
    assert year.no_text == {
        "32016R0003": "Cellar has no English version",
        "32016R0004": "Cellar has no English text as XHTML, HTML or Formex",
    }
    assert server.asked("32016R0002") == server.asked("32016R0003") == []
    assert server.asked("32016R0004") == [
        "application/xhtml+xml",
        "text/html",
        "application/zip;mtype=fmx4",
    ]
    assert list(records(tmp_path)) == ["32016R0001"]


def test_an_older_act_is_read_from_its_html(server: Server, tmp_path: Path) -> None:
    old = (FILES / "text_only_1985.html").read_bytes()
    server.add("31985R0001", date="1985-06-01", text=old, format="html")
    get(tmp_path, server, 1985, 1985)
    (document,) = read(tmp_path)
    assert {section.kind for section in document.sections} >= {"header", "recitals", "article"}


def test_formex_comes_as_an_archive_whose_list_of_files_is_no_text(
    server: Server, tmp_path: Path
) -> None:
    names = ("formex_act.xml", "formex_annex.xml", "formex_doc.xml")
    files = [(name, (FILES / name).read_bytes()) for name in names]
    server.add("32016R0001", date="2016-01-05", text=files, format="fmx4")
    get(tmp_path, server)
    (document,) = read(tmp_path)
    (act,) = read(FILES / "formex_act.xml")
    (annex,) = read(FILES / "formex_annex.xml")
    front = [section for section in act.sections if section.kind != "attachments"]
    assert list(document.sections[: len(front)]) == front
    assert document.sections[-1].kind == "attachments"
    assert annex.text in document.sections[-1].text


def test_an_act_in_several_files_comes_as_one_document(server: Server, tmp_path: Path) -> None:
    annex = b"<html><body><p>ANNEX</p><p>Oranges shall be round.</p></body></html>"
    files = [("L_1.xhtml", ACT), ("L_2.xhtml", annex), ("seal.jpg", b"\xff\xd8")]
    server.add("32016R0001", date="2016-01-05", text=files)
    get(tmp_path, server)
    assert server.asked("32016R0001") == ["application/xhtml+xml", "application/zip;mtype=xhtml"]
    (document,) = read(tmp_path)
    assert document.sections[-1].text.endswith("ANNEX\nOranges shall be round.")
    assert sum(section.kind == "attachments" for section in document.sections) == 1


def test_a_text_that_cannot_be_read_is_named_with_its_reason(
    server: Server, tmp_path: Path
) -> None:
    page = (FILES / "portal_without_act.html").read_bytes()
    server.add("32016R0001", date="2016-01-05", text=page)
    server.add("32016R0002", date="2016-01-05", text=b"%PDF-1.7 ...")
    server.add("32016R0003", date="2016-01-05", text=[("seal.jpg", b"\xff\xd8")])
    (year,) = get(tmp_path, server)
    assert "without the text of an act" in year.no_text["32016R0001"]
    assert "is a damaged PDF" in year.no_text["32016R0002"]
    assert "its archive holds no text" in year.no_text["32016R0003"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("trouble", [500, 503, 429, "cut", "half", "partial"])
def test_a_broken_list_of_acts_is_asked_for_again(
    server: Server, tmp_path: Path, trouble: int | str
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.sparql.next = [trouble, trouble]
    assert get(tmp_path, server)[0].fetched == 1
    assert server.requests.count("sparql") == 4


@pytest.mark.parametrize("trouble", [502, "cut"])
def test_a_broken_text_is_asked_for_again(
    server: Server, tmp_path: Path, trouble: int | str
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.content.next = [trouble]
    get(tmp_path, server)
    (document,) = read(tmp_path)
    (page,) = read(FILES / "oj_2024.xhtml")
    assert document.sections == page.sections


def test_an_archive_cut_by_the_server_itself_is_asked_for_again(
    server: Server, tmp_path: Path
) -> None:
    server.add("32016R0001", date="2016-01-05", text=[("act.xhtml", ACT)])
    server.content.next = ["half"]
    assert get(tmp_path, server)[0].fetched == 1


def test_a_server_that_stays_broken_is_one_sentence_and_what_came_is_kept(
    server: Server, tmp_path: Path
) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    server.add("32016R0002", date="2016-01-05", text=ACT)
    server.content.next = ["", 503, 503, 503]  # the first act comes
    with pytest.raises(LabelwiseError) as raised:
        get(tmp_path, server)
    message = str(raised.value)
    assert "2016 could not be fetched whole" in message
    assert "the server answered 503 Service Unavailable" in message
    assert "new acts of it in" in message
    assert "\n" not in message
    assert list(records(tmp_path)) == ["32016R0001"]
    (year,) = get(tmp_path, server)
    assert (year.there, year.fetched) == (1, 1)
    assert len(server.asked("32016R0001")) == 1


def test_an_error_that_is_final_is_not_tried_again(server: Server, tmp_path: Path) -> None:
    server.sparql.next = [400]
    with pytest.raises(LabelwiseError, match="the server answered 400 Bad Request"):
        get(tmp_path, server)
    assert server.requests == ["sparql"]


def test_no_network_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        polite = Polite(1000, attempts=2, pause=0.01)
        with pytest.raises(LabelwiseError, match=r"connection refused\)"):
            fetch_cellar(tmp_path, 2016, 2016, service=Service(nowhere, nowhere), polite=polite)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_fetched_again_and_what_is_new_joins_it(
    server: Server, tmp_path: Path
) -> None:
    server.add("32016R0002", date="2016-01-05", text=ACT)
    get(tmp_path, server)
    server.add("32016R0001", date="2016-01-06", text=ACT)
    (year,) = get(tmp_path, server)
    assert (year.listed, year.there, year.fetched) == (2, 1, 1)
    assert list(records(tmp_path)) == ["32016R0001", "32016R0002"]
    assert len(server.asked("32016R0002")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["2016.jsonl"]


def test_a_limit_ends_a_call_and_the_next_one_goes_on(server: Server, tmp_path: Path) -> None:
    for number in range(1, 6):
        server.add(f"32016R{number:04d}", date="2016-03-01", text=ACT)
    server.add("32017R0001", date="2017-03-01", text=ACT)
    assert [year.fetched for year in get(tmp_path, server, 2016, 2017, limit=2)] == [2]
    assert len(records(tmp_path)) == 2
    assert [year.fetched for year in get(tmp_path, server, 2016, 2017, limit=9)] == [3, 1]


def fetch_slowly(folder: Path, service: Service) -> None:
    """In a process of its own, to be killed."""
    fetch_cellar(folder, 2016, 2016, service=service, polite=Polite(10))


def test_a_killed_call_leaves_no_half_file_and_loses_nothing(
    server: Server, tmp_path: Path
) -> None:
    for number in range(1, 41):
        server.add(f"32016R{number:04d}", date="2016-03-01", text=ACT)
    killed = multiprocessing.get_context("spawn").Process(
        target=fetch_slowly, args=(tmp_path, server.service)
    )
    killed.start()
    part, until = tmp_path / ".2016.part", time.monotonic() + 60
    while not (part.exists() and part.read_bytes().count(b"\n") >= 2) and time.monotonic() < until:
        time.sleep(0.02)
    killed.kill()
    killed.join()
    came = part.read_bytes().count(b"\n")
    assert 2 <= came < 40
    assert [path.name for path in tmp_path.iterdir()] == [".2016.part"]
    with part.open("ab") as stream:
        stream.write(b'{"celex_id": "32016R0040", "conc')  # the kill came while a line was written
    (year,) = get(tmp_path, server)
    assert (year.there, year.fetched) == (came, 40 - came)
    assert len(list(read(tmp_path))) == 40
    assert [path.name for path in tmp_path.iterdir()] == ["2016.jsonl"]


def test_requests_keep_their_distance(server: Server, tmp_path: Path) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    started = time.monotonic()
    get(tmp_path, server, rate=20.0)
    assert len(server.requests) == 3  # a page, the text, an empty page
    assert time.monotonic() - started >= 2 / 20


def test_a_pause_that_the_server_asks_for_is_kept(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("labelwise.corpus.polite.time.sleep", pauses.append)
    server.sparql.next, server.sparql.retry_after = [429, 503], "120"
    get(tmp_path, server)
    assert [pause for pause in pauses if pause > 0.1] == [120, 120]


def test_a_file_of_something_else_is_left_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "2016.jsonl").write_text("my notes\n")
    with pytest.raises(LabelwiseError, match=r"2016\.jsonl, line 1: this is no act"):
        get(tmp_path, server)
    assert (tmp_path / "2016.jsonl").read_text() == "my notes\n"


@pytest.mark.parametrize(
    ("first", "last", "types", "problem"),
    [
        (2020, 2016, ["REG"], "--from 2020 --to 2016 are no years from one to a later one"),
        (16, 26, ["REG"], "give such as --from 2016 --to 2026"),
        (2016, 2016, ["reg> } #"], "is no resource type of the Publications Office"),
    ],
)
def test_what_cannot_be_asked_for_is_said_at_once(
    server: Server, tmp_path: Path, first: int, last: int, types: list[str], problem: str
) -> None:
    with pytest.raises(LabelwiseError, match=problem):
        get(tmp_path, server, first, last, types=types)
    assert server.requests == []
