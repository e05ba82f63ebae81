"""Names of labels in another language, asked for on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from labelwise.model import Model

NAMES = "Language of the names of labels, such as fr, where the thesaurus has them."

ThesaurusOption = Annotated[
    Path | None,
    typer.Option(help="With --names: a thesaurus that has them.", show_default="the model's own"),
]


def in_language(model: Model, names: str | None, thesaurus: Path | None) -> Model:
    """The model with its labels named so, by a thesaurus where one is given."""
    from labelwise.corpus.thesaurus import read_thesaurus

    if names is not None:
        return model.in_language(names, read_thesaurus(thesaurus) if thesaurus else None)
    if thesaurus is not None:
        raise typer.BadParameter("--thesaurus goes with --names")
    return model
