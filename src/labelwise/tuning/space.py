"""What is searched: for each setting the values it may take, or the lowest and the highest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from labelwise.errors import LabelwiseError
from labelwise.methods.base import PretrainedSettings, Settings
from labelwise.methods.linear import LinearSettings
from labelwise.training.recipe import Recipe

Value = bool | int | float | str


@dataclass(frozen=True)
class Choice:
    """One of these."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Range:
    """Any number from the lowest to the highest, drawn evenly by order of magnitude."""

    low: float
    high: float


Space = Mapping[str, Choice | Range]

PUBLISHED: Space = {
    "units": Choice((200, 300, 400)),
    "layers": Choice((1, 2)),
    "dropout": Choice((0.1, 0.2, 0.3, 0.4)),
    "word_dropout": Choice((0.0, 0.01, 0.02)),
}
"""The search space of the paper, but for its batches of 8, 12 and 16 documents."""

NETWORKS: Space = {
    **PUBLISHED,
    # A batch of 256 costs a GPU what one of 16 does; the published ones are far below.
    "batch": Choice((16, 64, 128, 256)),
    "learning_rate": Range(5e-4, 8e-3),
    "max_tokens": Choice((500, 800, 1200, 2500)),
    "filters": Choice((200, 400, 600)),
    "kernel": Choice((3, 5, 8, 10)),
    "blocks": Choice((3, 4, 5)),
}
"""The published space with what the paper left fixed. A method takes the settings that it has."""

ENCODERS: Space = {
    "encoder_rate": Range(5e-5, 6e-4),
    "learning_rate": Range(5e-4, 5e-3),
    "batch": Choice((32, 64)),
    "dropout": Choice((0.0, 0.1, 0.2)),
    "label_dropout": Choice((0.1, 0.2, 0.4)),
    "layer_decay": Choice((0.8, 0.9, 1.0)),
    "averaging": Choice((0.0, 0.999)),
}

LINEAR: Space = {
    "C": Range(0.1, 10.0),
    "longest_ngram": Choice((1, 2, 3)),
    "min_count": Choice((2, 3, 5)),
    "min_run_count": Choice((5, 10, 20, 40)),
    "run_weight": Choice((0.3, 0.5, 0.7, 1.0)),
}

TREES: Space = {
    "kind": Choice(("bonsai", "parabel")),
    "trees": Choice((1, 3, 5)),
    "longest_ngram": Choice((1, 2)),
    "min_count": Choice((2, 3, 5)),
}


def space_for(method: str, settings: type[Settings]) -> dict[str, Choice | Range]:
    """The space that a method is searched in unless another is asked for."""
    known = {field.name for field in dataclasses.fields(settings)}
    spaces = {PretrainedSettings: ENCODERS, Recipe: NETWORKS, LinearSettings: LINEAR}
    space = next((space for kind, space in spaces.items() if issubclass(settings, kind)), TREES)
    chosen = {name: values for name, values in space.items() if name in known}
    if len(chosen) < 2:
        raise LabelwiseError(f"{method} has nothing to tune, or say what: --vary NAME=VALUE,VALUE")
    return chosen


def parse_vary(assignment: str) -> tuple[str, Choice | Range]:
    """From ``units=200,300`` or ``learning_rate=0.001..0.01``.

    >>> parse_vary("units=200,300")
    ('units', Choice(values=(200, 300)))
    >>> parse_vary("learning-rate=0.001..0.01")
    ('learning_rate', Range(low=0.001, high=0.01))
    """
    name, equals, text = assignment.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name or not text.strip():
        raise LabelwiseError(f"'{assignment}' is neither NAME=VALUE,VALUE nor NAME=LOW..HIGH")
    if ".." in text:
        try:
            low, high = (float(part) for part in text.split(".."))
        except ValueError:
            raise LabelwiseError(f"'{assignment}': LOW and HIGH of LOW..HIGH are numbers") from None
        if not 0 < low < high:
            raise LabelwiseError(f"'{assignment}': LOW is above zero and below HIGH")
        return name, Range(low, high)
    return name, Choice(tuple(_value(part.strip()) for part in text.split(",")))


def _value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def space_to_json(space: Space) -> dict[str, list[Value]]:
    """For a study to remember what it searches.

    >>> space_to_json({"units": Choice((200, 300)), "C": Range(0.1, 10.0)})
    {'C': ['range', 0.1, 10.0], 'units': [200, 300]}
    """
    made: dict[str, list[Value]] = {}
    for name, values in sorted(space.items()):
        made[name] = (
            list(values.values)
            if isinstance(values, Choice)
            else ["range", values.low, values.high]
        )
    return made
