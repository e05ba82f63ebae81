"""A line of an act, and what markup says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["", "title", "heading", "note", "annex"]
"""What markup says of a line: title of the act, heading of an article or an annex, footnote."""

Part = Literal["", "front", "enacting", "article", "final", "annex"]
"""Where markup says a line stands; empty where it does not say."""


@dataclass(frozen=True, slots=True)
class Line:
    """A block of an act: a paragraph, a heading, a row of a table."""

    text: str
    role: Role = ""
    part: Part = ""
    article: int = 0  # which article the line stands in, counted from 1; 0 for none
    in_table: bool = False
