"""The methods that another one is made of, in its state: each with its name, settings and labels.

The arrays of a member are named after its place, ``0.``, ``1.`` and so on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise import methods
from labelwise.corpus.labels import LabelSpace
from labelwise.methods.base import Method, State
from labelwise.methods.saved_settings import settings_from_json
from labelwise.methods.sparse_rows import named, parts_of
from labelwise.schema import value


def members_state(members: Sequence[Method], space: LabelSpace) -> State:
    """The states of fitted methods as one; labels are written where they are not ``space``."""
    arrays: dict[str, NDArray[Any]] = {}
    written = []
    for at, member in enumerate(members):
        state, own = member.state(), member.label_space
        narrow = {name: _narrow(member, one) for name, one in state.arrays.items()}
        arrays |= named(str(at), narrow)
        written.append(
            {
                "method": member.name,
                "settings": dataclasses.asdict(member.settings),
                "labels": own.to_json() if own.fingerprint != space.fingerprint else None,
                "values": state.values,
            }
        )
    return State(arrays, {"members": written})


def restored_members(state: State, space: LabelSpace) -> tuple[Method, ...]:
    """The fitted methods back from what ``members_state`` gave."""
    found = []
    for at, saved in enumerate(value(state.values, "members", list)):
        cls = methods.get(value(saved, "method", str))
        labels = saved["labels"]
        found.append(
            cls.restore(
                settings_from_json(cls, saved["settings"]),
                LabelSpace.from_json(labels) if labels else space,
                State(parts_of(state.arrays, str(at)), value(saved, "values", dict)),
            )
        )
    return tuple(found)


def _narrow(member: Method, array: NDArray[Any]) -> NDArray[Any]:
    """An array of a network that was saved in half precision, in half precision again."""
    if array.dtype != np.float32 or not member.half_precision:
        return array
    half = array.astype(np.float16)
    return half if np.array_equal(half, array) else array
