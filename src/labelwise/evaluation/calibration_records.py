"""What ``labelwise calibrate --on`` measured, as tables and a sentence for people.

A record is ``<data>/<method>/calibration-seed-<n>.json``. How it is measured is written in
``labelwise.evaluation.held_out``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labelwise.evaluation.tables import NOTHING, Table, number

NO_LOOK = 0.95
"""The precision at which labels are applied without a look: one of twenty is wrong."""

ASSIGNED = {
    "before": "threshold before",
    "tuned": "threshold tuned",
    "after": "calibrated, threshold tuned",
}

EXPLAINED = (
    "Every document was measured with curves and thresholds that were chosen on others (five "
    "folds). Log-loss and Brier score are sums over the labels of a document; ECE is the mean "
    "difference between the score of the five best labels and the share of them that is gold. "
    "`Expected`: labels are kept, from the top, while the mean of their scores is at least so. "
    "`Certified`: of the labels above the threshold at least so many are right, with 95 % "
    "confidence, on documents of the same kind."
)


def reliability_table(record: Mapping[str, Any]) -> Table:
    """How far scores are from chances, before and after, by group."""
    measures = {"log_loss": "log-loss", "brier": "Brier", "ece": "ECE"}
    when = ("before", "after")
    table = Table(
        ["labels", "curve", *(f"{name} {at}" for name in measures.values() for at in when)]
    )
    curves = record["calibration"]["curves"]
    for group, before in record["reliability"]["before"].items():
        after = record["reliability"]["after"][group]
        cells = [number(of[name]) for name in measures for of in (before, after)]
        table.add([group, curves[group]["kind"] if group in curves else "", *cells])
    return table


def assigned_table(record: Mapping[str, Any]) -> Table:
    """What documents are given, by which threshold and with how many labels at least."""
    table = Table(
        ["labels given by", "at least", "precision", "recall", "micro-F1", "labels a document",
         "documents without"]
    )  # fmt: skip
    for how, rows in record["assigned"].items():
        for least, row in rows.items():
            figures = [number(row[name]) for name in ("precision", "recall", "f1")]
            counts = [f"{row['labels']:.1f}", f"{row['without']:,}"]
            table.add([ASSIGNED[how], least, *figures, *counts])
    return table


def precision_table(record: Mapping[str, Any]) -> Table:
    """How much can be had at a precision: expected of the labels, and certified."""
    table = Table(
        ["precision", "expected: precision", "expected: share of gold", "expected: labels",
         "certified: threshold", "certified: precision", "certified: share of gold",
         "certified: labels"]
    )  # fmt: skip
    certified = {one["level"]: one for one in record["certified"]}
    for level, row in record["expected"].items():
        cells = [number(row["precision"]), number(row["recall"]), f"{row['labels']:.2f}"]
        if one := certified.get(float(level)):
            cells += [number(one[name]) for name in ("threshold", "precision", "share")]
            cells.append(f"{one['labels']:.2f}")
        else:
            cells += [NOTHING] * 4
        table.add([number(float(level)), *cells])
    return table


def without_a_look(record: Mapping[str, Any]) -> str:
    """What can be applied without a look, or the best that can be certified instead."""
    on = f"on {record['data']['name']}, {record['documents']:,} documents, with 95 % confidence"
    sure = next((one for one in record["certified"] if one["level"] == NO_LOOK), None)
    best = max(record["certified"], key=lambda one: one["level"], default=None)
    said = "Labels that can be applied without a look at 5 % error: "
    if sure is not None:
        return f"{said}{_amount(sure)} ({on}; `labelwise tag --certified {NO_LOOK}`)."
    if best is None:
        return f"{said}none is certified, nor at any other error ({on})."
    return (
        f"{said}none is certified. At {100 * (1 - best['level']):.0f} % error: {_amount(best)} "
        f"({on}; `labelwise tag --certified {best['level']:g}`)."
    )


def _amount(one: Mapping[str, Any]) -> str:
    return f"{100 * one['share']:.1f} % of the gold labels, {one['labels']:.2f} a document"
