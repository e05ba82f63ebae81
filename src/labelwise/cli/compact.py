"""``labelwise compact``: a small model from a large one, a linear one's size chosen on dev."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.evaluate import command_line
from labelwise.cli.inputs import as_trained, read_dataset, refuse_relabelled
from labelwise.cli.options import (
    CacheOption,
    EveryConceptOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    SummariesOption,
    additions_of,
)
from labelwise.cli.output import finite, note, print_json, print_table, print_wide_table
from labelwise.cli.train import check_writable
from labelwise.corpus.sources import stem
from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.corpus.dataset import Dataset
    from labelwise.corpus.document import Document
    from labelwise.corpus.thesaurus import Thesaurus
    from labelwise.evaluation.measures import Measures
    from labelwise.evaluation.tables import Table
    from labelwise.methods import Method
    from labelwise.methods.linear import LinearMethod

SIZES = "sizes.json"
PRUNES = "0.02,0.03,0.035,0.04,0.045,0.05,0.06,0.08,0.1,0.15"
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


def compact(
    bundle: Annotated[
        Path,
        typer.Argument(
            help="A linear model (svm, logistic), one with an encoder, or a blend.",
            metavar="BUNDLE",
        ),
    ],
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    every_concept: EveryConceptOption = False,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the model in results.", show_default="that of --out")
    ] = None,
    max_mb: Annotated[
        float, typer.Option(min=0.1, help="Megabytes that the bundle may have, all files together.")
    ] = 25.0,
    prune: Annotated[
        str, typer.Option(help="Weights below this are dropped; each of a comma list is tried.")
    ] = PRUNES,
    step: Annotated[
        float, typer.Option(min=1.02, help="A weight is rounded to levels so many times apart.")
    ] = 1.1,
    thesaurus: Annotated[
        Path | None,
        typer.Option(
            help="SKOS, JSON or CSV file that says where the labels stand.",
            show_default="that of the data, or in a folder eurovoc beside it",
        ),
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(
            help="Another thesaurus, for the domains and microthesauri of labels where that one "
            "has none.",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder of results; RESULTS/DATA/NAME/sizes.json is written.")
    ] = Path("results"),
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model small.

    A linear one: fewer weights, fewer n-grams, 8 bits a weight or less. Several sizes are measured
    on dev. Of those that fit, the one with the highest RP@5 over all labels is written, with its
    probabilities and threshold fitted on dev again, and with the place of each label in the
    thesaurus.

    One with an encoder, or a blend that has such a member: the large weights of the encoder and of
    the labels in 8 bits, row by row, as a CPU uses them anyway. Nothing is chosen and no documents
    are needed; the linear member of a blend is made small before it is joined.

    \b
    Examples:
      labelwise compact svm.bundle --data data/eurlex57k --out small.bundle
      labelwise compact svm.bundle --data data/eurlex57k --out small.bundle --max-mb 10
      labelwise compact svm.bundle --data data --out small.bundle --thesaurus eurovoc.ttl.xz
      labelwise compact blend.bundle --out small.bundle --max-mb 60
    """
    from labelwise import bundle as bundles
    from labelwise.bench.machine import machine
    from labelwise.corpus.thesaurus import read_thesaurus
    from labelwise.evaluation.runs import DataRecord, current_versions
    from labelwise.files import write_whole
    from labelwise.methods.linear import LinearMethod
    from labelwise.shipped import notices

    check_writable(out)
    prunes = _numbers(prune)
    parent = bundles.describe(bundle)
    refuse_relabelled(bundle, parent["card"], "give the bundle it was made from, and relabel then")
    method = bundles.load(bundle)
    if not isinstance(method, LinearMethod):
        given = read_thesaurus(thesaurus) if thesaurus else bundles.thesaurus(bundle)
        known = _placed(given, places)
        _in_eight_bits(
            bundle, method, out, name=name, max_mb=max_mb, thesaurus=known, as_json=as_json
        )
        return
    if data is None:
        raise typer.BadParameter("--data (or LABELWISE_DATA) is needed to choose a size on dev")
    method.cache = cache
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
        "command": command_line(str(parent["card"].get("command", ""))),
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
    if as_json:
        print_json(record)
    else:
        print_wide_table(sizes_table(sizes, best, f"{name}, dev"))
        took = record["seconds"]
        print(
            f"loads in {took['load']:.2f} s; the first answer of `labelwise tag` takes "
            f"{took['first answer']:.2f} s; then {took['documents a second']:,.0f} documents a "
            "second"
        )
    note(f"wrote {out} and {path}")


def sizes_table(sizes: Sequence[Size], chosen: Size, title: str = "") -> Table:
    """One row a size, the bundle that was given first."""
    from labelwise.evaluation.tables import Table

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


def timed(bundle: Path, documents: Sequence[Document]) -> dict[str, float]:
    """Seconds to load, and from a command to its first answer; documents a second, from text."""
    from labelwise import bundle as bundles

    loads, answers = [], []
    for _ in range(3):
        started = time.perf_counter()
        method = bundles.load(bundle)
        loads.append(time.perf_counter() - started)
        started = time.perf_counter()
        text = documents[0].text.encode("utf-8", "replace")
        asked = ["tag", "-", "--bundle", str(bundle), "--json"]
        command = [sys.executable, "-c", "from labelwise.cli import main; main()", *asked]
        subprocess.run(command, input=text, capture_output=True, check=True)
        answers.append(time.perf_counter() - started)
    some = documents[:1000]
    started = time.perf_counter()
    method.scores(some)
    rate = len(some) / (time.perf_counter() - started)
    return {
        "load": round(statistics.median(loads), 3),
        "first answer": round(statistics.median(answers), 3),
        "documents a second": round(rate, 1),
    }


def _numbers(given: str) -> list[float]:
    try:
        found = sorted({float(one) for one in given.split(",")})
    except ValueError:
        raise LabelwiseError(f"--prune is a list of numbers, 0.03,0.05, not '{given}'") from None
    if not all(0 < one < float("inf") for one in found):
        raise LabelwiseError(f"--prune is a list of numbers above 0, not '{given}'")
    return found


def _in_eight_bits(
    bundle: Path,
    method: Method,
    out: Path,
    *,
    name: str | None,
    max_mb: float,
    thesaurus: Thesaurus | None,
    as_json: bool,
) -> None:
    """Write a model with the weights of its encoder in 8 bits, where it has one."""
    from labelwise import bundle as bundles
    from labelwise.shipped import notices

    parts = [method, *getattr(method, "members", ())]
    encoders = [one.settings.encoder for one in parts if hasattr(one.settings, "encoder")]
    if not encoders:
        raise LabelwiseError(
            f"{bundle}: {method.name} is neither linear nor has an encoder: nothing is known that "
            "makes it small"
        )
    parent = bundles.describe(bundle)
    given: Any = method
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
        "command": command_line(str(own.get("command", ""))),
    }
    if thesaurus is not None:
        own["thesaurus"] = thesaurus.around(method.label_space.ids).to_json()
    with tempfile.TemporaryDirectory(prefix="labelwise-") as folder:
        made = Path(folder) / "small"
        bundles.save(given.in_eight_bits(), made, card=own)
        size = bundles.size_of(made)
        if size > max_mb * 1e6:
            raise LabelwiseError(
                f"in 8 bits it has {size / 1e6:.1f} MB and does not fit into {max_mb:g}: give a "
                "larger --max-mb, or a blend with a smaller linear member"
            )
        bundles.save(bundles.load(made), out, card=own)
    said = {"bundle": str(out), "MB given": own["parent"]["bytes"] / 1e6, "MB": size / 1e6}
    if as_json:
        print_json(said)
    else:
        row = [str(out), *(f"{mb:.1f}" for mb in (said["MB given"], said["MB"]))]
        print_table(list(said), [row], left=("bundle",))


def _size(method: LinearMethod, bundle: Path, step: float | None, dataset: Dataset) -> Size:
    from labelwise import bundle as bundles
    from labelwise.cli.measured import measure

    weights, ngrams = method.size
    measured: Measures = measure(method, dataset, ["dev"], card={}).measures["dev"]
    dev: dict[str, dict[str, float | None]] = {}
    for group, of in SHOWN:
        dev.setdefault(group, {})[of] = finite(measured[group][of])
    size = bundles.size_of(bundle)
    return Size(float(method.settings.prune), step, size, weights, ngrams, dev)


def _placed(thesaurus: Thesaurus | None, places: Path | None) -> Thesaurus | None:
    from labelwise.corpus.thesaurus import read_thesaurus

    if thesaurus is None or places is None:
        return thesaurus
    return thesaurus.placed_by(read_thesaurus(places))


def _thesaurus(given: Path | None, data: Path, dataset: Dataset) -> Thesaurus | None:
    from labelwise.corpus.thesaurus import read_thesaurus

    if given is not None:
        return read_thesaurus(given)
    beside = [
        one for folder in (data, data.parent) for one in sorted(folder.glob("eurovoc/*.ttl*"))
    ]
    return read_thesaurus(beside[0]) if beside else dataset.thesaurus
