"""``labelwise relabel``: a bundle under a newer thesaurus, and what it says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.relabelling import with_places
from labelwise.corpus.thesaurus import Concept, Thesaurus


@pytest.fixture(scope="module")
def newer(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newer list: one label replaced, one renamed, one gone, one concept new."""
    ids = bundles.load(bundle).label_space.ids
    concepts: list[dict[str, Any]] = [{"id": id, "label": f"name of {id}"} for id in ids[2:]]
    concepts += [
        {"id": ids[0], "label": "old", "replaced_by_ids": ["new-1"]},
        {"id": "new-1", "label": "successor"},
        {"id": "new-2", "label": "electric bicycle"},
    ]
    path = tmp_path_factory.mktemp("thesaurus") / "concepts-2026-07-en.json"
    path.write_text(json.dumps(concepts), "utf-8")
    return path


def test_the_bundle_says_which_thesaurus_its_labels_are_from(
    labelwise: Callable, bundle: Path, newer: Path, tmp_path: Path
) -> None:
    out = tmp_path / "svm-2026"
    told = labelwise("relabel", bundle, "--thesaurus", newer, "--out", out, "--json").json
    old, new = bundles.load(bundle), bundles.load(out)
    ids = old.label_space.ids
    assert (told["name"], told["date"]) == ("concepts-2026-07-en", "2026-07")
    assert told["replaced"] == {ids[0]: ["new-1"]}
    assert told["dropped"] == [ids[1]]
    assert told["counts"]["labels"] == len(new.label_space) == len(ids) - 1
    card = bundles.describe(out)["card"]
    assert card["name"] == "svm-2026"
    assert card["relabelled"]["date"] == "2026-07"
    assert card["relabelled"]["from"] == bundles.describe(bundle)["digest"]
    assert card["data"] == bundles.describe(bundle)["card"]["data"]
    assert card["command"].count("labelwise") == 2
    page = labelwise("card", out, "--results", tmp_path).out
    assert "the thesaurus concepts-2026-07-en (2026-07)" in page
    assert "1 replaced by their successors" in page


def test_it_tags_under_todays_names(
    labelwise: Callable, bundle: Path, newer: Path, act: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new"
    called = labelwise("relabel", bundle, "--thesaurus", newer, "--out", out)
    assert called.code == 0
    assert max(map(len, called.out.splitlines())) <= 80
    assert "1 concepts of the thesaurus are new to the model" in called.err
    (answer,) = labelwise("tag", act, "--bundle", out, "--json").json
    assert answer["predictions"]
    for label in answer["predictions"]:
        today = "successor" if label["id"] == "new-1" else f"name of {label['id']}"
        assert label["descriptor"] == today


def test_a_labelled_file_is_measured_under_the_new_labels(
    labelwise: Callable, bundle: Path, newer: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new"
    labelwise("relabel", bundle, "--thesaurus", newer, "--out", out)
    called = labelwise(
        "evaluate", out, "--on", corpus / "dev.jsonl", "--results", tmp_path / "results", "--json"
    )
    assert called.code == 0, called.err


def test_what_needs_the_labels_of_training_says_so(
    labelwise: Callable, bundle: Path, newer: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new"
    labelwise("relabel", bundle, "--thesaurus", newer, "--out", out)
    for command in (
        ("evaluate", out, "--data", corpus),
        ("compact", out, "--data", corpus, "--out", tmp_path / "small"),
        ("join", "blend", out, bundle, "--data", corpus, "--out", tmp_path / "blend"),
    ):
        called = labelwise(*command)
        assert called.code == 1
        assert "was relabelled to" in called.err or "has other labels" in called.err


def test_a_file_without_a_date_asks_for_one_and_an_option_gives_it(
    labelwise: Callable, bundle: Path, newer: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "concepts.json"
    plain.write_bytes(newer.read_bytes())
    asked = ("relabel", bundle, "--thesaurus", plain, "--out", tmp_path / "new")
    called = labelwise(*asked, "--json")
    assert called.json["date"] is None
    assert "--date 2026-07 writes it into the bundle" in called.err
    assert labelwise(*asked, "--date", "2025", "--json").json["date"] == "2025"
    for date in ("2026-13", "2026-02-30", "20260701"):  # no such month, no such day
        assert f"2026-07-01, not '{date}'" in labelwise(*asked, "--date", date).err
    wrong = labelwise(*asked, "--date", "July")
    assert wrong.code == 1
    assert "--date is 2026, 2026-07 or 2026-07-01, not 'July'" in wrong.err


def test_another_thesaurus_is_one_sentence(
    labelwise: Callable, bundle: Path, tmp_path: Path
) -> None:
    other = tmp_path / "cats.csv"
    other.write_text("id,label\nc1,cats\n")
    called = labelwise("relabel", bundle, "--thesaurus", other, "--out", tmp_path / "new")
    assert called.code == 1
    assert "is a concept of the thesaurus" in called.err
    assert not (tmp_path / "new").exists()


def test_a_list_without_domains_takes_them_from_what_the_bundle_knows() -> None:
    older = Thesaurus.of(
        [Concept("1", "", "fruit", microthesauri=("m",), domains=("d",))],
        {"m": "crops"},
        {"d": "60"},
    )
    today = Thesaurus.of([Concept("1", "", "fruits"), Concept("2", "", "citrus", broader=("1",))])
    assert with_places(today, older).place("2") == "60 › crops › fruits › citrus"
    assert with_places(today, None) is today
    assert with_places(older, today) is older


@pytest.mark.real
@pytest.mark.slow
def test_the_shipped_model_has_the_terms_of_2026(
    labelwise: Callable, real_data: Path, tmp_path: Path
) -> None:
    file = real_data / "eurovoc" / "eurovoc-2026-07-en.json.xz"
    out = tmp_path / "eurovoc-en-2026"
    told = labelwise("relabel", "eurovoc-en", "--thesaurus", file, "--out", out, "--json").json
    assert told["date"] == "2026-07"
    assert not told["renamed"]
    assert not told["dropped"]
    old, new = bundles.load(shipped.path()), bundles.load(out)
    assert not set(told["replaced"]) & set(new.label_space.ids)
    documents = open_dataset(real_data / "eurlex57k").dev[:5]
    before, after = old.scores(documents), new.scores(documents)
    successors = {id for new_ids in told["replaced"].values() for id in new_ids}
    kept = [
        id for id in old.label_space.ids if id in new.label_space.index and id not in successors
    ]
    assert len(kept) == len(old.label_space)
    np.testing.assert_array_equal(
        after[:, [new.label_space.index[id] for id in kept]],
        before[:, [old.label_space.index[id] for id in kept]],
    )
    known = bundles.thesaurus(out)
    assert known is not None
    assert known.place("5860").startswith("72 GEOGRAPHY")
