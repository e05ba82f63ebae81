"""``labelwise data fetch cellar``: what was fetched, and what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from labelwise.cli.output import print_json, print_table
from labelwise.errors import LabelwiseError
from labelwise.progress import note


def fetch_acts(
    folder: Path,
    first: int | None,
    last: int | None,
    *,
    types: Sequence[str] | None,
    rate: float | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Fetch the acts of these years, and print what became of them."""
    from labelwise.corpus.cellar import fetch_cellar
    from labelwise.corpus.cellar_service import TYPES

    if first is None or last is None:
        raise LabelwiseError("cellar needs the years to fetch: --from 2016 --to 2026")
    asked = types or TYPES
    years = fetch_cellar(folder, first, last, types=asked, rate=rate or 1.0, limit=limit)
    if as_json:
        print_json({"folder": str(folder), "years": [asdict(year) for year in years]})
        return
    print_table(
        ["year", "acts", "fetched", "there before", "no English text", "no concepts"],
        [
            [
                year.year,
                *(f"{n:,}" for n in (year.listed, year.fetched, year.there)),
                *(f"{len(left):,}" for left in (year.no_text, year.no_concepts)),
            ]
            for year in years
        ],
        left=("year",),
    )
    for why in sorted({why for year in years for why in year.no_text.values()}):
        ids = [id for year in years for id, said in year.no_text.items() if said == why]
        note(f"left out, {why}: {_some(ids)}")
    if ids := [id for year in years for id in year.no_concepts]:
        note(f"left out, no EUROVOC concepts yet: {_some(ids)}")
    if limit is not None and sum(year.fetched for year in years) >= limit:
        note(f"stopped after {limit:,} acts (--limit); the same command goes on from there")
    if not any(year.listed for year in years):
        note(f"Cellar has no acts of the types {', '.join(asked)} in these years")
    else:
        note(f"Next: labelwise train svm --data DATA --more {folder} --out svm.bundle")


def _some(ids: Sequence[str]) -> str:
    """The first ten, and how many more there are.

    >>> _some(["32016R0001", "32016R0002"])
    '32016R0001, 32016R0002'
    """
    rest = f" and {len(ids) - 10:,} more (--json names all)" if len(ids) > 10 else ""
    return ", ".join(ids[:10]) + rest
