"""Which labels are siblings: those below the same broader concept of the thesaurus."""

from __future__ import annotations

import re

import pytest

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.training.siblings import siblings

SPACE = LabelSpace.from_documents([Document("1", "", (), ("2", "3", "4", "5", "unknown"))], [], {})


def grouped(*concepts: Concept) -> dict[str, int]:
    return dict(zip(SPACE.ids, siblings(SPACE, Thesaurus.of(concepts)).tolist(), strict=True))


def test_a_label_below_several_concepts_is_in_one_group_and_those_below_none_are_together() -> None:
    of = grouped(
        Concept("0", "", "produce"),
        Concept("1", "", "fruit", broader=("0",)),
        Concept("2", "", "apple", broader=("1",)),
        Concept("3", "", "tomato", broader=("1", "9")),
        Concept("4", "", "tax"),
        Concept("5", "", "bean", broader=("9",)),
        Concept("9", "", "vegetable"),
    )
    assert of["2"] == of["3"] != of["5"]
    assert of["4"] == of["unknown"] not in {of["2"], of["5"]}
    assert sorted(set(of.values())) == [0, 1, 2]


def test_links_that_the_thesaurus_gives_downwards_count_as_well() -> None:
    of = grouped(
        Concept("1", "", "fruit", narrower=("2", "3")),
        Concept("2", "", "apple"),
        Concept("3", "", "pear"),
    )
    assert of["2"] == of["3"] != of["4"]


@pytest.mark.parametrize("thesaurus", [None, Thesaurus.of([Concept("2", "", "apple")])])
def test_without_broader_links_hbm_is_refused_in_a_sentence(thesaurus: Thesaurus | None) -> None:
    words = "no label here has one: give a thesaurus with broader links"
    with pytest.raises(LabelwiseError, match=re.escape(words)):
        siblings(SPACE, thesaurus)
