"""What somebody decided last about an act, so that it can be taken back on another day."""

from __future__ import annotations

from collections.abc import Sequence

from labelwise.desk.records import Decision
from labelwise.desk.store import holding


def last_step(log: Sequence[Decision], who: str) -> list[tuple[Decision, Decision | None]]:
    """The concepts of this person's last write in the log of a reading, each with the decision that
    held before; none where somebody has decided about one of them since."""
    versions = [one.version for one in log if one.who == who and one.concept is not None]
    if not versions:
        return []
    step = [one for one in log if one.version == versions[-1] and one.concept is not None]
    concepts = {one.concept for one in step}
    if any(one.version > versions[-1] and one.concept in concepts for one in log):
        return []
    earlier = holding([one for one in log if one.version < versions[-1]])
    before = {one.concept: one for one in earlier}
    return [(one, before.get(one.concept)) for one in step]
