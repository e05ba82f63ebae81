"""The part of a thesaurus that a model carries: its labels, what is broader, and their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import BundleError
from labelwise.methods.exact_match import ExactMatch

EUROVOC = "http://eurovoc.europa.eu/"


@pytest.fixture
def thesaurus() -> Thesaurus:
    return Thesaurus.of(
        [
            Concept("1115", f"{EUROVOC}1115", "fruit", microthesauri=("6006",), domains=("60",)),
            Concept(
                "693", f"{EUROVOC}693", "citrus fruit", ("lemon", "orange"), ("1115",),
                related=("2211",), microthesauri=("6006",), domains=("60",),
            ),
            Concept("1118", "", "pip fruit", broader=("1115",), microthesauri=("6006",)),
            Concept("2211", "", "sheep", microthesauri=("5626",), domains=("56",)),
        ],
        {"6006": "plant product", "5626": "means of agricultural production"},
        {"60": "AGRI-FOODSTUFFS", "56": "AGRICULTURE"},
    )  # fmt: skip


def test_labels_keep_their_place_and_nothing_else_is_taken_along(thesaurus: Thesaurus) -> None:
    part = thesaurus.around(["693", "no such concept"])
    assert list(part.concepts) == ["1115", "693"]
    assert part.place("693") == thesaurus.place("693")
    assert part["693"].alt_labels == part["693"].related == ()
    assert part["1115"].narrower == ("693",)
    assert dict(part.microthesauri) == {"6006": "plant product"}
    assert dict(part.domains) == {"60": "AGRI-FOODSTUFFS"}


def test_several_broader_concepts_and_a_cycle_are_followed_once() -> None:
    ring = Thesaurus.of(
        [
            Concept("a", "", "Africa", broader=("c",)),
            Concept("b", "", "Arab League countries", broader=("a",)),
            Concept("c", "", "Morocco", broader=("a", "b")),
        ]
    )
    assert list(ring.around(["c"]).concepts) == ["a", "b", "c"]


def test_json_and_back_is_the_same_thesaurus(thesaurus: Thesaurus) -> None:
    written = json.loads(json.dumps(thesaurus.to_json()))
    assert Thesaurus.from_json(written) == thesaurus


def test_groups_without_a_name_are_left_out() -> None:
    written = {"concepts": {"693": {"label": "citrus fruit", "domains": ["60"]}}}
    assert Thesaurus.from_json(written)["693"].domains == ()


def test_a_bundle_keeps_the_thesaurus_in_a_file_of_its_own(
    thesaurus: Thesaurus, tmp_path: Path
) -> None:
    act = Document("32001R0001", "", (Section("article", "Citrus fruit"),), ("693",))
    method = ExactMatch()
    method.fit([act], [act], LabelSpace.from_documents([act], (), thesaurus.descriptors))
    card = {"name": "fruit", "thesaurus": thesaurus.to_json()}
    bundle.save(method, tmp_path / "fruit", card=card)
    assert json.loads(json.dumps(card)) == bundle.describe(tmp_path / "fruit")["card"]
    assert "citrus" not in (tmp_path / "fruit" / "bundle.json").read_text("utf-8")
    assert bundle.thesaurus(tmp_path / "fruit") == thesaurus
    (file,) = (tmp_path / "fruit").glob("thesaurus-*.json")
    file.write_text(file.read_text("utf-8").replace("citrus", "citric"), "utf-8")
    with pytest.raises(BundleError, match="altered"):
        bundle.load(tmp_path / "fruit")

    bundle.save(method, tmp_path / "fruit")  # without one, its file goes
    assert bundle.thesaurus(tmp_path / "fruit") is None
    assert not list((tmp_path / "fruit").glob("thesaurus-*"))
