"""The top of a ranking is exact, also where scores are equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelwise.evaluation.ranking import top_k

finite_or_not = st.floats(width=32, allow_nan=False)
few_values = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 1e-45, -1e-45, 0.5, np.inf])


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=30),
        elements=few_values | finite_or_not,
    ),
    st.integers(1, 12),
)
def test_top_k_is_the_head_of_a_stable_sort(scores: np.ndarray, k: int) -> None:
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    found = top_k(scores, k)
    assert found.shape == (len(scores), k)
    assert np.array_equal(found[:, : expected.shape[1]], expected)
    assert (found[:, expected.shape[1] :] == -1).all()


def test_of_many_equal_scores_the_first_labels_are_kept() -> None:
    """A partial sort alone picks any of them: this is where it goes wrong."""
    scores = np.zeros((3, 4271), dtype=np.float32)
    scores[:, 4000] = 1
    assert top_k(scores, 5).tolist() == [[4000, 0, 1, 2, 3]] * 3


def test_minus_zero_equals_zero() -> None:
    assert top_k(np.array([[-0.0, 0.0, -0.0]], dtype=np.float32), 3).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_no_documents_or_no_labels_are_no_error(shape: tuple[int, int]) -> None:
    assert (top_k(np.zeros(shape, dtype=np.float32), 3) == -1).all()
