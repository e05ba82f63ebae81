"""``labelwise explain``: one document, its labels, and the words that speak for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.added_labels import AddLabelOption, with_added_labels
from labelwise.cli.inputs import check_inputs, read_inputs
from labelwise.cli.label_lists import chosen_labels
from labelwise.cli.label_names import NAMES, ThesaurusOption, given_thesaurus, in_language
from labelwise.cli.language_notes import LanguageNotes
from labelwise.cli.options import BundleOption, JsonOption, TopOption
from labelwise.cli.output import console, print_json
from labelwise.cli.tag import place_above
from labelwise.errors import LabelwiseError
from labelwise.files import write_whole
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.corpus.document import Document
    from labelwise.evidence.predictions import Prediction
    from labelwise.methods.base import Evidence
    from labelwise.model import Model, Tagging


def explain(
    file: Annotated[
        Path,
        typer.Argument(
            help="A document; - is standard input. A CELEX number, an ELI or an address of EUR-Lex "
            "is fetched.",
            metavar="FILE|ACT",
        ),
    ],
    *,
    bundle: BundleOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Write one HTML page that needs nothing beside it.")
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Explain these labels instead of the best: ids, a comma list, @FILE, or a part of "
            "the thesaurus: domain:60, mt:6006, under:1117.",
            metavar="ID|PART|@FILE",
        ),
    ] = None,
    explainer: Annotated[
        str | None,
        typer.Option(
            help="Of a network: attention (the paper's heat-maps), gradient, attingrad, integrated "
            "or occlusion.",
            metavar="NAME",
            show_default="the network's default",
        ),
    ] = None,
    add_label: AddLabelOption = None,
    names: Annotated[
        str | None, typer.Option(help=NAMES, metavar="LANGUAGE", show_default=False)
    ] = None,
    thesaurus: ThesaurusOption = None,
    top: TopOption = 5,
    document: Annotated[
        str | None,
        typer.Option(help="Id of the document, where the file holds several; the first if absent."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show why a document gets its labels.

    In the terminal, or with --out as an HTML page with a heat-map for each label. Without a bundle
    the model of the package gives EUROVOC concepts to English EU legislation.

    \b
    Examples:
      labelwise explain act.html
      labelwise explain act.html --out explained.html --top 8
      labelwise explain 32016R0679 --out explained.html
      labelwise explain test.jsonl --document 32003R1412 --bundle svm.bundle --labels 693,1309
      labelwise explain act.html --bundle z.bundle --add-label 7001=bicycle --labels 7001
      labelwise explain act.html --bundle lwan.bundle --explainer attention
      labelwise explain act.html --names fr --thesaurus eurovoc.ttl.xz --out expliqué.html
    """
    from labelwise.corpus.first_words import word_count
    from labelwise.evidence.terminal import render_terminal
    from labelwise.model import load
    from labelwise.shipped import NAME
    from labelwise.text.language import NAMES as LANGUAGES

    check_inputs([file])
    if out is not None and out.is_file() and file.exists() and out.samefile(file):
        raise LabelwiseError(f"{out} is the act itself: give the page another name")
    known = given_thesaurus(thesaurus, names, add_label)
    model = with_added_labels(load(bundle or NAME), add_label or (), known)
    model = in_language(model, names, known)
    acts = read_inputs([file], skip_bad=False)
    act = next((one for one in acts if document in (None, one.id)), None)
    if act is None:
        raise LabelwiseError(f"{file} holds no document with the id '{document}'")
    if document is None and _is_another(acts):
        note(f"explained is the first of several documents, {act.id}: --document ID names another")
    LanguageNotes(model.card).look_at(act)
    if unread := model.unread(word_count(act)):
        note(unread)
    for word in labels or ():  # as tag has it
        if word in LANGUAGES and word not in model.labels.index:
            raise LabelwiseError(
                f"--labels names what to explain; for names in {LANGUAGES[word]}: --names {word}"
            )
    asked = chosen_labels(labels or (), model.labels, model.thesaurus)
    found = model.explain(act, asked, top=top, explainer=explainer)
    if as_json:
        print_json(found.to_json())
    if out is not None:
        write_page(out, model, found, unread or "")
        note(f"wrote {out}: open it in a browser")
    elif not as_json:
        shown = console()
        coloured = shown.is_terminal
        predictions, evidence, places = _parts(model, found)
        for line in render_terminal(act, predictions, evidence, places=places, colour=coloured):
            shown.print(line)


def _is_another(acts: Iterator[Document]) -> bool:
    """Whether another document follows, be it a damaged one."""
    try:
        return next(acts, None) is not None
    except LabelwiseError:
        return True


def write_page(file: Path, model: Model, found: Tagging, note: str = "") -> None:
    """A page of a document that was explained, with a heat-map for each label."""
    from labelwise.evidence.page import render_page

    act = found.document
    predictions, evidence, places = _parts(model, found)
    page = render_page(
        act,
        predictions,
        evidence,
        gold=[model.named(id) for id in act.labels],
        method=model.name,
        threshold=model.threshold,
        note=note,
        places=places,
    )
    write_whole(file, page.encode())


def _parts(model: Model, found: Tagging) -> tuple[list[Prediction], list[Evidence], dict[str, str]]:
    """Predictions, their evidence, and what each label stands under, as what draws them wants."""
    from labelwise.evidence.predictions import Prediction

    predictions = [Prediction(model.named(tag.id), tag.score) for tag in found]
    evidence = [tag.evidence for tag in found if tag.evidence is not None]
    return predictions, evidence, {tag.id: above for tag in found if (above := place_above(tag))}
