"""Peers live in environments of their own, so that their pins never meet ours."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent


def environment(name: str, packages: list[str]) -> str:
    """The Python of an environment that holds the packages; made when it is first needed."""
    folder = HERE / ".peers" / name
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = "\n".join(packages)
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"installing {', '.join(packages)} for the comparison ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        stamp.write_text(wanted)
    return str(python)
