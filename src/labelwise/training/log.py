"""The log of a run: one JSON object a line, for people with ``tail -f`` and for plots."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from labelwise.errors import LabelwiseError


class RunLog:
    """Appends to ``log.jsonl``; without a file it keeps silent.

    A checkpoint remembers how long the log was. A resumed training cuts it back to that, so that
    no step stands in it twice; where it is shorter than that, what is there stays.
    """

    def __init__(self, file: Path | None, length: int = 0) -> None:
        self.file = file
        if file is not None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("a+b") as log:
                    self._cut(log, length)
            except OSError as error:
                raise LabelwiseError(f"{file}: the log cannot be written ({error})") from error

    def _cut(self, log: BinaryIO, length: int) -> None:
        size = log.seek(0, os.SEEK_END)
        if size < length:
            warnings.warn(
                f"{self.file}: the log has {size:,} bytes, and had {length:,} at the checkpoint: "
                "what was lost of it stays lost, and the training goes on",
                stacklevel=4,
            )
            log.seek(0)
            length = log.read().rfind(b"\n") + 1  # half a line would spoil the next
        log.truncate(length)

    @property
    def length(self) -> int:
        """Its bytes, all of them on the disk, so that a checkpoint can count on them."""
        if self.file is None:
            return 0
        try:
            with self.file.open("ab") as log:
                os.fsync(log.fileno())
                return log.tell()
        except OSError as error:
            raise LabelwiseError(f"{self.file}: the log cannot be written ({error})") from error

    def write(self, **values: Any) -> None:
        if self.file is None:
            return
        try:
            with self.file.open("a", encoding="utf-8") as log:
                log.write(json.dumps(values) + "\n")
        except OSError as error:
            raise LabelwiseError(f"{self.file}: the log cannot be written ({error})") from error
