"""What a card says that a model cannot do follows from what its method says of itself."""

from __future__ import annotations

from typing import Any

import pytest

from labelwise.experiments.card import _limits


@pytest.mark.parametrize(
    ("method", "members", "said"),
    [
        ("svm", None, "carried: they score 0."),
        ("bigru-lwan", None, "carried: what it says of them is chance."),
        ("z-cnn-lwan", None, "It knows 163 labels by their names alone"),
        ("blend", ["svm", "bigru-lwan"], "It cannot suggest the 163 labels"),
        ("blend", ["svm", "lexical"], "It knows 163 labels by their names alone"),
    ],
)
def test_labels_without_training_documents_are_known_by_name_or_not_at_all(
    method: str, members: list[str] | None, said: str
) -> None:
    card: dict[str, Any] = {"data": {"name": "acts", "groups": {"zero": 163}}}
    card |= {"members": members} if members else {}
    limits = list(_limits({"method": method, "card": card, "threshold": 0.5}))
    assert said in " ".join(limits)
    whole = any("reads a document whole" in one for one in limits)
    assert whole == ("svm" in (method, *(members or ())))
