"""A calibration is measured on documents that it was not chosen on."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration_records import (
    assigned_table,
    precision_table,
    reliability_table,
    without_a_look,
)
from labelwise.evaluation.held_out import HeldOut, calibrate
from labelwise.evaluation.reliability import reliability
from labelwise.evaluation.reliability_figure import reliability_svg

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
