"""A small model from a large one, a linear one's size chosen on dev."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.bench.results import machine
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.relabelling import with_places
from labelwise.corpus.sources import stem
from labelwise.corpus.thesaurus import Thesaurus, read_thesaurus
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.measures import Measures
from labelwise.evaluation.runs import DataRecord, current_versions
from labelwise.evaluation.tables import Table
from labelwise.experiments.data import (
    additions_of,
    as_trained,
    commands,
    read_dataset,
    refuse_relabelled,
)
from labelwise.experiments.measured import measure
from labelwise.experiments.times import timed
from labelwise.files import finite, write_whole
from labelwise.methods import Method
from labelwise.methods.base import PretrainedSettings, Rounding, within
from labelwise.methods.learned import Learned
from labelwise.methods.linear import LinearMethod
from labelwise.progress import note
from labelwise.shipped import notices

SIZES = "sizes.json"
SHOWN = (
    ("all", "RP@5"),
    ("all", "nDCG@5"),
    ("all", "micro-F1 tuned"),
    ("frequent", "RP@5"),
    ("few", "RP@5"),
    ("few", "nDCG@5"),
)
"""What is told of each size, group and measure."""


@dataclass(frozen=True)
class Size:
    """One way to make the model smaller, and what it costs."""

    prune: float
    step: float | None  # None: half precision, as the bundle that was given
    bytes: int
    weights: int
    ngrams: int
    dev: dict[str, dict[str, float | None]]


@dataclass(frozen=True)
class Compacted:
    """A linear model made small: the sizes that were tried, the one chosen, and the record."""

    sizes: list[Size]
    chosen: Size
    record: dict[str, Any]
    path: Path


@dataclass(frozen=True)
class InEightBits:
    """A model with an encoder made small: its bytes before and after."""

    given: int
    bytes: int


def compact_bundle(
    bundle: Path,
    *,
    data: Path | None,
    more: Sequence[Path] | None,
    summaries: bool,
    every_concept: bool,
    out: Path,
    name: str | None,
    max_mb: float,
    prunes: Sequence[float],
    step: float,
    thesaurus: Path | None,
    places: Path | None,
    results: Path,
    cache: Path | None,
    command: str,
) -> Compacted | InEightBits:
    """Make a model small: a linear one, its size chosen on dev, or one with an encoder."""
    bundles.check_writable(out)
    parent = bundles.describe(bundle)
    refuse_relabelled(bundle, parent["card"], "give the bundle it was made from, and relabel then")
    method = bundles.load(bundle)
    if isinstance(method, Learned) and isinstance(method.method, LinearMethod):
        raise LabelwiseError(
            f"{bundle} has learned from decisions: make the bundle small that it was made from, "
            "and learn then"
        )
    if not isinstance(method, LinearMethod):
        given = read_thesaurus(thesaurus) if thesaurus else bundles.thesaurus(bundle)
        known = _placed(given, places)
        return _in_eight_bits(
            bundle, method, out, name=name, max_mb=max_mb, thesaurus=known, command=command
        )
    if data is None:
        raise CallError("--data (or LABELWISE_DATA) is needed to choose a size on dev")
    method.cache = cache
    if method.calibration is not None:
        note(
            f"what {bundle.name} was calibrated to is not taken over, for the chances of a smaller "
            "model are fitted on dev anew: `labelwise calibrate --on` calibrates that one"
        )
    # The thesaurus makes the labels only where it did so in training.
    trained_on = str(parent["card"].get("data", {}).get("name", "")).split("+")
    opened = thesaurus if thesaurus is not None and stem(thesaurus) in trained_on else None
    additions = additions_of(more, summaries, opened, every_concept)
    dataset = as_trained(read_dataset(data, additions, skip_bad=False), parent["card"])
    if not dataset.dev:
        raise LabelwiseError(f"the data set {dataset.name} has no dev documents to choose on")
    sizes = [_size(method, bundle, None, dataset)]
    name = name or out.resolve().name
    known = _placed(_thesaurus(thesaurus, data, dataset), places)
    card: dict[str, Any] = {
        **parent["card"],
        "name": name,
        "parent": {"method": method.name, "digest": parent["digest"], "bytes": sizes[0].bytes},
        "compact": {"max_mb": max_mb, "step": step},
        "notices": notices(dataset.name),
        "command": commands(parent["card"], command),
    }
    if known is not None:
        card["thesaurus"] = known.around(method.label_space.ids).to_json()
    with tempfile.TemporaryDirectory(prefix="labelwise-") as folder:
        for value in prunes:
            note(f"prune {value:g}")
            small = method.compacted(dataset.dev, prune=value, step=step)
            path = Path(folder) / f"{value:g}"
            bundles.save(small, path, card={**card, "compact": {**card["compact"], "prune": value}})
            sizes.append(_size(small, path, step, dataset))
        best = choose(sizes[1:], max_mb)
        made = Path(folder) / f"{best.prune:g}"
        bundles.save(bundles.load(made), out, card=bundles.describe(made)["card"])
    record = {
        "bundle": name,
        "parent": asdict(sizes[0]),
        "sizes": [asdict(one) for one in sizes[1:]],
        "chosen": asdict(best),
        "max_mb": max_mb,
        "seconds": timed(out, dataset.dev),
        "machine": machine(),
        "data": asdict(DataRecord.of(dataset)),
        "versions": current_versions(),
        "command": card["command"],
    }
    path = results / dataset.name / name / SIZES
    write_whole(path, f"{json.dumps(record, indent=1)}\n".encode())
    return Compacted(sizes, best, record, path)


def sizes_table(sizes: Sequence[Size], chosen: Size, title: str = "") -> Table:
    """One row a size, the bundle that was given first."""
    headings = ["prune", "MB", "weights", "n-grams", *(" ".join(one) for one in SHOWN)]
    table = Table(headings, title=title)
    for one in sizes:
        mark = " (given)" if one.step is None else " (chosen)" if one == chosen else ""
        counts = f"{one.bytes / 1e6:.1f}", f"{one.weights:,}", f"{one.ngrams:,}"
        figures = (_figure(one.dev[group][measure]) for group, measure in SHOWN)
        table.add([f"{one.prune:g}{mark}", *counts, *figures])
    return table


def _figure(value: float | None) -> str:
    """Four decimals, since sizes lie close together; a group may have no document.

    >>> _figure(0.8199), _figure(None)
    ('.8199', '–')
    """
    return "–" if value is None else f"{value:.4f}".removeprefix("0")


def choose(sizes: Sequence[Size], max_mb: float) -> Size:
    """The size that fits and is best on dev; the smaller one where two are equally good."""
    fitting = [one for one in sizes if one.bytes <= max_mb * 1e6]
    if not fitting:
        smallest = min(one.bytes for one in sizes) / 1e6
        raise LabelwiseError(
            f"none of the sizes fits into {max_mb:g} MB, the smallest has {smallest:.1f}: give a "
            "larger --prune, or a larger --max-mb"
        )
    return max(fitting, key=lambda one: (one.dev["all"]["RP@5"] or 0.0, -one.bytes))


def _in_eight_bits(
    bundle: Path,
    method: Method,
    out: Path,
    *,
    name: str | None,
    max_mb: float,
    thesaurus: Thesaurus | None,
    command: str,
) -> InEightBits:
    """Write a model with the weights of its encoder in 8 bits, where it has one."""
    own_settings = [one.settings for one in within(method)]
    encoders = [one.encoder for one in own_settings if isinstance(one, PretrainedSettings)]
    if not encoders or not isinstance(method, Rounding):
        raise LabelwiseError(
            f"{bundle}: {method.name} is neither linear nor has an encoder: nothing is known that "
            "makes it small"
        )
    parent = bundles.describe(bundle)
    own = dict(parent["card"])
    data = str(own.get("data", {}).get("name", ""))
    own |= {
        "name": name or out.resolve().name,
        "parent": {
            "method": method.name,
            "digest": parent["digest"],
            "bytes": bundles.size_of(bundle),
        },
        "compact": {"bits": 8},
        "notices": notices(data, encoders),
        "command": commands(own, command),
    }
    if thesaurus is not None:
        own["thesaurus"] = thesaurus.around(method.label_space.ids).to_json()
    with tempfile.TemporaryDirectory(prefix="labelwise-") as folder:
        made = Path(folder) / "small"
        bundles.save(method.in_eight_bits(), made, card=own)
        size = bundles.size_of(made)
        if size > max_mb * 1e6:
            raise LabelwiseError(
                f"in 8 bits it has {size / 1e6:.1f} MB and does not fit into {max_mb:g}: give a "
                "larger --max-mb, or a blend with a smaller linear member"
            )
        bundles.save(bundles.load(made), out, card=own)
    return InEightBits(own["parent"]["bytes"], size)


def _size(method: LinearMethod, bundle: Path, step: float | None, dataset: Dataset) -> Size:
    weights, ngrams = method.size
    measured: Measures = measure(method, dataset, ["dev"], card={}).measures["dev"]
    dev: dict[str, dict[str, float | None]] = {}
    for group, of in SHOWN:
        dev.setdefault(group, {})[of] = finite(measured[group][of])
    size = bundles.size_of(bundle)
    return Size(float(method.settings.prune), step, size, weights, ngrams, dev)


def _placed(thesaurus: Thesaurus | None, places: Path | None) -> Thesaurus | None:
    if thesaurus is None or places is None:
        return thesaurus
    return with_places(thesaurus, read_thesaurus(places))


def _thesaurus(given: Path | None, data: Path, dataset: Dataset) -> Thesaurus | None:
    if given is not None:
        return read_thesaurus(given)
    beside = [
        one for folder in (data, data.parent) for one in sorted(folder.glob("eurovoc/*.ttl*"))
    ]
    return read_thesaurus(beside[0]) if beside else dataset.thesaurus
