"""``labelwise tag``: documents in, ranked labels out."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from labelwise.cli.added_labels import AddLabelOption, with_added_labels
from labelwise.cli.inputs import check_inputs, read_inputs
from labelwise.cli.label_lists import chosen_labels, read_labels
from labelwise.cli.label_names import NAMES, ThesaurusOption, given_thesaurus, in_language
from labelwise.cli.language_notes import LanguageNotes
from labelwise.cli.options import BundleOption, JsonOption, SkipBadOption, TopOption
from labelwise.cli.output import console, table
from labelwise.cli.tag_in_bulk import tag_in_bulk
from labelwise.errors import LabelwiseError
from labelwise.files import finite
from labelwise.progress import note, one_bar

if TYPE_CHECKING:
    from labelwise.model import Tag, Tagging

UNCALIBRATED = (
    "the scores of this model are not calibrated, so that --precision is a rough guess: `labelwise "
    "calibrate --on` makes them chances"
)


class Format(StrEnum):
    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


def tag(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files or folders; - is standard input. A CELEX number, an ELI or an address of "
            "EUR-Lex is fetched. With --out also addresses such as s3://bucket/acts/.",
            metavar="FILE|ACT",
        ),
    ],
    *,
    bundle: BundleOption = None,
    top: TopOption = 5,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Only labels that score above this number; 'tuned' takes the model's own, and "
            "the best label in any case.",
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
        typer.Option(
            help="Only these labels: ids, a comma list, @FILE, or a part of the thesaurus: "
            "domain:60, mt:6006, under:1117.",
            metavar="ID|PART|@FILE",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Never these labels, in the same words.", metavar="ID|PART|@FILE"),
    ] = None,
    add_label: AddLabelOption = None,
    names: Annotated[
        str | None,
        typer.Option("--names", "--labels", help=NAMES, metavar="LANGUAGE", show_default=False),
    ] = None,
    thesaurus: ThesaurusOption = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Show the words that speak for each label.")
    ] = False,
    format: Annotated[
        Format | None,
        typer.Option(
            help="How to print, or with --out what to write: jsonl or parquet.",
            show_default="table, with --out jsonl",
        ),
    ] = None,
    as_json: JsonOption = False,
    skip_bad: SkipBadOption = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Write to this folder, or address such as s3://bucket/tags/, in parts; called "
            "again it goes on where it stood.",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Only the i-th of n shares of the input, for so many processes or machines at "
            "once.",
            metavar="i/n",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Tag documents with labels, the best first.

    Reads EUR-Lex HTML, Formex XML, plain text, PDF, DOCX, ODT, EPUB, EURLEX57K JSON and JSONL,
    Parquet and tab-separated files, one document after another, so that a million of them do not
    fill the memory. Without a bundle the model of the package gives EUROVOC concepts to English EU
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
      labelwise tag act.xml --include mt:6006 --names fr --thesaurus eurovoc.ttl.xz
      labelwise tag act.xml --bundle svm.bundle
      labelwise tag act.xml --bundle z.bundle --add-label "7001=electric bicycle"
      labelwise tag acts.jsonl --out tags/ --shard 3/8 --skip-bad
      labelwise tag s3://bucket/acts/ --out s3://bucket/tags/ --format parquet
    """
    from labelwise.bundle import describe
    from labelwise.model import load
    from labelwise.shipped import NAME, folder_of

    # What is wrong with the call alone is told before a model is loaded, which takes seconds.
    wanted = parse_threshold(threshold)
    if threshold is not None and certified is not None:
        raise typer.BadParameter("--threshold and --certified are two thresholds: give one")
    if best > top:
        raise typer.BadParameter(f"--best {best} is more than --top {top}")
    if best and threshold is None and certified is None and precision is None:
        raise typer.BadParameter("--best goes with --threshold, --certified or --precision")
    if out is None and (shard is not None or format == Format.parquet):
        raise typer.BadParameter("--shard and --format parquet go with --out")
    if out is None and as_json and format not in {None, Format.json}:
        raise typer.BadParameter(f"--json and --format {format.value} are two formats: give one")
    if out is not None and (evidence or format not in {None, Format.jsonl, Format.parquet}):
        raise typer.BadParameter(
            "--out writes labels without evidence, as --format jsonl or parquet"
        )
    # In `explain` it is labels that --labels names.
    if names is not None and not names.replace("-", "").isalpha():
        raise typer.BadParameter(
            f"--names is the language of the names of labels, such as fr, not '{names}'; to choose "
            "among labels: --include"
        )
    if out is None and not skip_bad:
        check_inputs([Path(file) for file in files])
    known = given_thesaurus(thesaurus, names, add_label)
    model = with_added_labels(load(bundle or NAME), add_label or (), known)
    model = in_language(model, names, known)
    cut = model.cut(threshold=wanted, certified=certified, precision=precision, best=best)
    if precision is not None and model.method.calibration is None:
        note(UNCALIBRATED)
    included = chosen_labels(include or (), model.labels, model.thesaurus)
    excluded = read_labels(exclude or (), model.labels, model.thesaurus)
    if out is not None:
        tag_in_bulk(
            files,
            out,
            lambda documents: model.cut_tags(
                documents, cut, top=top, include=included, exclude=excluded
            ),
            made_with={
                "model": describe(folder_of(bundle or NAME))["digest"],
                "choice of labels": {
                    "top": top,
                    "include": included,
                    "exclude": excluded,
                    **asdict(cut),
                },
                "added labels": add_label or [],
                "names": names,
                "thesaurus": thesaurus.name if thesaurus else None,
            },
            format=(format or Format.jsonl).value,
            shard=shard,
            skip_bad=skip_bad,
            as_json=as_json,
        )
        return
    languages = LanguageNotes(model.card)
    documents = read_inputs([Path(file) for file in files], skip_bad=skip_bad)
    found = model.cut_tags(
        documents, cut, top=top, include=included, exclude=excluded, evidence=evidence
    )

    def tagged() -> Iterator[Tagging]:
        with one_bar("tagging") as advance:
            for one in found:
                languages.look_at(one.document)
                yield one
                advance(1)

    {Format.table: _table, Format.json: _json, Format.jsonl: _jsonl, Format.csv: _csv}[
        Format.json if as_json else format or Format.table
    ](tagged())


def parse_threshold(given: str | None) -> float | Literal["tuned"] | None:
    """The threshold that was typed: a number, or the model's own."""
    if given is None or given == "tuned":
        return given  # type: ignore[return-value]
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise LabelwiseError(f"--threshold is a number or the word 'tuned', not '{given}'")
    return number


def place_above(tag: Tag) -> str:
    """What a label stands under, in words; empty where it stands under nothing."""
    return tag.place_words.rpartition(" › ")[0]


def _named(tag: Tag) -> str:
    """The descriptor and, on a line beneath, what it stands under."""
    above = place_above(tag)
    return f"{tag.descriptor}\nin {above}" if above else tag.descriptor


def _table(documents: Iterable[Tagging]) -> None:
    from rich.text import Text

    from labelwise.evidence.terminal import clean

    shown = console()
    for one in documents:
        heading = Text(clean(one.document.id), style="bold")
        heading.append("  " + " ".join(clean(one.document.title).split()), style="not bold")
        shown.print(heading)
        if not one.tags:
            shown.print("  no label passed\n")
            continue
        columns = ["score", "label", "descriptor", "group"]
        explained = one.tags[0].evidence is not None
        if explained:
            columns.append("because of")
        rows = [
            [f"{tag.score:.3f}", tag.id, _named(tag), tag.group]
            + ([_strongest(one, tag)] if explained else [])
            for tag in one
        ]
        shown.print(table(columns, rows, left=("label", "descriptor", "group", "because of")))
        shown.print()


def _json(documents: Iterable[Tagging]) -> None:
    """One array, written as it grows, and closed whatever happens."""
    sys.stdout.write("[")
    try:
        for number, one in enumerate(documents):
            text = json.dumps(finite(one.to_json()), ensure_ascii=False, indent=2)
            sys.stdout.write((",\n" if number else "\n") + text)
    finally:
        sys.stdout.write("\n]\n")


def _jsonl(documents: Iterable[Tagging]) -> None:
    for one in documents:
        print(json.dumps(finite(one.to_json()), ensure_ascii=False))


def _csv(documents: Iterable[Tagging]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    header = ["document", "rank", "label", "descriptor", "score", "group", "evidence", "place"]
    writer.writerow(header)
    for one in documents:
        for tag in one:
            row = [one.document.id, tag.rank, tag.id, tag.descriptor]
            rest = [f"{tag.score:.6f}", tag.group, _strongest(one, tag), tag.place_words]
            writer.writerow([*row, *rest])


def _strongest(one: Tagging, tag: Tag) -> str:
    return ", ".join(tag.words(one.document))
