"""Annif's corpora: TSV, CSV, JSON Lines, and folders with subjects beside the texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError

IMPORT = "<http://eurovoc.europa.eu/1309>"
CITRUS = "<http://eurovoc.europa.eu/693>"
YSO = "<http://www.yso.fi/onto/yso/p1265>"


def test_eurovoc_uris_become_ids_and_others_stay() -> None:
    assert concept_id(IMPORT) == "1309"
    assert concept_id("https://eurovoc.europa.eu/c_10aa91c7") == "c_10aa91c7"
    assert concept_id(YSO) == "http://www.yso.fi/onto/yso/p1265"
    assert concept_id("http://eurovoc.europa.eu/schema#Domain") != "schema"


def test_short_texts_as_tsv(tmp_path: Path) -> None:
    text = f"Imports of oranges\t{IMPORT} {CITRUS}\nA text without subjects\t\nArchives\t{YSO}\n"
    (tmp_path / "titles.tsv.gz").write_bytes(gzip.compress(text.encode()))
    documents = list(read(tmp_path / "titles.tsv.gz"))
    assert [document.id for document in documents] == ["titles:1", "titles:2", "titles:3"]
    assert [document.labels for document in documents] == [
        ("1309", "693"),
        (),
        ("http://www.yso.fi/onto/yso/p1265",),
    ]
    assert documents[0].text == "Imports of oranges"


def test_tsv_errors(tmp_path: Path) -> None:
    path = tmp_path / "titles.tsv"
    path.write_text(f"Imports\t{IMPORT}\nno tab here\nOranges\tcitrus\n")
    with pytest.raises(InputError, match="line 2: missing tab"):
        list(read(path))
    skipped = Skipped()
    assert len(list(read(path, skipped=skipped))) == 1
    assert skipped.reasons == {"missing tab": 1, "not a URI": 1}


def test_short_texts_as_csv(tmp_path: Path) -> None:
    (tmp_path / "titles.csv").write_text(
        "\ufeffdocument_id,title,text,subject_uris\n"
        f'a1,Oranges,"Imports of oranges,\nlemons and limes",{IMPORT} {CITRUS}\n'
        ",,Archives,http://www.yso.fi/onto/yso/p1265\n"
    )
    first, second = read(tmp_path / "titles.csv")
    assert (first.id, first.title, first.labels) == ("a1", "Oranges", ("1309", "693"))
    assert "lemons and limes" in first.text
    assert (second.id, second.labels) == ("titles:4", ("http://www.yso.fi/onto/yso/p1265",))


def test_csv_is_known_by_its_header_without_an_extension(tmp_path: Path) -> None:
    (tmp_path / "titles").write_text(f"text,subject_uris\nOranges,{CITRUS}\n")
    (document,) = read(tmp_path / "titles")
    assert document.labels == ("693",)


def test_csv_fields_may_be_longer_than_the_csv_module_allows_at_first(tmp_path: Path) -> None:
    (tmp_path / "acts.csv").write_text(f"text,subject_uris\n{'orange ' * 30_000},{CITRUS}\n")
    (document,) = read(tmp_path / "acts.csv")
    assert len(document.text.split()) == 30_000


def test_csv_errors(tmp_path: Path) -> None:
    path = tmp_path / "titles.csv"
    path.write_text("text,subjects\nOranges,x\n")
    with pytest.raises(InputError, match="line 1, field 'subject_uris': missing column"):
        list(read(path))
    path.write_bytes(
        f'text,subject_uris\n"Oran"ges,{CITRUS}\n'.encode()
        + f"Oranges,{CITRUS},more\nLim".encode()
        + b"\xe9"
        + f's,{CITRUS}\nLemons,{CITRUS}\n"never closed,{CITRUS}\n'.encode()
    )
    with pytest.raises(InputError, match="line 2: broken CSV"):
        list(read(path))
    skipped = Skipped()
    assert [document.text for document in read(path, skipped=skipped)] == ["Lemons"]
    assert skipped.reasons == {
        "broken CSV": 2,
        "wrong number of columns": 1,
        "wrong encoding in field 'text'": 1,
    }
    assert "line 4, field 'text': wrong encoding: byte 0xE9" in skipped.summary()


def test_json_lines_with_subjects_by_uri_or_label(tmp_path: Path) -> None:
    records = [
        {
            "document_id": "a1",
            "text": "Imports of oranges",
            "metadata": {"title": "Oranges"},
            "subjects": [{"uri": CITRUS, "label": "citrus fruit"}, {"label": "import"}],
        },
        {"text": "A text without subjects"},
        {"id": "a3", "text": "Lemons", "labels": ["693"]},
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, records)))
    found = list(read(tmp_path / "c.jsonl"))
    assert [(one.id, one.labels) for one in found] == [
        ("a1", ("693", "import")),
        ("c:2", ()),
        ("a3", ("693",)),
    ]
    assert found[0].title == "Oranges"


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"text": 5}, "text"),
        ({"text": "Lemons", "subjects": "693"}, "subjects"),
        ({"text": "Lemons", "subjects": [{"name": "lemon"}]}, "subjects"),
        ({"text": "Lemons", "document_id": 5}, "document_id"),
        ({"document_id": "a1", "subjects": []}, "celex_id"),
    ],
)
def test_json_errors_name_the_field(tmp_path: Path, record: object, field: str) -> None:
    (tmp_path / "c.jsonl").write_text(json.dumps(record))
    with pytest.raises(InputError, match=f"line 1, field '{field}'"):
        list(read(tmp_path / "c.jsonl"))


def test_a_folder_of_texts_with_subjects_beside_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Imports of oranges.")
    (tmp_path / "a.tsv").write_text(f"{IMPORT}\timport\tignored\n{CITRUS}\tcitrus fruit\n")
    (tmp_path / "b.txt").write_text("Lemons.")
    (tmp_path / "b.key").write_text("citrus fruit\nimport\n\n")
    (tmp_path / "c.txt").write_text("A text without subjects.")
    found = list(read(tmp_path))
    assert [(one.id, one.labels) for one in found] == [
        ("a", ("1309", "693")),
        ("b", ("citrus fruit", "import")),
        ("c", ()),
    ]


def test_a_key_file_without_its_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Imports of oranges.")
    (tmp_path / "b.key").write_text("import\n")
    with pytest.raises(InputError, match=r"b\.key: a \.key file holds the subjects of a \.txt"):
        list(read(tmp_path))


def test_a_subject_row_without_a_uri_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Imports of oranges.")
    (tmp_path / "a.tsv").write_text(f"{IMPORT}\timport\n\tcitrus fruit\n")
    with pytest.raises(InputError, match=r"a\.tsv, line 2, field 'uri': missing value"):
        list(read(tmp_path))
