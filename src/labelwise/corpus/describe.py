"""The data table: documents, words and labels of each split, group sizes, label frequencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from labelwise.corpus.dataset import SPLITS, find_splits, open_dataset
from labelwise.corpus.document import Document
from labelwise.corpus.first_words import word_count
from labelwise.corpus.labels import FREQUENT, GROUPS, Group, LabelSpace
from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.progress import track

BINS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
"""Where the bars of the histogram begin: training documents of a label."""


@dataclass(frozen=True, slots=True)
class SplitStatistics:
    """One column of the data table. Words are what white space separates, in all four zones."""

    documents: int
    words_mean: float
    words_median: float
    words_90_percent: int
    words_max: int
    labels_mean: float
    labels_max: int
    labels_distinct: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Labels with ``start`` to ``end`` training documents."""

    start: int
    end: int
    labels: int

    @property
    def name(self) -> str:
        return f"{self.start:,}" if self.start == self.end else f"{self.start:,}-{self.end:,}"


@dataclass(frozen=True)
class Description:
    """What there is to say about a data set, or about some documents."""

    name: str
    splits: dict[str, SplitStatistics]
    groups: dict[Group, int]
    """How many labels are frequent, few-shot and zero-shot; empty if there is no train split."""
    histogram: tuple[Bar, ...]
    fingerprint: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values, for ``--json``."""
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "splits": {name: asdict(split) for name, split in self.splits.items()},
            "groups": dict(self.groups),
            "histogram": [asdict(bar) for bar in self.histogram],
        }


def describe(path: str | Path, *, skipped: Skipped | None = None) -> Description:
    """Describe a data set folder, or else the documents of any file or folder."""
    path = Path(path)
    if path.is_dir() and ("train" in find_splits(path) or (path / "eurlex57k").is_dir()):
        data = open_dataset(path, skipped=skipped)
        splits = {
            str(split): split_statistics(getattr(data, split))
            for split in SPLITS
            if split in data.paths
        }
        space = data.label_space
        groups = {group: space.groups[group].stop - space.groups[group].start for group in GROUPS}
        return Description(data.name, splits, groups, histogram(space), data.fingerprint)
    documents = list(track(read(path, skipped=skipped), "Reading"))
    space = LabelSpace.from_documents(documents)
    return Description(path.name, {"all": split_statistics(documents)}, {}, histogram(space))


def split_statistics(documents: Sequence[Document]) -> SplitStatistics:
    """One column of the data table."""
    if not documents:
        return SplitStatistics(0, 0.0, 0.0, 0, 0, 0.0, 0, 0)
    words = np.array([word_count(document) for document in documents])
    labels = np.array([len(document.labels) for document in documents])
    return SplitStatistics(
        documents=len(documents),
        words_mean=float(words.mean()),
        words_median=float(np.median(words)),
        words_90_percent=int(np.percentile(words, 90, method="higher")),
        words_max=int(words.max()),
        labels_mean=float(labels.mean()),
        labels_max=int(labels.max()),
        labels_distinct=len({label for document in documents for label in document.labels}),
    )


def histogram(space: LabelSpace) -> tuple[Bar, ...]:
    """How many labels have how many training documents, in steps of 1, 2, 5, 10, ..."""
    return tuple(_bars(label.count for label in space.labels))


def _bars(counts: Iterable[int]) -> list[Bar]:
    found = Counter(int(np.searchsorted(BINS, count, side="right")) - 1 for count in counts)
    if not found:
        return []
    first, last = min(found), max(found)
    return [
        Bar(BINS[bin], BINS[bin + 1] - 1 if bin + 1 < len(BINS) else 10**9, found[bin])
        for bin in range(first, last + 1)
    ]


def render(description: Description, console: Console) -> None:
    """Print the data table, the groups and the histogram."""
    console.print(_split_table(description))
    if description.groups:
        console.print(_group_table(description))
    if description.histogram:
        console.print(_histogram_table(description))


def _split_table(description: Description) -> Table:
    table = Table(title=f"Documents of {description.name}", title_justify="left")
    table.add_column("")
    for name in description.splits:
        table.add_column(name, justify="right")
    columns = list(description.splits.values())
    table.add_row("documents", *(f"{one.documents:,}" for one in columns))
    table.add_row("words: mean", *(f"{one.words_mean:,.0f}" for one in columns))
    table.add_row("words: median", *(f"{one.words_median:,.0f}" for one in columns))
    table.add_row("words: 90 % have at most", *(f"{one.words_90_percent:,}" for one in columns))
    table.add_row("words: most", *(f"{one.words_max:,}" for one in columns))
    table.add_row("labels: mean", *(f"{one.labels_mean:.2f}" for one in columns))
    table.add_row("labels: most", *(f"{one.labels_max:,}" for one in columns))
    table.add_row("labels: distinct", *(f"{one.labels_distinct:,}" for one in columns))
    return table


def _group_table(description: Description) -> Table:
    table = Table(title="Labels by training documents", title_justify="left")
    table.add_column("group")
    table.add_column("training documents")
    table.add_column("labels", justify="right")
    ranges = {"frequent": f"{FREQUENT} or more", "few": f"1 to {FREQUENT - 1}", "zero": "none"}
    for group, size in description.groups.items():
        table.add_row(group, ranges[group], f"{size:,}")
    table.add_section()
    table.add_row("all", "", f"{sum(description.groups.values()):,}")
    return table


def _histogram_table(description: Description) -> Table:
    table = Table(title="Label frequency", title_justify="left", box=None)
    table.add_column("documents", justify="right")
    table.add_column("labels", justify="right")
    table.add_column("")
    most = max(bar.labels for bar in description.histogram)
    for bar in description.histogram:
        blocks = "█" * max(round(40 * bar.labels / most), 1 if bar.labels else 0)
        table.add_row(bar.name, f"{bar.labels:,}", blocks)
    return table


def histogram_figure(description: Description, path: Path) -> None:
    """Draw the histogram; the name says the format, ``.svg`` or ``.png``."""
    if path.suffix.lower() not in (".svg", ".png"):
        raise LabelwiseError(f"{path} names no picture that can be drawn: use .svg or .png")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("drawing the histogram", "plots") from error
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    names = [bar.name for bar in description.histogram]
    drawn = axes.bar(range(len(names)), [bar.labels for bar in description.histogram])
    axes.bar_label(drawn, [f"{bar.labels:,}" for bar in description.histogram], fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_xlabel("training documents" if description.groups else "documents")
    axes.set_ylabel("labels")
    axes.set_title(f"Label frequency in {description.name}")
    # A fixed salt and no date: the same data gives the same file.
    with mpl.rc_context({"svg.hashsalt": "labelwise", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
