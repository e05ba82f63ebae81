"""Names of labels in another language, asked for on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from labelwise.corpus.thesaurus import Thesaurus
    from labelwise.model import Model

NAMES = "Language of the names of labels, such as fr, where the thesaurus has them."

ThesaurusOption = Annotated[
    Path | None,
    typer.Option(
        help="With --names: a thesaurus that has them. With --add-label: one that has the label's "
        "other names.",
        show_default="the model's own",
    ),
]


def given_thesaurus(
    path: Path | None, names: str | None, added: Sequence[str] | None
) -> Thesaurus | None:
    """The thesaurus that --thesaurus names, for --names or --add-label."""
    from labelwise.corpus.thesaurus import read_thesaurus

    if path is None:
        return None
    if names is None and not added:
        raise typer.BadParameter("--thesaurus goes with --names or --add-label")
    return read_thesaurus(path)


def in_language(model: Model, names: str | None, thesaurus: Thesaurus | None) -> Model:
    """The model with its labels named so, by a thesaurus where one is given."""
    return model if names is None else model.in_language(names, thesaurus)
