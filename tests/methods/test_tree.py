"""Trees over labels, beside what the conformance suite asks of every method."""

from __future__ import annotations

import dataclasses

import numpy as np

from labelwise.corpus.dataset import Dataset
from labelwise.methods.tree import Tree


def test_a_beam_wider_than_the_labels_is_as_wide_as_they_are(synthetic: Dataset) -> None:
    """The trees would make room for all of it, and end the process where there is none."""
    method = Tree()
    method.fit(synthetic.train[:100], synthetic.dev[:10], synthetic.label_space)
    found = []
    for beam in (len(synthetic.label_space), 1 << 40):
        method.settings = dataclasses.replace(method.settings, beam=beam)
        found.append(method.scores(synthetic.test[:5]))
    np.testing.assert_array_equal(*found)
