"""Evidence in the terminal: for each label its strongest words, and the passages they stand in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from labelwise.corpus.document import Document
from labelwise.evidence.heat import LEVELS, heat_of, level, phrases_of, zone_weights
from labelwise.evidence.page import captions
from labelwise.evidence.predictions import Prediction
from labelwise.methods.base import Evidence
from labelwise.methods.spans import Span

COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#0072B2", "#F0E442")

ZONES = {
    "header": "the header",
    "recitals": "the recitals",
    "article": "the articles",
    "attachments": "the annexes",
}

CONTEXT = 50
"""Characters of text shown on each side of a marked stretch."""

LONGEST = 240
"""Characters from the first to the last marked word of a passage."""

PLAIN = 0.25
"""Words below this part of the label's strongest one are not marked: a terminal has no shades."""

MOST = 24
"""Words marked for a label: where attention is spread thin, marks on every word say nothing."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Text for a terminal: without codes that would move the cursor or change its colours.

    >>> clean("oranges\\x1b[2J")
    'oranges\\ufffd[2J'
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def render_terminal(
    document: Document,
    predictions: Sequence[Prediction],
    evidence: Sequence[Evidence],
    *,
    places: Mapping[str, str] | None = None,
    colour: bool = True,
    passages: int = 3,
) -> Iterator[RenderableType]:
    """Lines for each label: its score, its strongest words, its strongest passages.

    ``places``: where a label stands in its thesaurus, by id, in words. Without colour (a pipe, a
    file) marked words stand in « », words against the label in ‹ ›.
    """
    by_label = {one.label: one for one in evidence}
    text = document.text
    for number, one in enumerate(predictions):
        style = COLOURS[number % len(COLOURS)]
        heading = Text()
        heading.append(f"{number + 1}. ", style=f"bold {style}" if colour else "")
        heading.append(clean(one.label.descriptor), style="bold")
        heading.append(f"  {one.label.id}  {one.label.group}  {one.score:.3f}")
        yield heading
        if place := (places or {}).get(one.label.id):
            yield Padding(Text(f"in {clean(place)}", style="dim" if colour else ""), (0, 0, 0, 3))
        found = by_label.get(one.label.id)
        strongest = phrases_of(text, found, top=6)
        if found is None or not strongest:
            yield Padding(
                "no word of this document speaks for this label", (0, 0, 1, 3), expand=False
            )
            continue
        words = (f"{clean(phrase.text)} {100 * phrase.weight:+.0f}%" for phrase in strongest)
        yield Padding(Text(", ".join(words)), (0, 0, 0, 3), expand=False)
        if zones := zone_weights(document, found):
            parts = ", ".join(f"{ZONES[kind]} {weight:.0%}" for kind, weight in zones.items())
            line = Text(f"found in {parts}", style="dim" if colour else "")
            yield Padding(line, (0, 0, 0, 3), expand=False)
        for passage in _passages(document, found, passages, style if colour else None):
            yield Padding(passage, (0, 0, 0, 3), expand=False)
        yield Text("")


def _passages(
    document: Document, evidence: Evidence, most: int, colour: str | None
) -> Iterator[Text]:
    """The stretches of text with the most weight, in the order of the text."""
    marked = heat_of(evidence)
    strong = [run for run in marked.runs if abs(run.weight) >= PLAIN * marked.strongest]
    strong = sorted(strong, key=lambda run: (-abs(run.weight), run.start))[:MOST]
    strong.sort(key=lambda run: run.start)
    text, starts = document.text, document.section_starts()
    groups: list[tuple[int, list[Span]]] = []  # the section and runs that stand close together
    for run in strong:
        section = bisect_right(starts, run.start) - 1
        known = groups[-1] if groups else None
        if (
            known
            and known[0] == section
            and run.start - known[1][-1].end <= 2 * CONTEXT
            and run.end - known[1][0].start <= LONGEST
        ):
            known[1].append(run)
        else:
            groups.append((section, [run]))
    groups.sort(key=lambda group: (-sum(abs(run.weight) for run in group[1]), group[1][0].start))
    names = captions(document)
    for section, runs in sorted(groups[:most], key=lambda group: group[1][0].start):
        low, high = starts[section], starts[section] + len(document.sections[section].text)
        left = _word_edge(text, max(low, runs[0].start - CONTEXT), low, -1)
        right = _word_edge(text, min(high, runs[-1].end + CONTEXT), high, 1)
        line = Text()
        line.append(f"{names[section]}: ", style="dim")
        line.append(("… " if left > low else "") + _flat(text[left : runs[0].start]).lstrip())
        at = runs[0].start
        for run in runs if colour else _joined(runs, text):
            line.append(_flat(text[at : run.start]))
            _append_mark(line, _flat(text[run.start : run.end]), run, marked.strongest, colour)
            at = run.end
        line.append(_flat(text[at:right]).rstrip() + (" …" if right < high else ""))
        yield line


def _joined(runs: Sequence[Span], text: str) -> list[Span]:
    """Runs with at most a space between them that speak the same way, as one.

    Marks without colour show no strength.
    """
    joined: list[Span] = []
    for run in runs:
        last = joined[-1] if joined else None
        beside = last is not None and not text[last.end : run.start].strip()
        if last and beside and (last.weight > 0) == (run.weight > 0):
            joined[-1] = Span(last.start, run.end, last.weight)
        else:
            joined.append(run)
    return joined


def _append_mark(line: Text, words: str, run: Span, strongest: float, colour: str | None) -> None:
    if colour is None:
        line.append(f"«{words}»" if run.weight > 0 else f"‹{words}›")
    elif run.weight < 0:
        line.append(words, Style(dim=True, italic=True))
    else:
        strength = level(run.weight, strongest)
        line.append(words, Style(color=colour, underline=True, bold=strength > LEVELS // 2))


def _flat(text: str) -> str:
    return clean(re.sub(r"\s+", " ", text))


def _word_edge(text: str, at: int, stop: int, step: int) -> int:
    """Move from a place within a word to its edge, so that no passage begins or ends in one."""
    while at != stop and text[at - 1 if step < 0 else at].isalnum():
        at += step
    return at
