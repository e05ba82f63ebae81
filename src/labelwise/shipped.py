"""The models that ship with the package: EUROVOC concepts for English EU legislation."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from labelwise.errors import LabelwiseError

NAME = "eurovoc-en"
"""A linear model, an encoder and the words of the labels; used where no bundle is named."""

SMALL = "eurovoc-en-small"
"""The linear one alone: smaller and quicker."""

NAMES = (NAME, SMALL)

FIRST = "eurlex57k"
"""What the first edition was trained on."""

EURLEX57K_YEARS = "1958 to 2016"
NEWLAW_YEARS = "titles of 1992 to 2026, most of them of 2004 to 2019, and texts of 1958 to 2015"
NEWLAW_DEV_YEARS = "the texts of 2016 to 2022 that its twin is measured on (newlaw dev)"
"""Of the training documents, by their CELEX numbers; tested where the data is there."""

NEWLAW_DEV = "newlaw-2016-2022"
"""What newlaw dev is called where it was trained on in the end."""

NOTICES = (
    "Trained on EURLEX57K (Chalkidis et al., 2019), licence CC-BY-SA-4.0.",
    "The texts of EURLEX57K are © European Union, https://eur-lex.europa.eu, reusable with "
    "attribution under Commission Decision 2011/833/EU.",
    "Ids, names and places of concepts are from EuroVoc, © European Union, "
    "https://op.europa.eu/en/web/eu-vocabularies, reusable with attribution under Commission "
    "Decision 2011/833/EU.",
)

NEWLAW = (
    "Also trained on acts that EURLEX57K does not have: titles collected by demetriodor/eur-lex "
    "and do-me/copernicus-climate-eur-lex-viz, and texts of EUR-Lex-Sum as annotated by "
    "NihedB/EUR-Lex-Triples, licence CC BY 4.0; © European Union, https://eur-lex.europa.eu, "
    "reusable with attribution under Commission Decision 2011/833/EU.",
)

ENCODERS = {
    name: f"Its encoder was trained further from {name} of sentence-transformers, "
    "https://huggingface.co/sentence-transformers, licence Apache-2.0."
    for name in ("all-MiniLM-L6-v2", "all-mpnet-base-v2")
}


def path(name: str = NAME) -> Path:
    """The folder of its bundle: ``bundle.load(shipped.path())``."""
    folder = Path(str(resources.files("labelwise"))) / "models" / name
    if not (folder / "bundle.json").is_file():
        raise LabelwiseError(
            f"the model {name} is missing from this installation of labelwise: name a bundle, or "
            "install the package again"
        )
    return folder


def folder_of(name_or_folder: str | Path) -> Path:
    """The folder of a bundle; the name of a model that ships is its folder, unless there is one of
    that name."""
    name, folder = str(name_or_folder), Path(name_or_folder)
    return path(name) if name in NAMES and not folder.is_dir() else folder


def notices(data: str, encoders: Iterable[str] = ()) -> list[str]:
    """What a model trained on this data, from these encoders, has to say of its sources."""
    names = data.split("+")
    return [
        *(NOTICES if names[0] == "eurlex57k" else ()),
        *(NEWLAW if "newlaw" in names else ()),
        *(ENCODERS[name] for name in encoders if name in ENCODERS),
    ]
