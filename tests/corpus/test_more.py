"""More training documents: a data set of its own, nothing twice, nothing that is measured on."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.dataset import Additions, open_dataset
from labelwise.corpus.more import by_file, repeated_note
from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError, LabelwiseError

ACT = """COUNCIL REGULATION (EU) 2017/1 on lemons
THE COUNCIL OF THE EUROPEAN UNION,
Having regard to the Treaty,
HAS ADOPTED THIS REGULATION:
Article 1
Lemons shall be graded by size.
Done at Brussels, 3 March 2017."""


def titled(id: str, *concepts: str) -> dict[str, Any]:
    return {"celex_id": id, "concepts": concepts, "title": "Decision on kiwis", "source": "list"}


def whole(id: str, *concepts: str, text: str = ACT, summary: str = "On lemons.") -> dict[str, Any]:
    return {"celex_id": id, "concepts": concepts, "title": "", "text": text, "summary": summary}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, records)).encode()))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "garden"
    write(folder / "train.jsonl.xz", whole("t1", "693"), whole("t2", "1309"))
    write(folder / "dev.jsonl.xz", whole("d1", "693"))
    write(folder / "test.jsonl.xz", whole("e1", "5"))
    (folder / "descriptors.csv").write_text(
        "id,label\n693,citrus fruit\n1309,import\n5,nut\n8,kiwi\n100142,04 POLITICS\n"
    )
    return folder


@pytest.fixture
def titles(tmp_path: Path) -> Path:
    return write(tmp_path / "newlaw" / "train-titles.jsonl.xz", titled("n1", "8"), titled("n2"))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write(tmp_path / "newlaw" / "train-texts.jsonl.xz", whole("n1", "8"), whole("n3", "693"))


def test_a_title_is_a_document_with_a_header(titles: Path) -> None:
    document = next(read(titles))
    assert [(one.kind, one.text) for one in document.sections] == [("header", "Decision on kiwis")]
    assert (document.id, document.title, document.labels) == ("n1", "Decision on kiwis", ("8",))


def test_a_text_is_split_into_zones_and_its_summary_left_alone(texts: Path) -> None:
    document = next(read(texts))
    kinds = [one.kind for one in document.sections]
    assert kinds == ["header", "recitals", "article", "attachments"]
    assert document.title.startswith("COUNCIL REGULATION (EU) 2017/1")
    assert "On lemons" not in document.text


def test_an_empty_text_beside_a_title_is_a_title(tmp_path: Path) -> None:
    file = write(tmp_path / "acts.jsonl.xz", {**titled("n1"), "text": " "})
    assert next(read(file)).text == "Decision on kiwis"


def test_a_record_of_zones_with_one_missing_is_no_title(tmp_path: Path) -> None:
    file = write(tmp_path / "acts.jsonl.xz", {**titled("n1"), "header": "Decision"})
    with pytest.raises(InputError, match="field 'recitals': missing key"):
        next(read(file))


def test_more_documents_are_trained_on_in_a_data_set_of_its_own(
    folder: Path, titles: Path, texts: Path
) -> None:
    data = open_dataset(folder, Additions((titles, texts)))
    assert data.name == "garden+newlaw"
    assert [one.id for one in data.train] == ["t1", "t2", "n1", "n2", "n3"]
    assert data.counts == {"train": 5, "dev": 1, "test": 1, "labels": 4}
    counts = {label.id: label.count for label in data.label_space.labels}
    assert counts == {"693": 2, "1309": 1, "8": 1, "5": 0}
    alone = open_dataset(folder)
    assert alone.name == "garden"
    assert alone.counts["train"] == 2
    assert len({alone.fingerprint, data.fingerprint}) == 2
    assert data.fingerprint == open_dataset(folder, Additions((titles, texts))).fingerprint
    assert data.fingerprint != open_dataset(folder, Additions((titles,))).fingerprint


def test_the_longer_of_two_documents_with_one_id_is_kept_whatever_their_order(
    folder: Path, titles: Path, texts: Path
) -> None:
    for paths in ((titles, texts), (texts, titles)):
        data = open_dataset(folder, Additions(paths))
        (kept,) = (one for one in data.train if one.id == "n1")
        assert "graded by size" in kept.text
        assert [(one.id, one.file, one.kept) for one in data.repeated] == [
            ("n1", titles, str(texts))
        ]


def test_what_is_in_a_split_is_left_out_and_named(folder: Path, tmp_path: Path) -> None:
    ids = ("t1", "d1", "e1", "n9")
    file = write(tmp_path / "acts.jsonl.xz", *(titled(id, "8") for id in ids))
    data = open_dataset(folder, Additions((file,), summaries=True))
    assert [one.id for one in data.train] == ["t1", "t2", "n9"]
    assert [(one.id, one.kept) for one in data.repeated] == [
        ("t1", "train"),
        ("d1", "dev"),
        ("e1", "test"),
    ]
    first, *_ = repeated_note(data.repeated).splitlines()
    assert first == f"left out 1 document of {file}, whose id is in train already: t1"


def test_however_an_id_is_written_the_act_is_one(folder: Path, tmp_path: Path) -> None:
    """Test documents whose ids came in another spelling were trained on."""
    write(folder / "test.jsonl.xz", whole("32016R0001", "5"))
    ids = ("32016r0001", " 32016R0001 ", "CELEX:32016R0001", "32016R0002", "celex: 32016r0002")
    file = write(tmp_path / "acts.jsonl.xz", *(titled(id, "8") for id in ids))
    data = open_dataset(folder, Additions((file,)))
    assert [one.id for one in data.train] == ["t1", "t2", "32016R0002"]
    assert [one.kept for one in data.repeated] == ["test", "test", "test", str(file)]


def test_of_two_documents_with_one_id_in_one_file_the_longer_is_kept_too(
    folder: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "acts.jsonl.xz", titled("n1", "8"), whole("n1", "8"), titled("n1", "8"))
    data = open_dataset(folder, Additions((file,)))
    (kept,) = (one for one in data.train if one.id == "n1")
    assert "graded by size" in kept.text
    assert [(one.id, one.kept) for one in data.repeated] == 2 * [("n1", str(file))]


def test_the_note_names_ten_of_many_and_the_list_all(folder: Path, tmp_path: Path) -> None:
    many = [whole(f"t{n}", "693") for n in range(12)]
    write(folder / "train.jsonl.xz", *many)
    file = write(tmp_path / "acts.jsonl.xz", *many)
    data = open_dataset(folder, Additions((file,)))
    assert len(data.train) == 12
    assert repeated_note(data.repeated).endswith(", t9 and 2 more")
    ids = [f"t{n}" for n in range(12)]
    assert by_file(data.repeated) == [{"file": str(file), "kept": "train", "ids": ids}]


def test_summaries_are_documents_where_they_are_asked_for(
    folder: Path, titles: Path, texts: Path, tmp_path: Path
) -> None:
    data = open_dataset(folder, Additions((titles, texts), summaries=True))
    assert data.name == "garden+newlaw+summaries"
    summaries = [one for one in data.train if one.id.endswith("-summary")]
    assert [(one.id, one.text, one.labels) for one in summaries] == [
        ("n1-summary", "On lemons.", ("8",)),
        ("n3-summary", "On lemons.", ("693",)),
    ]
    # An act to measure on has a summary too, which would give it away.
    leak = write(tmp_path / "acts.jsonl.xz", whole("e1", "5"), whole("n4", "5", summary=""))
    data = open_dataset(folder, Additions((leak,), summaries=True))
    assert [one.id for one in data.train] == ["t1", "t2", "n4"]
    with pytest.raises(LabelwiseError, match="give --more too"):
        open_dataset(folder, Additions(summaries=True))


def test_documents_to_measure_on_are_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("dev.jsonl.xz", "test.jsonl", "newlaw-dev.jsonl", "Test_2.jsonl"):
        file = write(tmp_path / "newlaw" / name, titled("n1", "8"))
        with pytest.raises(InputError, match="are for measuring and are not trained on"):
            open_dataset(folder, Additions((file,)))
    write(tmp_path / "newlaw" / "train-titles.jsonl.xz", titled("n2", "8"))
    with pytest.raises(InputError, match=r"newlaw/Test_2.jsonl: documents called Test are for"):
        open_dataset(folder, Additions((tmp_path / "newlaw",)))  # a folder that holds such a file
    with pytest.raises(InputError, match=r"none\.jsonl: there is no such file or folder of more"):
        open_dataset(folder, Additions((tmp_path / "none.jsonl",)))


def test_documents_that_teach_only_that_no_label_fits_are_refused(
    folder: Path, texts: Path, tmp_path: Path
) -> None:
    """A page or a folder of acts that nobody labelled: every label would be learned not to fit."""
    page = tmp_path / "act.txt"
    page.write_text(ACT, "utf-8")
    for file in (page, write(tmp_path / "acts.jsonl.xz", titled("n1"), titled("n2"))):
        with pytest.raises(InputError, match="no document of it has a gold label to learn from"):
            _ = open_dataset(folder, Additions((texts, file))).train


def test_a_label_outside_the_thesaurus_is_an_error_or_recorded(
    folder: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / "acts.jsonl.xz", titled("n1", "404"), titled("n2", "8"))
    with pytest.raises(InputError, match=r"acts\.jsonl\.xz: label missing from the thesaurus.*404"):
        _ = open_dataset(folder, Additions((file,))).train
    skipped = Skipped()
    data = open_dataset(folder, Additions((file,)), skipped=skipped)
    assert [one.id for one in data.train] == ["t1", "t2", "n2"]
    assert skipped.reasons == {"label missing from the thesaurus": 1}


def test_every_concept_is_a_label_where_it_is_asked_for(folder: Path) -> None:
    data = open_dataset(folder, Additions(every_concept=True))
    assert data.name == "garden+every-concept"
    assert data.label_space.ids == ("1309", "693", "5", "8")  # and no domain
    assert data.label_space.labels[3].group == "zero"
    assert data.fingerprint != open_dataset(folder).fingerprint
    (folder / "descriptors.csv").unlink()
    with pytest.raises(LabelwiseError, match="has no thesaurus whose concepts could be labels"):
        _ = open_dataset(folder, Additions(every_concept=True)).label_space


def test_labels_that_were_replaced_become_their_successors_under_today_s_names(
    folder: Path, tmp_path: Path
) -> None:
    concepts = [
        {"id": "693", "label": "citrus"},
        {"id": "1309", "label": "import", "replaced_by_ids": ["2", "3"]},
        {"id": "2", "label": "import (EU)", "replaced_by_ids": []},
        {"id": "3", "label": "foreign trade"},
        {"id": "5", "label": "nut"},
    ]
    thesaurus = tmp_path / "eurovoc-2026.json"
    thesaurus.write_text(json.dumps(concepts))
    data = open_dataset(folder, Additions(thesaurus=thesaurus, every_concept=True))
    assert data.name == "garden+eurovoc-2026+every-concept"
    assert [one.labels for one in data.train] == [("693",), ("2", "3")]
    names = {label.id: label.descriptor for label in data.label_space.labels}
    assert names == {"2": "import (EU)", "3": "foreign trade", "693": "citrus", "5": "nut"}


@pytest.mark.real
@pytest.mark.slow
def test_newlaw_beside_eurlex57k(real_data: Path) -> None:
    newlaw = real_data / "newlaw"
    more = tuple(newlaw / f"train-{what}.jsonl.xz" for what in ("titles", "texts"))
    thesaurus = real_data / "eurovoc" / "eurovoc-2026-07-en.json.xz"
    additions = Additions(more, summaries=True, thesaurus=thesaurus, every_concept=True)
    data = open_dataset(real_data / "eurlex57k", additions)
    summaries = sum(one.id.endswith("-summary") for one in data.train)
    assert (len(data.train), summaries, len(data.repeated)) == (59_016, 883, 465)
    assert len(data.label_space) == 7_536 - 101 - 21
    assert "EC Directive" not in {label.descriptor for label in data.label_space.labels}
    assert data.name == "eurlex57k+newlaw+summaries+eurovoc-2026-07-en+every-concept"
