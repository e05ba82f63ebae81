"""Options that several commands share, named and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_DATA = typer.Option(
    "--data",
    envvar="LABELWISE_DATA",
    help="Folder of the data set: train, dev and test, and the descriptors.",
    show_default=False,
)

DataOption = Annotated[Path, _DATA]

MaybeDataOption = Annotated[Path | None, _DATA]

DevOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="LABELWISE_DATA",
        help="Folder of the data set; its test documents are never scored.",
        show_default=False,
    ),
]

PreparedOption = Annotated[
    Path | None,
    typer.Option(
        help="A corpus in numbers (`labelwise prepare`) in place of the data set, for the "
        "networks.",
        show_default=False,
    ),
]

NameOption = Annotated[
    str | None,
    typer.Option(help="What the new model is called in tables.", show_default="its method's"),
]


def fetched(given: Path | None) -> Path | None:
    """What an address of the Hub names in place of a folder."""
    from labelwise.export import hub

    return None if given is None else hub.fetched(given)


TrainedArgument = Annotated[
    Path,
    typer.Argument(
        help="Folder of a trained model, or eurovoc-en or eurovoc-en-small, those of the package; "
        "or hf://OWNER/NAME on the Hugging Face Hub.",
        metavar="BUNDLE",
        callback=fetched,
    ),
]

BundleOption = Annotated[
    Path | None,
    typer.Option(
        "--bundle",
        "-b",
        envvar="LABELWISE_BUNDLE",
        help="Folder of a trained model, or hf://OWNER/NAME; without one, the EUROVOC model of the "
        "package tags.",
        show_default=False,
        callback=fetched,
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

MoreOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--more",
        help="A file or folder of further training documents; may be repeated. Documents that the "
        "data set has already are left out.",
        show_default=False,
    ),
]

SummariesOption = Annotated[
    bool,
    typer.Option("--summaries", help="The summaries in --more are training documents besides."),
]

ThesaurusOption = Annotated[
    Path | None,
    typer.Option(
        "--thesaurus",
        help="A thesaurus in place of the data set's own: its names, its links, and labels that "
        "took the place of others.",
        show_default=False,
    ),
]

EveryConceptOption = Annotated[
    bool,
    typer.Option(
        "--every-concept",
        help="Every concept of the thesaurus is a label, also where no document has it.",
    ),
]


HideOption = Annotated[
    float | None,
    typer.Option(
        help="Hide so many training labels (below 1: a share of them) and measure them as unseen "
        "ones.",
        metavar="NUMBER",
        show_default=False,
    ),
]

DrawOption = Annotated[int, typer.Option(min=0, help="Which random draw --hide takes.")]

DropOption = Annotated[
    bool,
    typer.Option(
        "--drop-documents",
        help="Leave out training documents with a hidden label; without it they lose the label.",
    ),
]


TopOption = Annotated[int, typer.Option("--top", "-k", min=1, help="Labels for each document.")]

OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Run the trainings on a Ray cluster: ray for the one that RAY_ADDRESS names or that "
        "runs here, or its address.",
        metavar="ray[://HOST:PORT]",
        show_default=False,
    ),
]

ResourcesOption = Annotated[
    str,
    typer.Option(
        help="What each training needs of a node of the cluster.", metavar="cpus=N,gpus=N,..."
    ),
]
