"""What ``labelwise faithfulness`` wrote beside the runs, as one table for the report.

Files are ``<data>/<method>/faithfulness-seed-<n>.json``. How it is measured is written in
``labelwise.evidence.faithfulness``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelwise.errors import InputError
from labelwise.evaluation.tables import Table, number

MEASURES = ("comprehensiveness", "sufficiency")

EXPLAINED = (
    "What the score of a label loses without the words that have the most evidence for it "
    "(comprehensiveness, higher is better) and with nothing but them (sufficiency, lower is "
    "better), on the average over 1, 5, 10, 20 and 50 % of the words; ± standard error over "
    "documents. Evidence that does no better than the random words of the same method explains "
    "nothing. `Normalised`: 0 is the lowest AOPC found for a document and a label, 1 the highest; "
    "these figures compare from method to method. `Cost` is the time for the evidence of a "
    "document, in readings of it. Made by `labelwise faithfulness`."
)


def faithfulness_table(folder: Path, name: str = "*", *, data: str | None = None) -> Table | None:
    """A row a method, or the one of this name, and source of words, in one data set's folder; None
    where there is no file. ``data`` is the fingerprint that the records must have."""
    paths = sorted(folder.glob(f"{name}/faithfulness-seed-*.json"))
    if not paths:
        return None
    kinds = [f"{measure} {what}" for what in ("AOPC", "normalised") for measure in MEASURES]
    table = Table(["evidence", *kinds, "cost", "documents", "labels"])
    for path in paths:
        try:
            record = json.loads(path.read_bytes())
            made_on = record["data"]["fingerprint"] if data is not None else None
            title = f"{record['method']}, seed {record['seed']}, {record['split']}"
            counts = [f"{len(record['documents']):,}", f"{record['labels']:,}"]
            costs = record.get("costs", {})  # older records have none, and nothing normalised
            for source, figures in record["evidence"].items():
                cells = [_figure(figures[measure]["aopc"]) for measure in MEASURES]
                cells += [_figure(figures[measure].get("normalised")) for measure in MEASURES]
                cost = f"{costs[source]:.1f}" if source in costs else ""
                table.add([f"{title}: {figures['kind']}", *cells, cost, *counts])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"this is not what `labelwise faithfulness` writes ({error!r}): run it again, or "
                "remove the file",
                file=path,
            ) from error
        if made_on != data:
            raise InputError(
                "the record is of other documents than those of the runs beside it: `labelwise "
                "faithfulness` writes it anew",
                file=path,
            )
    return table


def _figure(figure: dict[str, Any] | None) -> str:
    if figure is None or figure["mean"] is None:
        return ""
    mean, error = figure["mean"], figure["error"]
    sign = "-" if mean < 0 else ""
    shown = sign + number(abs(mean))
    return shown if error is None else f"{shown} ± {number(error)}"
