"""From the name of word vectors in a method's settings to a file of them.

A name is that of a file, ``skipgram-200.txt.xz`` (learned from the training documents, 200 numbers
a word), or two names joined by ``+``. What is learned or joined is kept, for the next training on
the same data.
"""

from __future__ import annotations

import re
from pathlib import Path

from labelwise.corpus.dataset import NOTHING, Additions, open_dataset
from labelwise.errors import InputError
from labelwise.experiments.configs import find_vectors
from labelwise.experiments.word_vectors import write_joined, write_learned
from labelwise.progress import note
from labelwise.text.skipgram import SkipGram

LEARNED = re.compile(r"skipgram-(\d+)\.txt(?:\.gz|\.xz)?")


def vectors_file(
    name: str,
    data: Path,
    kept: Path,
    config: Path | None,
    cache: Path | None,
    *,
    additions: Additions = NOTHING,
) -> Path:
    """The file of the vectors, made where there is none yet: in the folder ``kept``, in one for
    this data, since another data set may have the same folder of bundles."""
    given = Path(find_vectors(name, data, config))
    if given.is_file():
        return given
    made = kept / open_dataset(data, additions).fingerprint / name
    if made.is_file():
        return made
    if "+" in name:
        first, _, second = name.partition("+")
        files = (
            vectors_file(part, data, kept, config, cache, additions=additions)
            for part in (first, second)
        )
        write_joined(made, *files)
        return made
    if learned := LEARNED.fullmatch(name):
        note(f"learning {name} from the training documents")
        how = SkipGram(dim=int(learned[1]))
        write_learned(made, data, how, cache=cache, additions=additions)
        return made
    raise InputError(
        "there is no such file of word vectors (setting 'vectors'); it was looked for here, beside "
        "the settings, and in or beside the data set's folder, also in a folder 'vectors' there",
        file=name,
    )
