"""The page of evidence: complete by itself, safe with any text, usable for long acts."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import Label
from labelwise.evidence.page import render_page
from labelwise.evidence.predictions import Prediction
from labelwise.methods.base import Evidence, EvidenceKind
from labelwise.methods.spans import Span

TITLE = "Commission Regulation (EC) No 1412/2003 fixing the export refunds on citrus fruit"
ACT = Document(
    "32003R1412",
    TITLE,
    (
        Section("header", TITLE),
        Section("recitals", "Whereas the market in citrus fruit & lemons is such that ..."),
        Section("article", "The export refunds on citrus fruit shall be as set out in the Annex."),
        Section("article", "This Regulation shall enter into force on 8 August 2003."),
        Section("attachments", "CN code 0805 50: lemons."),
    ),
    ("693", "9999"),
)
CITRUS, REFUND = Label("693", "citrus fruit", 120), Label("2635", "export refund", 7)
PREDICTIONS = [Prediction(CITRUS, 0.94), Prediction(REFUND, 0.21)]


def evidence(document: Document, label: str, kind: EvidenceKind, /, **weights: float) -> Evidence:
    """Evidence with a weight for each word, wherever it stands; _ is a space."""
    found = [
        Span(match.start(), match.end(), weight)
        for words, weight in weights.items()
        for match in re.finditer(re.escape(words.replace("_", " ")), document.text)
    ]
    return Evidence(label, kind, tuple(found))


def act_page(**options: object) -> str:
    found = [
        evidence(ACT, "693", "contribution", citrus_fruit=0.2, lemons=0.1, refunds=-0.05),
        evidence(ACT, "2635", "contribution", export_refunds=0.5),
    ]
    return render_page(ACT, PREDICTIONS, found, **options)  # type: ignore[arg-type]


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements, and the text of the document in order."""

    VOID = frozenset({"meta", "input", "link", "br"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs).get("class")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(name == "text" for _, name in self.open):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_whole_text_stands_on_the_page_unchanged() -> None:
    read = Reader(act_page())
    assert "".join(read.text) == "".join(section.text for section in ACT.sections)


def test_every_word_with_weight_is_marked_for_its_label() -> None:
    page = act_page()
    assert re.findall(r'<mark[^>]*class="p0-8"[^>]*>citrus fruit</mark>', page)
    assert re.findall(r'<mark[^>]*class="p0-4"[^>]*>lemons</mark>', page)
    assert re.findall(r'<mark[^>]*class="p1-8"[^>]*>export </mark>', page)
    assert 'class="n0-2 p1-8" data-w="0:-0.0500 1:0.5000" title="−5.0 %">refunds</mark>' in page


def test_words_without_weight_are_not_wrapped_in_anything() -> None:
    assert "<mark" not in render_page(ACT, PREDICTIONS, [])
    assert "shall be as set out in the Annex." in act_page()


def test_gold_labels_stand_on_top_and_say_whether_they_were_found() -> None:
    gold = [CITRUS, Label("9999", "Management Committee", 3)]
    page = act_page(gold=gold)
    assert "Gold labels: 1 of 2" in " ".join(page.split())
    assert re.search(r'<li class="hit">.*citrus fruit.*rank 1', page)
    assert re.search(r'<li class="miss">.*Management Committee.*not found', page)
    assert "Gold labels" not in act_page()


def test_predictions_show_id_descriptor_score_group_and_place_in_regard_to_the_threshold() -> None:
    page = act_page(threshold=0.3)
    first, second = re.findall(r"<label.*?</label>", page)
    assert all(part in first for part in ("693", "citrus fruit", "0.940", "frequent", "above the"))
    assert all(
        part in second for part in ("2635", "export refund", "0.210", "few-shot", "below the")
    )


@pytest.mark.parametrize("scores", [(0.9, 0.1), (3.5, -2.0), (-0.1, -7.0), (0.0, 0.0)])
def test_bars_stay_within_their_frame_for_probabilities_and_margins(
    scores: tuple[float, float],
) -> None:
    predictions = [
        Prediction(label, score) for label, score in zip((CITRUS, REFUND), scores, strict=True)
    ]
    widths = [
        float(width)
        for width in re.findall(r'<rect width="([-\d.]+)%"', render_page(ACT, predictions, []))
    ]
    assert len(widths) == 2
    assert all(0 <= width <= 100 for width in widths)
    assert widths[0] >= widths[1]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "--></script><svg onload=alert(1)>",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;amp; {{7*7}} ${7*7} {0}",
    "\x00\x1b[2J\u202e\ud800 Κανονισμός",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_wherever_it_comes_from(text: str) -> None:
    hostile = Document(text, text, (Section("header", text), Section("article", f"x {text} y")))
    label = Label(text, text, 0)
    spans = (Span(0, len(text) // 2, 0.5), Span(1, len(hostile.text), 0.2), Span(3, 9, -0.9))
    page = render_page(
        hostile,
        [Prediction(label, 0.5), Prediction(CITRUS, 0.4)],
        [Evidence(text, "contribution", spans), Evidence("693", "attention", spans)],
        gold=[label],
        method=text,
        note=text,
    )
    plain = Reader(act_page(gold=[CITRUS], method="svm", note="A note."))
    read = Reader(page)
    allowed = {tag for tag, _ in plain.elements}
    assert {tag for tag, _ in read.elements} <= allowed
    assert len(read.all("script")) == 1
    assert len(read.all("style")) == 1
    for _, attributes in read.elements:
        assert not any(name.startswith("on") or name in {"src", "style"} for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    page.encode("utf-8")
    assert "\x00" not in page
    assert "\x1b" not in page


def test_the_policy_lets_only_the_blocks_of_the_page_itself_run() -> None:
    page = act_page()
    policy = next(
        meta["content"] or "" for meta in Reader(page).all("meta") if "http-equiv" in meta
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        block = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert block is not None
        digest = base64.b64encode(hashlib.sha256(block.group(1).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = act_page()
    assert not re.search(r"https?://|@import|url\(|<link|<iframe|<img", page)


def test_labels_switch_without_a_script_and_the_first_is_chosen() -> None:
    page = act_page()
    radios = [one for one in Reader(page).all("input") if one.get("type") == "radio"]
    assert [one["id"] for one in radios] == ["r0", "r1"]
    assert ["checked" in one for one in radios] == [True, False]
    assert '<label for="r1">' in page
    assert "#r1:checked~.page .p1-8" in page


def test_links_to_the_strongest_words_lead_somewhere() -> None:
    read = Reader(act_page())
    ids = [one["id"] for _, one in read.elements if "id" in one]
    assert len(ids) == len(set(ids))
    links = [one["href"] for one in read.all("a")]
    assert links
    assert all((link or "")[1:] in ids for link in links)


def test_more_labels_than_colours_are_told_apart_by_their_underline() -> None:
    many = [Prediction(Label(str(n), f"concept {n}", n), 0.5) for n in range(9)]
    page = render_page(ACT, many, [Evidence("8", "attention", (Span(0, 10, 1.0),))])
    assert "underline solid" in page
    assert re.search(r"#r8:checked~\.page \.p8-8\{text-decoration:underline double", page)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("match", "where the descriptor"),
        ("contribution", "add to the score"),
        ("attention", "not a proof"),
        ("attribution", "the more that moved the score"),
    ],
)
def test_the_legend_says_how_to_read_each_kind_of_evidence(kind: EvidenceKind, words: str) -> None:
    found = [evidence(ACT, "693", kind, lemons=0.5)]
    assert words in render_page(ACT, PREDICTIONS, found)


def test_a_document_without_text_and_without_predictions_still_gives_a_page() -> None:
    page = render_page(Document("empty", "", ()), [], [])
    assert "This document has no text." in page
    assert "No label passed." in page
    Reader(page)


def test_the_same_input_gives_the_same_page() -> None:
    assert act_page() == act_page()


def test_the_page_of_an_act_of_100_000_words_stays_small() -> None:
    words = [f"word{n % 977}" for n in range(100_000)]
    articles = tuple(
        Section("article", " ".join(words[n : n + 500])) for n in range(0, len(words), 500)
    )
    act = Document("32009L0001", "A long directive", articles)
    spans = [(match.start(), match.end()) for match in re.finditer(r"\S+", act.text)]
    labels = [Prediction(Label(str(n), f"concept {n}", n), 0.5) for n in range(4)]
    found = [
        Evidence(
            str(n),
            "attention",
            tuple(Span(*span, (1 + (7 * at + n) % 13) / 700_000) for at, span in enumerate(spans)),
        )
        for n in range(4)
    ]
    page = render_page(act, labels, found)
    assert len(page) < 4 * len(act.text) + 2_000_000
    assert "weaker ones are not" in page
    assert "".join(Reader(page).text) == "".join(section.text for section in act.sections)
