"""Settings from the command line: every kind of value, and sentences for what does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest

from labelwise.errors import LabelwiseError
from labelwise.experiments.settings import describe_settings, parse_settings
from labelwise.methods import REGISTRY, get
from labelwise.methods.base import Settings


@dataclass(frozen=True)
class Everything(Settings):
    C: float = 1.0  # weight of the errors
    layers: int = 1
    """How many
    layers."""
    frozen: bool = False
    loss: Literal["hinge", "squared"] = "squared"
    longest: int | None = None
    ngrams: tuple[int, int] = (1, 5)
    widths: tuple[int, ...] = ()
    kernel: str = "plain"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("C=0.5", {"C": 0.5}),
        ("C=1e-3", {"C": 0.001}),
        ("layers = 2", {"layers": 2}),
        ("frozen=yes", {"frozen": True}),
        ("frozen=False", {"frozen": False}),
        ("loss=hinge", {"loss": "hinge"}),
        ("longest=5000", {"longest": 5000}),
        ("longest=none", {"longest": None}),
        ("ngrams=1,3", {"ngrams": (1, 3)}),
        ("widths=(3,5,8)", {"widths": (3, 5, 8)}),
        ("widths=", {"widths": ()}),
        ("kernel=a=b", {"kernel": "a=b"}),
        ("seed=7", {"seed": 7}),
    ],
)
def test_values_are_read_by_the_type_of_the_setting(given: str, expected: dict) -> None:
    assert parse_settings(Everything, [given], "svm") == Everything(**expected)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["D=1"], "no setting 'D'; svm has these settings: C, frozen, kernel"),
        (["C"], "'C' is not name=value"),
        (["C=much"], "'C' of svm cannot be 'much': it takes a number"),
        (["layers=1.5"], "a whole number"),
        (["frozen=perhaps"], "true or false"),
        (["loss=log"], "hinge or squared"),
        (["longest=many"], "a whole number or none"),
        (["ngrams=1"], "2 values by commas"),
        (["C=1", "C=2"], "given twice"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(given: list[str], words: str) -> None:
    with pytest.raises(LabelwiseError) as caught:
        parse_settings(Everything, given, "svm")
    assert words in str(caught.value)


def test_settings_are_described_by_what_stands_beside_them() -> None:
    rows = {row["name"]: row for row in describe_settings(Everything)}
    assert rows["C"] == {
        "name": "C", "takes": "a number", "default": 1.0, "meaning": "weight of the errors",
    }  # fmt: skip
    assert rows["layers"]["meaning"] == "How many layers."
    assert rows["longest"]["takes"] == "a whole number or none"
    assert rows["seed"]["default"] == 0


def test_every_setting_is_explained_without_folders_that_only_a_clone_has() -> None:
    for name in REGISTRY:
        for setting in describe_settings(get(name).Settings):
            assert setting["meaning"], f"{name}: {setting['name']}"
            assert not re.search(r"(configs|docs|results|benchmarks|tests)/", setting["meaning"])


@pytest.mark.parametrize("method", ["exact-match", "logistic", "svm", "tree"])
def test_the_settings_of_every_method_can_be_listed(labelwise: Callable, method: str) -> None:
    called = labelwise("train", method, "--help-settings", "--json")
    assert called.code == 0
    assert "seed" in [row["name"] for row in called.json]
    table = labelwise("train", method, "--help-settings")
    assert "--set name=value" in table.out


def test_the_methods_can_be_listed(labelwise: Callable) -> None:
    rows = labelwise("methods", "--json").json
    assert [row["method"] for row in rows] == list(REGISTRY)
    assert all(row["about"] for row in rows)


def test_wrong_settings_stop_before_any_data_is_read(labelwise: Callable) -> None:
    called = labelwise("train", "svm", "--data", "absent", "--out", "o", "--set", "nonsense=1")
    assert called.code == 1
    assert "no setting 'nonsense'; svm has these settings:" in called.err
