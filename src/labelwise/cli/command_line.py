"""What was typed, for whoever wants to do it again."""

from __future__ import annotations

import shlex
import sys


def command_line() -> str:
    return shlex.join(["labelwise", *sys.argv[1:]])
