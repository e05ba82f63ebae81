"""Options that several commands share, named and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        envvar="LABELWISE_DATA",
        help="Folder of the data set: train, dev and test, and the descriptors.",
        show_default=False,
    ),
]

BundleOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        "-b",
        envvar="LABELWISE_BUNDLE",
        help="Folder of a trained model; without one, the EUROVOC model of the package tags.",
        show_default=False,
    ),
]

CacheOption = Annotated[
    Path | None,
    typer.Option(
        envvar="LABELWISE_CACHE",
        help="Folder to keep the tokenised documents in, for the next time.",
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="JSON on standard output and nothing else.")
]

SkipBadOption = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Go on after a document that cannot be read, and say how many there were.",
    ),
]

TopOption = Annotated[int, typer.Option("--top", "-k", min=1, help="Labels for each document.")]
