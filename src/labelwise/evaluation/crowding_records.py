"""What `labelwise crowding` found, as the report shows it (``crowding-seed-<n>.json``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelwise.errors import InputError
from labelwise.evaluation.crowding import NEVER, SHOWN
from labelwise.evaluation.tables import Table, number, p_value

EXPLAINED = (
    f"A concept beside its broader one among the gold labels and in the first {SHOWN}: the share "
    "of documents with such a pair, and of how many pairs both are gold, one or none. `Lowered` is "
    "RP@5 where the second of two falls by what was chosen on other documents (five folds), by the "
    "same for every pair or by more the seldomer the two stood together in training, with the "
    "p-value of the difference; `never both` where it falls out of the list."
)


def crowding_sections(folder: Path, data: str | None = None) -> list[str]:
    """The records of a data set, whose fingerprint they must have where it is given, and of its dev
    file where that was looked at by itself."""
    beside = folder.with_name(f"{folder.name}-dev")
    records = [
        _read(path, of)
        for place, of in ((folder, data), (beside, None))
        for path in sorted(place.glob("*/crowding-seed-*.json"))
    ]
    if not records:
        return []
    table = crowding_table(records)
    return ["## Near-synonyms", EXPLAINED, table.markdown().rstrip()]


def crowding_table(records: list[dict[str, Any]]) -> Table:
    """One row a model."""
    table = Table(
        [
            *("model", "on", "documents", "gold", f"first {SHOWN}", "pairs: both", "one", "none"),
            *("RP@5", "lowered by the same", "p", "by company", "p", "never both"),
        ]
    )
    for of in records:
        right, rules = of["right"], of["rules"]
        lowered = (
            cell
            for rule in (rules["same"], rules["together"])
            for cell in (number(rule["held_out"]["RP@5"]), p_value(rule["p_value"]))
        )
        table.add(
            [
                *(of["method"], of["data"]["name"], f"{of['documents']:,}"),
                *(number(of[whose]["documents"]) for whose in ("gold", "model")),
                *(f"{right['both']:,}", f"{right['first'] + right['second']:,}"),
                *(f"{right['none']:,}", number(of["plain"]["RP@5"]), *lowered),
                number(rules["same"]["by_weight"][f"{NEVER:g}"]["RP@5"]),
            ]
        )
    return table


def _read(path: Path, data: str | None) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        crowding_table([record])
        made_on = record["data"]["fingerprint"] if data is not None else None
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(
            "the record is damaged: `labelwise crowding` writes it anew", file=path
        ) from error
    if made_on != data:
        raise InputError(
            "the record is of other documents than those of the runs beside it: `labelwise "
            "crowding` writes it anew",
            file=path,
        )
    return record
