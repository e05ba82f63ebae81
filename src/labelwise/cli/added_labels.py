"""Labels given on the command line to a model that can score them from their descriptor alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.methods import Method

AddLabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-label",
        help="One more label, scored from its descriptor alone (Z- methods); may be repeated.",
        metavar="ID=DESCRIPTOR",
    ),
]


def with_added_labels(method: Method, assignments: Sequence[str]) -> Method:
    """The method with the labels ``id=descriptor`` beside its own."""
    if not assignments:
        return method
    from labelwise.methods.base import Widening

    if not isinstance(method, Widening):
        raise LabelwiseError(
            f"{method.name} cannot score a label that it was not trained for; these methods can: "
            f"{', '.join(_widening())}"
        )
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
    return method.with_labels(extra)


def _widening() -> list[str]:
    from labelwise.methods import REGISTRY, get
    from labelwise.methods.base import Widening

    return [name for name in REGISTRY if issubclass(get(name), Widening)]
