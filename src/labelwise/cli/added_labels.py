"""Labels given on the command line to a model that can score them from their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.corpus.thesaurus import Thesaurus
    from labelwise.model import Model

AddLabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-label",
        help="One more label, scored from its descriptor and, with --thesaurus, from its other "
        "names, by a method that knows labels by their words; may be repeated.",
        metavar="ID=DESCRIPTOR",
    ),
]


def with_added_labels(
    model: Model, assignments: Sequence[str], thesaurus: Thesaurus | None
) -> Model:
    """The model with the labels ``id=descriptor`` beside its own."""
    extra: dict[str, str] = {}
    for assignment in assignments:
        id, equals, descriptor = (part.strip() for part in assignment.partition("="))
        if not (id and equals and descriptor):
            raise LabelwiseError(
                f"--add-label '{assignment}' is not id=descriptor, such as '7001=electric bicycle'"
            )
        if id in extra:
            raise LabelwiseError(f"--add-label gives the label '{id}' twice")
        extra[id] = descriptor
    return model.with_labels(extra, thesaurus) if extra else model
