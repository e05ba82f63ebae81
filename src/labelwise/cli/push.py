"""``labelwise push``: a bundle goes to the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.options import JsonOption
from labelwise.cli.output import print_json
from labelwise.progress import note


def push(
    bundle: Annotated[Path, typer.Argument(help="Folder of a trained model.", metavar="BUNDLE")],
    repository: Annotated[
        str, typer.Argument(help="Where on the Hub: OWNER/NAME.", metavar="OWNER/NAME")
    ],
    *,
    results: Annotated[
        Path, typer.Option(help="Folder of runs, whose figures the card tells.")
    ] = Path("results"),
    private: Annotated[
        bool, typer.Option("--private", help="Only its owners see a repository made now.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Put a bundle on the Hugging Face Hub, with a card that tells its figures.

    `hf auth login` says who you are. The files of a bundle, checked before they are sent, are one
    commit, whose revision pins every byte. HF_ENDPOINT names another hub than the public one.

    \b
    Examples:
      labelwise push svm.bundle my-name/eurovoc-svm
      labelwise push svm.bundle my-name/eurovoc-svm --results results --private
      labelwise tag act.txt --bundle hf://my-name/eurovoc-svm
    """
    from labelwise.experiments.push import push as push_bundle

    address = push_bundle(bundle, repository, results=results, private=private)
    if as_json:
        print_json({"repository": address.repository, "revision": address.revision})
        return
    print(address)
    note(f'In Python: labelwise.load("{address}")')
