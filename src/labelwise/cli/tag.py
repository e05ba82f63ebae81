"""``labelwise tag``: documents in, ranked labels out."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.added_labels import AddLabelOption, with_added_labels
from labelwise.cli.inputs import batches, read_inputs
from labelwise.cli.label_lists import allowed_columns
from labelwise.cli.language_notes import LanguageNotes
from labelwise.cli.options import BundleOption, JsonOption, SkipBadOption, TopOption
from labelwise.cli.output import console, finite, note, one_bar, table
from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.corpus.document import Document
    from labelwise.corpus.thesaurus import Thesaurus
    from labelwise.evidence.predictions import Prediction
    from labelwise.methods import Evidence, Method

BATCH = 256
"""Documents scored at a time: enough to be fast, few enough that memory does not grow."""


UNCALIBRATED = (
    "the scores of this model are not calibrated, so that --precision is a rough guess: `labelwise "
    "calibrate --on` makes them chances"
)


class Format(StrEnum):
    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A document with its predictions and, where asked for, their evidence in the same order.

    The thesaurus, where the model has one, says where the labels stand.
    """

    document: Document
    predictions: list[Prediction]
    evidence: list[Evidence] | None
    thesaurus: Thesaurus | None = None


def tag(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files or folders; - is standard input. A CELEX number, an ELI or an address of "
            "EUR-Lex is fetched.",
            metavar="FILE|ACT",
        ),
    ],
    *,
    bundle: BundleOption = None,
    top: TopOption = 5,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Only labels that score above this number; 'tuned' takes the model's own.",
            metavar="NUMBER|tuned",
        ),
    ] = None,
    certified: Annotated[
        float | None,
        typer.Option(
            help="Only labels above the score from which on so many are right, as `labelwise "
            "calibrate --on` certified it.",
            metavar="PRECISION",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="From the top, as many labels as are expected to have this precision together: "
            "the mean of their scores.",
            show_default=False,
        ),
    ] = None,
    best: Annotated[
        int,
        typer.Option(min=0, help="So many labels at least, whatever these three leave out."),
    ] = 0,
    include: Annotated[
        list[str] | None,
        typer.Option(help="Only these labels: ids, a comma list, or @FILE.", metavar="ID|@FILE"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Never these labels: ids, a comma list, or @FILE.", metavar="ID|@FILE"),
    ] = None,
    add_label: AddLabelOption = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Show the words that speak for each label.")
    ] = False,
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    as_json: JsonOption = False,
    skip_bad: SkipBadOption = False,
) -> None:
    """Tag documents with labels, the best first.

    Reads EUR-Lex HTML, Formex XML, plain text, PDF, DOCX, ODT, EPUB, EURLEX57K JSON and JSONL, and
    tab-separated files, one document after another, so that a million of them do not fill the
    memory. Without a bundle the model of the package gives EUROVOC concepts to English EU
    legislation.

    \b
    Examples:
      labelwise tag act.html
      labelwise tag 32016R0679
      labelwise tag acts/ --top 10 --threshold tuned --format csv
      labelwise tag acts/ --top 20 --threshold tuned --best 3
      labelwise tag acts/ --top 20 --precision 0.8 --bundle sure.bundle
      cat act.txt | labelwise tag - --evidence --json
      labelwise tag act.xml --exclude 1309,693 --include @allowed.txt
      labelwise tag act.xml --bundle svm.bundle
      labelwise tag act.xml --bundle z.bundle --add-label "7001=electric bicycle"
    """
    from labelwise import bundle as bundles
    from labelwise import shipped
    from labelwise.evidence.predictions import Cut, rank

    if threshold is not None and certified is not None:
        raise typer.BadParameter("--threshold and --certified are two thresholds: give one")
    if best > top:
        raise typer.BadParameter(f"--best {best} is more than --top {top}")
    bundle = bundle or shipped.path()
    method = with_added_labels(bundles.load(bundle), add_label or ())
    space, thesaurus = method.label_space, bundles.thesaurus(bundle)
    above = parse_threshold(threshold, method)
    cut = Cut(above if certified is None else method.certified(certified), precision, best)
    if best and cut == Cut(best=best):
        raise typer.BadParameter("--best goes with --threshold, --certified or --precision")
    if precision is not None and method.calibration is None:
        note(UNCALIBRATED)
    allowed = allowed_columns(space, include or (), exclude or ())
    languages = LanguageNotes(bundle)
    # Labels that are asked for by name need not be among the best.
    score = method.scores if include else method.best_scores

    def tagged() -> Iterator[Tagged]:
        with one_bar("tagging") as advance:
            for batch in batches(read_inputs(files, skip_bad=skip_bad), BATCH):
                for document, scores in zip(batch, score(batch), strict=True):
                    languages.look_at(document)
                    found = rank(scores, space, top=top, cut=cut, allowed=allowed)
                    labels = [prediction.label.id for prediction in found]
                    why = method.evidence(document, labels) if evidence else None
                    yield Tagged(document, found, why, thesaurus)
                    advance(1)

    {Format.table: _table, Format.json: _json, Format.jsonl: _jsonl, Format.csv: _csv}[
        Format.json if as_json else format
    ](tagged())


def parse_threshold(given: str | None, method: Method) -> float | None:
    """The threshold as a number: what was typed, or the model's own."""
    if given is None:
        return None
    if given == "tuned":
        return method.threshold
    try:
        return float(given)
    except ValueError:
        raise LabelwiseError(
            f"--threshold is a number or the word 'tuned', not '{given}'"
        ) from None


def prediction_json(
    document: Document,
    prediction: Prediction,
    evidence: Evidence | None,
    thesaurus: Thesaurus | None = None,
) -> dict[str, Any]:
    """A prediction as JSON; spans are characters of the document's sections joined by newlines."""
    label = prediction.label
    record: dict[str, Any] = {
        "id": label.id,
        "descriptor": label.descriptor,
        "score": round(prediction.score, 6),
        "group": label.group,
    }
    if thesaurus is not None and label.id in thesaurus.concepts:
        record["place"] = thesaurus.place_json(label.id)
    if evidence is not None:
        text = document.text
        record["evidence"] = {
            "kind": evidence.kind,
            "spans": [
                {
                    "start": span.start,
                    "end": span.end,
                    "weight": round(span.weight, 6),
                    "text": text[span.start : span.end],
                }
                for span in evidence.spans
            ],
        }
    return record


def document_json(one: Tagged) -> dict[str, Any]:
    why: Sequence[Evidence | None] = one.evidence or [None] * len(one.predictions)
    return {
        "document": one.document.id,
        "title": one.document.title,
        "predictions": [
            prediction_json(one.document, *pair, one.thesaurus)
            for pair in zip(one.predictions, why, strict=True)
        ],
    }


def _strongest(one: Tagged, number: int) -> str:
    from labelwise.evidence.heat import phrases_of

    if one.evidence is None:
        return ""
    found = phrases_of(one.document.text, one.evidence[number], top=4)
    return ", ".join(phrase.text for phrase in found if phrase.weight > 0)


def place_of(thesaurus: Thesaurus | None, id: str) -> str:
    """Where a label stands, in words; empty where that is not known."""
    return thesaurus.place(id) if thesaurus is not None and id in thesaurus.concepts else ""


def place_above(thesaurus: Thesaurus | None, id: str) -> str:
    """What a label stands under, in words; empty where it stands under nothing."""
    return place_of(thesaurus, id).rpartition(" › ")[0]


def _named(one: Tagged, prediction: Prediction) -> str:
    """The descriptor and, on a line beneath, what it stands under."""
    above = place_above(one.thesaurus, prediction.label.id)
    name = prediction.label.descriptor
    return f"{name}\nin {above}" if above else name


def _table(documents: Iterable[Tagged]) -> None:
    from rich.text import Text

    from labelwise.evidence.terminal import clean

    shown = console()
    for one in documents:
        heading = Text(clean(one.document.id), style="bold")
        heading.append("  " + " ".join(clean(one.document.title).split()), style="not bold")
        shown.print(heading)
        if not one.predictions:
            shown.print("  no label passed\n")
            continue
        columns = ["score", "label", "descriptor", "group"]
        if one.evidence is not None:
            columns.append("because of")
        rows = [
            [f"{p.score:.3f}", p.label.id, _named(one, p), p.label.group]
            + ([_strongest(one, number)] if one.evidence is not None else [])
            for number, p in enumerate(one.predictions)
        ]
        shown.print(table(columns, rows, left=("label", "descriptor", "group", "because of")))
        shown.print()


def _json(documents: Iterable[Tagged]) -> None:
    """One array, written as it grows, and closed whatever happens."""
    sys.stdout.write("[")
    try:
        for number, one in enumerate(documents):
            text = json.dumps(finite(document_json(one)), ensure_ascii=False, indent=2)
            sys.stdout.write((",\n" if number else "\n") + text)
    finally:
        sys.stdout.write("\n]\n")


def _jsonl(documents: Iterable[Tagged]) -> None:
    for one in documents:
        print(json.dumps(finite(document_json(one)), ensure_ascii=False))


def _csv(documents: Iterable[Tagged]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    header = ["document", "rank", "label", "descriptor", "score", "group", "evidence", "place"]
    writer.writerow(header)
    for one in documents:
        for number, p in enumerate(one.predictions):
            row = [one.document.id, number + 1, p.label.id, p.label.descriptor]
            place = place_of(one.thesaurus, p.label.id)
            rest = [f"{p.score:.6f}", p.label.group, _strongest(one, number), place]
            writer.writerow([*row, *rest])
