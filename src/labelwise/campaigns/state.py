"""Where a campaign stands, so that it goes on when it is called again in the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelwise.errors import LabelwiseError


def read_state(path: Path, seed: int) -> dict[str, Any]:
    """What was written down, at its beginning the seed alone; a campaign has one seed."""
    if not path.exists():
        return {"seed": seed}
    found: dict[str, Any] = json.loads(path.read_bytes())
    if found["seed"] != seed:
        raise LabelwiseError(
            f"{path}: this campaign has the seed {found['seed']}: give that one, or another --state"
        )
    return found
