"""Nothing is chosen on the test documents: with their labels permuted all choices are the same.

Two data sets differ in the gold of their test documents alone, which stands among other documents.
What is trained, weighed, tuned, compacted, placed and chosen on the one must be what it is on the
other. Dev documents choose, and are not learned from.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from worker_cases import PoolHere

import labelwise
from labelwise import bundle as bundles
from labelwise.corpus.dataset import NOTHING, open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.comparison import best_on_dev
from labelwise.evaluation.unseen_scale import MOST_LOST
from labelwise.experiments import calibrate, compact, reproduce, tune
from labelwise.experiments.corpora import open_corpus
from labelwise.experiments.jobs import Job
from labelwise.experiments.prepare import prepare
from labelwise.experiments.settings import parse_settings
from labelwise.experiments.training_data import Documents, Numbers
from labelwise.methods import Method, get
from labelwise.methods.base import Resumable
from labelwise.methods.blend import Blend
from labelwise.tuning import jobs as side_by_side
from labelwise.tuning.jobs import Jobs

PAIR = ("acts", "permuted")
CNN = ("epochs=2", "max_tokens=40", "filters=4", "kernel=3", "dim=8", "device=cpu")
LEARNING = (*CNN[4:], "epochs=6", "filters=16", "kernel=1", "learning_rate=0.03")
"""Enough for epochs that are not alike on dev."""


def permute(data: Path, split: str, out: Path) -> None:
    """The same data set with the gold of a split's documents at other documents of it."""
    shutil.copytree(data, out)
    file = out / f"{split}.jsonl"
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    gold = [record["concepts"] for record in records]
    for record, labels in zip(records, gold[7:] + gold[:7], strict=True):
        record["concepts"] = labels
    file.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")


@pytest.fixture(scope="module", autouse=True)
def _in_one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two data sets."""
    folder = tmp_path_factory.mktemp("pair")
    make_dataset(folder / "acts", train=90, dev=20, test=20)
    permute(folder / "acts", "test", folder / "permuted")
    first, second = (open_dataset(folder / name) for name in PAIR)
    assert first.label_space.fingerprint == second.label_space.fingerprint
    assert [one.labels for one in first.test] != [one.labels for one in second.test]
    return folder


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "Pool", PoolHere)
    monkeypatch.setattr(Blend, "joined_from", ("svm", "lexical"))


def assert_same_model(first: Path, second: Path) -> None:
    """Same weights, same threshold and scale of unseen labels, same values beside them."""
    one, other = bundles.load(first), bundles.load(second)
    assert one.threshold == other.threshold
    assert one.unseen == other.unseen
    assert_same_weights(one, other)
    assert json.dumps(one.state().values) == json.dumps(other.state().values)


def assert_same_weights(one: Method, other: Method) -> None:
    ours, theirs = one.state().arrays, other.state().arrays
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def reproduced(data: Path, out: Path) -> None:
    reproduce.reproduce(
        open_corpus(data, (), ()), methods=["blend,cnn-lwan"], seeds=range(1), jobs=Jobs(),
        out=out / "results", bundles=out / "bundles", configs=out, given=CNN, until=None,
        cache=None, report=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(pair: Path) -> Path:
    """The models of both, by `reproduce`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(side_by_side, "Pool", PoolHere)
        patch.setattr(Blend, "joined_from", ("svm", "lexical"))
        for name in PAIR:
            reproduced(pair / name, pair / f"made-{name}")
    return pair


@pytest.mark.parametrize("name", ["svm-0", "lexical-0", "cnn-lwan-0", "blend-0"])
def test_reproduce_trains_weighs_and_cuts_without_the_gold_of_test(made: Path, name: str) -> None:
    folders = [made / f"made-{one}/bundles/{name}.bundle" for one in PAIR]
    assert_same_model(*folders)
    method = name.removesuffix("-0")
    first, second = (
        labelwise.Run.read(made / f"made-{one}/results/{one}/{method}/seed-0.json") for one in PAIR
    )
    assert first.threshold == second.threshold
    ours, theirs = first.to_json()["measures"], second.to_json()["measures"]
    assert ours["dev"] == theirs["dev"]
    assert ours["test"] != theirs["test"]


@pytest.mark.parametrize("name", ["svm", "cnn-lwan"])
@pytest.mark.parametrize("how", ["train", "reproduce"])
def test_what_is_learned_is_learned_without_the_gold_of_dev(
    pair: Path, tmp_path: Path, name: str, how: str
) -> None:
    """On dev it is chosen when to stop and where to cut; of one epoch there is no choice."""
    permute(pair / "acts", "dev", tmp_path / "permuted")
    settings = ["epochs=1", *CNN[1:]] if name == "cnn-lwan" else []
    made = []
    for data in (pair / "acts", tmp_path / "permuted"):
        if how == "train":
            made.append(labelwise.train(name, data=data, settings=settings).method)
        else:
            cls = get(name)
            made.append(cls(parse_settings(cls.Settings, settings, name)))
            Documents(data).fit(made[-1])
    assert made[0].threshold != made[1].threshold
    assert_same_weights(*made)


@pytest.mark.parametrize("method", ["svm", "cnn-lwan"])
def test_train_learns_and_cuts_without_the_gold_of_test(
    pair: Path, tmp_path: Path, method: str
) -> None:
    settings = CNN if method == "cnn-lwan" else ()
    for name in PAIR:
        labelwise.train(method, data=pair / name, out=tmp_path / name, settings=settings)
    assert_same_model(*(tmp_path / name for name in PAIR))


def test_from_numbers_it_is_stopped_without_the_gold_of_test(pair: Path, tmp_path: Path) -> None:
    """The log has what dev said of each epoch."""
    logs = []
    for name in PAIR:
        prepare(pair / name, NOTHING, out=tmp_path / name, dim=8)
        cnn = get("cnn-lwan")
        method = cnn(parse_settings(cnn.Settings, LEARNING, cnn.name))
        assert isinstance(method, Resumable)
        method.run_dir = tmp_path / f"run-{name}"
        Numbers(tmp_path / name, None).fit(method)
        lines = (method.run_dir / "log.jsonl").read_text("utf-8").splitlines()
        logs.append([one["dev_rp5"] for one in map(json.loads, lines) if one["event"] == "epoch"])
    assert len(set(logs[0])) > 1
    assert logs[0] == logs[1]


def test_unseen_labels_are_placed_without_the_gold_of_test(made: Path, tmp_path: Path) -> None:
    told = []
    for name in PAIR:
        hidden = tmp_path / f"hidden-{name}"
        labelwise.train("lexical", data=made / name, hide=0.25, out=hidden)
        calibrate.calibrate_unseen(
            made / f"made-{name}/bundles/lexical-0.bundle", [hidden], tmp_path / name,
            data=made / name, additions=NOTHING, prepared=None, most_lost=MOST_LOST, name=None,
            results=tmp_path / f"results-{name}",  # so that test is scored beside
            command="",
        )  # fmt: skip
        told.append(bundles.describe(tmp_path / name)["card"]["unseen"])
    assert_same_model(*(tmp_path / name for name in PAIR))
    for one, name in zip(told, PAIR, strict=True):
        assert one.pop("draws") == [f"{name}-hidden-0.25-draw-0"]
    assert told[0] == told[1]


def test_a_blend_is_weighed_without_the_gold_of_test(made: Path, tmp_path: Path) -> None:
    for name in PAIR:
        members = [made / f"made-{name}/bundles/{one}-0.bundle" for one in ("svm", "lexical")]
        for member in members:  # so that they are asked again
            member.with_suffix(".scores.npz").unlink(missing_ok=True)
        results = tmp_path / f"results-{name}"  # so that test is measured beside
        labelwise.join("blend", members, data=made / name, out=tmp_path / name, results=results)
    assert_same_model(*(tmp_path / name for name in PAIR))
    weights = [bundles.describe(tmp_path / name)["card"]["weights"] for name in PAIR]
    assert weights[0] == weights[1]


def test_settings_are_tuned_without_the_gold_of_test(pair: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    chosen: list[Any] = []
    for name in PAIR:
        search = tune.Search("svm", open_corpus(pair / name, (), ()), None, (), 0, None)
        with search.study(tmp_path / f"{name}.db", ["C=0.01,1.0", "min_count=1,6"]) as study:
            tune.search(search, study, tmp_path / name, 3, Jobs(), until=None)
            tried = [(one.value, one.figures, one.settings) for one in study.trials()]
            chosen.append((tried, tune.best_settings(search, study).splitlines()[-2:]))
        jobs = [Job.read(file) for file in (tmp_path / name).rglob("job.json")]
        assert [job.splits for job in jobs] == [["dev"]] * 3
    assert chosen[0] == chosen[1]


def test_a_size_is_chosen_without_the_gold_of_test(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "timed", lambda *_: {})
    sizes = []
    for name in PAIR:
        found = compact.compact_bundle(
            made / f"made-{name}/bundles/svm-0.bundle", data=made / name, more=None,
            summaries=False, every_concept=False, out=tmp_path / name, name="small", max_mb=25.0,
            prunes=[0.02, 0.2], step=1.1, thesaurus=None, places=None,
            results=tmp_path / "results", cache=None, command="",
        )  # fmt: skip
        assert isinstance(found, compact.Compacted)
        sizes.append((found.chosen.prune, [one.dev for one in found.sizes]))
    assert sizes[0] == sizes[1]
    assert_same_model(*(tmp_path / name for name in PAIR))


def test_the_seed_that_is_tested_is_the_best_on_dev_whatever_test_says(made: Path) -> None:
    both = [
        labelwise.Run.read(made / f"made-acts/results/acts/{method}/seed-0.json")
        for method in ("cnn-lwan", "svm")
    ]
    worse, better = sorted(both, key=lambda run: run.value("dev", "all", "RP@5"))
    assert worse.value("dev", "all", "RP@5") < better.value("dev", "all", "RP@5")
    runs = [replace(better, method="svm", seed=0), replace(worse, method="svm", seed=1)]
    swapped = [
        replace(runs[0], measures={**runs[0].measures, "test": worse.measures["test"]}),
        replace(runs[1], measures={**runs[1].measures, "test": better.measures["test"]}),
    ]
    for given in (runs, swapped):
        assert best_on_dev(given, "RP@5", "all").seed == 0
        [row] = labelwise.compare(given, measure=["RP@5"], rounds=10).methods
        assert row.chosen.seed == 0


@pytest.mark.parametrize("split", [("dev", "test"), ("test",)])
def test_the_threshold_of_a_run_is_that_of_dev(made: Path, split: tuple[str, ...]) -> None:
    found = [
        labelwise.evaluate(
            made / f"made-{name}/bundles/lexical-0.bundle", data=made / name, split=split
        ).threshold
        for name in PAIR
    ]
    assert found[0] == found[1]
