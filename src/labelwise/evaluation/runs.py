"""A run: one method, one seed, one data set, as ``results/<data>/<method>/seed-<n>.json``.

Beside the JSON stands ``seed-<n>.documents.npz``: small counts of each document, from which every
figure but macro-F1 can be computed again and two runs can be tested against each other. The counts
of each label stand in ``seed-<n>.labels.npz``.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelwise import __version__
from labelwise.corpus.hidden import HiddenDataset, Hiding
from labelwise.corpus.labels import GROUPS, LabelSpace
from labelwise.errors import InputError, LabelwiseError
from labelwise.evaluation.chance import chance_interval
from labelwise.evaluation.counts import DEPTH, RANKED, VIEWS, Counts
from labelwise.evaluation.label_counts import (
    labels_path,
    name_labels,
    names_labels,
    pack_labels,
    read_labels,
)
from labelwise.evaluation.measures import Measures, summary
from labelwise.files import ARCHIVE_FAULTS, write_together, write_whole
from labelwise.locks import locked

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Dataset

WAIT = 60.0
"""Seconds that a run waits for another process that writes it."""

CUT_SHORT = ("rankings", "predictions")

_ARRAYS = ("hits", "gold", "predicted", "true_positives")


@dataclass(frozen=True)
class DataRecord:
    """Which data a run saw: runs are compared only where all of it is equal."""

    name: str
    fingerprint: str
    counts: dict[str, int]  # documents of each split; other counts may stand beside them
    label_space: str  # the label space's fingerprint
    groups: dict[str, int]  # labels of each group
    hidden: dict[str, Any] | None = None
    """Of a view that hides labels from training: how (``Hiding``), and of which data set."""
    trained_on: str = ""
    """Of a file that a model was measured on: the name of the data that it was trained on, whose
    counts make its groups."""
    beginning: dict[str, Any] | None = None
    """Of a file that was cut to the first ``words`` of each document: how many, and of which
    ``data``, with its ``fingerprint``."""
    thesaurus: dict[str, str | None] | None = None
    """Of labels from another thesaurus than the data set's own: its ``name`` and its ``date``."""

    @classmethod
    def of(cls, dataset: Dataset) -> DataRecord:
        space = dataset.label_space
        if isinstance(dataset, HiddenDataset):
            whole = cls.of(dataset.whole)
            return whole.view(dataset.hiding, space, dataset.counts["train"])
        return cls(
            name=dataset.name,
            fingerprint=dataset.fingerprint,
            counts=dict(dataset.counts),
            label_space=space.fingerprint,
            groups=_sizes(space),
            thesaurus=dataset.additions.dated_thesaurus,
        )

    def cut(self, words: int) -> DataRecord:
        """The record of the same documents, of each its first words."""
        name = f"{self.name}-first-{words}-words"
        of = {"words": words, "data": self.name, "fingerprint": self.fingerprint}
        digest = hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()
        return replace(self, name=name, fingerprint=digest[:16], beginning=of)

    def view(self, hiding: Hiding, space: LabelSpace, train: int) -> DataRecord:
        """The record of a view of this data, with its label space and its training documents."""
        return replace(
            self,
            name=hiding.name(self.name),
            fingerprint=hiding.fingerprint(self.fingerprint),
            counts=self.counts | {"train": train},
            label_space=space.fingerprint,
            groups=_sizes(space),
            hidden={**asdict(hiding), "data": self.name, "fingerprint": self.fingerprint},
        )


@dataclass(frozen=True)
class Run:
    """What one run measured, ``run.measures["test"]["few"]["RP@5"]``, and how it came about."""

    method: str
    seed: int
    measures: dict[str, Measures]  # by split
    data: DataRecord
    threshold: float | None = None  # tuned on dev
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory: int | None = None  # bytes; of the GPU where the method was trained on one
    command: str = ""
    device: str = ""  # what the method was trained on: the name of a GPU, or cpu
    members: dict[str, str] = field(default_factory=dict)
    """What it was joined from: the digest of each bundle, by name; empty where it was not kept."""

    def __repr__(self) -> str:
        """A line, and not what each document got."""
        rp5 = ", ".join(f"{of} RP@5 {self.value(of, 'all', 'RP@5'):.3f}" for of in self.splits)
        return f"<run of {self.method}, seed {self.seed}, on {self.data.name}: {rp5}>"

    @property
    def splits(self) -> list[str]:
        return list(self.measures)

    def value(self, split: str, group: str, measure: str) -> float:
        """One figure; NaN where the run does not have it (no tuned threshold, no such split)."""
        if split not in self.measures:
            return float("nan")
        return self.measures[split].values[group].get(measure, float("nan"))

    def chance(self, split: str, group: str, measure: str) -> float:
        """The chance level of a figure; NaN where it has none (F1)."""
        return self.measures[split].chance[group].get(measure, float("nan"))

    def chance_interval(self, split: str, group: str, measure: str) -> tuple[float, float]:
        """Between which figures 95 % of random rankings stay; NaN where there is none (F1)."""
        labels = sum(self.data.groups.values())
        ranked = labels if group in {"all", "zero-among-all"} else self.data.groups[group]
        return chance_interval(self._counts(split).gold_labels(group), ranked, measure)

    def cut_short(self, split: str) -> bool:
        """Whether the run was measured on lists too short to be exact in every group."""
        figures = self.measures[split].values.values()
        return any(of.get(f"{what} cut short") for of in figures for what in CUT_SHORT)

    def per_document(self, split: str, group: str, measure: str) -> NDArray[np.float64]:
        """P@K, R@K, RP@K or nDCG@K of each document; NaN where it has no gold in the group, and
        everywhere where the labels of the group all tied."""
        values = self._counts(split).per_document(group, measure)
        kept = self.measures[split].values.get(group, {}).get(measure, 0.0)
        return np.full_like(values, np.nan) if math.isnan(kept) else values

    def f1_counts(self, split: str, group: str, measure: str = "micro-F1") -> NDArray[np.int64]:
        """Documents × (true positives, false positives, false negatives)."""
        return self._counts(split).f1_counts(group, measure)

    def _counts(self, split: str) -> Counts:
        if split not in self.measures:
            raise LabelwiseError(
                f"{self.method}, seed {self.seed} was not measured on {split}, only on "
                f"{', '.join(self.splits)}"
            )
        return self.measures[split].counts

    def path(self, results: Path) -> Path:
        """Where the run is kept below the results folder."""
        return results / self.data.name / self.method / f"seed-{self.seed}.json"

    def write(self, results: str | Path) -> Path:
        """Write the JSON and the per-document file below the results folder; say where."""
        for name in (self.data.name, self.method):
            if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|'):
                raise LabelwiseError(f"'{name}' cannot be a folder's name: choose another name")
        path = self.path(Path(results))
        contents = {documents_path(path): _pack(self.measures)}
        labels = {split: of.labels for split, of in self.measures.items() if of.labels is not None}
        if labels:
            contents[labels_path(path)] = pack_labels(labels)
            space, table = next(iter(labels.values())).space, path.parent.parent / "labels.csv"
            # A view that hides labels has the labels of the whole data set; models on a file have
            # labels of their own.
            others = self.data.hidden is not None or self.data.trained_on
            if space is not None and not others and not names_labels(table, space):
                write_whole(table, name_labels(space))
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        busy = f"{path}: another process is writing this run: wait for it, or give other results"
        with locked(path.with_name(f".{path.name}.lock"), busy, wait=WAIT):
            write_together(contents | {path: f"{text}\n".encode()})
        return path

    def to_json(self) -> dict[str, Any]:
        """The JSON of the run. A figure that no document takes part in is null."""
        return {
            "method": self.method,
            "seed": self.seed,
            "split": self.splits,
            "measures": {split: _nulls(of.values) for split, of in self.measures.items()},
            "chance": {split: _nulls(of.chance) for split, of in self.measures.items()},
            "threshold": self.threshold,
            "settings": self.settings,
            "data": asdict(self.data),
            "versions": self.versions,
            "seconds": self.seconds,
            "peak_memory": self.peak_memory,
            "command": self.command,
            "device": self.device,
            **({"members": self.members} if self.members else {}),
        }

    @classmethod
    def read(cls, path: str | Path) -> Run:
        """Read a run and check it: every key, every figure against the per-document counts."""
        path = Path(path)
        record = _load_json(path)
        for key, kinds in _KEYS.items():
            _expect(record, key, kinds, path)
        for key in ("name", "fingerprint", "label_space"):
            _expect(record["data"], key, (str,), path, f"data.{key}")
        for key in ("counts", "groups"):
            _expect(record["data"], key, (dict,), path, f"data.{key}")
        known = DataRecord.__dataclass_fields__
        data = DataRecord(**{key: record["data"][key] for key in known if key in record["data"]})
        counts = _unpack(documents_path(path), record["split"])
        labels = read_labels(path, record["split"])
        measures = {}
        for split in record["split"]:
            values = _figures(record["measures"], split, path, "measures")
            chance = _figures(record["chance"], split, path, "chance")
            measures[split] = Measures(values, chance, counts[split], labels.get(split))
            _check_split(measures[split], split, data, path)
        fields = {key: record[key] for key in _KEYS if key in cls.__dataclass_fields__}
        device = str(record.get("device") or _logged_device(path))
        members = record.get("members", {})
        made = {"measures": measures, "data": data, "device": device, "members": members}
        return cls(**{**fields, **made})


_KEYS: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "seed": (int,),
    "split": (list,),
    "measures": (dict,),
    "chance": (dict,),
    "threshold": (float, int, type(None)),
    "settings": (dict,),
    "data": (dict,),
    "versions": (dict,),
    "seconds": (dict,),
    "peak_memory": (int, type(None)),
    "command": (str,),
}


def read_runs(folder: str | Path) -> list[Run]:
    """All runs below a folder, sorted by path."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            "there is no such folder; runs are written by `labelwise evaluate`", file=folder
        )
    return [Run.read(path) for path in run_paths(folder)]


def run_paths(folder: Path) -> list[Path]:
    return sorted(folder.rglob("seed-*.json"))


def log_path(path: Path) -> Path:
    """The log of the training beside a run's JSON, a line an epoch; networks alone have one."""
    return path.with_suffix(".log.jsonl")


def _logged_device(path: Path) -> str:
    """What the log of a training says of its device: runs did not always say so themselves."""
    try:
        with log_path(path).open(encoding="utf-8") as log:
            return str(json.loads(log.readline()).get("device", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def documents_path(path: Path) -> Path:
    """The per-document file beside a run's JSON."""
    return path.with_suffix(".documents.npz")


def _sizes(space: LabelSpace) -> dict[str, int]:
    """How many labels each group has."""
    return {group: part.stop - part.start for group, part in space.groups.items()}


def check_comparable(runs: Iterable[Run], split: str, group: str = "all") -> None:
    """Raise where runs saw other data, other labels or other documents: they cannot be compared.

    Models that were measured on a file have labels and groups of their own. They are compared over
    all labels, where the same gold counts for each of them.
    """
    runs = list(runs)
    for run in runs[:1]:
        run._counts(split)  # one alone has to be measured on the split as well
    for run in runs[1:]:
        names = f"{runs[0].method}, seed {runs[0].seed} and {run.method}, seed {run.seed}"
        own_groups = bool(runs[0].data.trained_on and run.data.trained_on)
        for what, field_name in (
            ("data", "fingerprint"),
            ("label space", "label_space"),
            ("number of documents", "counts"),
        )[: 1 if own_groups else None]:
            ours, theirs = getattr(runs[0].data, field_name), getattr(run.data, field_name)
            if ours != theirs:
                raise LabelwiseError(
                    f"{names} cannot be compared: their {what} differs ({ours} and {theirs}); "
                    "evaluate both on the same data"
                )
        mine, other = runs[0]._counts(split), run._counts(split)
        if mine.documents != other.documents:
            raise LabelwiseError(
                f"{names} cannot be compared on {split}: one has {mine.documents} documents, the "
                f"other {other.documents}"
            )
        ours, theirs = mine.gold, other.gold
        if own_groups:
            ours, theirs = mine.gold_labels(group), other.gold_labels(group)
        if not np.array_equal(ours, theirs):
            raise LabelwiseError(
                f"{names} cannot be compared on {split}: the gold labels of their documents differ"
            )


def current_versions(*others: str) -> dict[str, str]:
    """The versions that a run depends on, and those of the other packages named."""
    versions = {"labelwise": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "torch", *others):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions


def peak_memory() -> int | None:
    """The most memory this process has held so far, in bytes; None where the system cannot say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # Linux counts in KiB


def _pack(measures: Mapping[str, Measures]) -> bytes:
    """The counts of all splits as an .npz, each array in the smallest type that holds it."""
    arrays = {}
    for split, of in measures.items():
        for name in _ARRAYS:
            array = getattr(of.counts, name)
            smallest = np.uint16 if name == "hits" else np.min_scalar_type(array.max(initial=0))
            arrays[f"{split}.{name}"] = array.astype(smallest)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _unpack(path: Path, splits: list[str]) -> dict[str, Counts]:
    if not path.is_file():
        raise InputError(
            "the per-document file of this run is missing: put it beside the run's JSON, or "
            "evaluate again",
            file=path,
        )
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except ARCHIVE_FAULTS as error:
        raise InputError(f"the file is damaged ({error}): evaluate again", file=path) from error
    counts = {}
    for split in splits:
        for name in _ARRAYS:
            if f"{split}.{name}" not in arrays:
                raise InputError(
                    "the array is missing: evaluate again", file=path, field=f"{split}.{name}"
                )
        counts[split] = Counts(*(arrays[f"{split}.{name}"] for name in _ARRAYS))
        _check_shapes(counts[split], split, path)
    return counts


def _check_shapes(counts: Counts, split: str, path: Path) -> None:
    documents = counts.hits.shape[-1]
    thresholds = len(counts.predicted)
    expected = {
        "hits": (len(VIEWS), documents),
        "gold": (len(GROUPS), documents),
        "predicted": (thresholds, len(GROUPS), documents),
        "true_positives": (thresholds, len(GROUPS), documents),
    }
    for name, shape in expected.items():
        array = getattr(counts, name)
        if array.shape != shape or array.dtype.kind != "u":
            raise InputError(
                f"the array has the shape {array.shape} of {array.dtype}, not {shape} of unsigned "
                "whole numbers: evaluate again",
                file=path,
                field=f"{split}.{name}",
            )
    if counts.hits.max(initial=0) >= 1 << DEPTH:
        raise InputError(
            f"hits lie below the top {DEPTH}: evaluate again", file=path, field=f"{split}.hits"
        )


def _check_split(measures: Measures, split: str, data: DataRecord, path: Path) -> None:
    """The figures must follow from the counts, and the counts must be those of the data."""
    documents = measures.counts.documents
    if data.counts.get(split, documents) != documents:
        raise InputError(
            f"the run says that {split} has {data.counts[split]} documents, but its per-document "
            f"file has {documents}",
            file=path,
            field=f"data.counts.{split}",
        )
    for group, figures in summary(measures.counts).items():
        for measure, value in figures.items():
            if measure not in measures[group]:
                if "@" in measure:  # a run may have been asked for some K only
                    continue
                raise InputError(
                    "the figure is missing", file=path, field=f"measures.{split}.{group}.{measure}"
                )
            stored = measures[group][measure]
            if math.isnan(stored) and measure.split("@")[0] in RANKED:
                continue  # labels that all tied have no ranking (``measures.without_ties``)
            same = math.isclose(stored, value, rel_tol=0, abs_tol=1e-9)
            if not same and not (math.isnan(stored) and math.isnan(value)):
                raise InputError(
                    f"the figure is {stored}, but the per-document file gives {value}: one of the "
                    "two was altered",
                    file=path,
                    field=f"measures.{split}.{group}.{measure}",
                )


def _load_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("there is no such run", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError("a run is JSON in UTF-8, this file is not", file=path) from error
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON ({error.msg})", file=path, line=error.lineno) from error
    if not isinstance(record, dict):
        raise InputError("a run is a JSON object, this file holds something else", file=path)
    return record


def _expect(
    record: Mapping[str, Any], key: str, kinds: tuple[type, ...], path: Path, name: str = ""
) -> None:
    if key not in record:
        raise InputError(
            "the key is missing: this is not a run, or not a whole one",
            file=path,
            field=name or key,
        )
    if not isinstance(record[key], kinds) or isinstance(record[key], bool):
        raise InputError(
            f"the value is of type {type(record[key]).__name__}, expected {kinds[0].__name__}",
            file=path,
            field=name or key,
        )


def _figures(
    record: Mapping[str, Any], split: str, path: Path, name: str
) -> dict[str, dict[str, float]]:
    """group → measure → figure of a split, null read as NaN."""
    _expect(record, split, (dict,), path, f"{name}.{split}")
    figures: dict[str, dict[str, float]] = {}
    for group in VIEWS:
        _expect(record[split], group, (dict,), path, f"{name}.{split}.{group}")
        figures[group] = {}
        for measure, value in record[split][group].items():
            if value is not None and not isinstance(value, int | float):
                raise InputError(
                    f"{value!r} is not a number",
                    file=path,
                    field=f"{name}.{split}.{group}.{measure}",
                )
            figures[group][measure] = float("nan") if value is None else value
    return figures


def _nulls(figures: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    return {
        group: {name: None if math.isnan(value) else value for name, value in of.items()}
        for group, of in figures.items()
    }
