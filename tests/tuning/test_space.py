"""Search spaces: the paper's is inside, and what is typed is checked."""

from __future__ import annotations

import pytest

from labelwise.errors import LabelwiseError
from labelwise.methods import REGISTRY, get
from labelwise.tuning.space import PUBLISHED, Choice, Range, parse_vary, space_for, space_to_json

NOTHING_TO_TUNE = {"exact-match", "blend", "lexical"}


@pytest.mark.parametrize("method", sorted(set(REGISTRY) - NOTHING_TO_TUNE))
def test_every_value_of_a_space_can_be_set(method: str) -> None:
    settings = get(method).Settings
    for name, values in space_for(method, settings).items():
        tried = values.values if isinstance(values, Choice) else (values.low, values.high)
        for value in tried:
            assert getattr(settings(**{name: value}), name) == value


def test_a_recurrent_network_is_searched_where_the_paper_searched() -> None:
    space = space_for("bigru-lwan", get("bigru-lwan").Settings)
    assert PUBLISHED.items() <= space.items()
    assert PUBLISHED["units"] == Choice((200, 300, 400))
    assert PUBLISHED["layers"] == Choice((1, 2))
    assert PUBLISHED["dropout"] == Choice((0.1, 0.2, 0.3, 0.4))
    assert PUBLISHED["word_dropout"] == Choice((0.0, 0.01, 0.02))
    assert {"learning_rate", "max_tokens", "batch"} <= space.keys()
    assert "filters" not in space
    assert {"filters", "kernel"} <= space_for("cnn-lwan", get("cnn-lwan").Settings).keys()


def test_a_method_without_settings_has_nothing_to_tune() -> None:
    with pytest.raises(LabelwiseError, match="exact-match has nothing to tune"):
        space_for("exact-match", get("exact-match").Settings)


def test_values_and_ranges_are_read_as_typed() -> None:
    assert parse_vary("project=true,false") == ("project", Choice((True, False)))
    assert parse_vary("vectors=glove.txt,none") == ("vectors", Choice(("glove.txt", "none")))
    assert parse_vary("dropout=.1,.25") == ("dropout", Choice((0.1, 0.25)))
    assert parse_vary("C=0.1..10") == ("C", Range(0.1, 10.0))


@pytest.mark.parametrize(
    "wrong", ["units", "=3", "units=", "C=..3", "C=3..1", "C=0..1", "C=a..b", "C=1..2..3"]
)
def test_what_cannot_be_read_is_quoted(wrong: str) -> None:
    with pytest.raises(LabelwiseError, match=f"'{wrong}'"):
        parse_vary(wrong)


def test_a_space_is_remembered_whatever_its_order() -> None:
    units, rate = Choice((200, 300)), Range(0.1, 1.0)
    assert space_to_json({"units": units, "C": rate}) == space_to_json({"C": rate, "units": units})
