"""A linear model in few bytes: every weight where it was, and the scores of the saved file."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labelwise import bundle
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.measures import evaluate
from labelwise.methods import packed
from labelwise.methods.logistic import Logistic
from labelwise.methods.packed import levels_of, pack, rounded, unpack
from labelwise.methods.svm import SVM


@pytest.fixture(scope="module")
def svm(synthetic: Dataset) -> SVM:
    method = SVM()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


@given(
    rows=st.integers(0, 40),
    columns=st.integers(1, 900),
    density=st.sampled_from([0.0, 0.001, 0.05, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_matrix_comes_back_as_it_was(rows: int, columns: int, density: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = np.array([-2.0, -0.5, 0.25, 3.0], dtype=np.float32)
    dense = np.where(random.random((rows, columns)) < density, random.choice(levels, columns), 0)
    matrix = sp.csr_matrix(dense.astype(np.float32))
    back = unpack(pack(matrix, levels), matrix.shape)
    assert back.dtype == np.float32
    assert (back.toarray() == matrix.toarray()).all()


def test_the_examples_run() -> None:
    assert doctest.testmod(packed).failed == 0


def test_gaps_longer_than_a_byte_are_kept() -> None:
    for gap in (253, 254, 255, 256, 509, 510, 511, 100_000):
        matrix = sp.csr_matrix(([1.0, 1.0], ([0, 0], [0, gap])), shape=(1, gap + 1)).astype("f4")
        back = unpack(pack(matrix, np.ones(1, dtype=np.float32)), matrix.shape)
        assert back.indices.tolist() == [0, gap]


def test_a_weight_moves_by_no_more_than_half_a_step() -> None:
    random = np.random.default_rng(0)
    values = (random.normal(size=5000) * random.lognormal(size=5000)).astype(np.float32)
    matrix = sp.csr_matrix(values[np.abs(values) > 0.01][None])
    levels = levels_of(matrix.data, 1.1)
    near = rounded(matrix, levels)
    assert np.abs(near.data / matrix.data - 1).max() < 0.051
    assert (np.sign(near.data) == np.sign(matrix.data)).all()
    assert len(levels) <= 256


def test_a_step_too_fine_for_a_byte_is_refused() -> None:
    with pytest.raises(LabelwiseError, match="take a larger step"):
        levels_of(np.array([0.001, 100.0], dtype=np.float32), 1.01)


def test_the_small_model_is_as_good_and_a_fraction_of_the_size(
    svm: SVM, synthetic: Dataset, tmp_path: Path
) -> None:
    small = svm.compacted(synthetic.dev, prune=0.03, step=1.1)
    gold = synthetic.label_space.gold(synthetic.dev)
    of = [
        evaluate(one.scores(synthetic.dev), gold, synthetic.label_space)["all"]["RP@5"]
        for one in (svm, small)
    ]
    assert of[1] == pytest.approx(of[0], abs=0.02)
    for name, method in (("large", svm), ("small", small)):
        bundle.save(method, tmp_path / name)
    sizes = [
        sum(file.stat().st_size for file in (tmp_path / name).iterdir())
        for name in ("large", "small")
    ]
    assert sizes[1] < sizes[0] / 3


@pytest.mark.parametrize("cls", [SVM, Logistic])
def test_what_is_saved_is_what_was_measured(
    cls: type[SVM | Logistic], synthetic: Dataset, tmp_path: Path
) -> None:
    large = cls(cls.Settings(passes=2))
    large.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    small = large.compacted(synthetic.dev, prune=0.05, step=1.2)
    bundle.save(small, tmp_path / "small")
    back = bundle.load(tmp_path / "small")
    assert isinstance(back, cls)
    documents = synthetic.test[:10]
    assert (back.scores(documents) == small.scores(documents)).all()
    assert back.threshold == small.threshold
    assert back.settings.prune == 0.05
    label = synthetic.label_space.ids[0]
    assert back.evidence(documents[0], [label]) == small.evidence(documents[0], [label])
    bundle.save(back, tmp_path / "again")
    assert {file.name for file in (tmp_path / "again").iterdir()} == {
        file.name for file in (tmp_path / "small").iterdir()
    }


def test_n_grams_without_a_weight_go_and_the_words_of_pairs_stay(
    svm: SVM, synthetic: Dataset
) -> None:
    small = svm.compacted(synthetic.dev, prune=0.2, step=1.1)
    names, before = small._tfidf.ngrams.names(), svm._tfidf.ngrams.names()
    assert len(names) < len(before)
    assert set(names) <= set(before)
    weighed = np.diff(small._weights.indptr) > 0
    words = {word for name in names if " " in name for word in name.split()}
    assert {names[at] for at in np.flatnonzero(~weighed)} <= words
    # Each n-gram has kept its own idf.
    idf = dict(zip(before, svm._tfidf.idf.tolist(), strict=True))
    assert [idf[name] for name in names] == small._tfidf.idf.tolist()


def test_probabilities_are_fitted_again(svm: SVM, synthetic: Dataset) -> None:
    small = svm.compacted(synthetic.dev, prune=0.1, step=1.1)
    scores, gold = small.scores(synthetic.dev), synthetic.label_space.gold(synthetic.dev)
    seen = gold[:, : synthetic.label_space.groups["zero"].start]
    assert scores.sum() == pytest.approx(seen.sum(), rel=0.02)


def test_the_large_model_is_left_as_it_was(svm: SVM, synthetic: Dataset) -> None:
    before = svm.scores(synthetic.test[:5])
    svm.compacted(synthetic.dev, prune=0.5, step=1.5)
    assert (svm.scores(synthetic.test[:5]) == before).all()
    assert "weights.data" in svm.state().arrays
