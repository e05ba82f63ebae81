"""The models of the package: small, quick to load, and at work where no bundle is named."""

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

from labelwise import bundle, load, shipped
from labelwise.corpus.document import Document, Section
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.evaluation.runs import Run
from labelwise.evidence.predictions import Cut, rank
from labelwise.experiments.card import card_markdown
from labelwise.methods.blend import Blend
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


DATA = "eurlex57k+newlaw+eurovoc-2026-07-en+every-concept"
"""What the twins were trained on, whose figures the cards show."""

FRUIT_ACT = Document("act", "", (Section("article", FRUIT),))


@pytest.fixture(scope="module")
def model() -> Blend:
    method = bundle.load(shipped.path())
    assert isinstance(method, Blend)
    return method


@pytest.fixture(scope="module")
def linear() -> LinearMethod:
    method = bundle.load(shipped.path(shipped.SMALL))
    assert isinstance(method, LinearMethod)
    return method


@pytest.fixture(scope="module")
def thesaurus() -> Thesaurus:
    known = bundle.thesaurus(shipped.path())
    assert known is not None
    return known


@pytest.mark.parametrize(("name", "megabytes"), [(shipped.NAME, 60), (shipped.SMALL, 25)])
def test_they_are_small(name: str, megabytes: int) -> None:
    assert bundle.size_of(shipped.path(name)) <= megabytes * 1e6


@pytest.mark.parametrize("name", shipped.NAMES)
def test_they_load_in_under_two_seconds(name: str) -> None:
    took = []
    for _ in range(3):  # the processor's time: other tests run on the same cores
        started = time.process_time()
        bundle.load(shipped.path(name))
        took.append(time.process_time() - started)
    assert min(took) < 2


def test_importing_the_package_loads_neither_the_model_nor_its_libraries() -> None:
    program = (
        "import sys, labelwise, labelwise.shipped, labelwise.cli;"
        "print({'numpy', 'scipy', 'torch', 'labelwise.bundle'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "set()"


def test_every_label_has_a_name_of_today_and_stands_somewhere(
    model: Blend, linear: LinearMethod, thesaurus: Thesaurus
) -> None:
    labels = model.label_space.labels
    assert 7400 < len(labels) < 7600
    assert linear.label_space.fingerprint == model.label_space.fingerprint
    unplaced = [one.id for one in labels if not thesaurus[one.id].microthesauri]
    assert len(unplaced) < 20
    for label in labels:
        assert label.descriptor != label.id
        concept = thesaurus[label.id]
        assert concept.label == label.descriptor
        assert all(one in thesaurus.domains for one in concept.domains)
        assert all(one in thesaurus.concepts for one in concept.broader)
    names = {label.descriptor for label in labels}
    assert {"Czechia", "artificial intelligence", "3D printing"} <= names
    assert "Czech Republic" not in names
    assert thesaurus.place("693") == (
        "60 AGRI-FOODSTUFFS › 6006 plant product › fruit › citrus fruit"
    )


def test_names_and_places_are_all_that_it_holds_of_the_thesaurus(thesaurus: Thesaurus) -> None:
    for concept in thesaurus.concepts.values():
        assert concept.alt_labels == concept.related == ()


@pytest.mark.parametrize("name", shipped.NAMES)
def test_they_carry_the_notices_of_their_sources(name: str) -> None:
    card = bundle.describe(shipped.path(name))["card"]
    notices = " ".join(card["notices"])
    sources = ["EURLEX57K", "CC-BY-SA-4.0", "© European Union", "2011/833/EU", "EuroVoc"]
    sources += ["EUR-Lex-Sum", "CC BY 4.0"]
    for said in sources if name == shipped.SMALL else [*sources, "all-MiniLM-L6-v2", "Apache-2.0"]:
        assert said in notices
    assert card["twin"]["data"]["name"] == DATA
    assert not re.search(r"(^|\s)/", card["command"])  # where files lay means nothing elsewhere


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
    # Processors round products of 8 bits each in their way, so that scores differ by a hundredth
    # or two and words of nearly the same weight change places: the words are compared, not these.
    words = re.compile(r"[A-Za-z]\w+")
    assert sorted(words.findall(shown)) == sorted(words.findall(example))
    labels = re.compile(r"^ *\d\.\d{3}  (\d+)", re.M)
    assert labels.findall(shown) == labels.findall(example) != []


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


def test_an_act_of_100_000_words_is_read_to_its_last_word(linear: LinearMethod) -> None:
    words = ("the measures provided for in this regulation " * 14_286).split()[:99_998]
    long = Document("long", "", (Section("article", " ".join([*words, "citrus", "fruit"])),))
    without = Document("without", "", (Section("article", " ".join(words)),))
    assert len(long.text.split()) == 100_000
    column = linear.label_space.index["693"]
    with_fruit, plain = linear.scores([long, without])[:, column]
    assert with_fruit > plain
    [evidence] = linear.evidence(long, ["693"])
    assert max(span.end for span in evidence.spans) == len(long.text)


def test_scores_are_chances_and_the_linear_one_has_none_for_unseen_labels(
    model: Blend, linear: LinearMethod
) -> None:
    for method in (model, linear):
        scores = method.scores([FRUIT_ACT])[0]
        assert np.isfinite(scores).all()
        assert ((scores >= 0) & (scores <= 1)).all()
        assert 0 < method.threshold < 0.5
        best = rank(scores, method.label_space, top=50, cut=Cut(threshold=method.threshold))
        assert 0 < len(best) < 20
        unseen = scores[method.label_space.groups["zero"]]
        assert len(set(unseen.tolist())) == 1 if method is linear else len(set(unseen)) > 100


def test_the_best_labels_are_those_of_all_scores(model: Blend) -> None:
    all_of_them, best = model.scores([FRUIT_ACT])[0], model.best_scores([FRUIT_ACT])[0]
    np.testing.assert_array_equal(np.argsort(-best)[:10], np.argsort(-all_of_them)[:10])


def test_it_finds_a_concept_that_no_training_document_carries(model: Blend) -> None:
    (printing,) = (one for one in model.label_space.labels if one.descriptor == "3D printing")
    assert printing.count == 0
    act = Section("article", "This Regulation lays down rules for 3D printing.")
    found = Model(model).tag(Document("act", "Regulation on 3D printing", (act,)), top=10)
    assert printing.id in [tag.id for tag in found]


def test_a_label_can_be_added(labelwise: Callable) -> None:
    said = labelwise(
        "tag", "-", "--add-label", "x1=citrus fruit from Morocco", "--include", "x1,693", "--json",
        stdin=FRUIT.encode(),
    )  # fmt: skip
    assert said.code == 0, said.err
    assert {one["id"] for one in said.json[0]["predictions"]} == {"x1", "693"}


def test_the_small_one_is_asked_for_by_name(labelwise: Callable) -> None:
    said = labelwise("tag", "-", "--bundle", shipped.SMALL, "--json", stdin=FRUIT.encode())
    assert said.code == 0, said.err
    assert said.json[0]["predictions"][0]["descriptor"] == "citrus fruit"


def test_places_are_told_of_labels_that_have_one(model: Blend, thesaurus: Thesaurus) -> None:
    assert all(tag.place_words for tag in Model(model, thesaurus=thesaurus).tag(FRUIT_ACT, top=10))
    assert not any(tag.place_words for tag in Model(model).tag(FRUIT_ACT, top=10))


@pytest.mark.parametrize("name", shipped.NAMES)
def test_they_say_the_date_of_their_thesaurus(name: str) -> None:
    assert load(name).thesaurus_date == "2026-07"


@pytest.mark.parametrize("name", shipped.NAMES)
def test_their_cards_are_made_from_the_bundles_and_the_results(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    figure = ROOT / "docs" / f"{name}-reliability.svg"
    before = figure.read_bytes()
    assert card_markdown(shipped.path(name), ROOT / "results", figure) == page
    assert figure.read_bytes() == before
    for said in ("its twin", "newlaw-dev", "English", "2016", "CC-BY-SA-4.0", "labelwise compact"):
        assert said in page
    assert "that look decided that the search went on" in page  # of its linear part, at test


def test_the_goals_of_the_second_edition_are_met_by_its_twin() -> None:
    run = Run.read(ROOT / f"results/newlaw-dev/{shipped.NAME}@{DATA}/seed-0.json")
    assert run.value("dev", "all", "RP@5") >= 0.70
    assert run.value("dev", "all", "nDCG@5") >= 0.73
    assert run.value("dev", "all", "micro-F1 tuned") >= 0.56
    test = Run.read(ROOT / f"results/{DATA}/{shipped.NAME}/seed-0.json")
    assert test.value("test", "all", "RP@5") >= 0.825
    assert test.value("test", "all", "nDCG@5") >= 0.85


def test_no_act_is_left_without_a_concept_at_the_threshold_that_ships() -> None:
    about = bundle.describe(shipped.path())
    record = json.loads((ROOT / "results" / about["calibration"]["record"]).read_text("utf-8"))
    assert about["threshold"] == record["threshold"]
    assert about["calibration"]["curves"] == record["calibration"]["curves"]
    assert record["documents"] == 283
    assert record["assigned"]["after"]["0"]["without"] == 0


def test_labels_without_training_documents_are_found_among_all() -> None:
    newlaw = Run.read(ROOT / f"results/newlaw-dev/{shipped.NAME}@{DATA}/seed-0.json")
    test = Run.read(ROOT / f"results/{DATA}/{shipped.NAME}/seed-0.json")
    for run, split in ((newlaw, "dev"), (test, "test")):
        assert run.value(split, "zero-among-all", "R@10") > 0


def test_it_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped.resources, "files", lambda _: tmp_path)
    with pytest.raises(shipped.LabelwiseError, match="eurovoc-en is missing"):
        shipped.path()


@pytest.mark.parametrize("name", shipped.NAMES)
def test_a_command_takes_a_model_of_the_package_by_its_name(
    labelwise: Callable, name: str, tmp_path: Path
) -> None:
    called = labelwise("card", name, "--results", tmp_path)
    assert called.code == 0, called.err
    assert called.out.startswith(f"# {name}\n")
    assert f"`{tmp_path.name}` holds no run of {name}" in called.out
