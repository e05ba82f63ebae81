"""Changes of a file that keep most of its structure: of markup, JSON, archives, arrays, requests.

A file of random bytes is refused at its first one. What goes deeper is nearly right.
"""

from __future__ import annotations

import io
import json
import random
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

Form = Literal["bytes", "markup", "json", "lines", "zip", "tensors", "request"]

MOST = 200_000
"""Bytes of an input: beyond it a change takes nothing in, so that inputs do not grow for ever."""

TOKENS: tuple[bytes, ...] = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\r\n", b"\n\n", b"\t", b'"', b"'", b"\\"),
    *(b"<", b">", b"</", b"/>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml ?>", b"&", b"&#0;"),
    *(b"&#xD800;", b"&#99999999999;", b"&nbsp;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;"),
    *(b"<div>", b"</div>", b"<table><tr><td>", b"<head>", b"<script>", b"<ACT>", b"</ACT>"),
    *(b"Article 1\n", b"ANNEX\n", b"Whereas ", b"HAS ADOPTED THIS REGULATION:", b"(1)", b"( " * 50),
    *(b"{", b"}", b"[", b"]", b":", b",", b"null", b"NaN", b"Infinity", b"-0", b"1e999", b"true"),
    *(b"9" * 5000, b"\\ud800", b"\\u0000", b"PK\x03\x04", b"\x1f\x8b\x08", b"%PDF-1.7", b"endobj"),
    *(b"charset=hex", b"encoding='utf-32'", b"Content-Length: 5\r\n", b"Transfer-Encoding: x\r\n"),
)

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 0.5, 1e308, float("nan"), float("inf")),
    *("", " ", "\0", "a" * 1000, "é\u0301", "\U0001f34a", [], {}, [[]], [None], {"": None}),
)

UNFIT = (ValueError, LookupError, RuntimeError, OSError, EOFError, zlib.error, zipfile.BadZipFile)
"""What a change raises where an earlier one left nothing for it to change."""

_TAG = re.compile(rb"<[^<>]{0,200}>")
_NUMBER = re.compile(rb"\d+")


def mutated(dice: random.Random, form: Form, data: bytes, others: Sequence[bytes]) -> bytes:
    """The input with one to four changes; pieces of ``others`` may get into it."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        change = dice.choice((*OF_BYTES, *OF_FORM.get(form, ()), *OF_FORM.get(form, ())))
        with suppress(*UNFIT):
            data = change(dice, data, others)
    return data[:MOST]


def _slice(dice: random.Random, data: bytes, most: int = 400) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + dice.randrange(1, most))


def _flip(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _delete(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _slice(dice, data)
    return data[:start] + data[end:]


def _repeat(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _slice(dice, data, 60)
    return data[:end] + data[start:end] * dice.choice((1, 2, 50, 1000)) + data[end:]


def _cut_off(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return data[: dice.randrange(len(data))]


def _insert(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(TOKENS) * dice.choice((1, 1, 1, 30)) + data[at:]


def _splice(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = dice.choice(others)
    start, end = _slice(dice, other, 2000)
    at = dice.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _number(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    one = dice.choice(list(_NUMBER.finditer(data)))
    new = dice.choice((b"0", b"-1", b"65536", b"4294967296", b"9" * 40, b"1.5"))
    return data[: one.start()] + new + data[one.end() :]


def _tag_again(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    one = dice.choice(list(_TAG.finditer(data)))
    return data[: one.start()] + one[0] * dice.choice((2, 3, 300)) + data[one.end() :]


def _tag_away(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    one = dice.choice(list(_TAG.finditer(data)))
    return data[: one.start()] + data[one.end() :]


def _tags_swapped(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    first, second = sorted(dice.sample(list(_TAG.finditer(data)), 2), key=lambda one: one.start())
    between = data[first.end() : second.start()]
    return data[: first.start()] + second[0] + between + first[0] + data[second.end() :]


def _in_json(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return json.dumps(
        _other_value(dice, json.loads(data)), ensure_ascii=dice.random() < 0.5
    ).encode("utf-8", "surrogatepass")


def _in_a_line(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    lines[at] = dice.choice((lambda line: _in_json(dice, line, others), lambda line: line * 2))(
        lines[at]
    )
    return b"\n".join(lines)


def _other_value(dice: random.Random, value: Any) -> Any:
    """The value with one change somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        name = dice.choice(list(value))
        changed = dict(value)
        match dice.randrange(5):
            case 0:
                del changed[name]
            case 1:
                changed[f"{name}{dice.randrange(10)}"] = changed.pop(name)
            case _:
                changed[name] = _other_value(dice, value[name])
        return changed
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        match dice.randrange(5):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[: at + 1] + [value[at]] * dice.choice((1, 100)) + value[at + 1 :]
            case _:
                return [*value[:at], _other_value(dice, value[at]), *value[at + 1 :]]
    return dice.choice((*VALUES, [value], {"value": value}, str(value)))


def _in_zip(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One part of an archive changed, away, or there twice."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [(one, archive.read(one)) for one in archive.infolist()]
    at = dice.randrange(len(parts))
    info, content = parts[at]
    match dice.randrange(5):
        case 0:
            del parts[at]
        case 1:
            info.filename = dice.choice(("../x", "", "a" * 300, info.filename.upper()))
        case _:
            parts[at] = info, mutated(dice, "markup", content, others)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        for one, content in parts:
            named = zipfile.ZipInfo(one.filename)  # of 1980, so that bytes follow from the seed
            archive.writestr(named, content, one.compress_type)
    return packed.getvalue()


def _in_header(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The header of a safetensors file: names, types, shapes and places of the arrays."""
    end = 8 + int.from_bytes(data[:8], "little")
    changed = _other_value(dice, json.loads(data[8:end]))
    header = json.dumps(changed, separators=(",", ":")).encode()  # as it was: checksums stand in it
    return len(header).to_bytes(8, "little") + header + data[end:]


def _in_body(dice: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The body of a request; its length is that of the new body."""
    head, _, body = data.partition(b"\r\n\r\n")
    inner: Form = "json" if body[:1] in b"{[" else "bytes"
    body = mutated(dice, inner, body, others)
    head = re.sub(rb"(?i)content-length: *\d+", b"Content-Length: %d" % len(body), head)
    return head + b"\r\n\r\n" + body


_Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
OF_BYTES: tuple[_Change, ...] = (_flip, _delete, _repeat, _cut_off, _insert, _splice, _number)
OF_FORM: dict[Form, tuple[_Change, ...]] = {
    "markup": (_tag_again, _tag_away, _tags_swapped),
    "json": (_in_json,) * 5,
    "lines": (_in_a_line,) * 4,
    "zip": (_in_zip,) * 6,
    "tensors": (_in_header,) * 4,
    "request": (_in_body,) * 6,
}
