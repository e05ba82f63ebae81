"""A log of decisions is read as it was written, and says what holds in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelwise.corpus.decisions import Decided, Decision, decided, read_decisions
from labelwise.errors import InputError

LINES = [
    {"act": "32019R0532", "concept": "693", "what": "accept", "who": "anna", "score": 0.9},
    {"act": "32019R0532", "concept": None, "what": "open", "who": "anna"},
    {"act": "32019R0532", "concept": "161", "what": "never", "when": "2026-11-16T09:12:44Z"},
    {"act": "32019R0532", "concept": None, "what": "done"},
]


def written(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in lines) + "\n\n", "utf-8")
    return path


def test_each_line_is_a_decision_and_other_keys_do_not_matter(tmp_path: Path) -> None:
    found = list(read_decisions(written(tmp_path / "log.jsonl", *LINES)))
    assert found == [
        Decision("32019R0532", "accept", "693"),
        Decision("32019R0532", "open"),
        Decision("32019R0532", "never", "161", "2026-11-16T09:12:44Z"),
        Decision("32019R0532", "done"),
    ]
    assert decided(found) == {"32019R0532": Decided({"693"}, {"161"}, done=True)}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([1], "line 1: wrong type: a decision is an object, not a list"),
        ({"what": "done"}, "line 1, field 'act': missing key"),
        ({"act": "a"}, "line 1, field 'what': missing key"),
        ({"act": "a", "what": "accept"}, "field 'concept': wrong type: a string is needed"),
        ({"act": "a", "what": "accept", "concept": 693}, "field 'concept': wrong type"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(InputError) as error:
        list(read_decisions(written(tmp_path / "log.jsonl", line)))
    assert said in str(error.value)


def test_what_was_decided_last_holds() -> None:
    log = [
        Decision("a", "reject", "693"),
        Decision("a", "done"),
        Decision("a", "reopen"),
        Decision("a", "accept", "693"),
        Decision("a", "accept", "5"),
        Decision("a", "remove", "5"),
    ]
    assert decided(log) == {"a": Decided({"693"}, set(), done=False)}
