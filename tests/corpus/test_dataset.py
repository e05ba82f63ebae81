"""Data sets: splits, thesaurus, label space, fingerprint, and what does not fit together."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path

import pytest

from labelwise.corpus.dataset import Additions, open_dataset
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError


def act(celex_id: str, *concepts: str) -> str:
    return json.dumps(
        {
            "celex_id": celex_id,
            "title": "Regulation on oranges",
            "concepts": concepts,
            "header": "REGULATION on oranges",
            "recitals": "Whereas oranges are eaten fresh,",
            "main_body": ["Oranges shall be graded."],
            "attachments": "",
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "garden"
    folder.mkdir()
    train = [act(f"t{n}", "693", "1309") for n in range(60)] + [act("t60", "77")]
    (folder / "train.jsonl").write_text("\n".join(train))
    (folder / "dev.jsonl.xz").write_bytes(lzma.compress(act("d1", "693", "5").encode()))
    (folder / "test.jsonl").write_text(act("e1", "6"))
    (folder / "descriptors.csv").write_text(
        "id,label\n693,citrus fruit\n1309,import\n77,vine\n5,nut\n6,fig\n8,kiwi\n"
    )
    return folder


def test_a_folder_of_splits_and_descriptors(folder: Path) -> None:
    data = open_dataset(folder)
    assert data.name == "garden"
    assert data.counts == {"train": 61, "dev": 1, "test": 1, "labels": 5}
    assert [(one.id, one.group, one.descriptor) for one in data.label_space.labels] == [
        ("1309", "frequent", "import"),
        ("693", "frequent", "citrus fruit"),
        ("77", "few", "vine"),
        ("5", "zero", "nut"),
        ("6", "zero", "fig"),
    ]
    assert data.thesaurus is not None
    assert data.train is data.train


def test_the_fingerprint_is_the_digest_of_the_files_in_order(folder: Path) -> None:
    stored = b"".join(
        (folder / name).read_bytes() for name in ("train.jsonl", "dev.jsonl.xz", "test.jsonl")
    )
    fingerprint = open_dataset(folder).fingerprint
    assert fingerprint == hashlib.sha256(stored).hexdigest()[:16]
    (folder / "test.jsonl").write_text(act("e2", "6"))
    assert open_dataset(folder).fingerprint != fingerprint


def test_splits_are_read_when_they_are_first_used(folder: Path) -> None:
    (folder / "test.jsonl").write_text("{broken")
    data = open_dataset(folder)
    assert len(data.dev) == 1
    with pytest.raises(InputError, match="broken JSON"):
        _ = data.test


def test_the_data_folder_may_hold_eurlex57k(folder: Path) -> None:
    folder.rename(folder.parent / "eurlex57k")
    assert open_dataset(folder.parent).name == "eurlex57k"


def test_splits_may_be_folders_of_json_files(tmp_path: Path) -> None:
    for split, id in (("train", "a"), ("dev", "b"), ("test", "c")):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"{id}.json").write_text(act(id, "693"))
    data = open_dataset(tmp_path)
    assert data.counts == {"train": 1, "dev": 1, "test": 1, "labels": 1}
    assert data.thesaurus is None
    assert data.label_space.labels[0].descriptor == "693"
    stored = b"".join(
        (tmp_path / f"{name}.json").read_bytes() for name in ("train/a", "dev/b", "test/c")
    )
    assert data.fingerprint == hashlib.sha256(stored).hexdigest()[:16]


def test_dev_may_be_called_validation_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("1\t693\tOranges.\n")
    assert open_dataset(tmp_path).dev == ()
    (tmp_path / "validation.tsv").write_text("2\t693\tLemons.\n")
    assert [document.id for document in open_dataset(tmp_path).dev] == ["2"]


def test_labels_by_name_or_uri_become_ids(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "a.txt").write_text("Oranges.")
    (tmp_path / "train" / "a.key").write_text("citrus fruit\nimport\n")
    (tmp_path / "vocabulary.ttl").write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://eurovoc.europa.eu/693> a skos:Concept ; skos:prefLabel "citrus fruit"@en .\n'
        '<http://eurovoc.europa.eu/1309> a skos:Concept ; skos:prefLabel "import"@en .\n'
    )
    assert open_dataset(tmp_path).train[0].labels == ("693", "1309")


def test_a_label_missing_from_the_thesaurus_is_an_error_or_skipped(folder: Path) -> None:
    (folder / "test.jsonl").write_text(act("e1", "6") + "\n" + act("e2", "6", "4711"))
    with pytest.raises(
        InputError,
        match=r"test\.jsonl: label missing from the thesaurus: document 'e2' has the label '4711'",
    ):
        _ = open_dataset(folder).label_space
    skipped = Skipped()
    data = open_dataset(folder, skipped=skipped)
    assert [document.id for document in data.test] == ["e1"]
    assert skipped.reasons == {"label missing from the thesaurus": 1}


def test_a_document_in_two_splits_is_an_error_or_skipped(folder: Path) -> None:
    (folder / "test.jsonl").write_text(act("t5", "693") + "\n" + act("e1", "693"))
    data = open_dataset(folder)
    assert len(data.train) == 61
    with pytest.raises(InputError, match="duplicate id: document 't5' is in train and in test"):
        _ = data.test
    skipped = Skipped()
    data = open_dataset(folder, skipped=skipped)
    assert (len(data.test), len(data.train)) == (1, 61)  # whichever is asked for first
    assert skipped.reasons == {"duplicate id": 1}


def test_another_thesaurus_can_be_named(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({id: f"concept {id}" for id in ("693", "1309", "77", "5", "6")}))
    data = open_dataset(folder, Additions(thesaurus=other))
    assert data.label_space.labels[0].descriptor == "concept 1309"
    with pytest.raises(InputError, match="there is no such thesaurus file"):
        open_dataset(folder, Additions(thesaurus=tmp_path / "missing.json"))


def test_a_folder_that_is_no_data_set_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it should hold train, dev and test"):
        open_dataset(tmp_path)
    with pytest.raises(InputError, match="a data set is a folder"):
        open_dataset(tmp_path / "missing")


def test_a_split_that_is_there_twice_is_an_error(folder: Path) -> None:
    (folder / "train.jsonl.xz").write_bytes(b"")
    with pytest.raises(InputError, match=r"train\.jsonl and as train\.jsonl\.xz: keep one"):
        open_dataset(folder)


@pytest.mark.parametrize(
    ("count", "group"), [(51, "frequent"), (50, "frequent"), (49, "few"), (1, "few"), (0, "zero")]
)
def test_a_label_is_frequent_from_fifty_training_documents_on(count: int, group: str) -> None:
    [label] = LabelSpace.from_counts({"693": count}).labels
    assert label.group == group
