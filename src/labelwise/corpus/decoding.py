"""Bytes to clean text: whatever encoding a file is in, and whatever it says about it."""

from __future__ import annotations

import codecs
import re

from labelwise.errors import InputError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY = (b"%PDF", b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x89PNG", b"\xff\xd8\xff")
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""")

_NOT_OF_FILES = frozenset(
    str.split("unicode_escape raw_unicode_escape utf_7 idna punycode undefined mbcs oem")
)


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Read the bytes that are no UTF-8 as windows-1252, one by one."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_windows_1252(byte) for byte in bad), error.end


def _windows_1252(code: int) -> str:
    """One character; the five codes that windows-1252 leaves open are dropped."""
    return bytes([code]).decode("windows-1252", "ignore")


codecs.register_error("labelwise-windows-1252", _as_windows_1252)

# Numeric references such as &#146; name windows-1252 codes in the old pages of EUR-Lex.
_C1 = {code: _windows_1252(code) for code in range(0x80, 0xA0)}
_SPACES = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF], "")
_CONTROLS = dict.fromkeys([*range(0x00, 0x09), *range(0x0E, 0x20), 0x7F], "")
_BREAKS = dict.fromkeys([0x0B, 0x0C, 0x2028, 0x2029], "\n")
_CLEAN = {**_C1, **_SPACES, **_INVISIBLE, **_CONTROLS, **_BREAKS}
_BLANKS = re.compile(r"[ \t\r\n]+")


def decode(data: bytes, name: str) -> str:
    """The text of a file: by its byte order mark, as UTF-8, or by what it declares.

    UTF-8 is tried before the declaration, because old files are often labelled wrongly and text
    that is no UTF-8 hardly ever passes for it. Stray bytes in UTF-8 are read as windows-1252.

    >>> decode("the Commission’s".encode("windows-1252"), "act.txt")
    'the Commission’s'
    """
    if data.startswith(_BINARY):
        raise InputError("is not a text file: give the text, HTML or XML of the act", file=name)
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace").replace("\x00", "")
    if b"\x00" in data[:1000]:
        return _decode_without_mark(data, name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    declared = _DECLARED.search(data[:4000])
    if declared:
        try:
            encoding = codecs.lookup(declared[1].decode("ascii")).name
        except LookupError:
            encoding = "utf-8"
        # What is called Latin-1 is windows-1252 wherever the two differ, as in every browser.
        if encoding not in {"utf-8", "iso8859-1", "ascii", "utf-16", "utf-32"}:
            return _decode_as(encoding, data, name)
    return data.decode("utf-8", "labelwise-windows-1252")


def _decode_as(encoding: str, data: bytes, name: str) -> str:
    """The text in an encoding that the file declares, if that is one of text.

    Python knows others by name: some are no encodings of text (hex, base64, rot13), some are for
    programs and addresses and make half characters, or take long (unicode_escape, utf-7, idna).
    """
    try:
        if encoding.replace("-", "_") in _NOT_OF_FILES:
            raise LookupError
        return data.decode(encoding, "replace")
    except (LookupError, UnicodeError):
        raise InputError(
            f"declares the encoding '{encoding}', in which no text is written: save it as UTF-8",
            file=name,
        ) from None


def _decode_without_mark(data: bytes, name: str) -> str:
    """UTF-16 shows zero bytes at every other place; anything else with zeros is not text."""
    head = data[:1000]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) // 8:
        raise InputError("is not a text file: give the text, HTML or XML of the act", file=name)
    return data.decode("utf-16-be" if even > odd else "utf-16-le", "replace").replace("\x00", "")


def normalise(text: str) -> str:
    """Plain spaces for all kinds of space, no soft hyphens or byte order marks, no controls."""
    return text.translate(_CLEAN)


def clean(text: str) -> str:
    """Normalised, on one line, without blanks around it.

    >>> clean(" Regulation (EC)\\xa0No\\n 1/2003 ")
    'Regulation (EC) No 1/2003'
    """
    return on_one_line(normalise(text))


def on_one_line(text: str) -> str:
    """Without line breaks, runs of blanks, or blanks around it."""
    if any(blank in text for blank in ("  ", "\t", "\n", "\r")):  # few lines, and quickly seen
        text = _BLANKS.sub(" ", text)
    return text.strip()
