"""Scores become chances by a command, and `tag`, `evaluate` and `card` make use of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.cli import main
from labelwise.corpus.dataset import open_dataset
from labelwise.evaluation.runs import Run


@pytest.fixture(scope="module")
def sure(bundle: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The svm, calibrated on the dev documents; what was measured stands beside it."""
    folder = tmp_path_factory.mktemp("calibrated")
    on = ["--on", str(corpus / "dev.jsonl"), "--results", str(folder / "results")]
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "calibrate", str(bundle), *on, "--out", str(folder / "sure"), "--json"])
    assert ended.value.code == 0
    return folder / "sure"


def record_of(sure: Path) -> dict[str, Any]:
    (path,) = (sure.parent / "results").glob("*/*/calibration-seed-0.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def test_a_saved_model_gives_chances_and_keeps_the_order_of_each_group(
    bundle: Path, sure: Path, corpus: Path
) -> None:
    before, after = bundles.load(bundle), bundles.load(sure)
    assert before.calibration is None
    assert after.calibration is not None
    assert set(after.calibration.curves) == {"frequent", "few", "zero"}
    assert after.calibration.record == "synthetic-dev/svm@synthetic/calibration-seed-0.json"
    documents = open_dataset(corpus).test[:20]
    old, new = before.scores(documents), after.scores(documents)
    assert not np.allclose(old, new)
    np.testing.assert_allclose(new, after.calibration(old, before.label_space.groups), rtol=1e-6)
    for part in before.label_space.groups.values():
        for was, now in zip(old[:, part], new[:, part], strict=True):
            assert np.all(np.diff(now[np.argsort(was)]) >= 0)


def test_documents_held_out_say_what_became_better(sure: Path) -> None:
    record = record_of(sure)
    assert (record["documents"], record["folds"]) == (60, 5)
    before, after = (record["reliability"][when]["all"] for when in ("before", "after"))
    assert after["log_loss"] < 1.02 * before["log_loss"]  # the scores were fitted on dev already
    assert record["calibration"] == bundles.describe(sure)["calibration"]
    assert len(record["command"].splitlines()) == 2


def test_before_is_the_model_as_it_was_trained_at_its_own_threshold(
    labelwise: Callable[..., Any], bundle: Path, sure: Path, corpus: Path, tmp_path: Path
) -> None:
    record, model, documents = record_of(sure), bundles.load(bundle), open_dataset(corpus).dev
    given = model.scores(documents) > model.threshold
    gold = model.label_space.gold(documents).toarray() > 0
    assert record["threshold before"] == model.threshold
    assert record["assigned"]["before"]["0"]["recall"] == (given & gold).sum() / gold.sum()
    again = ("--on", corpus / "dev.jsonl", "--results", tmp_path, "--out", tmp_path / "again")
    assert labelwise("calibrate", sure, *again).code == 0, "what was calibrated is calibrated anew"
    assert bundles.load(tmp_path / "again").calibration == bundles.load(sure).calibration


def test_evaluate_measures_the_chances_at_the_threshold_that_goes_with_them(
    labelwise: Callable[..., Any], sure: Path, corpus: Path, tmp_path: Path
) -> None:
    asked = ("--on", corpus / "dev.jsonl", "--results", tmp_path)
    assert labelwise("evaluate", sure, *asked).code == 0
    run = Run.read(tmp_path / "synthetic-dev/svm@synthetic/seed-0.json")
    assert run.threshold == pytest.approx(record_of(sure)["threshold"])


def test_an_act_gets_its_best_labels_or_as_many_as_are_precise_enough(
    labelwise: Callable[..., Any], sure: Path, corpus: Path
) -> None:
    def scores(*asked: object) -> list[list[float]]:
        called = labelwise("tag", corpus / "dev.jsonl", "--bundle", sure, "--json", *asked)
        assert called.code == 0, called.err
        return [[one["score"] for one in act["predictions"]] for act in called.json]

    assert any(not act for act in scores("--threshold", 0.999))
    assert {len(act) for act in scores("--threshold", 0.999, "--best", 2)} == {2}
    kept = scores("--precision", 0.8, "--top", 20)
    assert all(np.mean(act) >= 0.8 - 1e-4 for act in kept if act)
    further = scores("--top", 20)
    assert all(
        len(act) == 20 or np.mean(more[: len(act) + 1]) < 0.8 + 1e-4
        for act, more in zip(kept, further, strict=True)
    )
    level = record_of(sure)["certified"][0]
    certified = scores("--certified", level["level"], "--top", 20)
    assert all(score > level["threshold"] for act in certified for score in act)
    assert any(certified)


@pytest.mark.parametrize(
    ("asked", "code", "sentence"),
    [
        (("--certified", "0.99"), 1, "a precision of 0.99 is not certified for this model"),
        (("--best", "3"), 2, "--best goes with --threshold, --certified or --precision"),
        (("--best", "9", "--precision", "0.5"), 2, "--best 9 is more than --top 5"),
        (("--certified", "0.5", "--threshold", "0.5"), 2, "are two thresholds"),
    ],
)
def test_what_contradicts_itself_is_refused(
    labelwise: Callable[..., Any],
    sure: Path,
    act: Path,
    asked: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    said = labelwise("tag", act, "--bundle", sure, *asked)
    assert said.code == code
    assert sentence in said.err


def test_documents_without_a_label_of_the_model_calibrate_nothing(
    labelwise: Callable[..., Any], bundle: Path, tmp_path: Path
) -> None:
    on, out = tmp_path / "others.jsonl", tmp_path / "out.bundle"
    others = [{"celex_id": str(n), "text": "citrus fruit", "concepts": ["x1"]} for n in range(30)]
    on.write_text("\n".join(map(json.dumps, others)), "utf-8")
    said = labelwise("calibrate", bundle, "--on", on, "--out", out)
    assert (said.code, said.out) == (1, "")
    assert f"not one gold label is a label of {bundle}" in said.err
    assert not out.exists()


def test_without_a_calibration_a_precision_is_a_guess_and_none_is_certified(
    labelwise: Callable[..., Any], bundle: Path, act: Path
) -> None:
    said = labelwise("tag", act, "--bundle", bundle, "--precision", 0.5)
    assert said.code == 0
    assert "are not calibrated, so that --precision is a rough guess" in said.err
    said = labelwise("tag", act, "--bundle", bundle, "--certified", 0.9)
    assert said.code == 1
    assert "no precision is certified for this model: `labelwise calibrate --on`" in said.err


def test_the_card_shows_what_the_scores_are_good_for(
    labelwise: Callable[..., Any], sure: Path, tmp_path: Path
) -> None:
    results = sure.parent / "results"
    assert labelwise("card", sure, "--results", results, "--out", tmp_path / "svm.md").code == 0
    page = (tmp_path / "svm.md").read_text("utf-8")
    assert "## What its scores are good for" in page
    assert "Labels that can be applied without a look at 5 % error: " in page
    assert "](svm-reliability.svg)" in page
    assert "Scores are chances fitted on synthetic-dev" in page
    assert (tmp_path / "svm-reliability.svg").read_bytes().startswith(b"<?xml")


def test_the_card_says_whether_its_figures_are_those_of_the_file(
    labelwise: Callable[..., Any],
    bundle: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def typed(*words: object) -> str:
        monkeypatch.setattr("sys.argv", ["labelwise", *map(str, words)])
        done = labelwise(*words)
        assert done.code == 0
        return str(done.out)

    sure, on = tmp_path / "sure.bundle", ("--data", corpus, "--results", tmp_path)
    typed("--quiet", "evaluate", bundle, *on)
    assert "measured with this very file:" in typed("card", bundle, "--results", tmp_path)
    dev = ("--on", corpus / "dev.jsonl", "--results", tmp_path)
    typed("--quiet", "calibrate", bundle, *dev, "--out", sure)
    page = typed("card", sure, "--results", tmp_path)
    assert "measured with this file as it was before `labelwise calibrate`:" in page
    assert "\nlabelwise --quiet calibrate " in page.partition("## How it was made")[2]
    typed("evaluate", sure, *on)
    assert "measured with this very file:" in typed("card", sure, "--results", tmp_path)
    page = typed("card", bundle, "--results", tmp_path)
    assert "measured with another file of this name, which was made by other commands" in page


def test_people_see_the_figures_before_and_after(
    labelwise: Callable[..., Any], bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    asked = ("--on", corpus / "dev.jsonl", "--out", tmp_path / "sure", "--results", tmp_path)
    said = labelwise("calibrate", bundle, *asked, "--name", "sure")
    assert said.code == 0, said.err
    for words in ("log-loss", "ECE", "micro-F1", "certified", "RP@5: ", "threshold: ", "a look"):
        assert words in said.out
    assert (tmp_path / "synthetic-dev/sure@synthetic/calibration-seed-0.json").is_file()


def test_a_twin_takes_the_calibration_over(
    labelwise: Callable[..., Any], bundle: Path, sure: Path, tmp_path: Path
) -> None:
    asked = ("--out", tmp_path / "twin", "--name", "twin", "--json")
    said = labelwise("calibrate", bundle, "--like", sure, *asked)
    assert said.code == 0, said.err
    twin, model = bundles.load(tmp_path / "twin"), bundles.load(sure)
    assert (twin.calibration, twin.threshold) == (model.calibration, model.threshold)
    said = labelwise("calibrate", sure, "--like", bundle, "--out", tmp_path / "no")
    assert said.code == 1
    assert "is not calibrated" in said.err


def test_a_calibrated_model_is_not_joined(
    labelwise: Callable[..., Any], bundle: Path, sure: Path, corpus: Path, tmp_path: Path
) -> None:
    said = labelwise("join", "blend", bundle, sure, "--data", corpus, "--out", tmp_path / "no")
    assert said.code == 1
    assert "the scores of this svm were put on another scale" in said.err


@pytest.mark.parametrize("asked", [(), ("--on", "acts.jsonl", "--like", "sure")])
def test_one_way_to_calibrate_is_named(
    labelwise: Callable[..., Any], bundle: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    said = labelwise("calibrate", bundle, *asked, "--out", tmp_path / "no")
    assert said.code == 2
    assert "one of HIDDEN, --on and --like is needed" in said.err
