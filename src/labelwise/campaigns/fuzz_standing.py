"""Where a campaign of changed inputs stands: a file for each target, so that it can go on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labelwise.campaigns.state import read_state
from labelwise.files import write_whole

CAMPAIGN = "campaign.json"


@dataclass
class Standing:
    """Where one target stands."""

    kind: str
    name: str
    seed: int
    inputs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    """Of this package, that were reached: ``corpus/formex.py:31``."""
    kept: list[str] = field(default_factory=list)
    """In base64: what is changed further."""
    slowest: float = 0.0
    """The largest share of its time that an input took."""
    late: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)
    """Numbers of inputs, and what went wrong. One that is still to come ended its process: it is
    counted and not read again."""
    mended: list[dict[str, Any]] = field(default_factory=list)
    """What raised an error once and does so no more."""

    @property
    def file(self) -> str:
        return f"{self._stem}.json"

    def input_file(self, number: int) -> str:
        """Of an input that went wrong."""
        return f"{self._stem}-{number}"

    @property
    def _stem(self) -> str:
        return f"{self.kind}-{self.name.replace('/', '_')}"

    def write(self, folder: Path) -> None:
        write_whole(folder / self.file, json.dumps(asdict(self)).encode())


def standing_of(folder: Path, kind: str, name: str, seed: int) -> Standing:
    """As it was written, or at its beginning."""
    new = Standing(kind, name, seed)
    path = folder / new.file
    return Standing(**json.loads(path.read_bytes())) if path.exists() else new


def all_standings(folder: Path) -> list[Standing]:
    """In the order of their files."""
    paths = sorted(path for path in folder.glob("*.json") if path.name != CAMPAIGN)
    return [Standing(**json.loads(path.read_bytes())) for path in paths]


@dataclass
class Campaign:
    """What the targets share."""

    seed: int
    seconds: float = 0.0
    load: float | None = None
    """Cores that others kept busy when the last call began."""
    memory: list[dict[str, int]] = field(default_factory=list)
    """Bytes after so many inputs: of the campaign and of the service; anew after each start."""

    @classmethod
    def read(cls, folder: Path, seed: int) -> Campaign:
        return cls(**read_state(folder / CAMPAIGN, seed))

    def write(self, folder: Path) -> None:
        write_whole(folder / CAMPAIGN, json.dumps(asdict(self)).encode())
