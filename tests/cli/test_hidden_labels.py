"""Labels hidden by a command: trained without them, measured as unseen ones, in their own place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.runs import DataRecord, Run
from labelwise.training.prepared_dataset import prepare_in_words

TINY = ("--set", "epochs=2", "--set", "max_tokens=60", "--set", "filters=8", "--set", "kernel=3")


@pytest.fixture(scope="module")
def acts(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("hidden") / "acts"
    make_dataset(folder, train=80, dev=16, test=16)
    return open_dataset(folder)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    return tmp_path


def folder_of(dataset: Dataset) -> Path:
    return dataset.paths["train"].parent


def test_a_bundle_knows_what_was_hidden_from_it_and_is_measured_on_that(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    data, out = folder_of(acts), here / "match.bundle"
    asked = ("--data", data, "--out", out, "--hide", 0.25, "--draw", 1)
    assert labelwise("train", "exact-match", *asked).code == 0
    view = hide(acts, Hiding(0.25, draw=1))
    assert bundles.load(out).label_space == view.label_space

    assert labelwise("evaluate", out, "--data", data).code == 0
    run = Run.read(here / "results/acts-hidden-0.25-draw-1/exact-match/seed-0.json")
    assert run.data == DataRecord.of(view)
    assert run.data.hidden is not None
    assert run.data.hidden["data"] == "acts"
    carried = sum(not set(view.label_space.ids[view.label_space.groups["zero"]]).isdisjoint(
        one.labels) for one in acts.test)  # fmt: skip
    assert run.measures["test"]["zero"]["documents"] == carried


def test_what_is_found_of_the_evidence_of_another_model_does_not_stand_in_the_place_of_its_own(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    """That of a model with hidden labels, or of other documents, replaced the data set's own, and
    the page of the data set called it so."""
    data = folder_of(acts)
    make_dataset(here / "others", seed=1, train=80, dev=16, test=16)
    trained = {
        "acts/lexical": (data,),
        "acts-hidden-0.25-draw-1/lexical": (data, "--hide", 0.25, "--draw", 1),
        "acts/lexical@others": (here / "others",),
    }
    for name, asked in trained.items():
        out = here / f"{name.replace('/', '-')}.bundle"
        assert labelwise("train", "lexical", "--data", *asked, "--out", out).code == 0
        called = labelwise("faithfulness", out, "--data", data, "--documents", 2)
        assert called.code == 0, called.err
    found = (here / "results").rglob("faithfulness-seed-0.json")
    assert {one.parent.relative_to(here / "results").as_posix() for one in found} == set(trained)


def test_bundles_with_the_same_labels_hidden_are_joined(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    data = folder_of(acts)
    for method in ("exact-match", "svm"):
        asked = ("--data", data, "--out", here / method, "--hide", 5)
        assert labelwise("train", method, *asked).code == 0
    both = (here / "exact-match", here / "svm")
    assert labelwise("join", "blend", *both, "--data", data, "--out", here / "blend").code == 0
    assert labelwise("evaluate", here / "blend", "--data", data).code == 0
    assert (here / "results/acts-hidden-5-draw-0/blend/seed-0.json").exists()


@pytest.mark.usefixtures("workers_here")
def test_networks_are_trained_with_hidden_labels_from_the_one_prepared_corpus(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    prepare_in_words(acts, here / "prepared", dim=8)
    (here / "configs/acts").mkdir(parents=True)
    (here / "configs/acts/z-cnn-lwan.toml").write_text("dropout = 0.25\n")

    asked = ("--prepared", here / "prepared", "-m", "z-cnn-lwan", "--seeds", 1, *TINY)
    for draw in (0, 1):
        said = labelwise("reproduce", *asked, "--hide", 0.25, "--draw", draw)
        assert said.code == 0, said.err
        run = Run.read(here / f"results/acts-hidden-0.25-draw-{draw}/z-cnn-lwan/seed-0.json")
        assert run.data == DataRecord.of(hide(acts, Hiding(0.25, draw)))
        assert run.settings["dropout"] == 0.25  # the settings of the whole data set hold
        assert run.command.startswith(
            f"labelwise reproduce --prepared PREPARED --hide 0.25 --draw {draw}"
        )
        assert (here / f"bundles/acts-hidden-0.25-draw-{draw}/z-cnn-lwan-0.bundle").is_dir()
    made = here / "bundles/acts-hidden-0.25-draw-1/z-cnn-lwan-0.bundle"
    said = labelwise("evaluate", made, "--prepared", here / "prepared", "--results", here / "new")
    assert said.code == 0, said.err
    measured = Run.read(here / "new/acts-hidden-0.25-draw-1/z-cnn-lwan/seed-0.json")
    assert measured.data == run.data
    assert measured.value("test", "zero", "R@10") == pytest.approx(
        run.value("test", "zero", "R@10"), abs=0.05
    )  # the bundle is kept in half precision
    again = labelwise("reproduce", *asked, "--hide", 0.25, "--draw", 1)
    assert "z-cnn-lwan, seed 0: finished before" in again.err
    assert not (here / "results/acts").exists()


def test_a_model_of_other_labels_is_not_measured_on_a_prepared_corpus(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    prepare_in_words(acts, here / "prepared", dim=8)
    asked = ("--data", folder_of(acts), "--out", here / "svm", "--hide", 3)
    assert labelwise("train", "svm", *asked).code == 0
    said = labelwise("evaluate", here / "svm", "--prepared", here / "prepared")
    assert said.code == 1
    assert "svm reads documents, and not a prepared corpus" in said.err
    said = labelwise("evaluate", here / "svm")
    assert said.code == 2
    assert "--data (or LABELWISE_DATA), --prepared or --on is needed" in said.err


def test_a_draw_without_hidden_labels_is_a_slip(
    labelwise: Callable[..., Any], here: Path, acts: Dataset
) -> None:
    asked = ("--data", folder_of(acts), "--out", here / "match.bundle", "--draw", 1)
    said = labelwise("train", "exact-match", *asked)
    assert said.code == 2
    assert "--draw and --drop-documents go with --hide" in said.err
