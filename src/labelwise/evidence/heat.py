"""From evidence to heat: spans that may overlap become stretches of text with a strength."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from labelwise.corpus.document import SECTION_KINDS, Document, SectionKind
from labelwise.methods.base import OF_EVERY_WORD, Evidence
from labelwise.methods.spans import Span
from labelwise.text.tokenizer import tokenize

LEVELS = 8
"""Strengths that can be told apart on a page."""

FAINT = 0.06
"""Weights below this part of the label's strongest one are left unmarked."""

PASSED_OVER = 5
"""Of so many times as many phrases as reasons are wanted some are told from others."""

MOST = 3000
"""Stretches marked for a label, the strongest ones, so that the page of a long act stays usable."""


@dataclass(frozen=True, slots=True)
class Heat:
    """The marked stretches of one label, and how many were left out as beyond ``MOST``."""

    runs: tuple[Span, ...]
    left_out: int
    strongest: float


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters ``start:end`` and each label's weight on them, by the number of the label."""

    start: int
    end: int
    weights: tuple[tuple[int, float], ...]


def merge(spans: Iterable[Span]) -> list[Span]:
    """Cut overlapping spans into runs that do not overlap, adding their weights.

    >>> merge([Span(0, 12, 0.5), Span(7, 12, 0.25)])  # "citrus fruit" and "fruit"
    [Span(start=0, end=7, weight=0.5), Span(start=7, end=12, weight=0.75)]
    """
    ordered = sorted(
        (span for span in spans if span.start < span.end and span.weight),
        key=lambda span: (span.start, span.end, span.weight),
    )
    edges = sorted({edge for span in ordered for edge in (span.start, span.end)})
    runs: list[Span] = []
    open_spans: list[tuple[int, float]] = []  # a heap of (end, weight)
    total, at = 0.0, 0
    for start, end in pairwise(edges):
        while open_spans and open_spans[0][0] <= start:
            total -= heapq.heappop(open_spans)[1]
        if not open_spans:
            total = 0.0  # no trace of rounding is carried over a gap
        while at < len(ordered) and ordered[at].start == start:
            heapq.heappush(open_spans, (ordered[at].end, ordered[at].weight))
            total += ordered[at].weight
            at += 1
        if open_spans:
            runs.append(Span(start, end, total))
    return runs


def heat(spans: Iterable[Span], *, least: float = 0.0, most: int = MOST) -> Heat:
    """The runs worth marking: not faint beside the strongest, and at most ``most`` of them."""
    runs = merge(spans)
    strongest = max((abs(run.weight) for run in runs), default=0.0)
    marked = [run for run in runs if abs(run.weight) >= max(least, FAINT * strongest) > 0]
    kept = sorted(marked, key=lambda run: (-abs(run.weight), run.start))[:most]
    kept.sort(key=lambda run: run.start)
    return Heat(tuple(kept), len(marked) - len(kept), strongest)


def heat_of(evidence: Evidence | None) -> Heat:
    """The heat of a label's evidence, if it has any.

    Attention gives every word a weight. A word with less than an equal share of it was passed over
    rather than looked at, and stays unmarked.
    """
    if evidence is None or evidence.kind not in OF_EVERY_WORD:
        return heat(evidence.spans if evidence else ())
    equal_share = (1 - 1e-6) / max(1, len(evidence.spans))  # all are marked where all are equal
    return heat(evidence.spans, least=equal_share)


def level(weight: float, strongest: float) -> int:
    """A weight as one of ``LEVELS`` strengths, 1 to LEVELS, whatever its sign.

    >>> level(0.3, strongest=0.3), level(-0.001, strongest=0.3)
    (8, 1)
    """
    return max(1, min(LEVELS, round(LEVELS * abs(weight) / strongest))) if strongest else 1


def segments(heats: Sequence[Heat]) -> Iterator[Segment]:
    """Cut the text where any label's weight changes; stretches without weight are not given."""
    starts: dict[int, list[tuple[int, Span]]] = {}
    for number, one in enumerate(heats):
        for run in one.runs:
            starts.setdefault(run.start, []).append((number, run))
    edges = sorted({edge for one in heats for run in one.runs for edge in (run.start, run.end)})
    active: dict[int, Span] = {}
    for start, end in pairwise(edges):
        active = {number: run for number, run in active.items() if run.end > start}
        active.update(starts.get(start, ()))
        if active:
            weights = tuple((number, active[number].weight) for number in sorted(active))
            yield Segment(start, end, weights)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words as they stand in the text, the sum of their weights, and how often they stand there."""

    text: str
    weight: float
    times: int
    strongest: float  # the size of the largest of their weights
    start: int  # where they have it, first


def phrases(text: str, spans: Iterable[Span], *, top: int = 8) -> list[Phrase]:
    """The strongest words or n-grams, each counted once however often it stands in the text."""
    found = _phrases(text, spans)
    return sorted(found, key=lambda one: (-abs(one.weight), one.start))[:top]


def phrases_of(text: str, evidence: Evidence | None, *, top: int = 8) -> list[Phrase]:
    """The strongest words of a label's evidence, if it has any.

    Attention is ranked by the place that has the most of it: the sum over all places would put
    "the" and "of" first in every document.
    """
    if evidence is None or evidence.kind not in OF_EVERY_WORD:
        return phrases(text, evidence.spans if evidence else (), top=top)
    found = _phrases(text, evidence.spans)
    return sorted(found, key=lambda one: (-one.strongest, one.start))[:top]


def reasons(text: str, evidence: Evidence | None, *, top: int = 4) -> list[str]:
    """The strongest words that speak for a label; of "import" and "imports of" one is enough."""
    found: list[tuple[list[str], str]] = []
    for phrase in phrases_of(text, evidence, top=PASSED_OVER * top):
        words = [token.text for token in tokenize(phrase.text) if token.text[0].isalnum()]
        known = any(_within(one, words) or _within(words, one) for one, _ in found)
        if phrase.weight > 0 and not known:
            found.append((words, phrase.text))
    return [shown for _, shown in found[:top]]


def _within(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each word is among the others, be it with an ending such as that of the plural."""
    return all(any(_alike(*sorted((one, other), key=len)) for other in others) for one in some)


def _alike(shorter: str, longer: str) -> bool:
    ending = len(longer) - len(shorter)
    return longer.startswith(shorter) and (not ending or (ending < 3 and len(shorter) > 3))


def _phrases(text: str, spans: Iterable[Span]) -> Iterable[Phrase]:
    found: dict[str, Phrase] = {}
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        words = " ".join(text[span.start : span.end].split())
        key = words.casefold()
        if not (span.weight and any(map(str.isalnum, key))):  # brackets and commas are no words
            continue
        size = abs(span.weight)
        known = found.get(key, Phrase(words, 0.0, 0, 0.0, span.start))
        found[key] = replace(
            known,
            weight=known.weight + span.weight,
            times=known.times + 1,
            strongest=max(known.strongest, size),
            start=span.start if size > known.strongest else known.start,
        )
    return found.values()


def section_weights(document: Document, evidence: Evidence) -> list[float]:
    """What part of the weight that speaks for the label stands in each section.

    >>> from labelwise.corpus.document import Section
    >>> act = Document("1", "", (Section("header", "citrus"), Section("article", "citrus fruit")))
    >>> spans = (Span(0, 6, 0.5), Span(7, 13, 0.25), Span(14, 19, -0.25))
    >>> [round(share, 2) for share in section_weights(act, Evidence("693", "contribution", spans))]
    [0.67, 0.33]
    """
    starts = document.section_starts()
    weights = [0.0 for _ in starts]
    for span in evidence.spans:
        if starts and span.weight > 0:
            weights[bisect_right(starts, span.start) - 1] += span.weight
    total = sum(weights) or 1.0
    return [weight / total for weight in weights]


def zone_weights(document: Document, evidence: Evidence) -> dict[SectionKind, float]:
    """The same by zone, the heaviest first; nothing for a text without zones."""
    zones: dict[SectionKind, float] = dict.fromkeys(SECTION_KINDS, 0.0)
    for section, weight in zip(document.sections, section_weights(document, evidence), strict=True):
        zones[section.kind] += weight
    if len({section.kind for section in document.sections}) < 2:
        return {}
    heaviest = sorted(zones.items(), key=lambda zone: -zone[1])
    return {kind: weight for kind, weight in heaviest if weight >= 0.005}
