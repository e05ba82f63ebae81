"""A worklist as files: for spreadsheets, programs, linked data, catalogues, and for learning."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from labelwise.corpus.celex import CELEX
from labelwise.corpus.eurlex57k import record
from labelwise.desk.marc import marc_records
from labelwise.desk.records import Decision, Reading, State
from labelwise.desk.store import Store, StoredAct
from labelwise.desk.turtle import turtle

Format = Literal["csv", "jsonl", "ttl", "marcxml"]
FORMATS: tuple[Format, ...] = get_args(Format)

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "ttl": "text/turtle; charset=utf-8",
    "marcxml": "application/marcxml+xml",
}

COLUMNS = (
    "act",
    "title",
    "concept",
    "uri",
    "descriptor",
    "decision",
    "score",
    "rank",
    "model",
    "who",
    "when",
)


@dataclass(frozen=True)
class Indexed:
    """An act with what was decided about it."""

    act: StoredAct
    reading: Reading

    @property
    def uri(self) -> str:
        return address(self.act)


def address(act: StoredAct) -> str:
    """The address that the Publications Office gives an act; for anything else the UUID of its
    text, which is a name and leads nowhere."""
    id = act.document.id
    if CELEX.fullmatch(id):
        return f"http://publications.europa.eu/resource/celex/{id}"
    return f"urn:uuid:{act.uuid}"


def export(store: Store, format: Format, states: Sequence[State] = ("done",)) -> Iterator[str]:
    """The acts in these states in pieces of a file."""
    acts = (Indexed(one, store.reading(one.uuid)) for one in store.acts(states))
    return _WRITERS[format](acts)


def _csv(acts: Iterable[Indexed]) -> Iterator[str]:
    """One line a concept (RFC 4180); what was rejected is marked so."""
    yield _row(COLUMNS)
    for one in acts:
        for decision in one.reading.decisions:
            yield _row(
                (
                    one.act.document.id,
                    one.act.document.title,
                    decision.concept,
                    decision.uri,
                    decision.descriptor,
                    worded(decision),
                    decision.score,
                    decision.rank,
                    decision.model,
                    decision.who,
                    decision.when,
                )
            )


def _row(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([_cell(one) for one in cells])
    return out.getvalue()


def _cell(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, str) and re.match(r"[=+\-@\t\r]", value):
        return f"'{value}"
    return "" if value is None else value


def _jsonl(acts: Iterable[Indexed]) -> Iterator[str]:
    """One act a line, in the shape of the page's own export."""
    for one in acts:
        line = {
            "document": {
                "uri": one.uri,
                "id": one.act.document.id,
                "title": one.act.document.title,
                "source": one.act.source,
                "words": one.act.words,
            },
            "state": one.reading.state,
            "who": one.reading.who,
            "when": one.reading.when,
            "concepts": [_shown(decision) for decision in one.reading.chosen],
            "rejected": [_shown(decision) for decision in one.reading.rejected],
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _shown(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.concept,
        "uri": decision.uri,
        "descriptor": decision.descriptor,
        "decision": worded(decision),
        "score": decision.score,
        "rank": decision.rank,
        "model": decision.model,
        "fingerprint": decision.fingerprint,
        "who": decision.who,
        "decided": decision.when,
    }


def worded(decision: Decision) -> str:
    words = {"accept": "accepted", "add": "added", "reject": "rejected", "never": "rejected"}
    return words[decision.what]


def _ttl(acts: Iterable[Indexed]) -> Iterator[str]:
    return turtle((one.uri, one.act.document.title, one.reading.chosen) for one in acts)


def _marcxml(acts: Iterable[Indexed]) -> Iterator[str]:
    return marc_records(
        (one.act.document.id, one.uri, one.act.document.title, one.reading.chosen) for one in acts
    )


_WRITERS = {"csv": _csv, "jsonl": _jsonl, "ttl": _ttl, "marcxml": _marcxml}


# --- for learning -------------------------------------------------------------------------------


def log_lines(store: Store, reading: int = 1) -> Iterator[dict[str, Any]]:
    """The log, one line a decision; what second readers decided stands apart, since two readers of
    an act do not take back each other's decisions."""
    return (one.to_json() for one in store.log() if one.reading == reading)


def act_lines(store: Store) -> Iterator[dict[str, Any]]:
    """Done acts as documents whose gold labels are the chosen concepts, in the keys of EURLEX57K,
    which every command reads."""
    for act in store.acts(("done",)):
        chosen = store.reading(act.uuid).chosen
        labels = tuple(one.concept for one in chosen if one.concept is not None)
        yield record(replace(act.document, labels=labels))
