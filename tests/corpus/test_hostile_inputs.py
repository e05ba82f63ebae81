"""Inputs that no writer of acts makes: each is a sentence, and the others beside it are read."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tracemalloc
from pathlib import Path

import pytest

from labelwise.corpus import plain_text, sources
from labelwise.corpus.document import Document
from labelwise.corpus.readers import read, read_stream
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.thesaurus import read_thesaurus
from labelwise.errors import InputError


def page(encoding: str) -> bytes:
    head = f'<html><head><meta charset="{encoding}"></head><body><p>Oranges caf'
    return head.encode() + b"\xe9 and lemons</p></body></html>"


@pytest.mark.parametrize(
    "encoding",
    str.split(
        "hex hex_codec base64 base64_codec rot13 rot_13 uu zlib bz2 quopri unicode_escape"
        " raw_unicode_escape utf-7 idna punycode undefined"
    ),
)
def test_a_declared_encoding_that_is_none_of_text_is_named(encoding: str) -> None:
    with pytest.raises(
        InputError, match=r"declares the encoding '.*', in which no text is written"
    ):
        list(read_stream(io.BytesIO(page(encoding)), "act.html"))


def test_an_unknown_declared_encoding_is_read_as_before() -> None:
    (act,) = read_stream(io.BytesIO(page("klingon")), "act.html")
    assert act.text == "Oranges café and lemons"


def formex(code: str) -> bytes:
    mark = f'<QUOT.START CODE="{code}"/>'
    return f'<?xml version="1.0"?><ACT><P>{mark}Oranges</P></ACT>'.encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("act.xml", formex("D800")),
        ("act.xml", formex("DFFF")),
        ("act.xml", formex("F" * 5000)),
        ("act.html", b"<html><body><p>Oranges &#xD800;&#55296;&#xDFFF;</p></body></html>"),
        ("act.html", b"<html><body><p>Oranges &#99999999999999999999;</p></body></html>"),
    ],
)
def test_a_code_of_half_a_character_makes_none(name: str, data: bytes) -> None:
    (act,) = read_stream(io.BytesIO(data), name)
    assert "Oranges" in act.text
    act.text.encode()


@pytest.mark.parametrize(
    "record",
    [
        {"text": "Oranges \ud800"},
        {"text": "Oranges", "metadata": {"title": "half \udfff"}},
        {"text": "Oranges", "document_id": "\ud800"},
        {"text": "Oranges", "subjects": [{"label": "\ud800"}]},
    ],
)
def test_half_a_character_anywhere_in_a_record_is_a_sentence(record: object) -> None:
    data = (json.dumps(record) + '\n{"text": "Lemons"}\n').encode()
    with pytest.raises(InputError, match="wrong encoding: half a character"):
        list(read_stream(io.BytesIO(data), "acts.jsonl"))
    skipped = Skipped()
    (act,) = read_stream(io.BytesIO(data), "acts.jsonl", skipped=skipped)
    assert (act.text, skipped.count) == ("Lemons", 1)


@pytest.mark.parametrize(
    "concepts",
    [
        {"\ud800": "fruit"},
        {"1": "fruit\ud800"},
        {"1": {"label": "fruit", "uri": "http://example.org/\ud800"}},
        [{"id": "1", "label": "fruit", "alt_labels": ["\udfff"]}],
    ],
)
def test_half_a_character_anywhere_in_a_thesaurus_is_a_sentence(
    concepts: object, tmp_path: Path
) -> None:
    file = tmp_path / "thesaurus.json"
    file.write_text(json.dumps(concepts))
    with pytest.raises(InputError, match="half a character"):
        read_thesaurus(file)


@pytest.mark.parametrize("name", ["altLabel", "scopeNote"])
def test_half_a_character_in_turtle_is_a_sentence(name: str, tmp_path: Path) -> None:
    file = tmp_path / "thesaurus.ttl"
    file.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        "<http://example.org/1> a skos:Concept ; skos:prefLabel 'fruit'@en ;\n"
        rf"skos:{name} 'fruit \ud800'@en ."
    )
    with pytest.raises(InputError, match=r"the concept .* half a character"):
        read_thesaurus(file)


@pytest.mark.parametrize("name", ["acts.jsonl", "acts.json"])
def test_a_number_of_five_thousand_digits_is_a_sentence(name: str) -> None:
    data = b'{"text": "Oranges", "year": ' + b"1" * 5000 + b"}\n"
    with pytest.raises(InputError, match="broken JSON: a number has too many digits"):
        list(read_stream(io.BytesIO(data), name))


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16"])
@pytest.mark.parametrize("text", ["Oranges and ελιές.", "<html><body><p>Oranges and ελιές.</p>"])
def test_wide_encodings_are_read_by_their_mark(encoding: str, text: str) -> None:
    marked = text if encoding in ("utf-32", "utf-16") else "\ufeff" + text
    (act,) = read_stream(io.BytesIO(marked.encode(encoding)), "act.txt")
    assert act.text == "Oranges and ελιές."


@pytest.mark.parametrize("name", ["acts.jsonl", "acts.json", "acts.tsv", "acts.csv"])
def test_records_in_utf_32_are_a_sentence(name: str) -> None:
    with pytest.raises(InputError):
        list(read_stream(io.BytesIO('{"text": "Oranges"}'.encode("utf-32")), name))


def test_skip_bad_skips_every_kind_of_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = plain_text.parse_text

    def failing(data: bytes, name: str) -> Document:
        for error in (ValueError, KeyError, RecursionError, MemoryError, OSError, LookupError):
            if error.__name__.encode() in data:
                raise error("on purpose")
        return parse(data, name)

    monkeypatch.setattr(plain_text, "parse_text", failing)
    faults = {
        "encoding.html": page("hex"),
        "digits.jsonl": b'{"text": ' + b"1" * 5000 + b"}",
        "deep.json": b'{"text": ' + b"[" * 100_000,
        "cut.txt.gz": gzip.compress(b"Oranges " * 1000)[:-20],
        "bytes.txt": b"\0\1\2\3" * 100,
        "empty.txt": b"",
        "broken.xml": b'<?xml version="1.0"?><ACT><P>',
        **{
            f"{one}.txt": one.encode()
            for one in ("ValueError", "KeyError", "RecursionError", "MemoryError", "OSError")
        },
    }
    for name, data in faults.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.txt").write_text("Oranges.")
    skipped = Skipped()
    assert [one.id for one in read(tmp_path, skipped=skipped)] == ["good"]
    assert skipped.count == len(faults)
    for name in faults:
        with pytest.raises(InputError, match=name):
            list(read(tmp_path / name))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
@pytest.mark.parametrize("name", ["act.txt", "act.html", "acts.jsonl", "acts.json", "acts.tsv"])
def test_a_small_file_that_unpacks_to_a_large_one_is_read_within_a_bound(
    name: str, pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(pack)
    monkeypatch.setattr(sources, "MOST_UNPACKED", 1_000_000)
    start = b"[{" if name.endswith(".json") else b"{" if "json" in name else b"x"
    (tmp_path / f"{name}.gz").write_bytes(pack(start + b" " * 30_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="too large: unpacked it has more than 1,000,000"):
            list(read(tmp_path / f"{name}.gz"))
        assert tracemalloc.get_traced_memory()[1] < 15_000_000  # xz has a dictionary of 8 MB
    finally:
        tracemalloc.stop()


def test_a_compressed_file_of_many_lines_may_be_larger_than_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_UNPACKED", 1_000)
    lines = "".join(f'{{"text": "Oranges.", "id": "{n}"}}\n' for n in range(100))
    (tmp_path / "acts.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert len(list(read(tmp_path / "acts.jsonl.gz"))) == 100
