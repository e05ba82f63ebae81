"""The model of the package: small, quick to load, and at work where no bundle is named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labelwise import bundle, shipped
from labelwise.cli.card import card_markdown
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.evaluation.runs import Run
from labelwise.evidence.predictions import Cut, rank
from labelwise.methods.linear import LinearMethod
from labelwise.model import Model

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "corpus" / "files"

FRUIT = """Commission Regulation laying down detailed rules for the import of citrus fruit

THE COMMISSION OF THE EUROPEAN COMMUNITIES,

Having regard to the Treaty establishing the European Economic Community,

Whereas imports of lemons, oranges and other citrus fruit from third countries are subject to an
import licence; whereas a tariff quota for mandarins should be opened; whereas the measures are in
accordance with the opinion of the Management Committee for Fruit and Vegetables,

HAS ADOPTED THIS REGULATION:

Article 1

The customs duty on imports of fresh lemons and oranges originating in Morocco shall be suspended.

Article 2

This Regulation shall enter into force on the day of its publication in the Official Journal.
"""


@pytest.fixture(scope="module")
def model() -> LinearMethod:
    method = bundle.load(shipped.path())
    assert isinstance(method, LinearMethod)
    return method


@pytest.fixture(scope="module")
def thesaurus() -> Thesaurus:
    known = bundle.thesaurus(shipped.path())
    assert known is not None
    return known


def test_it_has_at_most_25_megabytes() -> None:
    assert sum(file.stat().st_size for file in shipped.path().iterdir()) <= 25e6


def test_it_loads_in_under_two_seconds() -> None:
    took = []
    for _ in range(3):  # the quickest of three: other tests run on the same cores
        started = time.perf_counter()
        bundle.load(shipped.path())
        took.append(time.perf_counter() - started)
    assert min(took) < 2


def test_importing_the_package_loads_neither_the_model_nor_its_libraries() -> None:
    program = (
        "import sys, labelwise, labelwise.shipped, labelwise.cli;"
        "print({'numpy', 'scipy', 'torch', 'labelwise.bundle'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "set()"


def test_every_label_has_a_name_a_domain_a_microthesaurus_and_its_broader_concepts(
    model: LinearMethod, thesaurus: Thesaurus
) -> None:
    assert len(model.label_space) == 4271
    for label in model.label_space.labels:
        assert label.descriptor != label.id
        concept = thesaurus[label.id]
        assert [thesaurus.domains[one] for one in concept.domains]
        assert [thesaurus.microthesauri[one] for one in concept.microthesauri]
        assert all(one in thesaurus.concepts for one in concept.broader)
    assert thesaurus.place("693") == (
        "60 AGRI-FOODSTUFFS › 6006 plant product › fruit › citrus fruit"
    )


def test_names_and_places_are_all_that_it_holds_of_the_thesaurus(thesaurus: Thesaurus) -> None:
    for concept in thesaurus.concepts.values():
        assert concept.alt_labels == concept.related == ()
    assert len(thesaurus) < 5000  # the labels and what is broader, not all of EUROVOC


def test_it_carries_the_notices_of_its_sources() -> None:
    notices = " ".join(bundle.describe(shipped.path())["card"]["notices"])
    for said in ("EURLEX57K", "CC-BY-SA-4.0", "© European Union", "2011/833/EU", "EuroVoc"):
        assert said in notices


def test_tag_needs_no_bundle(process: Callable, tmp_path: Path) -> None:
    act = tmp_path / "act.txt"
    act.write_text(FRUIT, "utf-8")
    called = process("tag", act, "--evidence", "--json", LABELWISE_BUNDLE="")
    assert called.code == 0, called.err
    (record,) = called.json
    names = [one["descriptor"] for one in record["predictions"]]
    assert "citrus fruit" in names
    assert "import" in names
    fruit = record["predictions"][names.index("citrus fruit")]
    assert fruit["place"]["microthesauri"] == [{"id": "100253", "name": "6006 plant product"}]
    assert fruit["place"]["broader"] == [{"id": "1115", "name": "fruit"}]
    for one in record["predictions"]:
        assert one["evidence"]["spans"]
        for span in one["evidence"]["spans"]:
            assert " ".join(span["text"].split()).casefold() in " ".join(FRUIT.split()).casefold()
    best = max(fruit["evidence"]["spans"], key=lambda span: span["weight"])
    assert {"citrus", "lemons", "oranges", "mandarins"} & set(best["text"].casefold().split())


def test_tag_shows_names_and_places_in_80_columns(labelwise: Callable) -> None:
    called = labelwise("tag", "-", stdin=FRUIT.encode())
    assert called.code == 0
    assert "citrus fruit" in called.out
    assert "in 60 AGRI-FOODSTUFFS › 6006 plant product" in called.out
    assert max(map(len, called.out.splitlines())) <= 80


def test_the_readme_shows_what_it_answers(process: Callable, tmp_path: Path) -> None:
    act = tmp_path / "act.txt"
    act.write_text(FRUIT, "utf-8")
    shown = process("tag", act, "--top", 3, "--evidence", COLUMNS="80").out
    readme = (ROOT / "README.md").read_text("utf-8")
    (example,) = re.findall(r"\$ labelwise tag act.txt --top 3 --evidence\n(.*?)\n\n", readme, re.S)
    # Scores may differ in the last digit on another machine: words are compared.
    words = re.compile(r"[A-Za-z]\S+")
    assert words.findall(shown) == words.findall(example)


def test_explain_needs_no_bundle_and_its_page_shows_the_place(
    labelwise: Callable, tmp_path: Path
) -> None:
    act, page = tmp_path / "act.txt", tmp_path / "page.html"
    act.write_text(FRUIT, "utf-8")
    assert labelwise("explain", act, "--out", page).code == 0
    text = page.read_text("utf-8")
    assert "60 AGRI-FOODSTUFFS › 6006 plant product › fruit" in text
    assert "<mark" in text
    shown = labelwise("explain", act, "--labels", "693").out
    assert "in 60 AGRI-FOODSTUFFS" in shown
    assert "«" in shown


@pytest.mark.parametrize(
    "name",
    ["oj_2006.html", "oj_2024.xhtml", "formex_act.xml", "act_1967.txt", "text_only_1985.html"],
)
def test_html_formex_and_text_are_tagged_with_evidence(labelwise: Callable, name: str) -> None:
    called = labelwise("tag", FILES / name, "--evidence", "--json")
    assert called.code == 0, called.err
    (record,) = called.json
    assert len(record["predictions"]) == 5
    assert all(one["place"]["domains"] for one in record["predictions"])
    assert any(one["evidence"]["spans"] for one in record["predictions"])


@pytest.mark.parametrize("text", [b"", b" \n\n\t\n"])
def test_an_empty_file_is_refused_with_its_name(
    labelwise: Callable, tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "act.txt"
    path.write_bytes(text)
    called = labelwise("tag", path)
    assert (called.code, called.out) == (1, "")
    assert f"{path}: empty file" in called.err


def test_an_act_of_100_000_words_is_read_to_its_last_word(model: LinearMethod) -> None:
    words = ("the measures provided for in this regulation " * 14_286).split()[:99_998]
    long = Document("long", "", (Section("article", " ".join([*words, "citrus", "fruit"])),))
    without = Document("without", "", (Section("article", " ".join(words)),))
    assert len(long.text.split()) == 100_000
    column = model.label_space.index["693"]
    with_fruit, plain = model.scores([long, without])[:, column]
    assert with_fruit > plain
    [evidence] = model.evidence(long, ["693"])
    assert max(span.end for span in evidence.spans) == len(long.text)


def test_scores_are_probabilities_and_unseen_labels_have_none(model: LinearMethod) -> None:
    scores = model.scores([Document("act", "", (Section("article", FRUIT),))])[0]
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[model.label_space.groups["zero"]] == 0).all()
    assert 0 < model.threshold < 0.5
    assert len(rank(scores, model.label_space, top=50, cut=Cut(threshold=model.threshold))) < 20


def test_places_are_told_of_labels_that_have_one(model: LinearMethod, thesaurus: Thesaurus) -> None:
    act = Document("act", "", (Section("article", FRUIT),))
    assert all(tag.place_words for tag in Model(model, thesaurus=thesaurus).tag(act, top=10))
    assert not any(tag.place_words for tag in Model(model).tag(act, top=10))


def test_its_card_is_made_from_the_bundle_and_the_results(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "eurovoc-en.md").read_text("utf-8")
    assert card_markdown(shipped.path(), ROOT / "results") == page
    for said in ("On the test split", "English", "2016", "CC-BY-SA-4.0", "labelwise compact"):
        assert said in page


def test_what_is_shipped_is_what_dev_chose() -> None:
    sizes = json.loads((ROOT / "results/eurlex57k/eurovoc-en/sizes.json").read_text("utf-8"))
    assert sum(file.stat().st_size for file in shipped.path().iterdir()) == sizes["chosen"]["bytes"]
    # Pruned without loss: no worse on dev than the model that it was made from.
    for group in ("all", "few"):
        assert sizes["chosen"]["dev"][group]["RP@5"] >= sizes["parent"]["dev"][group]["RP@5"]
    run = Run.read(ROOT / "results/eurlex57k/eurovoc-en/seed-0.json")
    assert run.method == shipped.NAME
    assert run.value("dev", "all", "RP@5") == sizes["chosen"]["dev"]["all"]["RP@5"]
    assert run.threshold == pytest.approx(bundle.load(shipped.path()).threshold)


def test_its_figures_are_those_of_the_shipped_file(model: LinearMethod, real_data: Path) -> None:
    run = Run.read(ROOT / "results/eurlex57k/eurovoc-en/seed-0.json")
    documents = open_dataset(real_data).dev[:300]
    gold = model.label_space.gold(documents)
    for row, (document, hits) in enumerate(
        zip(documents, run.per_document("dev", "all", "RP@5"), strict=False)
    ):
        best = rank(model.scores([document])[0], model.label_space, top=5)
        found = sum(gold[row, model.label_space.index[one.label.id]] for one in best)
        assert found / min(5, gold[row].nnz) == pytest.approx(hits)


def test_it_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped.resources, "files", lambda _: tmp_path)
    with pytest.raises(shipped.LabelwiseError, match="eurovoc-en is missing"):
        shipped.path()
