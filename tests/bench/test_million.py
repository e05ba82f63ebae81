"""A million acts: made when they are read, tagged by processes that are killed, all there once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelwise.bench import Plan, million
from labelwise.bench.million import FEWEST, MOST, MadeActs, Watched
from labelwise.bench.page import section
from labelwise.bench.results import write_result
from labelwise.bench.runner import command


def test_acts_are_short_all_different_and_the_same_in_every_process() -> None:
    acts = MadeActs(300)
    made = [record() for record in acts.records()]
    assert len({one.text for one in made}) == len({one.id for one in made}) == 300
    words = [len(one.text.split()) for one in made]
    assert min(words) >= FEWEST
    assert max(words) < 2 * MOST
    assert MadeActs(7).act(5) == made[5]
    assert {one.kind for one in made[0].sections} == {"header", "recitals", "article"}


def test_the_rate_of_a_row_is_that_since_the_row_above() -> None:
    points = [
        {"acts": 100, "seconds": 2.0, "memory": 5},
        {"acts": 400, "seconds": 4.0, "memory": 5},
    ]
    rows = million.over_time(Watched(points=points))["rows"]
    assert [row["acts a second"] for row in rows] == [50.0, 150.0]


def test_prices_follow_from_the_rate_of_a_core() -> None:
    one, ten, _ = million.prices(1_000.0)["rows"]
    core_hours = 1e6 / 1_000 / 3600
    assert one["2 cores"] == pytest.approx(core_hours / 2)
    assert ten["96 cores"] == pytest.approx(10 * core_hours / 96)
    assert ten["dollars"] == pytest.approx(10 * core_hours * million.PRICE)


def test_the_command_says_how_many_acts() -> None:
    assert command("million", Plan()) == "labelwise bench million"
    assert command("million", Plan(acts=200)) == "labelwise bench million --acts 200"


@pytest.mark.slow
def test_killed_in_the_middle_every_act_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = {"what": "beside peers", "columns": [""], "rows": [{"": "none in a test"}]}
    monkeypatch.setattr(million, "beside", lambda *_: peers)
    result = million.run(Plan(out=tmp_path, acts=200))
    assert 100 <= result["killed"]["acts in whole parts"] <= 200
    over_time, by_processes, _, _ = result["tables"]
    assert over_time["rows"][-1]["acts"] == "200"
    assert [row["processes"] for row in by_processes["rows"]] == ["1", "2", "4"]
    assert all(row["memory"] > 1e7 for row in by_processes["rows"])
    text = section(json.loads(write_result(tmp_path, "million", result).read_text()), "million")
    assert "200 acts tagged in bulk" in text
    assert "every act was there once" in text
