"""Trials as lines of JSON, their curves, and when one is given up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelwise.errors import InputError
from labelwise.evaluation.trial_records import Trial, read_trials
from labelwise.tuning.trials import falls_behind, read_curve

OTHERS = [[0.5, 0.7, 0.75, 0.77], [0.5, 0.7, 0.74], [0.4, 0.6, 0.70], [0.3, 0.5, 0.60]]
"""After three epochs their median is .72."""


def test_a_trial_below_the_median_of_the_others_is_given_up() -> None:
    assert falls_behind([0.6, 0.70, 0.71], OTHERS)
    assert not falls_behind([0.6, 0.70, 0.73], OTHERS)
    assert not falls_behind([0.6, 0.73, 0.71], OTHERS)  # its best epoch counts
    later = [[0.5, 0.6, 0.7, 0.9]] * 4  # what the others reached after more epochs does not
    assert not falls_behind([0.5, 0.6, 0.71], later)


def test_no_trial_is_given_up_before_it_has_warmed_up_or_without_company() -> None:
    assert not falls_behind([], OTHERS)
    assert not falls_behind([0.1, 0.1], OTHERS)
    assert not falls_behind([0.1, 0.1, 0.1], OTHERS[:3])
    assert not falls_behind([0.1, 0.1, 0.1, 0.1], OTHERS)  # one alone has come so far


def test_a_line_is_read_back_and_the_last_one_of_a_trial_counts(tmp_path: Path) -> None:
    planned = Trial(3, "han", {"units": 200, "learning_rate": 0.002})
    failed = Trial(3, "han", planned.settings, "failed")
    done = Trial(3, "han", planned.settings, "complete", 0.76, [0.7, 0.76], {"nDCG@5": 0.79})
    file = tmp_path / "trials.jsonl"
    file.write_text("\n".join(one.line() for one in (planned, failed, done)) + "\n\n")
    assert read_trials(file) == [done]


@pytest.mark.parametrize("wrong", ["{}", "not json", '{"trial": 1, "methods": "han"}'])
def test_what_is_no_trial_is_named_with_its_line(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "trials.jsonl"
    file.write_text(f"{Trial(0, 'han', {}).line()}\n{wrong}\n")
    with pytest.raises(InputError, match=r"trials\.jsonl, line 2: this is not a trial"):
        read_trials(file)


def test_a_missing_file_of_trials_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: the trials cannot be read"):
        read_trials(tmp_path / "none.jsonl")


def test_a_curve_is_read_while_the_log_is_being_written(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert read_curve(log) == []
    events = [{"event": "start"}, {"event": "epoch", "dev_rp5": 0.5}, {"event": "epoch"}]
    log.write_text("\n".join(map(json.dumps, events)) + '\n{"event": "epoch", "dev_r')
    assert read_curve(log) == [0.5]
