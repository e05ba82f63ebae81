"""What was typed, for whoever wants to do it again."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def command_line() -> str:
    """The words of the command. Of a path from the root its last two parts are told: where files
    lay means nothing elsewhere."""
    typed = (str(Path(*Path(one).parts[-2:])) if one[:1] == "/" else one for one in sys.argv[1:])
    return shlex.join(["labelwise", *typed])
