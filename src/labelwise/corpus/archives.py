"""The parts of a file that is a zip archive inside, as office files are, read within bounds."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from labelwise.corpus.decoding import decode
from labelwise.corpus.markup import parse_xml
from labelwise.errors import InputError
from labelwise.files import ARCHIVE_FAULTS

LIMIT = 50_000_000
"""Bytes of all parts that are read, unpacked: an act of a thousand pages has some ten million."""

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # office programs write no others


class Archive:
    """A zip archive in memory. Nothing is written to disk, and parts not asked for stay packed."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._left = LIMIT
        try:
            self._zipped = zipfile.ZipFile(io.BytesIO(data))
        except ARCHIVE_FAULTS as error:
            raise self._damaged() from error
        self._members = {one.filename: one for one in self._zipped.infolist()}

    def __contains__(self, part: str) -> bool:
        return part in self._members

    def read(self, part: str) -> bytes:
        """The bytes of a part, counted while they are unpacked: what an archive says of their
        number need not be true."""
        member = self._members.get(part)
        if member is None:
            raise InputError(f"is a damaged archive: it has no {part}", file=self.name)
        if member.flag_bits & 1:
            raise InputError("is encrypted: save it without a password", file=self.name)
        if member.compress_type not in _PLAIN:
            raise self._damaged()
        try:
            with self._zipped.open(member) as stream:
                data = stream.read(self._left + 1)
        except ARCHIVE_FAULTS as error:
            raise self._damaged() from error
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"holds more than {LIMIT:,} bytes when it is unpacked: split it", file=self.name
            )
        return data

    def xml(self, part: str) -> Any:
        """The root element of a part."""
        return parse_xml(decode(self.read(part), self.name), self.name)

    def _damaged(self) -> InputError:
        return InputError("is a damaged archive: copy or download it again", file=self.name)
