"""What a reader left out on request: how many records, and why."""

from __future__ import annotations

import re
from collections import Counter

from labelwise.errors import InputError

_DETAIL = re.compile(r": | \(")


class Skipped:
    """Counts the records that could not be read and keeps the first error of each reason.

    A problem reads "reason: detail" or "reason (detail)", so that the same mistake in many
    places is one reason.

    >>> skipped = Skipped()
    >>> skipped.record(InputError("broken JSON: no closing quote", file="a.jsonl", line=3))
    >>> skipped.record(InputError("broken JSON: no closing brace", file="a.jsonl", line=9))
    >>> print(skipped.summary())
    skipped 2 records:
      2 × broken JSON (first: a.jsonl, line 3: broken JSON: no closing quote)
    """

    def __init__(self) -> None:
        self.count = 0
        self.reasons: Counter[str] = Counter()
        self.first: dict[str, InputError] = {}

    def record(self, error: InputError) -> None:
        reason = _DETAIL.split(error.problem, maxsplit=1)[0]
        if error.field is not None:
            reason += f" in field '{error.field}'"
        self.count += 1
        self.reasons[reason] += 1
        self.first.setdefault(reason, error)

    def summary(self) -> str:
        """One line a reason, the commonest first; "nothing was skipped" if nothing was."""
        if not self.count:
            return "nothing was skipped"
        lines = [f"skipped {self.count} record{'s' if self.count > 1 else ''}:"]
        for reason, count in sorted(self.reasons.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"  {count} × {reason} (first: {self.first[reason]})")
        return "\n".join(lines)
