"""EURLEX57K: one JSON file a document, JSON Lines, compressed or not, in either set of keys."""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.document import Section
from labelwise.corpus.readers import read, read_stream
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError, LabelwiseError

ORANGES = {
    "celex_id": "31962R0023",
    "uri": "http://publications.europa.eu/resource/cellar/1",
    "type": "Regulation",
    "concepts": ["693", "1309"],
    "title": "Regulation on the marketing of oranges",
    "header": "REGULATION on the marketing of oranges\nTHE COUNCIL",
    "recitals": ",\nHaving regard to the Treaty;\nWhereas oranges are eaten fresh,",
    "main_body": ["Oranges shall be graded.", "", "This Regulation enters into force in May."],
    "attachments": "",
}
LEMONS = ORANGES | {"celex_id": "31962R0024", "title": "Regulation on lemons"}


def jsonl(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in ORANGES.items() if name != key}


def test_zones_become_sections_in_order_and_empty_ones_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_bytes(jsonl(ORANGES))
    (act,) = read(tmp_path / "train.jsonl")
    assert act.id == "31962R0023"
    assert act.title == "Regulation on the marketing of oranges"
    assert act.labels == ("693", "1309")
    assert act.sections == (
        Section("header", ORANGES["header"]),
        Section("recitals", ORANGES["recitals"]),
        Section("article", "Oranges shall be graded."),
        Section("article", "This Regulation enters into force in May."),
    )


@pytest.mark.parametrize("name", ["acts.jsonl", "acts.json", "acts.ndjson", "acts"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_json_lines_are_read_whatever_the_name_and_the_compression(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    long = LEMONS | {"main_body": ["Lemons shall be graded. " * 5000]}
    (tmp_path / name).write_bytes(pack(jsonl(long | {"celex_id": "31962R0023"}, LEMONS)))
    assert [act.id for act in read(tmp_path / name)] == ["31962R0023", "31962R0024"]


def test_a_folder_of_json_files_is_read_in_the_order_of_the_names(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(ORANGES, indent=2))
    (tmp_path / "a.json").write_text("\ufeff" + json.dumps(LEMONS))
    (tmp_path / ".DS_Store").write_bytes(b"\0\0")
    assert [act.id for act in read(tmp_path)] == ["31962R0024", "31962R0023"]


def test_a_json_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "acts.json").write_text(json.dumps([ORANGES, LEMONS], indent=1))
    assert len(list(read(tmp_path / "acts.json"))) == 2


def test_the_other_distribution_says_eurovoc_concepts_and_has_no_attachments() -> None:
    record = without("concepts") | {"eurovoc_concepts": ["693"]}
    del record["attachments"]
    (act,) = read_stream(io.BytesIO(jsonl(record)))
    assert act.labels == ("693",)
    assert [section.kind for section in act.sections][-1] == "article"


def test_zones_that_were_joined_into_one_text_are_told_apart_again() -> None:
    text = (
        "COUNCIL REGULATION (EEC) No 1/73\nTHE COUNCIL OF THE EUROPEAN COMMUNITIES,\n"
        "Having regard to the Treaty,\nHAS ADOPTED THIS REGULATION:\nArticle 1\n"
        "Oranges may be imported.\nDone at Brussels, 3 March 1973."
    )
    record = {"celex_id": "31973R0001", "title": "", "text": text, "eurovoc_concepts": ["693"]}
    (act,) = read_stream(io.BytesIO(jsonl(record)))
    kinds = [section.kind for section in act.sections]
    assert kinds == ["header", "recitals", "article", "attachments"]
    assert act.labels == ("693",)


def test_reading_is_lazy(tmp_path: Path) -> None:
    (tmp_path / "acts.jsonl").write_bytes(jsonl(ORANGES, LEMONS) + b"{broken\n")
    assert len(list(islice(read(tmp_path / "acts.jsonl"), 2))) == 2


def test_what_is_to_be_tagged_need_not_have_labels(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_bytes(jsonl(LEMONS, without("concepts"), {"celex_id": "32026R0001", "text": "Figs"}))
    assert [document.labels for document in read(path)] == [("693", "1309"), (), ()]


@pytest.mark.parametrize(
    ("record", "field", "problem"),
    [
        (without("celex_id"), "celex_id", "missing key"),
        (without("concepts"), "concepts", "neither 'concepts' nor 'eurovoc_concepts'"),
        (without("header"), "header", "missing key"),
        (without("main_body"), "main_body", "missing key"),
        (ORANGES | {"celex_id": 31962}, "celex_id", "a string is needed, not a number"),
        (ORANGES | {"celex_id": " "}, "celex_id", "the id is empty"),
        (ORANGES | {"main_body": "Oranges."}, "main_body", "a list of strings is needed"),
        (ORANGES | {"main_body": ["Oranges.", None]}, "main_body", "not null (entry 2"),
        (ORANGES | {"concepts": "693"}, "concepts", "a list of strings is needed, not a string"),
        (ORANGES | {"concepts": [693]}, "concepts", "not a number (entry 1"),
        (ORANGES | {"recitals": "Where\ud800as"}, "recitals", "half a character, \\ud800"),
    ],
)
def test_a_bad_record_is_named_by_file_line_and_field(
    tmp_path: Path, record: Any, field: str, problem: str
) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_bytes(jsonl(LEMONS, record))
    with pytest.raises(InputError) as caught:
        list(read(path, gold=True))
    assert (caught.value.file, caught.value.line, caught.value.field) == (path, 2, field)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{path}, line 2, field '{field}': ")


def test_broken_json_is_named_by_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_bytes(jsonl(ORANGES) + b'{"celex_id": "31962R0024", "concepts": ["693"\n')
    with pytest.raises(InputError, match=r"acts\.jsonl, line 2: broken JSON: .* at column"):
        list(read(path))


def test_a_string_that_is_cut_off_is_named_in_a_whole_sentence(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_bytes(jsonl(ORANGES) + b'{"celex_id": "31962R00\n')
    with pytest.raises(InputError, match=r"line 2: broken JSON: \w+ \w+ \w+ at column \d+$"):
        list(read(path))


def test_broken_json_in_a_file_of_many_lines_is_named_by_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "act.json"
    path.write_text('{\n  "celex_id": "31962R0023",\n  "title": "Oranges\n}')
    with pytest.raises(InputError, match=r"act\.json, line 3: broken JSON"):
        list(read(path))


def test_something_other_than_an_object_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "acts.jsonl").write_text('"oranges"\n')
    with pytest.raises(InputError, match="line 1: wrong type: a document is an object, this is a"):
        list(read(tmp_path / "acts.jsonl"))
    (tmp_path / "acts.json").write_text("[[1]]")
    with pytest.raises(InputError, match=r"acts\.json, entry 1: wrong type"):
        list(read(tmp_path / "acts.json"))


def test_nesting_without_end_is_broken_json_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "acts.jsonl").write_text("[" * 200_000 + "\n")
    with pytest.raises(InputError, match="broken JSON: brackets are nested too deeply"):
        list(read(tmp_path / "acts.jsonl"))


def test_wrong_encoding_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_bytes(jsonl(ORANGES) + b'{"celex_id": "d\xe9cision"}\n')
    with pytest.raises(InputError, match=r"line 2: wrong encoding: byte 16 of the line is 0xE9"):
        list(read(path))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_says_so_after_its_whole_documents(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    records = [ORANGES | {"celex_id": f"3{n:09}", "title": str(hash(n))} for n in range(2000)]
    data = pack(jsonl(*records))
    path = tmp_path / "train.jsonl.packed"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"truncated archive: it ends after line \d+ before"):
        list(read(path))
    skipped = Skipped()
    kept = list(read(path, skipped=skipped))
    assert 0 < len(kept) < 2000
    assert skipped.reasons == {"truncated archive": 1}


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    data = bytearray(lzma.compress(jsonl(ORANGES, LEMONS)))
    data[60] ^= 0xFF
    (tmp_path / "train.jsonl.xz").write_bytes(data)
    with pytest.raises(InputError, match="damaged archive: it cannot be unpacked"):
        list(read(tmp_path / "train.jsonl.xz"))


def test_a_file_that_only_claims_to_be_compressed_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl.gz").write_bytes(b"<html>404 Not Found</html>")
    with pytest.raises(InputError, match="not compressed: its name says that it is"):
        list(read(tmp_path / "train.jsonl.gz"))


def test_a_duplicate_id_names_the_line_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "acts.jsonl").write_bytes(jsonl(ORANGES, LEMONS, ORANGES))
    with pytest.raises(InputError, match=r"line 3: duplicate id: '31962R0023' .* from line 1"):
        list(read(tmp_path / "acts.jsonl"))


def test_a_duplicate_id_in_a_folder_names_the_first_file(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(jsonl(ORANGES))
    with pytest.raises(InputError, match=r"b\.json.*: duplicate id: '31962R0023' .*a\.json"):
        list(read(tmp_path))


def test_an_empty_file_and_an_empty_folder_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder holds no files"):
        read(tmp_path)
    (tmp_path / "acts.jsonl").write_bytes(b"\xef\xbb\xbf \n\n")
    with pytest.raises(InputError, match=r"acts\.jsonl: empty file"):
        list(read(tmp_path / "acts.jsonl"))
    (tmp_path / "acts.json").write_text("[]")
    with pytest.raises(InputError, match=r"acts\.json: nothing to read"):
        list(read(tmp_path / "acts.json"))
    with pytest.raises(InputError, match="there is no such file or folder"):
        read(tmp_path / "missing.jsonl")


def test_skipping_goes_on_counts_and_explains(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    bad = [b"{broken\n", b'{"also": broken\n', b'{"celex_id": "\xff"}\n']
    path.write_bytes(bad[0] + jsonl(ORANGES, without("header")) + bad[1] + jsonl(ORANGES) + bad[2])
    skipped = Skipped()
    assert [act.id for act in read(path, skipped=skipped)] == ["31962R0023"]
    assert skipped.count == 5
    assert skipped.reasons == {
        "broken JSON": 2,
        "missing key in field 'header'": 1,
        "duplicate id": 1,
        "wrong encoding": 1,
    }
    lines = skipped.summary().splitlines()
    assert lines[0] == "skipped 5 records:"
    assert lines[1].startswith(f"  2 × broken JSON (first: {path}, line 1: ")


def test_nothing_skipped_says_so() -> None:
    assert Skipped().summary() == "nothing was skipped"


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match="'rtf' is not a format; choose among eurlex57k, tsv"):
        read(tmp_path, format="rtf")


def test_standard_input_may_be_compressed_and_stays_open() -> None:
    stream = io.BufferedReader(io.BytesIO(gzip.compress(jsonl(ORANGES))))  # type: ignore[arg-type]
    assert [act.id for act in read_stream(stream)] == ["31962R0023"]
    assert not stream.closed


def test_errors_of_standard_input_call_it_by_name() -> None:
    with pytest.raises(InputError, match="standard input, line 1, field 'header': missing key"):
        list(read_stream(io.BytesIO(jsonl(without("header")))))
