"""Forms that browsers send, taken apart in bounded time; called away from the event loop."""

from __future__ import annotations

from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from labelwise.serving import fields
from labelwise.serving.problems import ProblemError

MOST_PARTS = 100
"""Parts of a form. One of them is read."""

MOST_HEADER = 10_000
"""Bytes of the head of a part: its name, the name of a file, a type."""


class _Form:
    """What a parser tells about a form, part by part; the first file of the wanted name is kept."""

    def __init__(self, wanted: bytes) -> None:
        self._wanted = wanted
        self._parts = self._head = 0
        self._name, self._value, self._disposition = b"", b"", b""
        self._inside = False
        self.file: tuple[str, bytearray] | None = None

    def on_part_begin(self) -> None:
        self._parts, self._head, self._disposition = self._parts + 1, 0, b""
        if self._parts > MOST_PARTS:
            raise _broken(f"it has more than {MOST_PARTS} parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._name += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count(end - start)
        self._value += data[start:end]

    def on_header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = self._value
        self._name = self._value = b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._inside = (
            self.file is None and options.get(b"name") == self._wanted and b"filename" in options
        )
        if self._inside:
            self.file = options[b"filename"].decode("utf-8", "replace"), bytearray()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside and self.file is not None:
            self.file[1].extend(data[start:end])

    def _count(self, more: int) -> None:
        self._head += more
        if self._head > MOST_HEADER:
            raise _broken("the head of a part is too long")


def uploaded(content_type: str, body: bytes) -> tuple[str, bytes]:
    """The name and the content of the field ``file``."""
    kind, options = parse_options_header(content_type)
    form = _Form(b"file")
    if kind == b"multipart/form-data":
        if not options.get(b"boundary"):
            raise _broken("it does not say what stands between its parts")
        names = ("part_begin", "header_field", "header_value", "header_end", "headers_finished")
        callbacks = {f"on_{name}": getattr(form, f"on_{name}") for name in (*names, "part_data")}
        try:
            parser = MultipartParser(options[b"boundary"], callbacks)  # type: ignore[arg-type]
            parser.write(body)
            parser.finalize()
        except FormParserError as error:
            raise _broken("its parts cannot be told apart") from error
    if form.file is None:
        raise fields.problem([{"type": "missing", "loc": ("body", "file")}])
    name, data = form.file
    return name or "file", bytes(data)


def pairs(body: bytes) -> dict[str, str]:
    """The fields of a form as the address of a page would hold them."""
    try:
        return dict(
            parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100)
        )
    except ValueError as error:
        raise _broken("it has more than 100 fields") from error


def _broken(reason: str) -> ProblemError:
    return ProblemError(422, "invalid", f"the form cannot be read: {reason}", field="body")
