"""The parts of the page that need no page: offsets, stretches, lines, lists, formats."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("page")

LETTERS = "abc é\u0301 𐍈 😀 \n \u200d ﬁ Ж"


@pytest.fixture(scope="module")
def run(browser: Any, service: str) -> Any:
    """Call a function of a module of the page."""
    page = browser.new_page()
    page.goto(service)
    yield lambda module, code, given: page.evaluate(
        f"async (given) => ({code})(await import('/page/{module}'), given)", given
    )
    page.close()


def test_code_points_become_the_units_of_javascript(run: Any) -> None:
    dice = random.Random(0)
    texts = ["".join(dice.choices(LETTERS, k=dice.randrange(40))) for _ in range(200)] + [""]
    cases = [
        [text, start, end]
        for text in texts
        for start, end in [sorted(dice.randrange(len(text) + 1) for _ in range(2))]
    ]
    code = """(own, cases) => cases.map(([text, start, end]) => {
        const units = own.unitsOf(text);
        return text.slice(units(start), units(end));
    })"""
    assert run("codepoints.js", code, cases) == [text[start:end] for text, start, end in cases]


def test_stretches_of_several_labels_carry_each_label_where_it_has_evidence(run: Any) -> None:
    dice = random.Random(1)
    for _ in range(30):
        layers = []
        for colour in range(1, dice.randrange(2, 5)):
            edges = sorted(dice.sample(range(60), 10))
            spans = [
                {"start": a, "end": b, "weight": dice.choice([-1, 1]) * dice.random()}
                for a, b in zip(edges[::2], edges[1::2], strict=True)
            ]
            layers.append({"colour": colour, "strongest": 1, "spans": spans})
        code = """(own, layers) => own.segments(layers).map(({ start, end, parts }) =>
            ({ start, end, parts: parts.map((one) => [one.layer.colour, one.weight]) }))"""
        found = run("heat.js", code, layers)
        for at in range(60):
            expected = [
                [layer["colour"], span["weight"]]
                for layer in layers
                for span in layer["spans"]
                if span["start"] <= at < span["end"]
            ]
            here = [one["parts"] for one in found if one["start"] <= at < one["end"]]
            assert here == ([expected] if expected else [])


@pytest.mark.parametrize(
    "text",
    [
        "One line.\n\nAnother line.",
        "A sentence of some words. " * 2_000,
        "word " * 10_000,
        "x" * 50_000,
        "😀" * 30_000,
        "",
    ],
)
def test_lines_hold_the_whole_text_and_no_character_is_cut(run: Any, text: str) -> None:
    code = "(own, text) => [...own.linesOf(text)].map(([start, end]) => text.slice(start, end))"
    lines = run("text.js", code, text)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(one) <= 4_000 for one in lines)
    assert not any("\ud800" <= char <= "\udfff" for one in lines for char in one)


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("", []),
        ("693 citrus fruit\n1309 import", ["693", "1309"]),
        ("693, 1309,20", ["693", "1309", "20"]),
        ("693 fruit, citrus\n\n 693 ", ["693"]),
        ("http://eurovoc.europa.eu/693", ["http://eurovoc.europa.eu/693"]),
    ],
)
def test_a_list_is_ids_with_words_for_people(run: Any, written: str, ids: list[str]) -> None:
    assert run("desk.js", "(own, written) => own.ids(written)", written) == ids


NASTY = [
    '=HYPERLINK("x")',
    "+1",
    "-1",
    "@cmd",
    'a "quoted", name\nand a line',
    "\\ \t \x07 é 😀",
    "ok",
]


def concepts(names: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(n),
            "uri": f"http://example.org/{n}",
            "descriptor": name,
            "decision": "accepted",
            "score": 0.5,
            "rank": n + 1,
            "model": "svm",
            "group": None,
            "place": f"DOMAIN › {name}",
        }
        for n, name in enumerate(names)
    ]


def test_csv_brings_any_name_back_and_starts_no_formula(run: Any) -> None:
    exported = {"concepts": concepts(NASTY), "rejected": []}
    text = run("formats.js", "(own, exported) => own.asCsv(exported)", exported)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["descriptor"].removeprefix("'") for row in rows] == NASTY
    assert not any(row["descriptor"][0] in "=+-@" for row in rows)
    assert [row["score"] for row in rows] == ["0.5"] * len(NASTY)


def test_turtle_brings_any_name_back(run: Any) -> None:
    rdflib = pytest.importorskip("rdflib")
    title = 'A "title" \\ with\nlines and \x01 rubbish'
    exported = {
        "document": {"uri": "urn:x <> {} | ^ ` \\ é", "title": title},
        "concepts": concepts(NASTY),
    }
    text = run("formats.js", "(own, exported) => own.asTurtle(exported)", exported)
    graph = rdflib.Graph().parse(data=text, format="turtle")
    (document,) = set(graph.subjects(rdflib.DCTERMS.title))
    assert str(graph.value(document, rdflib.DCTERMS.title)) == title
    names = {str(graph.value(one, rdflib.SKOS.prefLabel)) for one in graph.objects(document)}
    assert names - {"None"} == set(NASTY)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("32001R0012", "http://publications.europa.eu/resource/celex/32001R0012"),
        ("02016R0679-20160504", "http://publications.europa.eu/resource/celex/02016R0679-20160504"),
        ("32001R0012_EN.html", "urn:uuid:7"),
        ("my act.html", "urn:uuid:7"),
        ("", "urn:uuid:7"),
    ],
)
def test_a_document_has_an_address_that_exists_or_a_name(run: Any, name: str, address: str) -> None:
    assert run("formats.js", "(own, name) => own.addressOf(name, '7')", name) == address
