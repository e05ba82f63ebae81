"""Tab-separated documents: id, labels, text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError


@pytest.mark.parametrize("labels", ["693 1309", "693,1309", "693; 1309", "693,693,1309"])
def test_labels_are_separated_by_spaces_commas_or_semicolons(tmp_path: Path, labels: str) -> None:
    (tmp_path / "acts.tsv").write_text(f"31962R0023\t{labels}\tOranges shall be graded.\n")
    (act,) = read(tmp_path / "acts.tsv")
    assert (act.id, act.labels, act.text) == (
        "31962R0023",
        ("693", "1309"),
        "Oranges shall be graded.",
    )
    assert act.sections[0].kind == "article"


def test_a_header_row_is_passed_over_and_blank_lines_too(tmp_path: Path) -> None:
    (tmp_path / "acts.tsv").write_text("id\tlabels\ttext\r\n1\t693\tOranges.\r\n\r\n2\t\tLemons.\n")
    assert [(act.id, act.labels) for act in read(tmp_path / "acts.tsv")] == [
        ("1", ("693",)),
        ("2", ()),
    ]


def test_a_header_row_tells_the_format_without_an_extension(tmp_path: Path) -> None:
    (tmp_path / "acts").write_bytes(gzip.compress(b"celex_id\tconcepts\ttext\n1\t693\tOranges."))
    (act,) = read(tmp_path / "acts")
    assert act.labels == ("693",)


def test_a_tab_in_the_text_belongs_to_the_text(tmp_path: Path) -> None:
    (tmp_path / "acts.tsv").write_text("1\t693\tOranges\tlemons\n")
    (act,) = read(tmp_path / "acts.tsv")
    assert act.text.split() == ["Oranges", "lemons"]


def test_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "acts.tsv"
    path.write_bytes(
        b"1\t693\tOranges.\n2\tLemons.\n\t693\tLimes.\n3\t693\t\xe9t\xe9\n1\t\tAgain.\n"
    )
    with pytest.raises(InputError, match=r"acts\.tsv, line 2: missing column: .* has 2 fields"):
        list(read(path))
    skipped = Skipped()
    assert [act.id for act in read(path, skipped=skipped)] == ["1"]
    assert skipped.reasons == {
        "missing column": 1,
        "missing value in field 'id'": 1,
        "wrong encoding": 1,
        "duplicate id": 1,
    }


def test_a_header_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "acts.tsv").write_text("id\tlabels\ttext\n")
    with pytest.raises(InputError, match="nothing to read"):
        list(read(tmp_path / "acts.tsv"))
