"""A study is asked and told; it goes on after a break, and finds what is good."""

from __future__ import annotations

import builtins
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.evaluation.trial_records import Trial
from labelwise.tuning.space import Choice, Range, Space
from labelwise.tuning.study import STARTUP, Study, best_of
from labelwise.tuning.written import config_text

pytest.importorskip("optuna")

SPACE: Space = {"units": Choice((100, 200, 300)), "learning_rate": Range(1e-4, 1e-1)}


def open_study(folder: Path, space: Space = SPACE, seed: int = 0) -> Study:
    return Study(folder / "tune.db", "han", "acts", space, seed)


def tried(trial: Trial) -> Trial:
    """Dev likes 300 units and a learning rate near .004."""
    units, rate = trial.settings["units"], trial.settings["learning_rate"]
    value = 0.7 + units / 10_000 - abs(rate - 0.004)
    return replace(trial, state="complete", value=value, curve=[value - 0.1, value])


def test_what_is_told_is_remembered_by_the_next_sitting(tmp_path: Path) -> None:
    study = open_study(tmp_path)
    first = tried(study.ask())
    assert study.tell(first)
    assert not study.tell(first)  # known already
    pruned = replace(study.ask(), state="pruned", value=0.6, curve=[0.5, 0.6])
    study.tell(pruned)
    study.tell(replace(study.ask(), state="failed"))
    again = open_study(tmp_path).trials()
    assert [one.state for one in again] == ["complete", "pruned", "failed"]
    assert again[:2] == [first, pruned]
    assert best_of(again) == first


def test_the_search_finds_the_good_corner(tmp_path: Path) -> None:
    study = open_study(tmp_path)
    for _ in range(STARTUP + 20):
        study.tell(tried(study.ask()))
    later = study.trials()[STARTUP:]
    early = study.trials()[:STARTUP]
    mean = lambda trials: sum(one.value or 0 for one in trials) / len(trials)
    assert mean(later) > mean(early)
    best = best_of(study.trials())
    assert best.settings["units"] == 300
    assert 0.001 < best.settings["learning_rate"] < 0.01


def test_the_same_seed_asks_for_the_same_trials(tmp_path: Path) -> None:
    asked = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        study = open_study(tmp_path / name, seed=4)
        asked.append([study.ask().settings for _ in range(4)])
    assert asked[0] == asked[1]


def test_trials_that_a_killed_sitting_left_open_are_tried_again(tmp_path: Path) -> None:
    left = open_study(tmp_path).ask()
    planned = open_study(tmp_path).ask(planned=True)  # another machine has this one
    study = open_study(tmp_path)
    assert study.take_up() == 1
    again = study.ask()
    assert again.settings == left.settings
    assert again.trial not in (left.trial, planned.trial)
    assert study.take_up() == 1
    assert study.tell(tried(planned))


def test_another_space_needs_another_file(tmp_path: Path) -> None:
    open_study(tmp_path)
    with pytest.raises(LabelwiseError, match=r"tune\.db: this study of han searches other values"):
        open_study(tmp_path, {**SPACE, "units": Choice((100, 400))})
    open_study(tmp_path, dict(reversed(SPACE.items())))


def test_a_trial_of_another_study_is_refused(tmp_path: Path) -> None:
    study = open_study(tmp_path)
    with pytest.raises(LabelwiseError, match="no trial 7 of han"):
        study.tell(Trial(7, "han", {}))
    with pytest.raises(LabelwiseError, match="no trial 0 of cnn-lwan"):
        study.tell(replace(study.ask(), method="cnn-lwan"))


def test_a_file_that_is_no_study_is_named(tmp_path: Path) -> None:
    (tmp_path / "tune.db").write_text("these are notes, not a data base, " * 100)
    with pytest.raises(LabelwiseError, match=r"tune\.db: this is not a study"):
        open_study(tmp_path)


def test_without_optuna_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_optuna(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "optuna":
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_optuna)
    with pytest.raises(MissingExtraError, match=r"labelwise\[tune\]"):
        open_study(tmp_path)


def test_the_file_of_the_best_settings_says_what_was_tried() -> None:
    trials = [
        Trial(0, "han", {"units": 200, "learning_rate": 0.002}, "complete", 0.75, [0.7, 0.75]),
        Trial(1, "han", {"units": 300, "learning_rate": 0.001}, "pruned", 0.6, [0.6]),
        Trial(2, "han", {"units": 300, "learning_rate": 0.004}, "complete", 0.76, [0.71, 0.76],
              {"nDCG@5": 0.79, "micro-F1": 0.7, "seconds": 3.0}),
        Trial(3, "han", {"units": 100, "learning_rate": 0.1}, "failed"),
    ]  # fmt: skip
    text = config_text("han", "acts", trials, {"units": 300, "vectors": None, "project": True})
    assert tomllib.loads(text) == {"units": 300, "vectors": "none", "project": True}
    assert "# Tried: 2 trials to their end, 1 that failed, and 1 given up early," in text
    rows = [line.split()[1:] for line in text.splitlines() if line.startswith("#     ")]
    assert [row[0] for row in rows] == ["2", "0", "1", "3"]
    assert rows[0] == ["2", "0.7600", "complete", "2", "300", "0.004"]
    assert "# Best: trial 2. nDCG@5 0.7900. micro-F1 0.7000." in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_where_no_trial_was_completed_there_is_no_best_one() -> None:
    with pytest.raises(LabelwiseError, match="no trial was completed"):
        best_of([Trial(0, "han", {}, "pruned", 0.5, [0.5])])
