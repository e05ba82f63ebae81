"""What a card says follows from what the method says of itself, from the data and from results."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.celex import year_of
from labelwise.experiments.card import _limits


@pytest.mark.parametrize(
    ("method", "members", "said"),
    [
        ("svm", None, "carried: they score 0."),
        ("bigru-lwan", None, "carried: what it says of them is chance."),
        ("z-cnn-lwan", None, "It knows 163 labels by their names alone"),
        ("blend", ["svm", "bigru-lwan"], "It cannot suggest the 163 labels"),
        ("blend", ["svm", "lexical"], "It knows 163 labels by their names alone"),
    ],
)
def test_labels_without_training_documents_are_known_by_name_or_not_at_all(
    method: str, members: list[str] | None, said: str
) -> None:
    card: dict[str, Any] = {"data": {"name": "acts", "groups": {"zero": 163}}}
    card |= {"members": members} if members else {}
    limits = list(_limits({"method": method, "card": card, "threshold": 0.5}))
    assert said in " ".join(limits)
    whole = any("reads a document whole" in one for one in limits)
    assert whole == ("svm" in (method, *(members or ())))


@pytest.mark.parametrize(
    ("data", "years", "others"),
    [
        ("eurlex57k", ["acts of 1958 to 2016"], ["titles"]),
        ("eurlex57k+newlaw", ["titles of 1992 to 2026", "texts of 1958 to 2015"], ["2022"]),
        (
            "eurlex57k+newlaw+newlaw-2016-2022",
            ["titles of 1992 to 2026", "texts of 2016 to 2022"],
            [],
        ),
    ],
)
def test_the_years_that_it_has_learned_from_are_said(
    data: str, years: list[str], others: list[str]
) -> None:
    said = " ".join(_limits({"method": "svm", "card": {"data": {"name": data}}, "threshold": 0.5}))
    assert all(one in said for one in years)
    assert not any(one in said for one in others)


def test_the_years_are_those_of_the_data(real_data: Path) -> None:
    def years(name: str) -> list[int]:
        with lzma.open(real_data / "newlaw" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            found = [year_of(json.loads(line)["celex_id"]) for line in lines]
        return [year for year in found if year]

    titles = years("train-titles")
    for of, first, last in (
        (titles, 1992, 2026),
        (years("train-texts"), 1958, 2015),
        (years("dev"), 2016, 2022),
    ):
        assert (min(of), max(of)) == (first, last)
    assert sum(2004 <= year <= 2019 for year in titles) > 0.9 * len(titles)
