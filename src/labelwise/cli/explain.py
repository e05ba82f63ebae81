"""``labelwise explain``: one document, its labels, and the words that speak for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.added_labels import AddLabelOption, with_added_labels
from labelwise.cli.inputs import read_inputs
from labelwise.cli.label_lists import read_labels
from labelwise.cli.language_notes import LanguageNotes
from labelwise.cli.options import BundleOption, JsonOption, TopOption
from labelwise.cli.output import console, note, print_json
from labelwise.cli.tag import Tagged, document_json, place_above
from labelwise.errors import LabelwiseError
from labelwise.files import write_whole

if TYPE_CHECKING:
    from labelwise.corpus.thesaurus import Thesaurus
    from labelwise.evidence.predictions import Prediction


def places_of(thesaurus: Thesaurus | None, predictions: Sequence[Prediction]) -> dict[str, str]:
    """What each label stands under, in words; only of labels that stand under something."""
    found = {one.label.id: place_above(thesaurus, one.label.id) for one in predictions}
    return {id: place for id, place in found.items() if place}


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
            help="Explain these labels instead of the best: ids, a comma list, or @FILE.",
            metavar="ID|@FILE",
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
    """
    from labelwise import bundle as bundles
    from labelwise import shipped
    from labelwise.corpus.labels import Label
    from labelwise.evidence.page import render_page
    from labelwise.evidence.predictions import Prediction, rank
    from labelwise.evidence.terminal import render_terminal

    bundle = bundle or shipped.path()
    method = with_added_labels(bundles.load(bundle), add_label or ())
    space, thesaurus = method.label_space, bundles.thesaurus(bundle)
    act = next(
        (one for one in read_inputs([file], skip_bad=False) if document in (None, one.id)), None
    )
    if act is None:
        raise LabelwiseError(f"{file} holds no document with the id '{document}'")
    LanguageNotes(bundle).look_at(act)
    scores = method.scores([act])[0]
    if labels:
        columns = [space.index[id] for id in read_labels(labels, space)]
        predictions = [Prediction(space.labels[c], float(scores[c])) for c in columns]
        predictions.sort(key=lambda one: -one.score)
    else:
        predictions = rank(scores, space, top=top)
    evidence = method.evidence(act, [one.label.id for one in predictions], explainer)
    places = places_of(thesaurus, predictions)
    if out is not None:
        gold = [
            space.labels[space.index[id]] if id in space.index else Label(id, id, 0)
            for id in act.labels
        ]
        page = render_page(
            act,
            predictions,
            evidence,
            gold=gold,
            method=bundles.name_of(bundles.describe(bundle)["card"], method.name),
            threshold=method.threshold,
            places=places,
        )
        write_whole(out, page.encode())
        note(f"wrote {out}: open it in a browser")
    if as_json:
        print_json(document_json(Tagged(act, predictions, evidence, thesaurus)))
    elif out is None:
        shown = console()
        coloured = shown.is_terminal
        for line in render_terminal(act, predictions, evidence, places=places, colour=coloured):
            shown.print(line)
