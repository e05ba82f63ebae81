"""Lists of labels on the command line: ids, comma lists, and files of ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labelwise.errors import InputError, LabelwiseError
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.corpus.labels import LabelSpace
    from labelwise.corpus.thesaurus import Thesaurus


def read_labels(
    words: Sequence[str], label_space: LabelSpace, thesaurus: Thesaurus | None = None
) -> list[str]:
    """The label ids that the words name: ``693``, ``693,1309``, ``@ids.txt`` or ``ids.txt``, or a
    part of the thesaurus, such as ``mt:6006``.

    An id typed by hand that the model does not have is an error. A file may list labels of a whole
    thesaurus: those that the model does not have are counted and left out.
    """
    from labelwise.model import meant

    found: list[str] = []
    for word in (part.strip() for given in words for part in given.split(",")):
        if not word:
            continue
        ids, unknown = meant([word], label_space, thesaurus)
        if not unknown:
            found += ids
        elif word.startswith("@") or Path(word).is_file():
            found += _from_file(Path(word.removeprefix("@")), label_space)
        else:
            raise LabelwiseError(f"the model has no label '{word}'{_near(word, label_space)}")
    return list(dict.fromkeys(found))


def chosen_labels(
    words: Sequence[str], label_space: LabelSpace, thesaurus: Thesaurus | None = None
) -> list[str]:
    """The same of a choice: one that names no label at all is not taken for a choice of all."""
    found = read_labels(words, label_space, thesaurus)
    if words and not found:
        raise LabelwiseError(f"no label of this model is meant by '{','.join(words)}'")
    return found


def _from_file(path: Path, label_space: LabelSpace) -> list[str]:
    """Ids, one a line; what follows a tab, a comma or a # is for people."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(
            "a list of labels is text in UTF-8, this file is not", file=path
        ) from error
    ids = [line.split("#")[0].split("\t")[0].split(",")[0].strip() for line in lines]
    ids = [id for id in ids if id]
    known = [id for id in ids if id in label_space.index]
    if not known:
        raise InputError(
            "not one line is the id of a label of this model: a list has one id a line", file=path
        )
    if len(known) < len(ids):
        unknown = [id for id in ids if id not in label_space.index]
        note(
            f"{path}: {len(unknown)} of {len(ids)} labels are not in the model and were left out "
            f"({', '.join(unknown[:3])}{', ...' if len(unknown) > 3 else ''})"
        )
    return known


def _near(word: str, label_space: LabelSpace) -> str:
    """Ids whose descriptor is or holds the word, since people know names rather than numbers."""
    lower = word.casefold()
    near = [one for one in label_space.labels if lower in one.descriptor.casefold()]
    near.sort(key=lambda one: (len(one.descriptor), one.descriptor, one.id))
    if not near:
        return ", and no file has that name: give an id, a comma list of ids, or @FILE"
    return "; did you mean " + " or ".join(f"{one.id} ({one.descriptor})" for one in near[:3]) + "?"
