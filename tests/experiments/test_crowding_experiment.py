"""How often two labels go together is counted in the training documents, by known labels alone."""

from __future__ import annotations

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.experiments.crowding import carried_together


def carrying(*labels: str) -> Document:
    return Document("", "", (), labels)


def test_documents_that_carry_both_labels_are_counted_and_unknown_labels_left_out() -> None:
    train = [carrying("1", "2"), carrying("2", "1", "404"), carrying("3"), carrying("404")]
    space = LabelSpace.from_documents(
        [carrying("1"), carrying("2"), carrying("3")],
        [],
        {"1": "fruit", "2": "citrus", "3": "wine"},
    )
    found = carried_together(train, space).toarray()
    one, two, three = (space.index[id] for id in "123")
    assert found[one, two] == found[two, one] == found[one, one] == 2
    assert found[three].tolist() == [1 if at == three else 0 for at in range(3)]
