"""From evidence to heat: spans that may overlap become stretches of text with a strength."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise.corpus.document import SECTION_KINDS, Document, SectionKind
from labelwise.evaluation.ranking import ranked
from labelwise.evidence.numbered_phrases import numbered_phrases
from labelwise.methods.base import OF_EVERY_WORD, Evidence
from labelwise.methods.spans import Span, Spans
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


def merge(spans: Iterable[Span]) -> Spans:
    """Cut overlapping spans into runs that do not overlap, adding their weights.

    >>> merge([Span(0, 12, 0.5), Span(7, 12, 0.25)])  # "citrus fruit" and "fruit"
    Spans([Span(start=0, end=7, weight=0.5), Span(start=7, end=12, weight=0.75)])
    """
    spans = Spans.of(spans)
    spans = _some(spans, (spans.starts < spans.ends) & (spans.weights != 0))
    edges = np.concatenate([spans.ends, spans.starts])  # (2 × spans,) where a weight goes or comes
    comes = np.arange(len(edges)) >= len(spans)  # after those that go in the same place
    order = np.lexsort((np.tile(spans.weights, 2), np.tile(spans.ends, 2), comes, edges))
    edges, changes = edges[order], np.concatenate([-spans.weights, spans.weights])[order]
    covered = np.cumsum(np.where(comes, 1, -1)[order])  # by so many spans from here on
    total = 0.0  # and again in every gap: no trace of rounding is carried over it
    totals = [
        total := total + change if left else 0.0
        for change, left in zip(changes.tolist(), covered.tolist(), strict=True)
    ]
    runs = np.flatnonzero((edges[:-1] < edges[1:]) & (covered[:-1] > 0))
    return Spans(edges[runs], edges[runs + 1], np.array(totals)[runs])


def _some(spans: Spans, which: NDArray[Any]) -> Spans:
    return Spans(spans.starts[which], spans.ends[which], spans.weights[which])


def heat(spans: Iterable[Span], *, least: float = 0.0, most: int = MOST) -> Heat:
    """The runs worth marking: not faint beside the strongest, and at most ``most`` of them."""
    runs = merge(spans)
    sizes = np.abs(runs.weights)
    strongest = float(sizes.max(initial=0.0))
    least = max(least, FAINT * strongest)
    marked = np.flatnonzero((sizes >= least) & (least > 0))
    kept = np.sort(marked[ranked(sizes[marked])[:most]])
    return Heat(tuple(_some(runs, kept)), len(marked) - len(kept), strongest)


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


def phrases(
    text: str, spans: Iterable[Span], *, top: int = 8, by_place: bool = False
) -> list[Phrase]:
    """The strongest words or n-grams, each counted once however often it stands in the text; by
    the sum of their weights, or by the place that has the most."""
    spans = Spans.of(spans)
    spans = _some(spans, np.lexsort((spans.ends, spans.starts)))
    numbers = numbered_phrases(text).at(spans.starts, spans.ends)
    told = np.flatnonzero((numbers > 0) & (spans.weights != 0))
    spans, numbers = _some(spans, told), numbers[told]
    sizes = np.abs(spans.weights)
    order = np.lexsort((-sizes, numbers))
    phrase = np.flatnonzero(np.diff(numbers[order], prepend=0))  # where it begins in that order
    peaks = order[phrase]  # (phrases,) as all below: the first of its strongest places
    first = np.minimum.reduceat(order, phrase) if len(phrase) else peaks
    weights = np.bincount(numbers, spans.weights)[numbers[peaks]]
    times = np.diff(phrase, append=len(order))
    best = sizes[peaks] if by_place else np.abs(weights)
    return [
        Phrase(
            " ".join(text[spans[first[n]].start : spans[first[n]].end].split()),
            float(weights[n]),
            int(times[n]),
            float(sizes[peaks[n]]),
            int(spans.starts[peaks[n]]),
        )
        for n in np.lexsort((first, spans.starts[peaks], -best))[:top]
    ]


def phrases_of(text: str, evidence: Evidence | None, *, top: int = 8) -> list[Phrase]:
    """The strongest words of a label's evidence, if it has any.

    Attention is ranked by the place that has the most of it: the sum over all places would put
    "the" and "of" first in every document.
    """
    if evidence is None:
        return []
    return phrases(text, evidence.spans, top=top, by_place=evidence.kind in OF_EVERY_WORD)


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


def section_weights(document: Document, evidence: Evidence) -> list[float]:
    """What part of the weight that speaks for the label stands in each section.

    >>> from labelwise.corpus.document import Section
    >>> act = Document("1", "", (Section("header", "citrus"), Section("article", "citrus fruit")))
    >>> spans = (Span(0, 6, 0.5), Span(7, 13, 0.25), Span(14, 19, -0.25))
    >>> [round(share, 2) for share in section_weights(act, Evidence("693", "contribution", spans))]
    [0.67, 0.33]
    """
    starts = document.section_starts()
    spans = Spans.of(evidence.spans if starts else ())
    spans = _some(spans, spans.weights > 0)
    section = np.searchsorted(starts, spans.starts, side="right") - 1
    weights = np.bincount(section, spans.weights, minlength=len(starts)).tolist()
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
