"""Settings searched by command: in one sitting, in two, and across two machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise import __version__
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.trial_records import Trial
from labelwise.experiments import corpora
from labelwise.experiments import tune as tune_command
from labelwise.tuning import trials as trials_module
from labelwise.tuning.jobs import Jobs

pytest.importorskip("optuna")

TINY = ("--set", "epochs=2", "--set", "dim=8", "--set", "max_tokens=40", "--set", "kernel=3")
NAMED = ("epochs", "dim", "max_tokens", "kernel")
VARY = ("--vary", "filters=4,8", "--vary", "learning_rate=0.001..0.01")

WITHOUT_OPTUNA = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "optuna":
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
from labelwise.tuning import jobs
from worker_cases import PoolHere
jobs.Pool = PoolHere
from labelwise.cli import main
main()
"""
"""It tries the trials in its own process, so that they too are tried without."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune") / "acts"
    make_dataset(folder, train=60, dev=12, test=12)
    return folder


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("LABELWISE_DATA", raising=False)


@pytest.mark.usefixtures("workers_here")
def test_a_study_is_resumed_and_the_best_settings_are_written(
    labelwise: Callable[..., Any], data: Path, tmp_path: Path
) -> None:
    (tmp_path / "begin.toml").write_text("dropout = 0.2\n")
    asked = (
        "tune",
        "cnn-lwan",
        "--data",
        data,
        *TINY,
        *VARY,
        "--config",
        "begin.toml",
        "--jobs",
        2,
    )
    said = labelwise(*asked, "--trials", 1, "--out", "best.toml")
    assert said.code == 0, said.err
    said = labelwise(*asked, "--trials", 2, "--out", "best.toml")
    assert said.code == 0, said.err
    assert said.err.count("complete, dev RP@5") == 1  # the other one is known
    text = (tmp_path / "best.toml").read_text()
    best = tomllib.loads(text)
    assert best["filters"] in (4, 8)
    assert 0.001 <= best["learning_rate"] <= 0.01
    assert (best["dropout"], best["epochs"], best["dim"]) == (0.2, 2, 8)
    assert "seed" not in best
    assert "# Tried: 2 trials to their end" in text
    events = (tmp_path / "tune.trials" / "trial-0" / "log.jsonl").read_text().splitlines()
    assert json.loads(events[-1])["event"] == "end"
    assert not list(tmp_path.rglob("*.safetensors"))  # a trial keeps its figures alone
    outcome = json.loads((tmp_path / "tune.trials" / "trial-0" / "outcome.json").read_text())
    assert f"{outcome['figures']['RP@5']:.4f}" in text


def test_trials_planned_here_are_tried_without_optuna_and_told_here(
    labelwise: Callable[..., Any], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("tune", "cnn-lwan", "--data", data, *TINY)
    planned = labelwise(*asked, *VARY, "--plan", 2)
    assert planned.code == 0, planned.err
    (tmp_path / "trials.jsonl").write_text(planned.out)
    lines = [json.loads(line) for line in planned.out.splitlines()]
    assert [line["trial"] for line in lines] == [0, 1]
    assert lines[0]["settings"].keys() == {"filters", "learning_rate"}

    run = (*asked, "--run", "trials.jsonl", "--out", "results.jsonl")
    without = [sys.executable, "-c", WITHOUT_OPTUNA, *map(str, run)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # which has worker_cases
    done = subprocess.run(without, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert {line["state"] for line in results} == {"complete"}
    for line in results:  # a figure counts with what it was made of
        assert line["value"] == line["figures"]["RP@5"]
        assert line["settings"].keys() == {"filters", "learning_rate", *NAMED}
        assert {"nDCG@5", "micro-F1", "few RP@5"} <= line["figures"].keys()
        assert line["made"]["seed"] == 0
        assert line["made"]["data"] == open_dataset(data).fingerprint
        assert line["made"]["versions"]["labelwise"] == __version__
    again = labelwise(*run)
    assert "2 trials are done already" in again.err
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2
    with monkeypatch.context() as away:
        away.setitem(sys.modules, "optuna", None)
        refused = labelwise(*asked, *VARY)
    assert refused.code == 1
    assert "labelwise[tune]" in refused.err

    said = labelwise(*asked, *VARY, "--tell", "results.jsonl")
    assert said.code == 0, said.err
    assert "2 trials are new to the study" in said.err
    best = max(results, key=lambda line: (line["value"], -line["trial"]))
    assert tomllib.loads(said.out)["filters"] == best["settings"]["filters"]
    assert "0 trials are new" in labelwise(*asked, *VARY, "--tell", "results.jsonl").err


@pytest.mark.usefixtures("workers_here")
@pytest.mark.parametrize("changed", ["min_count", "data"])
def test_trials_made_with_other_settings_or_data_are_not_in_one_study(
    labelwise: Callable[..., Any], data: Path, tmp_path: Path, changed: str
) -> None:
    """The best trial had another min_count, or other documents, than the file of settings said."""
    asked = ("tune", "svm", "--vary", "C=0.1,1")
    said = labelwise(*asked, "--data", data, "--trials", 1, "--out", "best.toml")
    assert said.code == 0, said.err
    other, settings = data, ("--set", "min_count=5") if changed == "min_count" else ()
    if changed == "data":
        other = tmp_path / data.name  # of the same name
        make_dataset(other, seed=1, train=60, dev=12, test=12)
    again = labelwise(*asked, "--data", other, *settings, "--trials", 2, "--out", "other.toml")
    assert again.code == 1
    assert f"tune.db: the trials of this study of svm were made with another {changed}" in again.err
    assert not (tmp_path / "other.toml").exists()
    assert labelwise(*asked, "--data", data, "--trials", 2, "--set", "seed=0").code == 0


@pytest.mark.usefixtures("workers_here")
def test_what_came_of_other_trials_is_neither_told_nor_taken_for_these(
    labelwise: Callable[..., Any], data: Path, tmp_path: Path
) -> None:
    """Trials are numbered from zero in every study: those of another one had the same numbers."""
    asked = ("tune", "svm", "--data", data)
    plans = {}
    for name, vary in {"one": "C=0.1", "other": "C=2"}.items():
        study = ("--study", f"{name}.db", "--vary", vary)
        plans[name] = (*asked, *study)
        (tmp_path / f"{name}.jsonl").write_text(labelwise(*plans[name], "--plan", 1).out)
    assert labelwise(*asked, "--run", "one.jsonl", "--out", "results.jsonl").code == 0

    refused = labelwise(*asked, "--run", "other.jsonl", "--out", "results.jsonl")
    assert refused.code == 1
    assert "results.jsonl: trial 0 stands here already, made with another C than" in refused.err
    fixed = ("--set", "min_count=5")
    refused = labelwise(*asked, *fixed, "--run", "one.jsonl", "--out", "results.jsonl")
    assert refused.code == 1
    assert "another min_count than" in refused.err

    refused = labelwise(*plans["other"], "--tell", "results.jsonl")
    assert refused.code == 1
    assert "trial 0 was made with another C than this study planned" in refused.err
    told = labelwise(*plans["one"], "--tell", "results.jsonl")
    assert told.code == 0, told.err
    assert "1 trials are new to the study" in told.err


def test_the_clock_of_a_search_is_no_setting_of_its_file(data: Path) -> None:
    """Short trials would make every later training as short."""
    corpus = corpora.open_corpus(data, (), ())
    given = ("max_seconds=60", "epochs=2")
    search = tune_command.Search("cnn-lwan", corpus, None, given, 0, None)
    assert search.named({"filters": 8}) == {"epochs": 2, "filters": 8}


def test_a_trial_that_falls_behind_is_stopped(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labelwise.experiments.corpora import open_corpus

    given = ("epochs=500", "patience=500", "dim=8", "max_tokens=40", "kernel=3", "filters=4")
    search = tune_command.Search("cnn-lwan", open_corpus(data, (), ()), None, given, 0, None)
    good = [
        Trial(number, "cnn-lwan", {}, "complete", 0.99, [0.99] * 500)
        for number in range(trials_module.COMPANY)
    ]
    planned = iter([Trial(9, "cnn-lwan", {"dropout": 0.1})])
    (one,) = tune_command._try_all(
        search, lambda: next(planned, None), tmp_path, Jobs(), good, running=set(), until=None
    )
    assert one.state == "pruned"
    assert trials_module.WARMUP <= len(one.curve) < 500
    assert one.value == max(one.curve)


def test_with_several_vectors_at_hand_they_are_varied_too(tmp_path: Path) -> None:
    from labelwise.experiments.corpora import Corpus, PreparedFolder
    from labelwise.tuning.space import Choice

    own = {"vectors": "glove.txt", "min_count": 5, "dim": 100}
    rows = {"own.txt": tmp_path / "own.npz"}
    corpus = Corpus("acts", "f00d", None, (PreparedFolder(tmp_path, own),), rows)
    search = tune_command.Search("han", corpus, None, ("units=300",), 0, None)
    space = search.space(())
    assert space["vectors"] == Choice(("glove.txt", "own.txt"))
    assert "units" not in space  # it is given
    settings = search.settings({"vectors": "own.txt", "dropout": 0.1})
    assert (settings.vectors, settings.units, settings.min_count) == ("own.txt", 300, 5)
    (tmp_path / "han.toml").write_text("min_count = 2\n")
    other = tune_command.Search("han", corpus, tmp_path / "han.toml", (), 0, None)
    with pytest.raises(LabelwiseError, match="han asks for min_count=2, but the prepared corpus"):
        other.settings({})


@pytest.mark.usefixtures("workers_here")
def test_a_linear_method_can_be_tuned_too(labelwise: Callable[..., Any], data: Path) -> None:
    pytest.importorskip("numba")
    said = labelwise(
        "tune", "svm", "--data", data, "--vary", "min_count=1,2", "--trials", 1, "--jobs", 2
    )
    assert said.code == 0, said.err
    assert tomllib.loads(said.out)["min_count"] in (1, 2)
    assert " -  " in said.out  # it has no epochs


@pytest.mark.usefixtures("workers_here")
def test_what_always_fails_is_not_tried_for_ever(labelwise: Callable[..., Any], data: Path) -> None:
    fixed = ("--set", "device=cuda:7", *TINY)
    said = labelwise("tune", "cnn-lwan", "--data", data, *fixed, *VARY, "--jobs", 3)
    assert said.code == 1
    assert "3 trials in a row failed" in said.err
    assert "the device 'cuda:7' cannot be used here" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("han",), 2, "--data (or LABELWISE_DATA) or --prepared is needed"),
        (("bert", "--data", "DATA"), 1, "no method is called 'bert'"),
        (("exact-match", "--data", "DATA"), 1, "exact-match has nothing to tune"),
        (("han", "--data", "DATA", "--vary", "filters=1,2"), 1, "no setting 'filters' of han"),
        (("han", "--data", "DATA", "--set", "units=0"), 1, "units must be a whole number"),
        (
            ("svm", "--data", "DATA", "--vary", "C=1,2", "--set", "C=1"),
            1,
            "nothing is left to vary",
        ),
        (("han", "--data", "DATA", "--plan", "1", "--tell", "x"), 2, "choose one"),
        (("han", "--data", "DATA", "--run", "x.jsonl"), 2, "--run needs --out"),
        (("han", "--data", "DATA", "--run", "x.jsonl", "--out", "y"), 1, "x.jsonl: the trials"),
    ],
)
def test_a_wrong_call_is_explained(
    labelwise: Callable[..., Any], data: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    said = labelwise("tune", *(data if word == "DATA" else word for word in arguments))
    assert said.code == code
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_of_two_searches_on_one_study_the_second_is_told(
    labelwise: Callable[..., Any], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take the trials of the first for ones that were left, and try them again."""
    monkeypatch.setattr(tune_command, "WAIT", 0.0)
    with tune_command._alone_with(Path("study.db")):
        told = labelwise("tune", "cnn-lwan", "--data", data, *TINY, *VARY, "--study", "study.db")
    assert told.code == 1
    assert "another `labelwise tune` is at work on it" in told.err
    assert not Path("study.db").exists()


def test_a_line_of_trials_that_was_cut_off_is_tried_again() -> None:
    out = Path("results.jsonl")
    whole = Trial(0, "han", {"units": 8}, "complete", 0.5).line() + "\n"
    out.write_text(whole + '{"trial": 1, "meth')
    tune_command._cut_half_line(out)
    assert out.read_text() == whole
    tune_command._cut_half_line(out)
    assert out.read_text() == whole


@pytest.mark.parametrize("content", [None, "", "[1]", '{"figures": {}}'])
def test_a_trial_whose_outcome_is_damaged_has_failed(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "outcome.json").write_text(content)
    made = tune_command._outcome(Trial(3, "han", {"units": 8}), tmp_path, 0)
    assert made.state == "failed"
