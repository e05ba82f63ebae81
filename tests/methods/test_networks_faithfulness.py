"""Faithfulness of networks, which read only so many words and sections of a document."""

from __future__ import annotations

import numpy as np
import pytest
from network_cases import BY_SECTION, NAMES, acts, fitted, small

from labelwise.evidence.faithfulness import RemovalPlan, measure_faithfulness
from labelwise.evidence.words import Words
from labelwise.methods.network import NetworkMethod


def short_sighted(name: str) -> NetworkMethod:
    """A trained method that reads ten words, of two sections at most."""
    trained = fitted(name)
    limits = {"max_sections": 2, "section_tokens": 6} if name in BY_SECTION else {}
    method = small(name, **{**vars(trained.settings), "max_tokens": 10, **limits})
    return type(method).restore(method.settings, trained.label_space, trained.state())


@pytest.mark.parametrize("name", NAMES)
def test_the_words_read_are_all_that_counts(name: str) -> None:
    """Cut to them, a document scores as before; cut further, no other word moves in."""
    method = short_sighted(name)
    for document in acts(4, seed=5):
        words = Words(document)
        (evidence,) = method.evidence(document, ["693"])
        read = words.covered(evidence.spans)
        assert 0 < read.sum() <= 10 < len(words)
        cut = words.keep(read)
        np.testing.assert_allclose(method.scores([cut]), method.scores([document]), rtol=1e-5)
        read_before, read[0] = read.sum(), False
        (rest,) = method.evidence(words.keep(read), ["693"])
        assert len(rest.spans) == read_before - 1


@pytest.mark.parametrize("name", NAMES)
def test_every_network_can_be_tested_with_all_its_explainers_side_by_side(name: str) -> None:
    method = short_sighted(name)
    found = measure_faithfulness(method, acts(3, seed=5), RemovalPlan(top=2, draws=2))
    others = [one for one in method.explainers if one != method.explainer]
    assert found.own == method.explainer
    assert list(found.losses) == ["own", *others, "random"]
    assert all(np.isfinite(lost).all() for lost in found.losses.values())
    for figures in found.normalised.values():
        assert ((figures >= 0) & (figures <= 1)).all()
    assert min(found.costs.values()) > 0
    assert (len(found.documents), found.labels) == (3, 6)
