"""Figures on labels never seen in training, with what they rest on.

The real zero-shot labels stand in few documents: their figures come with intervals, dev beside
test. Where labels were hidden from training (``corpus.hidden``), those views of the data set stand
beneath, the draws of one kind in one table.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from labelwise.evaluation.bootstrap import ROUNDS, mean, mean_and_interval
from labelwise.evaluation.comparison import best_first, by_method, over_documents
from labelwise.evaluation.counts import SEEN
from labelwise.evaluation.published import Published, published_hidden
from labelwise.evaluation.runs import DataRecord, Run, run_paths
from labelwise.evaluation.tables import (
    NO_BETTER,
    NO_RANKING,
    SHORT,
    Table,
    chance_level,
    marked,
    number,
    with_interval,
)

ZERO = (("zero", "RP@5"), ("zero", "nDCG@5"), ("zero-among-all", "R@10"))
"""What is shown of the real zero-shot labels, on dev and on test."""

HIDDEN = (
    *(("zero", "P@1"), ("zero", "R@10"), ("zero", "RP@5"), ("zero-among-all", "R@10")),
    *((SEEN, "R@10"), ("all", "P@1"), ("all", "R@10"), ("all", "RP@5")),
)
"""What is shown of hidden labels: ranked among the unseen ones, and in the one list of all."""

IN_ONE_LIST = (SEEN, "R@10"), ("zero-among-all", "R@10")
"""Of these two the harmonic mean is taken."""

NOT_SETTINGS = {"seed", "device", "max_seconds"}
"""What may differ without another method being trained."""

Views = Mapping[tuple[float, bool], Sequence[Sequence[Run]]]
"""How many labels are hidden, and whether documents are left out → the runs of each draw."""


def harmonic_mean(seen: float, unseen: float) -> float:
    """High only where both are.

    >>> round(harmonic_mean(0.8, 0.2), 2), harmonic_mean(0.8, 0.0)
    (0.32, 0.0)
    """
    return 2 * seen * unseen / (seen + unseen) if seen + unseen else 0.0


def unseen_table(runs: Sequence[Run]) -> Table:
    """Methods that know something of unseen labels: dev beside test, with intervals."""
    splits = [split for split in ("dev", "test") if all(split in run.measures for run in runs)]
    last, methods = splits[-1], by_method(runs)
    columns = [(group, measure, split) for group, measure in ZERO for split in splits]
    names = [f"{group} {measure} {split}" for group, measure, split in columns]
    table = Table(["method", *names, f"seen R@10 {last}", f"harmonic mean {last}"])
    without = []
    for method in best_first(methods, last):
        of = methods[method]
        if not _spread(of, splits[0], *ZERO[0])[1] > of[0].chance(splits[0], *ZERO[0]):
            without.append(method)
            continue
        cells = [_with_interval(of, split, *column) for *column, split in columns]
        seen, unseen = (_mean(of, last, *column) for column in IN_ONE_LIST)
        table.add([method, *cells, number(seen), number(harmonic_mean(seen, unseen))])
    chance = [chance_level(runs, split, *column) for *column, split in columns]
    table.add(["chance", *chance, "", ""], faint=True)
    kept = " and ".join(
        f"{runs[0].measures[split].values['zero']['documents']:,} {split}" for split in splits
    )
    table.notes.append(
        f"In brackets the middle 95 % of {ROUNDS:,} draws, with replacement, of the {kept} "
        "documents that carry an unseen label; of several seeds the mean was taken before. "
        "`seen` is the R@10 of the labels with training documents, in the one list of all labels; "
        "the harmonic mean is that of it and of `zero-among-all R@10`."
    )
    if without:
        table.notes.append(
            f"Left out, since their interval of RP@5 on {splits[0]} reaches down to chance: "
            f"{', '.join(without)}."
        )
    table.notes.append(NO_BETTER)
    return table


def hidden_table(draws: Sequence[Sequence[Run]]) -> Table:
    """Methods on labels hidden from training: mean ± standard deviation over draws."""
    split = split_of(draws)
    table = Table(
        [
            *("method", "draws"),
            *(f"{'seen' if group == SEEN else group} {measure}" for group, measure in HIDDEN),
            "harmonic mean",
        ]
    )
    methods, quoted = [by_method(runs) for runs in draws], published_hidden(draws[0][0].data)
    everything = by_method([run for runs in draws[:1] for run in runs])
    others = {name for of in methods for name in of if name not in everything}
    for method in [*best_first(everything, split), *sorted(others)]:
        found = [of[method] for of in methods if method in of]
        cells = [
            _over_draws(found, split, *column) + _short(found, split, quoted, *column)
            for column in HIDDEN
        ]
        both = [[_mean(of, split, *column) for column in IN_ONE_LIST] for of in found]
        means = [harmonic_mean(*of_draw) for of_draw in both]
        table.add([method, str(len(found)), *cells, _mean_and_deviation(means)])
    table.notes.append(f"{NO_BETTER} {NO_RANKING}")
    for row in quoted:
        table.add(_quoted(row), faint=True)
        table.notes.append(
            f"{row.source}: {row.name} ({row.note}). {SHORT} short of it. {_best(row, everything)}"
        )
    chance = [
        "" if group == SEEN else chance_level(draws[0], split, group, measure)
        for group, measure in HIDDEN
    ]
    table.add(["chance", "", *chance, ""], faint=True)
    return table


def hidden_views(folder: Path) -> Views:
    """The views of a data set whose runs lie beside its own, draw by draw."""
    views: dict[tuple[float, bool], list[list[Run]]] = {}
    for path in sorted(folder.parent.glob(f"{folder.name}-hidden-*")):
        if runs := [Run.read(file) for file in run_paths(path)]:
            hidden = runs[0].data.hidden or {}
            views.setdefault((hidden["amount"], hidden["drop"]), []).append(runs)
    return views


def unseen_sections(runs: Sequence[Run], views: Views) -> list[str]:
    """What the report says of unseen labels: the real ones, then those of each kind of view."""
    sections = []
    if any(run.measures[split]["zero"]["documents"] for run in runs for split in run.splits):
        sections += ["### Labels never seen", unseen_table(runs).markdown().rstrip()]
    for draws in views.values():
        sections += [
            "### Labels hidden from training",
            _about(draws, runs[0].data),
            hidden_table(draws).markdown().rstrip(),
        ]
        if apart := settings_apart(draws, runs):
            sections.append(apart)
    return sections


def settings_apart(draws: Sequence[Sequence[Run]], whole: Sequence[Run]) -> str:
    """In which settings a method was trained otherwise from draw to draw, or otherwise than where
    no label is hidden: such figures are not those of one method."""
    methods, at_large = [by_method(runs) for runs in draws], by_method(whole)
    said = []
    for method in dict.fromkeys(name for of in methods for name in of):
        drawn = [of[method][0].settings for of in methods if method in of]
        beside = [run.settings for run in at_large.get(method, ())[:1]]
        alike = set.intersection(*(set(of) for of in (*drawn, *beside))) - NOT_SETTINGS
        for name in sorted(alike):
            values = [_shown(of[name]) for of in (*drawn, *beside)]
            if len(set(values)) > 1:
                here = values[: len(drawn)]
                if len(set(here)) == 1:
                    here = here[:1]
                there = f" ({values[-1]} where none is hidden)" if beside else ""
                said.append(f"{method}, {name} {' / '.join(here)}{there}")
    if not said:
        return ""
    return (
        "Settings that differ from draw to draw, or from those with which no label is hidden: "
        f"{'; '.join(said)}."
    )


def _shown(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else str(value)


def split_of(draws: Sequence[Sequence[Run]]) -> str:
    """The test split, or dev where not all runs were measured on test."""
    return "test" if all("test" in run.measures for runs in draws for run in runs) else "dev"


def _about(draws: Sequence[Sequence[Run]], whole: DataRecord) -> str:
    """What was hidden, and how many documents speak of it."""
    split, data = split_of(draws), draws[0][0].data
    hidden = data.hidden or {}
    documents = [runs[0].measures[split].values["zero"]["documents"] for runs in draws]
    folders = ", ".join(
        f"[{runs[0].data.name}](../{runs[0].data.name}/README.md)" for runs in draws
    )
    seen = data.groups["frequent"] + data.groups["few"]
    how = "are left out" if hidden["drop"] else "lose the label"
    return (
        f"{data.groups['zero'] - whole.groups['zero']:,} of the labels are hidden at random, and "
        f"training documents that carry one {how}: {seen:,} labels are seen and "
        f"{data.groups['zero']:,} unseen, {whole.groups['zero']:,} of which really never were in "
        f"training. {split.capitalize()} documents with an unseen label: "
        f"{' / '.join(f'{count:,}' for count in documents)}. {folders}."
    )


def _mean(runs: Sequence[Run], split: str, group: str, measure: str) -> float:
    """A figure of one method, mean over seeds."""
    return mean(over_documents(runs, split, group, measure))


def _spread(
    runs: Sequence[Run], split: str, group: str, measure: str
) -> tuple[float, float, float]:
    """A figure, mean over seeds, and its interval over documents."""
    return mean_and_interval(over_documents(runs, split, group, measure))


def _highest_chance(runs: Sequence[Run], split: str, group: str, measure: str) -> float:
    """The highest figure that chance gives; NaN of the seen labels, which nobody guesses at."""
    if group == SEEN:
        return float("nan")
    return runs[0].chance_interval(split, group, measure)[1]


def _with_interval(runs: Sequence[Run], split: str, group: str, measure: str) -> str:
    chance = _highest_chance(runs, split, group, measure)
    return with_interval(*_spread(runs, split, group, measure), chance)


def _over_draws(draws: Sequence[Sequence[Run]], split: str, group: str, measure: str) -> str:
    """Over several draws their spread; of one, the interval of what is said of unseen labels."""
    if len(draws) == 1 and group.startswith("zero"):
        return _with_interval(draws[0], split, group, measure)
    chance = max(_highest_chance(runs, split, group, measure) for runs in draws)
    return _mean_and_deviation([_mean(runs, split, group, measure) for runs in draws], chance)


def _mean_and_deviation(values: Sequence[float], chance: float = float("nan")) -> str:
    shown = marked(statistics.fmean(values), chance)
    if len(values) == 1 or math.isnan(values[0]):
        return shown
    return f"{shown} ± {number(statistics.stdev(values))}"


def _short(
    draws: Sequence[Sequence[Run]],
    split: str,
    quoted: Sequence[Published],
    group: str,
    measure: str,
) -> str:
    """A mark where a figure is short of a quoted one."""
    theirs = [row.figures.get(group, {}).get(measure, 0.0) for row in quoted]
    if not theirs:
        return ""
    ours = statistics.fmean(_mean(runs, split, group, measure) for runs in draws)
    return f" {SHORT}" if round(ours, 3) < max(theirs) else ""


def _best(row: Published, methods: Mapping[str, Sequence[Run]]) -> str:
    """The highest of ours beside each quoted figure."""
    said = []
    for group, figures in row.figures.items():
        for measure, theirs in figures.items():
            ours = {name: _mean(of, "test", group, measure) for name, of in methods.items()}
            best = max(ours, key=lambda name: (not math.isnan(ours[name]), ours[name]))
            apart, short = number(abs(ours[best] - theirs)), ours[best] < theirs
            how = f"{apart} short {SHORT}" if short else f"{apart} ahead"
            said.append(f"{group} {measure} {how} ({best})")
    return f"The highest of ours: {', '.join(said)}."


def _quoted(row: Published) -> list[str]:
    known = [row.figures.get(group, {}).get(measure) for group, measure in HIDDEN]
    cells = ["" if value is None else number(value) for value in known]
    return [f"{row.source}: {row.name}", "", *cells, ""]
