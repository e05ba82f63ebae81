"""Files of word vectors: learned from training documents, joined, cut to a prepared corpus."""

from __future__ import annotations

from pathlib import Path

from labelwise.corpus.dataset import NOTHING, Additions, open_dataset
from labelwise.errors import LabelwiseError
from labelwise.text.skipgram import SkipGram, learn_vectors
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vector_files import join_vectors, write_vectors
from labelwise.text.vectors import Vectors, read_vectors
from labelwise.text.vocabulary import Vocabulary
from labelwise.training.prepared import read_prepared, read_record
from labelwise.training.vector_rows import write_vector_rows


def write_learned(
    out: Path,
    data: Path,
    how: SkipGram,
    *,
    cache: Path | None = None,
    additions: Additions = NOTHING,
) -> Vectors:
    """Vectors learned from the training documents of a data set."""
    corpus = tokenize_corpus(open_dataset(data, additions).train, cache=cache)
    made = learn_vectors(corpus, how)
    write_vectors(out, made)
    return made


def write_joined(out: Path, first: Path, second: Path) -> Vectors:
    """The vectors of two files, side by side."""
    made = join_vectors(read_vectors(first), read_vectors(second))
    write_vectors(out, made)
    return made


def write_cut(out: Path, prepared: Path, file: Path, *, beside: bool = False) -> Vectors:
    """The vectors of a prepared corpus's words, by row: in place of its own, or beside them."""
    corpus, _ = read_prepared(prepared)
    vocabulary = corpus.vocabulary
    if not isinstance(vocabulary, Vocabulary):
        raise LabelwiseError(f"{prepared} was prepared in pieces of an encoder, which has its own")
    made = read_vectors(file, vocabulary.words)
    own = read_record(prepared)["settings"].get("vectors", "random")  # as settings of a run say it
    name = f"{own}+{file.name}" if beside else file.name
    write_vector_rows(out, made, vocabulary, name=name, beside=beside)
    return made
