"""What one has to know of a method's figures that no figure says: ``<data>/<method>/NOTE.md``.

Such a note stands on the page of the data set, and on the card of every model of the method or of
others joined with it, also where documents were added to the data set.
"""

from __future__ import annotations

from pathlib import Path


def note_of(folder: Path) -> str | None:
    """The note in a method's folder of runs, where there is one."""
    path = folder / "NOTE.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else None


def note_sections(folder: Path) -> list[str]:
    """A paragraph for each method of a data set's folder that has a note."""
    methods = sorted(path.parent for path in folder.glob("*/NOTE.md"))
    written = [f"**{method.name}**: {note_of(method)}" for method in methods]
    return ["## To be known of these figures", *written] if written else []
