"""A small Cellar on this machine: its SPARQL endpoint over a graph in CDM, and its content service.

Queries are answered by rdflib from triples, so that a query that is no SPARQL, or that asks for
other properties than the ontology has, finds nothing here either.
"""

from __future__ import annotations

import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from rdflib import XSD, Graph, Literal, URIRef

from labelwise.corpus import cellar
from labelwise.corpus.cellar_service import Service

CDM = "http://publications.europa.eu/ontology/cdm#"
AUTHORITY = "http://publications.europa.eu/resource/authority"
CELLAR = "http://publications.europa.eu/resource/cellar"


@dataclass
class Trouble:
    """What goes wrong with the next answers, one each: a status, "cut", "half" or "partial"."""

    next: list[int | str] = field(default_factory=list)
    retry_after: str = ""


@dataclass
class Server:
    service: Service = field(default_factory=Service)
    graph: Graph = field(default_factory=Graph)
    texts: dict[tuple[str, str], bytes | list[tuple[str, bytes]]] = field(default_factory=dict)
    """By CELEX number and format: one file, or several with their names."""
    sparql: Trouble = field(default_factory=Trouble)
    content: Trouble = field(default_factory=Trouble)
    requests: list[str] = field(default_factory=list)
    """"sparql", or the CELEX number and what was accepted."""
    moved: str = ""
    """Where the texts are said to be, if not here."""

    def add(
        self,
        celex: str,
        *,
        date: str,
        type: str = "REG",
        concepts: tuple[str, ...] = ("693", "1309"),
        title: str | None = "Regulation on oranges",
        extra: tuple[tuple[str, Any], ...] = (),
        text: bytes | list[tuple[str, bytes]] | None = None,
        format: str = "xhtml",
    ) -> None:
        """An act; without a title it has no English version, only a Greek one."""
        work = URIRef(f"{CELLAR}/{celex}")
        expression = URIRef(f"{CELLAR}/{celex}.0001")
        language = "ENG" if title is not None else "ELL"
        for subject, property, value in (
            (work, "resource_legal_id_celex", Literal(celex, datatype=XSD.string)),
            (work, "work_has_resource-type", URIRef(f"{AUTHORITY}/resource-type/{type}")),
            (work, "work_date_document", Literal(date, datatype=XSD.date)),
            (expression, "expression_belongs_to_work", work),
            (expression, "expression_uses_language", URIRef(f"{AUTHORITY}/language/{language}")),
            (expression, "expression_title", Literal(title or "Κανονισμός")),
            *((work, property, value) for property, value in extra),
        ):
            self.graph.add((subject, URIRef(CDM + property), value))
        for concept in concepts:
            uri = URIRef(f"http://eurovoc.europa.eu/{concept}")
            self.graph.add((work, URIRef(f"{CDM}work_is_about_concept_eurovoc"), uri))
        if text is not None:
            self.texts[celex, format] = text

    def asked(self, celex: str) -> list[str]:
        """What was accepted in each request for an act."""
        parts = (one.split(" ", 1) for one in self.requests if " " in one)
        return [accept for id, accept in parts if id == celex]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        state: Server = self.server.state
        asked = urlsplit(self.path)
        if asked.path == "/webapi/rdf/sparql":
            state.requests.append("sparql")
            given = parse_qs(asked.query)
            assert given["format"] == ["application/sparql-results+json"]
            answer = state.graph.query(given["query"][0]).serialize(format="json")
            assert answer is not None
            self.reply(answer, "application/sparql-results+json", state.sparql)
        elif asked.path.startswith("/resource/celex/"):
            # As the real one does: the name of the work leads to the file by a redirection.
            self.send_response(303)
            self.send_header("Location", state.moved or asked.path.replace("/celex/", "/cellar/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.give(state, unquote(asked.path).removeprefix("/resource/cellar/"))

    def give(self, state: Server, celex: str) -> None:
        accept = self.headers["Accept"]
        state.requests.append(f"{celex} {accept}")
        assert self.headers["Accept-Language"] == "eng"
        singles = {"application/xhtml+xml": "xhtml", "text/html": "html"}
        packed = accept.removeprefix("application/zip;mtype=")
        found = state.texts.get((celex, singles.get(accept, packed)))
        if found is None:
            self.send_error(404)
        elif accept in singles and isinstance(found, list):
            self.send_error(300)
        elif isinstance(found, list):
            self.reply(zipped(found), "application/zip", state.content)
        else:
            self.reply(found, accept, state.content)

    def reply(self, body: bytes, kind: str, trouble: Trouble) -> None:
        wrong = trouble.next.pop(0) if trouble.next else None
        if isinstance(wrong, int):
            self.send_response(wrong)
            if trouble.retry_after:
                self.send_header("Retry-After", trouble.retry_after)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if wrong == "half":
            body = body[: len(body) // 2]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if wrong == "partial":
            self.send_header("X-SQL-State", "S1TAT")
        self.end_headers()
        if wrong == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def zipped(files: list[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files:
            archive.writestr(name, data)
    return buffer.getvalue()


@contextmanager
def in_the_place_of_cellar(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that is asked where the Publications Office would be."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running() as state:
        monkeypatch.setattr(cellar, "SERVICE", state.service)
        yield state


@contextmanager
def running() -> Iterator[Server]:
    """A server with no acts yet."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{http.server_address[1]}"
    state = Server(Service(f"{address}/webapi/rdf/sparql", f"{address}/resource/celex/"))
    http.state = state  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
