"""Evidence as one HTML file: labels, scores, and the text with a heat-map for each label.

The file needs nothing beside it. Labels switch by radio buttons and style rules alone, so it works
where scripts are off; the script adds keys and the exact weights on hover. All text of the document
and of the labels is escaped, and a content security policy lets only the two blocks written here
run, so that a document cannot bring code of its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from labelwise import __version__
from labelwise.corpus.document import Document
from labelwise.corpus.labels import Group, Label
from labelwise.evidence.heat import (
    LEVELS,
    Heat,
    Phrase,
    Segment,
    heat_of,
    level,
    phrases_of,
    section_weights,
    segments,
)
from labelwise.evidence.predictions import Prediction
from labelwise.methods.base import Evidence, EvidenceKind

# Okabe and Ito's palette, told apart by colour-blind people; yellow last, as it is faint on white.
PALETTE = (
    "230 159 0",
    "86 180 233",
    "0 158 115",
    "213 94 0",
    "204 121 167",
    "0 114 178",
    "240 228 66",
)

# When the colours begin anew, the shape of the underline tells the labels apart.
UNDERLINES = ("solid", "double", "wavy")

GROUP_MARKS: Mapping[Group, str] = {"frequent": "●", "few": "◐", "zero": "○"}
GROUP_NAMES: Mapping[Group, str] = {"frequent": "frequent", "few": "few-shot", "zero": "zero-shot"}

READING: Mapping[EvidenceKind, str] = {
    "match": "Marked: where the descriptor of the label stands in the text.",
    "contribution": "The stronger the colour, the more the words add to the score of the label; "
    "percentages are shares of what all words add and take away.",
    "attention": "The stronger the colour, the more attention the network paid to the word for "
    "this label; words with less than an equal share are unmarked. Attention shows where it "
    "looked, which is not a proof of why it decided.",
    "attribution": "The stronger the colour, the more the network looked at the word for this "
    "label and the more that moved the score (attention times gradient × input); words with less "
    "than an equal share are unmarked.",
}

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render_page(
    document: Document,
    predictions: Sequence[Prediction],
    evidence: Sequence[Evidence],
    *,
    gold: Sequence[Label] = (),
    method: str = "",
    threshold: float | None = None,
    note: str = "",
    places: Mapping[str, str] | None = None,
) -> str:
    """One HTML page for one document.

    ``evidence`` belongs to ``predictions`` by label; a prediction without any is shown without a
    heat-map. ``gold``: the labels that an indexer gave, with their descriptors. ``threshold``: the
    score above which the method assigns a label. ``note``: one sentence about where this is from.
    ``places``: where a label stands in its thesaurus, by id, in words.
    """
    by_label = {one.label: one for one in evidence}
    shown = [by_label.get(one.label.id) for one in predictions]
    heats = [heat_of(one) for one in shown]
    marks = list(segments(heats))
    strongest = [phrases_of(document.text, one) for one in shown]
    marked = {segment.start for segment in marks}
    anchors = {phrase.start for found in strongest for phrase in found} & marked
    style = files(__package__).joinpath("page.css").read_text("utf-8") + _label_rules(len(heats))
    script = files(__package__).joinpath("page.js").read_text("utf-8")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{_safe(document.title or document.id)} · labelwise</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *_radios(predictions),
            '<div class="page">',
            *_header(document, predictions, gold, method, note),
            '<div class="columns">',
            "<aside>",
            *_labels(predictions, gold, threshold, places or {}),
            *_reasons(predictions, heats, strongest, anchors),
            *_legend([one.kind for one in shown if one], heats, threshold),
            "</aside>",
            "<main>",
            *_text(document, shown, heats, marks, anchors),
            "</main>",
            "</div>",
            f"<footer>Made by labelwise {__version__}. Predictions are suggestions by a program; "
            "evidence says what the program went by, not what the law means.</footer>",
            "</div>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _digest(block: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()


def _safe(text: str) -> str:
    """Text for HTML: escaped, and without characters that HTML cannot hold."""
    return escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def _percent(weight: float) -> str:
    sign = "+" if weight > 0 else "−" if weight < 0 else ""
    return f"{sign}{100 * abs(weight):.1f} %"


def _label_rules(labels: int) -> str:
    """The rules that show one label's marks while its radio button is on."""
    rules = [".page{--c:128 128 128}"]
    for n in range(labels):
        on = f"#r{n}:checked~.page"
        rules += [
            f".c{n},{on}{{--c:{PALETTE[n % len(PALETTE)]}}}",
            f'{on} label[for="r{n}"]{{background:var(--panel);border-color:var(--line)}}',
            f'#r{n}:focus-visible~.page label[for="r{n}"]{{outline:2px solid;outline-offset:-2px}}',
            f"{on} .why.c{n}{{display:block}}",
            f"{on} .share.c{n}{{display:inline}}",
        ]
    for strength in range(1, LEVELS + 1):
        words = ",".join(f"#r{n}:checked~.page .p{n}-{strength}" for n in range(labels))
        alpha = round(0.04 + 0.76 * strength / LEVELS, 3)
        rules.append(f"{words + ',' if words else ''}.h{strength}{{--h:{alpha}}}")
        for n in range(labels):
            line = UNDERLINES[n // len(PALETTE) % len(UNDERLINES)]
            thick = 1 + round(2 * strength / LEVELS)
            rules.append(
                f"#r{n}:checked~.page .p{n}-{strength}{{text-decoration:underline {line} {thick}px "
                "rgb(var(--c));text-underline-offset:.25em}"
            )
            ink = "var(--ink)" if strength > LEVELS // 2 else "var(--soft)"
            rules.append(
                f"#r{n}:checked~.page .n{n}-{strength}{{text-decoration:underline dotted "
                f"{thick}px {ink};text-underline-offset:.25em}}"
            )
    return "\n".join(rules) + "\n"


def _radios(predictions: Sequence[Prediction]) -> Iterator[str]:
    for n, _ in enumerate(predictions):
        checked = " checked" if n == 0 else ""
        yield f'<input class="pick" type="radio" name="label" id="r{n}"{checked}>'


def _header(
    document: Document,
    predictions: Sequence[Prediction],
    gold: Sequence[Label],
    method: str,
    note: str,
) -> Iterator[str]:
    yield "<header>"
    parts = [f"<b>{_safe(document.id)}</b>"]
    if method:
        parts.append(f"labels ranked by {_safe(method)}")
    words = len(document.text.split())
    parts.append(f"{words:,} word{'' if words == 1 else 's'}")
    yield '<p class="source">' + "".join(f"<span>{part}</span>" for part in parts) + "</p>"
    yield f'<h1 dir="auto">{_safe(document.title or document.id)}</h1>'
    if note:
        yield f'<p class="note">{_safe(note)}</p>'
    if gold:
        ranks = {one.label.id: n for n, one in enumerate(predictions, start=1)}
        found = sum(label.id in ranks for label in gold)
        yield f'<div class="gold"><h2>Gold labels: {found} of {len(gold)} among the top '
        yield f"{len(predictions)}</h2><ul>"
        for label in gold:
            rank = ranks.get(label.id)
            mark = (
                f"<b>✓</b> {{}} <small>rank {rank}</small>"
                if rank
                else "✗ {} <small>not found</small>"
            )
            chip = mark.format(
                f"<bdi>{_safe(label.descriptor)}</bdi> <small>{_safe(label.id)}</small>"
            )
            yield f'<li class="{"hit" if rank else "miss"}">{chip}</li>'
        yield "</ul></div>"
    yield "</header>"


def _labels(
    predictions: Sequence[Prediction],
    gold: Sequence[Label],
    threshold: float | None,
    places: Mapping[str, str],
) -> Iterator[str]:
    yield f"<h2>Top {len(predictions)} labels</h2>"
    if not predictions:
        yield '<p class="empty">No label passed.</p>'
    right = {label.id for label in gold}
    scores = [one.score for one in predictions]
    # Probabilities fill the bar from 0 to 1; margins of any size fill it from the lowest up.
    low, high = (0.0, 1.0)
    if scores and not all(0 <= score <= 1 for score in scores):
        low, high = min(0.0, *scores), max(*scores, threshold or 0.0, 1e-9)
    yield '<ol class="labels">'
    for n, one in enumerate(predictions):
        below = threshold is not None and one.score <= threshold
        tick = ' <span class="tick" title="a gold label">✓</span>' if one.label.id in right else ""
        width = 100 * (one.score - low) / (high - low)
        at = None if threshold is None else 100 * (threshold - low) / (high - low)
        line = f'<line x1="{at:.1f}%" x2="{at:.1f}%" y1="0" y2="100%"/>' if at is not None else ""
        side = "below" if below else "above"
        said = f" ({side} the threshold {threshold:.3f})" if threshold is not None else ""
        place = places.get(one.label.id, "")
        where = f'<bdi class="place">in {_safe(place)}</bdi>' if place else ""
        yield (
            f'<li class="c{n}{" below" if below else ""}"><label for="r{n}">'
            f'<span class="key">{n + 1}</span>'
            f'<bdi class="name">{_safe(one.label.descriptor)}</bdi>'
            f'<span class="score">{one.score:.3f}{tick}</span>'
            f'<span class="about"><span>{_safe(one.label.id)}</span>'
            f"<span>{GROUP_MARKS[one.label.group]} {GROUP_NAMES[one.label.group]}</span>"
            f'<svg role="img" aria-label="score {one.score:.3f}{said}">'
            f'<rect width="{width:.1f}%" height="100%"/>{line}</svg></span>{where}</label></li>'
        )
    yield "</ol>"


def _reasons(
    predictions: Sequence[Prediction],
    heats: Sequence[Heat],
    strongest: Sequence[Sequence[Phrase]],
    anchors: set[int],
) -> Iterator[str]:
    """For each label, its strongest words, linked to where they first stand."""
    for n, (prediction, found, words) in enumerate(zip(predictions, heats, strongest, strict=True)):
        name = f"<bdi>{_safe(prediction.label.descriptor)}</bdi>"
        yield f'<div class="why c{n}"><h2>Strongest words for {name}</h2>'
        if not found.runs:
            yield "<p>No word of this document speaks for this label.</p></div>"
            continue
        yield "<ul>"
        for one in words:
            link = _safe(one.text)
            if one.start in anchors:
                link = f'<a href="#w{one.start}">{link}</a>'
            times = f" in {one.times} places" if one.times > 1 else ""
            against = ' class="against"' if one.weight < 0 else ""
            yield f"<li{against}><bdi>{link}</bdi><span>{_percent(one.weight)}{times}</span></li>"
        yield "</ul>"
        if found.left_out:
            yield (
                f"<p>The {len(found.runs):,} strongest places are marked; "
                f"{found.left_out:,} weaker ones are not.</p>"
            )
        yield "</div>"


def _legend(
    kinds: Sequence[EvidenceKind], heats: Sequence[Heat], threshold: float | None
) -> Iterator[str]:
    yield '<div class="legend">'
    for kind in dict.fromkeys(kinds):
        yield f"<p>{READING[kind]}</p>"
    scale = "".join(f'<i class="h{strength}"></i>' for strength in range(1, LEVELS + 1))
    yield f'<p>weak<span class="scale">{scale}</span>strong</p>'
    if any(run.weight < 0 for one in heats for run in one.runs):
        yield "<p><u>dotted</u>: speaks against the label</p>"
    if threshold is not None:
        yield f"<p>The line in a bar: {threshold:.3f}, above which a label is assigned.</p>"
    groups = ", ".join(f"{GROUP_MARKS[group]} {GROUP_NAMES[group]}" for group in GROUP_MARKS)
    yield f"<p>Training documents of a label: {groups}.</p>"
    keys = f"<kbd>1</kbd>–<kbd>{min(9, len(heats))}</kbd> or " if len(heats) > 1 else ""
    switch = f"Switch labels by click, {keys}<kbd>←</kbd> <kbd>→</kbd>; hover for weights."
    yield f'<p class="keys">{switch}</p>'
    yield "</div>"


def _text(
    document: Document,
    shown: Sequence[Evidence | None],
    heats: Sequence[Heat],
    marks: Sequence[Segment],
    anchors: set[int],
) -> Iterator[str]:
    """The sections in order, their text with a mark wherever any label has weight."""
    if not document.sections:
        yield '<p class="empty">This document has no text.</p>'
    text, starts = document.text, document.section_starts()
    shares = _section_shares(document, shown)
    at = 0  # the first mark that may reach into the section
    for number, (section, caption) in enumerate(
        zip(document.sections, captions(document), strict=True)
    ):
        start = done = starts[number]
        end = start + len(section.text)
        while at < len(marks) and marks[at].end <= start:
            at += 1
        pieces, here = [], at
        while here < len(marks) and marks[here].start < end:
            mark = marks[here]
            left, right = max(mark.start, start), min(mark.end, end)
            anchor = f' id="w{left}"' if left in anchors else ""
            pieces.append(_safe(text[done:left]))
            pieces.append(f"<mark{anchor}{_mark(mark, heats)}>{_safe(text[left:right])}</mark>")
            done, here = right, here + 1
        pieces.append(_safe(text[done:end]))
        yield f"<section><h3><span>{caption}</span>{shares[number]}</h3>"
        yield f'<div class="text" dir="auto">{"".join(pieces)}</div></section>'


def _mark(segment: Segment, heats: Sequence[Heat]) -> str:
    classes, weights, title = [], [], ""
    for n, weight in segment.weights:
        classes.append(f"{'p' if weight > 0 else 'n'}{n}-{level(weight, heats[n].strongest)}")
        weights.append(f"{n}:{weight:.4f}")
        if n == 0:
            title = f' title="{_percent(weight)}"'
    return f' class="{" ".join(classes)}" data-w="{" ".join(weights)}"{title}'


def _section_shares(document: Document, shown: Sequence[Evidence | None]) -> list[str]:
    """For each section, what part of the weight that speaks for each label stands in it."""
    shares = ["" for _ in document.sections]
    for n, one in enumerate(shown):
        for section, weight in enumerate(section_weights(document, one) if one else ()):
            if weight >= 0.005:
                part = f"{weight:.0%} of the evidence"
                shares[section] += f'<span class="share c{n}">{part}</span>'
    return shares


def captions(document: Document) -> list[str]:
    """A name for each section: its zone, and for articles their place among the articles."""
    kinds = [section.kind for section in document.sections]
    if kinds == ["article"]:
        return ["Text"]
    names = {"header": "Header", "recitals": "Recitals", "attachments": "Attachments"}
    article = 0
    found = []
    for kind in kinds:
        article += kind == "article"
        found.append(f"Article {article}" if kind == "article" else names[kind])
    return found
