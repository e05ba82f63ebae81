"""The log of a run: one JSON object a line, for people with ``tail -f`` and for plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelwise.errors import LabelwiseError


class RunLog:
    """Appends to ``log.jsonl``; without a file it keeps silent.

    A checkpoint remembers how long the log was. A resumed training cuts it back to that, so that
    no step stands in it twice.
    """

    def __init__(self, file: Path | None, length: int = 0) -> None:
        self.file = file
        if file is not None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("ab") as log:
                    log.truncate(length)
            except OSError as error:
                raise LabelwiseError(f"{file}: the log cannot be written ({error})") from error

    @property
    def length(self) -> int:
        return self.file.stat().st_size if self.file is not None else 0

    def write(self, **values: Any) -> None:
        if self.file is None:
            return
        try:
            with self.file.open("a", encoding="utf-8") as log:
                log.write(json.dumps(values) + "\n")
        except OSError as error:
            raise LabelwiseError(f"{self.file}: the log cannot be written ({error})") from error
