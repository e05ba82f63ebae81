"""The published figures are whole, and shown on EURLEX57K only."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evaluation_cases import make_run

from labelwise.evaluation.published import BY_METHOD, CURVES, OTHERS, PAPER, published_for
from labelwise.evaluation.runs import DataRecord

EURLEX57K = DataRecord(
    "eurlex57k",
    "f00d",
    {"train": 45_000, "dev": 6_000, "test": 6_000, "labels": 4_271},
    "beef",
    {"frequent": 746, "few": 3_362, "zero": 163},
)


def test_the_eleven_rows_of_the_paper_have_every_column() -> None:
    assert len(PAPER) == 11
    for row in PAPER.values():
        assert list(row.figures) == ["all", "frequent", "few", "zero"]
        assert sum(len(figures) for figures in row.figures.values()) == 9
        assert all(0 < value < 1 for of in row.figures.values() for value in of.values())


def test_the_ensemble_takes_its_columns_from_its_two_parts() -> None:
    ensemble = PAPER["ENSEMBLE-LWAN"].figures
    for group in ("all", "frequent", "few"):
        assert ensemble[group] == PAPER["BIGRU-LWAN"].figures[group]
    assert ensemble["zero"] == PAPER["Z-BIGRU-LWAN"].figures["zero"]


def test_the_curves_agree_with_the_table_and_with_the_identities() -> None:
    assert [row.name for row in CURVES] == ["BIGRU-ATT", "HAN", "BIGRU-LWAN"]
    for row in CURVES:
        assert {measure: len(points) for measure, points in row.curves.items()} == {
            "RP": 10,
            "P": 10,
            "R": 10,
        }
        assert row.curves["RP"][4] == row.figures["all"]["RP@5"]
        assert row.curves["RP"][0] == row.curves["P"][0]
        assert row.curves["RP"][9] == row.curves["R"][9]
        assert list(row.curves["P"]) == sorted(row.curves["P"], reverse=True)
        assert list(row.curves["R"]) == sorted(row.curves["R"])


def test_the_peers_to_beat_stand_beside_our_linear_methods() -> None:
    (svm,) = BY_METHOD["svm"]
    assert (svm.source, svm.figures["all"]["RP@5"]) == ("LibMultiLabel", 0.806)
    assert [row.name for row in BY_METHOD["tree"]] == ["Bonsai", "Parabel"]
    assert [f"{row.source}: {row.name}" for row in OTHERS] == [
        "ACL 2019: BERT-base",
        "LibMultiLabel: BERT-LWAN",
        "EMNLP 2020: BERT-LWAN",
        "AAAI 2023: HiDEC + HBM",
        "European Parliament: eurovoc_en",
    ]


@pytest.mark.parametrize(
    "other",
    [
        make_run("svm", 0, 1.0).data,
        replace(EURLEX57K, counts={**EURLEX57K.counts, "train": 5_000}),
        replace(EURLEX57K, groups={"frequent": 739, "few": 3_369, "zero": 163}),
    ],
)
def test_published_rows_belong_to_the_whole_of_eurlex57k(other: DataRecord) -> None:
    assert [row.name for row in published_for("logistic", EURLEX57K)] == ["Logistic Regression"]
    assert published_for("my-method", EURLEX57K) == ()
    assert published_for("logistic", other) == ()
