"""The model that ships with the package: EUROVOC concepts for English EU legislation."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from labelwise.errors import LabelwiseError

NAME = "eurovoc-en"


def path() -> Path:
    """The folder of its bundle: ``bundle.load(shipped.path())``."""
    folder = Path(str(resources.files("labelwise"))) / "models" / NAME
    if not (folder / "bundle.json").is_file():
        raise LabelwiseError(
            f"the model {NAME} is missing from this installation of labelwise: name a bundle, or "
            "install the package again"
        )
    return folder
