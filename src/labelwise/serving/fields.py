"""Which field of a request is wrong, and how, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labelwise.serving.problems import ProblemError

_TYPES = frozenset({"float", "int", "str", "bool", "list", "dict"})


def problem(errors: Sequence[Mapping[str, Any]]) -> ProblemError:
    """The first of the errors that a check of the request found. What was sent is not repeated."""
    error = errors[0]
    name = field(error["loc"])
    words = [  # that the field may be in place of a number
        str(one["ctx"]["expected"])
        for one in errors[1:]
        if one["type"] == "literal_error" and field(one["loc"]) == name
    ]
    what = ", or ".join([_sentence(error), *words])
    more = len({field(one["loc"]) for one in errors}) - 1
    others = f" ({more} more fields are wrong)" if more > 0 else ""
    return ProblemError(422, "invalid", f"{name}: {what}{others}", field=name)


def field(place: Sequence[str | int]) -> str:
    """The path of a field as one writes it.

    >>> field(("body", "documents", 3, "text")), field(("query", "limit")), field(("body",))
    ('documents[3].text', 'limit', 'body')
    """
    path = ""
    for part in place[1:]:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part in _TYPES or not part.replace("_", "").isalnum():
            break  # the name of one of several types that the field may have
        else:
            path += f".{part}" if path else part
    return path or str(place[0])


def _sentence(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "there is no such field"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "input should be an object of JSON"
        case _:
            message = str(error["msg"]).removeprefix("Value error, ")
            return message[:1].lower() + message[1:].replace(" after validation", "")
