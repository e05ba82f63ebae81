"""``labelwise mcp``: tagging, evidence and the thesaurus for assistants that speak MCP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import BundleOption
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.progress import note


def mcp(
    *,
    bundle: BundleOption = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="A folder whose files the assistant may read; without one it reads no files.",
            show_default=False,
        ),
    ] = None,
    thesaurus: Annotated[
        Path | None,
        typer.Option(
            help="SKOS, JSON or CSV file with more concepts than the model has.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve an assistant: the Model Context Protocol on standard input and output.

    An assistant starts this command by itself, when its settings name it; docs/mcp.md says how.
    Its tools tag a text, an act of EUR-Lex or a file of --folder, say why, and search the
    thesaurus. Acts are fetched from the EU's Publications Office; nothing else leaves this machine
    through labelwise, while the assistant itself may send on what it is told.

    \b
    Examples:
      labelwise mcp
      labelwise mcp --folder ~/acts --bundle svm.bundle
    """
    try:
        from labelwise.serving.assistant import Assistant
        from labelwise.serving.places import Labels, thesaurus_of
    except ImportError as error:
        raise MissingExtraError("serving assistants", "mcp") from error
    from labelwise import progress
    from labelwise.corpus.thesaurus import read_thesaurus
    from labelwise.model import load
    from labelwise.shipped import NAME
    from labelwise.text.language import reads

    if folder is not None and not folder.is_dir():
        raise LabelwiseError(f"{folder}: there is no such folder")
    model = load(bundle or NAME)
    given = read_thesaurus(thesaurus) if thesaurus is not None else None
    labels = Labels(model.labels, thesaurus_of(model.labels, model.card, given))
    assistant = Assistant(model.name, model.method, labels, reads=reads(model.card), folder=folder)
    if sys.stdin.isatty():
        note(
            "this waits for an assistant, which starts it by itself: see docs/mcp.md (Ctrl-C ends)"
        )
    progress.quiet = True
    assistant.server().run("stdio")
