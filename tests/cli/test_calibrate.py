"""Unseen labels take their place in the list by a command, tuned on labels that were hidden."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labelwise import bundle as bundles
from labelwise.cli import main
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.runs import Run
from labelwise.experiments.training_data import Documents

TINY = ("epochs=2", "max_tokens=60", "filters=8", "kernel=3", "dim=8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrate") / "acts"
    make_dataset(folder, train=80, dev=24, test=24)
    return folder


@pytest.fixture(scope="module")
def trained(data: Path) -> dict[str, Path]:
    """A tiny z-cnn-lwan of all labels, two with labels hidden, and methods of other kinds."""
    torch.set_num_threads(1)
    made = {}
    for name, method, *hidden in (
        ("whole", "z-cnn-lwan"),
        ("draw-0", "z-cnn-lwan", "--hide", "0.25"),
        ("draw-1", "z-cnn-lwan", "--hide", "0.25", "--draw", "1"),
        ("match", "exact-match"),
        ("svm", "svm"),
    ):
        made[name] = data.parent / name
        asked = ["train", method, "--data", str(data), "--out", str(made[name]), *hidden]
        of_network = [word for one in TINY for word in ("--set", one)]
        with pytest.raises(SystemExit) as ended:
            main(["--quiet", *asked, *(of_network if method == "z-cnn-lwan" else ())])
        assert ended.value.code == 0
    return made


def test_a_network_is_calibrated_by_two_draws_and_measured_under_a_name_of_its_own(
    labelwise: Callable[..., Any], data: Path, trained: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "placed.bundle"
    names = ("whole", "draw-0", "draw-1")
    draws = (trained["draw-0"], trained["draw-1"])
    asked = ("--data", data, "--out", out, "--name", "z-placed")
    called = labelwise("calibrate", trained["whole"], *draws, *asked, "--json")
    assert called.code == 0, called.err
    said = called.json
    assert said["draws"] == ["acts-hidden-0.25-draw-0", "acts-hidden-0.25-draw-1"]
    for what, most in (("rp5", 0.003), ("r10", 0.02)):
        assert said["on hidden labels"][f"lost_{what}"] <= said["allowed"][what] <= most
        assert said["on dev"][f"lost_{what}"] <= said["allowed"][what]
    assert said["on dev"]["slope"] == said["on hidden labels"]["slope"] > 0

    before, after = bundles.load(trained["whole"]), bundles.load(out)
    sizes = [int((bundles.load(trained[one]).label_space.counts == 0).sum()) for one in names]
    # Each part of the hidden labels is as large as all that are unseen.
    assert said["parts"] == sum(round(size / sizes[0]) for size in sizes[1:]) > 2
    assert before.unseen is None
    assert after.unseen is not None
    assert after.unseen.offset == pytest.approx(said["on dev"]["offset"])
    assert len(bundles.describe(out)["card"]["command"].splitlines()) == 2
    documents = open_dataset(data).test[:10]
    zero = before.label_space.groups["zero"].start
    old, new = before.scores(documents), after.scores(documents)
    np.testing.assert_array_equal(new[:, :zero], old[:, :zero])
    np.testing.assert_allclose(new[:, zero:], after.unseen(old[:, zero:]), rtol=1e-5)

    results = tmp_path / "results"
    assert labelwise("evaluate", out, "--data", data, "--results", results).code == 0
    run = Run.read(results / "acts/z-placed/seed-0.json")
    assert run.value("dev", "all", "documents") == 24


def test_kept_scores_are_not_asked_again_and_measured_at_once(
    labelwise: Callable[..., Any],
    data: Path,
    trained: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = {"whole": ("whole", "match"), "draw": ("draw-0", "match-0")}
    asked = ("train", "exact-match", "--data", data, "--hide", "0.25")
    assert labelwise(*asked, "--out", trained["match"].parent / "match-0").code == 0
    made = {name: tmp_path / f"{name}.bundle" for name in members}
    for name, of in members.items():
        both = [data.parent / one for one in of]
        asked = ("join", "blend", *both, "--data", data, "--out", made[name])
        assert labelwise(*asked, "--results", tmp_path / "joined").code == 0

    asked = ("calibrate", made["whole"], made["draw"], "--data", data, "--name", "placed")
    results = tmp_path / "results"
    with monkeypatch.context() as patched:
        patched.setattr(Documents, "scores", None)  # nobody is to ask
        called = labelwise(*asked, "--out", tmp_path / "placed.bundle", "--results", results)
    assert called.code == 0, called.err
    run = Run.read(results / "acts/placed/seed-0.json")
    again = labelwise("evaluate", tmp_path / "placed.bundle", "--data", data, "--results", tmp_path)
    assert again.code == 0
    scored = Run.read(tmp_path / "acts/placed/seed-0.json")
    for group in ("all", "zero-among-all"):
        for measure in ("RP@5", "R@10"):
            figure = scored.value("test", group, measure)
            assert run.value("test", group, measure) == pytest.approx(
                figure, abs=0.05
            )  # kept in half precision


def test_the_model_loses_no_more_than_the_hidden_labels_asked_for_and_is_placed_anew_each_time(
    labelwise: Callable[..., Any], data: Path, trained: dict[str, Path], tmp_path: Path
) -> None:
    """Seen labels may lose all that they have, and the best mean needs less."""
    asked = ("--data", data, "--lose-rp5", 1, "--lose-r10", 1, "--json")
    once, twice = tmp_path / "once", tmp_path / "twice"
    said = labelwise("calibrate", trained["whole"], trained["draw-0"], *asked, "--out", once).json
    assert said["allowed"]["r10"] < 1
    assert said["on dev"]["lost_r10"] <= said["allowed"]["r10"]
    assert said["on dev"]["lost_rp5"] <= said["allowed"]["rp5"]
    again = labelwise("calibrate", once, trained["draw-0"], *asked, "--out", twice).json
    assert again["on dev"] == said["on dev"]
    assert again["on dev before"] == said["on dev before"]
    assert bundles.load(twice).unseen == bundles.load(once).unseen


def test_people_see_what_dev_says_before_and_after(
    labelwise: Callable[..., Any], data: Path, trained: dict[str, Path], tmp_path: Path
) -> None:
    asked = ("--data", data, "--out", tmp_path / "placed")
    called = labelwise("calibrate", trained["whole"], trained["draw-0"], *asked)
    assert called.code == 0, called.err
    for words in ("slope", "offset", "RP@5 lost", "harmonic mean", "hidden labels", "dev before"):
        assert words in called.out
    assert f"Next: labelwise evaluate {tmp_path / 'placed'}" in called.err


def test_a_calibrated_model_is_not_joined(
    labelwise: Callable[..., Any], data: Path, trained: dict[str, Path], tmp_path: Path
) -> None:
    asked = ("--data", data, "--out", tmp_path / "placed")
    assert labelwise("calibrate", trained["whole"], trained["draw-0"], *asked).code == 0
    both = (trained["match"], tmp_path / "placed")
    said = labelwise("join", "blend", *both, "--data", data, "--out", tmp_path / "blend")
    assert said.code == 1
    assert "join models as they were trained, and calibrate what is made of them" in said.err


@pytest.mark.parametrize(
    ("model", "hidden", "sentence"),
    [
        ("svm", "svm", "svm scores a label that no training document carries by chance"),
        ("whole", "whole", "no label was hidden from"),
        ("match", "draw-0", "is a z-cnn-lwan, and"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(
    labelwise: Callable[..., Any],
    data: Path,
    trained: dict[str, Path],
    tmp_path: Path,
    model: str,
    hidden: str,
    sentence: str,
) -> None:
    asked = ("--data", data, "--out", tmp_path / "placed")
    said = labelwise("calibrate", trained[model], trained[hidden], *asked)
    assert said.code == 1
    assert sentence in said.err
    assert not (tmp_path / "placed").exists()


def test_a_model_without_an_unseen_label_is_refused(
    labelwise: Callable[..., Any], data: Path, tmp_path: Path
) -> None:
    """Nothing was lost at any offset, so that the highest was taken: a label that was added later
    came first on every document, with a score of 1."""
    folder = tmp_path / "acts"
    shutil.copytree(data, folder)
    seen = {one for act in records(folder / "train.jsonl") for one in act["concepts"]}
    for split in ("dev", "test"):
        acts = records(folder / f"{split}.jsonl")
        for act in acts:
            act["concepts"] = [one for one in act["concepts"] if one in seen]
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, acts)), "utf-8")
    for name, hidden in {"whole": (), "draw": ("--hide", 0.25)}.items():
        asked = ("--data", folder, "--out", tmp_path / name, *hidden)
        assert labelwise("train", "lexical", *asked).code == 0
    asked = ("--data", folder, "--out", tmp_path / "placed")
    said = labelwise("calibrate", tmp_path / "whole", tmp_path / "draw", *asked)
    assert said.code == 1
    assert "whole has no unseen label" in said.err
    assert not (tmp_path / "placed").exists()


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
