"""Runs on the same data, side by side, with p-values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labelwise.errors import LabelwiseError, check_whole
from labelwise.evaluation import comparison
from labelwise.evaluation.comparison import MEASURES, Comparison
from labelwise.evaluation.counts import VIEWS
from labelwise.evaluation.runs import Run, run_paths
from labelwise.experiments.one_or_more import one_or_more


def compare(
    runs: str | Path | Run | Sequence[str | Path | Run],
    *,
    split: str = "test",
    group: str = "all",
    measure: str | Sequence[str] | None = None,
    rounds: int = 10_000,
) -> Comparison:
    """Compare runs, or those in files and folders: the best method is tested against each other.

    The options are those of `labelwise compare`: two-tailed approximate randomisation on the
    documents of ``split``, for the labels of ``group``.
    """
    if group not in VIEWS:
        raise LabelwiseError(f"there is no group '{group}'; there are: {', '.join(VIEWS)}")
    check_whole("rounds", rounds, 1)
    found = gather(runs)
    if not found:
        raise LabelwiseError("there are no runs to compare")
    measures = one_or_more(measure) or MEASURES
    for name in measures:
        known = found[0].measures[found[0].splits[0]].values["all"].keys() - {"documents"}
        if name not in known:
            raise LabelwiseError(
                f"there is no measure '{name}'; there are: {', '.join(sorted(known))}"
            )
    return comparison.compare(found, measures, split, group=group, rounds=rounds)


def gather(runs: str | Path | Run | Sequence[str | Path | Run]) -> list[Run]:
    """The runs of files and folders, each once."""
    found: dict[Path | int, Run] = {}
    for one in one_or_more(runs):
        if isinstance(one, Run):
            found[id(one)] = one
            continue
        if not isinstance(one, (str, Path)):
            raise LabelwiseError(f"a run is given itself, or by a file or folder, not by {one!r}")
        path = Path(one)
        files = run_paths(path) if path.is_dir() else [path]
        if not files:
            raise LabelwiseError(
                f"{path} holds no run: runs are files seed-N.json that `labelwise evaluate` writes"
            )
        for file in files:
            if file.resolve() not in found:
                found[file.resolve()] = Run.read(file)
    return list(found.values())
