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


def faithfulness_table(folder: Path) -> Table | None:
    """A row a method and source of words, in one data set's folder; None where there is no file."""
    paths = sorted(folder.glob("*/faithfulness-seed-*.json"))
    if not paths:
        return None
    table = Table(["evidence", *(f"{measure} AOPC" for measure in MEASURES), "documents", "labels"])
    for path in paths:
        try:
            record = json.loads(path.read_bytes())
            name = f"{record['method']}, seed {record['seed']}, {record['split']}"
            counts = [f"{len(record['documents']):,}", f"{record['labels']:,}"]
            for figures in record["evidence"].values():
                cells = [_figure(figures[measure]["aopc"]) for measure in MEASURES]
                table.add([f"{name}: {figures['kind']}", *cells, *counts])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"this is not what `labelwise faithfulness` writes ({error!r}): run it again, or "
                "remove the file",
                file=path,
            ) from error
    return table


def _figure(figure: dict[str, Any]) -> str:
    mean, error = figure["mean"], figure["error"]
    sign = "-" if mean < 0 else ""
    shown = sign + number(abs(mean))
    return shown if error is None else f"{shown} ± {number(error)}"
