"""Acts by their names, held against a small Cellar on this machine."""

from __future__ import annotations

import doctest
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from cellar_server import Server, running

from labelwise.corpus import named_act as module
from labelwise.corpus.cellar_service import Service
from labelwise.corpus.download import DownloadError
from labelwise.corpus.named_act import UnknownActError, fetch_act, named_act
from labelwise.corpus.polite import Polite
from labelwise.corpus.readers import read

FILES = Path(__file__).parent / "files"
ACT = (FILES / "oj_2024.xhtml").read_bytes()
QUICK = {"rate": 1000.0, "timeout": 5.0, "attempts": 2, "pause": 0.01}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running() as state:
        yield state


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("given", "celex"),
    [
        ("32016r0679", "32016R0679"),
        ("CELEX: 32016R0679", "32016R0679"),
        ("02016R0679-20160504", "02016R0679-20160504"),
        ("62014CJ0362", "62014CJ0362"),
        ("eli/dir_impl/2014/99", "32014L0099"),
        ("http://data.europa.eu/eli/dir_impl/2014/99/oj", "32014L0099"),
        ("https://eur-lex.europa.eu/eli/dec/2010/87/oj/eng", "32010D0087"),
        ("https://eur-lex.europa.eu/legal-content/FR/ALL/?uri=CELEX:31995L0046", "31995L0046"),
        ("eur-lex.europa.eu/LexUriServ/LexUriServ.do?uri=CELEX:32001R0044:EN:HTML", "32001R0044"),
        ("http://publications.europa.eu/resource/celex/32016R0679", "32016R0679"),
        ("https:/eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:32016R0679", "32016R0679"),
        ("act.txt", None),
        ("acts/32016R0679.html", None),
        ("https://example.org/?uri=CELEX:32016R0679", None),
        ("https://eur-lex.europa.eu.example.org/32016R0679", None),
        ("3" * 600, None),
    ],
)
def test_names_of_acts_are_told_from_names_of_files(given: str, celex: str | None) -> None:
    assert named_act(given) == celex


def test_an_address_of_eur_lex_that_names_no_act_says_what_to_give() -> None:
    with pytest.raises(UnknownActError, match="names no act by its CELEX number or ELI"):
        named_act("https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=OJ:L_202401689")


def test_an_act_comes_with_its_zones(server: Server) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    (page,) = read(FILES / "oj_2024.xhtml")
    act = fetch_act("32016R0001", Polite(**QUICK), service=server.service)
    assert (act.id, act.title, act.sections) == ("32016R0001", page.title, page.sections)
    assert server.requests == ["32016R0001 application/xhtml+xml"]


def test_an_unknown_number_is_one_sentence(server: Server) -> None:
    with pytest.raises(UnknownActError, match="32016R9999: cannot be fetched: Cellar has no Engl"):
        fetch_act("32016R9999", Polite(**QUICK), service=server.service)


def test_without_a_network_it_says_so_and_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/resource/celex/"
        with pytest.raises(DownloadError, match=r"refused.*without a network, give the file"):
            fetch_act("32016R0679", Polite(**QUICK), service=Service(content=nobody))


def test_no_host_is_asked_that_is_not_among_those_allowed(server: Server) -> None:
    server.add("32016R0001", date="2016-01-05", text=ACT)
    here = Polite(**QUICK, hosts=frozenset({"127.0.0.1"}))
    assert fetch_act("32016R0001", here, service=server.service).sections
    elsewhere = Polite(**QUICK, hosts=frozenset({"publications.europa.eu"}))
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1 is not among the hosts that are asked"):
        fetch_act("32016R0001", elsewhere, service=server.service)
    server.moved = server.service.content.replace("127.0.0.1", "localhost")
    with pytest.raises(DownloadError, match="localhost is not among the hosts that are asked"):
        fetch_act("32016R0001", here, service=server.service)
