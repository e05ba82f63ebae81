"""Nothing is chosen on the test documents: with their labels permuted all choices are the same.

Two data sets differ in the gold of their test documents alone, which stands among other documents.
What is trained, weighed, tuned, compacted and chosen on the one must be what it is on the other.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worker_cases import PoolHere

import labelwise
from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.comparison import best_on_dev
from labelwise.experiments import compact, reproduce, tune
from labelwise.experiments.corpora import open_corpus
from labelwise.experiments.jobs import Job
from labelwise.methods.blend import Blend
from labelwise.tuning import jobs as side_by_side
from labelwise.tuning.jobs import Jobs

PAIR = ("acts", "permuted")
CNN = ("epochs=2", "max_tokens=40", "filters=4", "kernel=3", "dim=8", "device=cpu")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two data sets."""
    folder = tmp_path_factory.mktemp("pair")
    make_dataset(folder / "acts", train=90, dev=20, test=20)
    shutil.copytree(folder / "acts", folder / "permuted")
    file = folder / "permuted/test.jsonl"
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    gold = [record["concepts"] for record in records]
    for record, labels in zip(records, gold[7:] + gold[:7], strict=True):
        record["concepts"] = labels
    file.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    first, second = (open_dataset(folder / name) for name in PAIR)
    assert first.label_space.fingerprint == second.label_space.fingerprint
    assert [one.labels for one in first.test] != [one.labels for one in second.test]
    return folder


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "Pool", PoolHere)
    monkeypatch.setattr(Blend, "joined_from", ("svm", "lexical"))


def assert_same_model(first: Path, second: Path) -> None:
    """Same weights, same threshold, same values beside them."""
    one, other = bundles.load(first), bundles.load(second)
    assert one.threshold == other.threshold
    ours, theirs = one.state(), other.state()
    assert ours.arrays.keys() == theirs.arrays.keys()
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(array, theirs.arrays[name], err_msg=name)
    assert json.dumps(ours.values) == json.dumps(theirs.values)


def reproduced(data: Path, out: Path) -> None:
    reproduce.reproduce(
        open_corpus(data, None, ()), methods=["blend,cnn-lwan"], seeds=1, jobs=Jobs(),
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
        search = tune.Search("svm", open_corpus(pair / name, None, ()), None, (), 0, None)
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
