"""A calibration is measured on documents that it was not chosen on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import Calibration, Tally, best_curve
from labelwise.evaluation.calibration_records import (
    assigned_table,
    precision_table,
    reliability_table,
    without_a_look,
)
from labelwise.evaluation.certified import certify_all
from labelwise.evaluation.held_out import FOLDS, Assigned, HeldOut, calibrate
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.reliability import reliability
from labelwise.evaluation.reliability_figure import reliability_svg
from labelwise.evaluation.threshold import tune_threshold

LABELS = LabelSpace.from_counts(
    {f"{number:03}": count for number, count in enumerate([90] * 20 + [9] * 40 + [0] * 10)}
)


def acts(documents: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Scores that are far too low, those of rare labels most of all; unseen labels score zero."""
    draws = np.random.default_rng(seed)
    z = draws.normal(-4, 2.5, (documents, len(LABELS)))
    gold = draws.random(z.shape) < 1 / (1 + np.exp(-z))
    lower = np.where(LABELS.counts >= 50, 1.0, 3.0)
    scores = (1 / (1 + np.exp(-(1.3 * z - lower)))).astype(np.float32)
    scores[:, LABELS.counts == 0] = 0
    return scores, gold


@pytest.fixture(scope="module")
def found() -> HeldOut:
    return calibrate(*acts(300), LABELS, threshold=0.5, record="acts/svm/calibration-seed-0.json")


def test_scores_are_chances_afterwards_on_documents_held_out(found: HeldOut) -> None:
    for group in ("all", "frequent", "few"):
        before, after = (found.reliability[when][group] for when in ("before", "after"))
        assert after.log_loss < before.log_loss
        assert after.brier < before.brier
        assert after.ece < 0.05 < before.ece
    assert found.rp5["after"] > found.rp5["before"]  # rare labels take the places they deserve


def test_new_documents_agree_with_what_the_folds_say(found: HeldOut) -> None:
    scores, gold = acts(2000, seed=1)
    chances = found.calibration(scores, LABELS.groups)
    said = found.reliability["after"]["all"]
    assert reliability(chances, gold).log_loss == pytest.approx(said.log_loss, rel=0.05)
    for one in found.certified:
        assert gold[chances > one.threshold].mean() >= one.level
    given = chances > found.threshold
    f1 = 2 * (given & gold).sum() / (given.sum() + gold.sum())
    assert f1 == pytest.approx(found.assigned["after"]["0"].f1, abs=0.03)


def given_apart(
    scores: NDArray[np.float32], gold: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
    """What documents get from others alone, fold by fold: their chances, their labels by a
    threshold for the scores as they are, and by one for the chances."""
    fold = np.random.default_rng(0).permutation(len(scores)) % FOLDS
    chances = np.zeros_like(scores)
    tuned, ours = np.zeros_like(gold), np.zeros_like(gold)
    for held in range(FOLDS):
        here, rest = fold == held, fold != held
        others = [fold == one for one in range(FOLDS) if one != held]
        curves = {
            group: best_curve([Tally.of(scores[one, part], gold[one, part]) for one in others])
            for group, part in LABELS.groups.items()
        }
        own = Calibration(curves)
        chances[here] = own(scores[here], LABELS.groups)
        tuned[here] = scores[here] > tune_threshold(scores[rest], gold[rest])
        of_rest = own(scores[rest], LABELS.groups)
        ours[here] = chances[here] > tune_threshold(of_rest, gold[rest])
    return chances, tuned, ours


def test_no_document_has_a_part_in_what_is_measured_on_it() -> None:
    """So few documents that what is fitted to them looks better on them than it is."""
    scores, gold = acts(60, seed=5)
    found = calibrate(scores, gold, LABELS, threshold=0.3, record="")
    chances, tuned, ours = given_apart(scores, gold)
    assert found.reliability["after"]["all"] == reliability(chances, gold)
    assert found.reliability["before"]["all"] == reliability(scores, gold)
    assert found.rp5["after"] == evaluate(chances, gold, LABELS)["all"]["RP@5"]
    assert list(found.certified) == certify_all(chances, gold)
    assert found.certified
    for name, given in (("before", scores > 0.3), ("tuned", tuned), ("after", ours)):
        assert found.assigned[name]["0"] == Assigned.of(given, gold)
    order = np.argsort(-chances, axis=1, kind="stable")
    best = np.take_along_axis(chances, order, axis=1)
    means = np.cumsum(best, axis=1, dtype=np.float64) / np.arange(1, len(LABELS) + 1)
    given = np.zeros_like(gold)
    np.put_along_axis(given, order, means >= 0.7, axis=1)
    assert found.expected["0.7"] == Assigned.of(given, gold)


def test_precision_recall_and_f1_count_all_labels_and_all_documents() -> None:
    gold = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=bool)
    given = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    assert Assigned.of(given, gold) == Assigned(
        precision=1 / 3, recall=1 / 4, f1=2 / 7, labels=3 / 4, without=1
    )


def test_no_document_is_without_a_label_where_it_gets_its_best(found: HeldOut) -> None:
    for rows in found.assigned.values():
        assert rows["0"].without >= rows["1"].without == rows["3"].without == 0
        assert rows["0"].recall <= rows["1"].recall <= rows["3"].recall
        assert rows["3"].labels >= 3


def test_labels_kept_for_a_precision_have_it(found: HeldOut) -> None:
    for level, one in found.expected.items():
        assert one.precision > float(level) - 0.05
    shares = [one.recall for one in found.expected.values()]
    assert shares == sorted(shares)


def test_the_same_documents_give_the_same_calibration(found: HeldOut) -> None:
    again = calibrate(*acts(300), LABELS, threshold=0.5, record=found.calibration.record)
    assert again == found


def test_a_record_becomes_tables_a_sentence_and_a_figure(found: HeldOut) -> None:
    written = {"documents": 300, "data": {"name": "acts"}, **found.to_json()}
    record = json.loads(json.dumps(written))
    assert [row[0] for row in reliability_table(record).rows] == ["all", "frequent", "few"]
    assert len(assigned_table(record).rows) == 9
    assert len(precision_table(record).rows) == 6
    assert "without a look at 5 % error: " in without_a_look(record)
    assert "% of the gold labels" in without_a_look(record)
    assert "nor at any other error" in without_a_look(record | {"certified": []})
    svg = reliability_svg(record)
    assert svg == reliability_svg(record)
    assert svg.count(b"calibrated, on documents held out") == 1


def test_nine_documents_are_too_few() -> None:
    with pytest.raises(LabelwiseError, match="9 documents are too few"):
        calibrate(*acts(9), LABELS, threshold=0.5, record="")
