"""``labelwise explain``: in the terminal, as JSON, and as a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise import bundle as bundles
from labelwise import load
from labelwise.errors import LabelwiseError


def test_the_terminal_shows_labels_and_marked_words(
    labelwise: Callable, bundle: Path, act: Path
) -> None:
    called = labelwise("explain", act, "--bundle", bundle, "--top", 3)
    assert called.code == 0
    assert all(f"{number}. " in called.out for number in (1, 2, 3))
    assert "«" in called.out
    assert max(map(len, called.out.splitlines())) <= 80


def test_the_page_shows_gold_labels_and_the_text(
    labelwise: Callable, bundle: Path, act: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    called = labelwise("explain", act, "--bundle", bundle, "--out", out)
    assert (called.code, called.out) == (0, "")
    assert str(out) in called.err
    page = out.read_text("utf-8")
    assert page.count('type="radio"') == 5
    assert "Gold labels:" in page
    assert "<mark" in page
    space = bundles.load(bundle).label_space
    for id in acts[0]["concepts"]:
        assert space.labels[space.index[id]].descriptor in page


def test_the_page_does_not_take_the_place_of_the_act(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    text = act.read_bytes()
    own = tmp_path / act.name
    own.write_bytes(text)
    called = labelwise("explain", own, "--bundle", bundle, "--out", tmp_path / "." / own.name)
    assert called.code == 1
    assert "is the act itself: give the page another name" in called.err
    assert own.read_bytes() == text


def test_chosen_labels_are_explained_instead_of_the_best(
    labelwise: Callable, bundle: Path, act: Path
) -> None:
    wanted = bundles.load(bundle).label_space.ids[3:6]
    record = labelwise("explain", act, "--bundle", bundle, "--labels", ",".join(wanted), "--json")
    assert sorted(one["id"] for one in record.json["predictions"]) == sorted(wanted)
    assert all("evidence" in one for one in record.json["predictions"])


def test_the_help_says_that_labels_may_be_a_part_of_the_thesaurus(labelwise: Callable) -> None:
    shown = " ".join(labelwise("explain", "--help").out.split())
    assert "--labels ID|PART|@FILE" in shown
    assert "or a part of the thesaurus: domain:60, mt:6006, under:1117" in shown


def test_a_model_that_knows_no_thesaurus_says_so_of_a_part_of_one(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    said = "'mt:6006' is a part of a thesaurus, and this model has none"
    bundles.save(load(bundle).method, tmp_path / "bare.bundle")
    bare = tmp_path / "bare.bundle"
    assert said in labelwise("explain", act, "--bundle", bare, "--labels", "mt:6006").err
    with pytest.raises(LabelwiseError, match=said):
        load(bare).explain("Oranges.", ["mt:6006"])


def test_names_are_in_another_language_in_the_terminal_as_json_and_on_the_page(
    labelwise: Callable, bundle: Path, act: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    lemon, gold = bundles.load(bundle).label_space.ids[0], acts[0]["concepts"][0]
    given, out = tmp_path / "names.json", tmp_path / "page.html"
    names = {lemon: {"en": "lemon", "fr": "citron"}, gold: {"en": "duty", "fr": "droit de douane"}}
    given.write_text(json.dumps(names), "utf-8")
    french = ("explain", act, "--bundle", bundle, "--labels", lemon, "--names", "fr")
    called = labelwise(*french, "--thesaurus", given, "--json", "--out", out)
    assert [one["descriptor"] for one in called.json["predictions"]] == ["citron"]
    assert "citron" in out.read_text("utf-8")
    assert "droit de douane" in out.read_text("utf-8")  # among the gold labels
    assert "citron" in labelwise(*french, "--thesaurus", given).out
    assert "no names of labels in 'fr'" in labelwise(*french).err  # the model's own are English
    mistaken = labelwise("explain", act, "--bundle", bundle, "--labels", "fr")
    assert "for names in French: --names fr" in mistaken.err
    mistaken = labelwise("tag", act, "--bundle", bundle, "--labels", lemon)
    assert "names of labels" in mistaken.err
    assert "to choose among labels: --include" in mistaken.err
    assert "--thesaurus goes with --names" in labelwise(*french[:4], "--thesaurus", given).err


def test_a_document_is_chosen_by_its_id(
    labelwise: Callable, bundle: Path, corpus: Path, acts: list[dict[str, Any]]
) -> None:
    file = corpus / "test.jsonl"
    call = lambda *options: labelwise("explain", file, "--bundle", bundle, "--json", *options)
    assert call().json["document"] == acts[0]["celex_id"]
    assert call("--document", acts[7]["celex_id"]).json["document"] == acts[7]["celex_id"]
    absent = call("--document", "32099R0001")
    assert absent.code == 1
    assert "no document with the id '32099R0001'" in absent.err


def test_of_several_documents_it_says_which_one_it_explains(
    labelwise: Callable, bundle: Path, corpus: Path, act: Path, tmp_path: Path
) -> None:
    first, second, *_ = (corpus / "test.jsonl").read_text("utf-8").splitlines()
    id, file = json.loads(first)["celex_id"], tmp_path / "acts.jsonl"
    for after in (second, "damaged"):
        file.write_text(f"{first}\n{after}\n", "utf-8")
        called = labelwise("explain", file, "--bundle", bundle)
        told = f"explained is the first of several documents, {id}: --document ID names another\n"
        assert (called.code, called.err) == (0, told)
        assert labelwise("explain", file, "--bundle", bundle, "--document", id).err == ""
    assert labelwise("explain", act, "--bundle", bundle).err == ""


def test_standard_input_is_explained_too(labelwise: Callable, bundle: Path, act: Path) -> None:
    called = labelwise("explain", "-", "--bundle", bundle, "--json", stdin=act.read_bytes())
    assert called.code == 0
    assert called.json["predictions"]


def test_hostile_text_stays_text_all_the_way_to_the_page(
    labelwise: Callable, bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    hostile = "<script>alert('import of steel')</script>"
    path, out = tmp_path / "act.json", tmp_path / "page.html"
    record = {**acts[0], "title": hostile, "header": hostile, "recitals": f"steel {hostile}"}
    path.write_text(json.dumps(record), "utf-8")
    assert labelwise("explain", path, "--bundle", bundle, "--out", out).code == 0
    assert out.read_text("utf-8").count("<script") == 1


def test_a_page_that_cannot_be_written_is_one_sentence(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    for out in (tmp_path, act / "page.html"):
        called = labelwise("explain", act, "--bundle", bundle, "--out", out)
        assert called.code == 1
        assert called.err.startswith(f"labelwise: {out if out.is_dir() else act}: ")
