"""The highest labels on a device are those that the evaluation ranks highest."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelwise.evaluation.ranking import top_k
from labelwise.training.top import highest_columns

FEW_VALUES = st.sampled_from([-3.5, -1e-30, -0.0, 0.0, 1e-30, 2.0, 2.0000002, -np.inf, np.inf])


@given(arrays(np.float32, (3, 9), elements=FEW_VALUES))
def test_ties_and_signs_are_ranked_as_in_the_evaluation(logits: np.ndarray) -> None:
    found = highest_columns(torch.from_numpy(logits), 5).numpy()
    np.testing.assert_array_equal(found, top_k(logits, 5))


def test_fewer_labels_than_asked_for_are_all_there_is() -> None:
    assert highest_columns(torch.tensor([[0.1, 0.3]]), 5).tolist() == [[1, 0]]
