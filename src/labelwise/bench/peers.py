"""Peers live in environments of their own, so that their pins never meet ours."""

from __future__ import annotations

import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from labelwise.errors import LabelwiseError

LIBMULTILABEL = ("torch==2.13.0", "libmultilabel==0.10.0")
"""What LibMultiLabel's linear methods need; its networks need its extra ``[nn]`` beside."""

PROGRAMS = Path(__file__).parent / "peer_programs"
"""Small programs, one a peer and task, which run in the peer's environment and import it alone."""


def environment(name: str, packages: Sequence[str], out: Path = Path("benchmarks")) -> str:
    """The Python of an environment that holds the packages; made when it is first needed.

    It stands in ``out/.peers/name`` and is made again when the packages asked for change.
    """
    folder = out / ".peers" / name
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = "\n".join(packages)
    if not stamp.is_file() or stamp.read_text() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        made = subprocess.run([*pip, *packages], check=False, capture_output=True, text=True)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise LabelwiseError(
                f"the peer {name} could not be installed from PyPI into {folder} ({reason}): "
                "check the connection, or leave this benchmark out"
            )
        stamp.write_text(wanted)
    return str(python.absolute())
