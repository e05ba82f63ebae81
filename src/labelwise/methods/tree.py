"""Tree: label trees on tf-idf of words, Parabel or Bonsai, as omikuji trains them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelwise import progress
from labelwise.corpus.document import Document
from labelwise.errors import BundleError, LabelwiseError, MissingExtraError
from labelwise.evaluation.ranking import ranked
from labelwise.methods.base import Scores, State, require
from labelwise.methods.tfidf_method import TfidfMethod, TfidfSettings
from labelwise.schema import array, places
from labelwise.text.tfidf import Tfidf


@dataclass(frozen=True)
class TreeSettings(TfidfSettings):
    """Settings of the trees; the rest are omikuji's defaults."""

    kind: Literal["bonsai", "parabel"] = "bonsai"
    """Bonsai: wide, shallow, unbalanced. Parabel: binary and balanced."""
    trees: int = 3
    """Whose scores are averaged."""
    beam: int = 30
    """Nodes kept at each level of a tree when scoring."""
    explained_words: int = 300
    """Evidence leaves out one n-gram after another, the weightiest so many."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, trees=1, beam=1, explained_words=0)
        if self.kind not in ("bonsai", "parabel"):
            raise LabelwiseError(f"no tree is called '{self.kind}': bonsai or parabel")


class Tree(TfidfMethod):
    """Labels that no tree reaches score 0. omikuji draws its clusters without a seed: two
    trainings differ slightly; a saved one does not."""

    name = "tree"
    Settings = TreeSettings
    settings: TreeSettings
    deterministic = False

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        omikuji = _omikuji()
        X = self._fit_features(train)
        self._columns = self._trained_labels()
        Y = self.label_space.gold(train)[:, self._columns]
        parameters = omikuji.Model.default_hyper_param()
        parameters.n_trees = self.settings.trees
        if self.settings.kind == "bonsai":  # as omikuji's own documentation sets it
            parameters.cluster_balanced = False
            parameters.cluster_k = 100
            parameters.max_depth = 3
        with tempfile.TemporaryDirectory() as folder, _hushed():
            path = Path(folder) / "train.txt"
            _write_xmc(path, X, Y)
            self._model = omikuji.Model.train_on_data(str(path), parameters)

    def _scores(self, documents: Sequence[Document]) -> Scores:
        X = self.features(documents)
        scores = np.zeros((len(documents), len(self.label_space)), dtype=np.float32)
        for row in progress.track(range(len(documents)), "walking the trees"):
            x = slice(X.indptr[row], X.indptr[row + 1])
            for label, score in self._predict(X.indices[x], X.data[x]):
                scores[row, self._columns[label]] = score
        return scores

    def _predict(
        self, columns: NDArray[np.int32], values: NDArray[np.float32]
    ) -> list[tuple[int, float]]:
        if not len(columns):  # without a known word every label is as likely as any other
            return []
        # omikuji wants each column once and in order
        order = np.argsort(columns)
        pairs = list(zip(columns[order].tolist(), values[order].tolist(), strict=True))
        # Every tree gives the labels under the nodes of the beam; few-shot figures need them all.
        found: list[tuple[int, float]] = self._model.predict(
            pairs, beam_size=min(self.settings.beam, len(self._columns)), top_k=len(self._columns)
        )
        return found

    def _contributions(self, x: sp.csr_matrix, labels: Sequence[str]) -> NDArray[np.float64]:
        """Leave out one n-gram after another: what a label's score loses speaks for it."""
        added = np.zeros((len(labels), len(x.data)))
        whole = dict(self._predict(x.indices, x.data))
        places = [self._trained_column(label) for label in labels]
        scored = [(row, at) for row, at in enumerate(places) if at is not None and whole.get(at)]
        if not scored:
            return added
        for left_out in ranked(x.data)[: self.settings.explained_words]:
            rest = np.arange(len(x.data)) != left_out
            without = dict(self._predict(x.indices[rest], x.data[rest]))
            for row, at in scored:
                added[row, left_out] = whole[at] - without.get(at, 0.0)
        return added

    def state(self) -> State:
        arrays, values = self._tfidf.to_state()
        with tempfile.TemporaryDirectory() as folder, _hushed():
            self._model.save(folder)
            files = {
                f"file.{path.name}": np.frombuffer(path.read_bytes(), dtype=np.uint8)
                for path in sorted(Path(folder).iterdir())
            }
        return State({**arrays, **files, "columns": self._columns.astype(np.int32)}, values)

    def _restore(self, state: State) -> None:
        omikuji = _omikuji()
        self._tfidf = Tfidf.from_state(state.arrays, state.values)
        labels = len(self.label_space)
        self._columns = places(state.arrays, "columns", labels, rising=True).astype(np.intp)
        trees = sum(name.startswith("file.tree") for name in state.arrays)
        if trees != self.settings.trees:
            raise BundleError(f"it has {trees} trees, and its settings say {self.settings.trees}")
        with tempfile.TemporaryDirectory() as folder, _hushed():
            for name, data in state.arrays.items():
                if name.startswith("file."):
                    array(state.arrays, name, (None,), "u")
                    (Path(folder) / Path(name[5:]).name).write_bytes(data.tobytes())
            try:
                self._model = omikuji.Model.load(folder)
            except RuntimeError as error:
                raise BundleError(f"the trees cannot be read: {error}") from error


def _omikuji() -> Any:
    try:
        with _hushed():
            import omikuji
    except ImportError as error:
        raise MissingExtraError("the method 'tree'", "tree") from error
    return omikuji


@contextmanager
def _hushed() -> Iterator[None]:
    """omikuji logs to standard output, which belongs to our own answers, and draws its bars on
    standard error whether or not somebody is looking."""
    sys.stdout.flush()
    sys.stderr.flush()
    silence = os.open(os.devnull, os.O_WRONLY)
    streams = (1,) if sys.stderr.isatty() and not progress.quiet else (1, 2)
    kept = [os.dup(stream) for stream in streams]
    try:
        for stream in streams:
            os.dup2(silence, stream)
        yield
    finally:
        for stream, copy in zip(streams, kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)
        os.close(silence)


def _write_xmc(path: Path, X: sp.csr_matrix, Y: sp.csr_matrix) -> None:
    """The format of the extreme classification repository: ``labels column:value ...`` a line."""
    X.sort_indices()
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row in range(X.shape[0]):
            labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]]))
            x = slice(X.indptr[row], X.indptr[row + 1])
            pairs = zip(X.indices[x].tolist(), X.data[x].tolist(), strict=True)
            file.write(f"{labels} {' '.join(f'{column}:{value:.6g}' for column, value in pairs)}\n")
