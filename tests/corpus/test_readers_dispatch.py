"""The format is told by content first, by name second."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path

import pytest

from labelwise.corpus.readers import detect, read, read_stream
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError

ACT = """COUNCIL REGULATION (EEC) No 1/73
THE COUNCIL OF THE EUROPEAN COMMUNITIES,
Having regard to the Treaty,
HAS ADOPTED THIS REGULATION:
Article 1
Oranges may be imported.
Done at Brussels, 3 March 1973."""

HTML = """<!DOCTYPE html>
<html><head><title>x</title></head><body>{}</body></html>""".format(
    "".join(f"<p>{line}</p>" for line in ACT.splitlines())
)

FORMEX = """<?xml version="1.0" encoding="UTF-8"?>
<ACT><TITLE><TI><P>COUNCIL REGULATION (EEC) No 1/73</P></TI></TITLE>
<PREAMBLE><PREAMBLE.INIT>THE COUNCIL OF THE EUROPEAN COMMUNITIES,</PREAMBLE.INIT>
<GR.VISA><VISA>Having regard to the Treaty,</VISA></GR.VISA>
<PREAMBLE.FINAL>HAS ADOPTED THIS REGULATION:</PREAMBLE.FINAL></PREAMBLE>
<ENACTING.TERMS><ARTICLE IDENTIFIER="001"><TI.ART>Article 1</TI.ART>
<ALINEA>Oranges may be imported.</ALINEA></ARTICLE></ENACTING.TERMS>
<FINAL><SIGNATURE><P>Done at Brussels, 3 March 1973.</P></SIGNATURE></FINAL></ACT>"""


@pytest.mark.parametrize(
    ("start", "name", "format"),
    [
        (b'{"celex_id": "1"}', "a", "eurlex57k"),
        (b'{"text": "Oranges"}', "a.txt", "annif"),
        (b"oranges", "a.jsonl", "annif"),
        (b"<?xml version='1.0'?>\n<!-- published -->\n<ACT>", "a.txt", "formex"),
        (b"<CONS.ACT xmlns='x'>", "a.html", "formex"),
        (b"<?xml version='1.0'?><!DOCTYPE DOC SYSTEM 'formex.dtd'><DOC>", "a.xml", "formex"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "a.xml", "html"),
        (b"<!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>\n<HTML>", "a.txt", "html"),
        (b"<HTML><HEAD>", "a.xml", "html"),
        (b"Oranges <b>and</b> lemons", "a.htm", "html"),
        (b"text,subject_uris\n", "a.txt", "annif"),
        (b"Oranges\t<http://eurovoc.europa.eu/693>\n", "a.txt", "annif"),
        (b"1\t693\tOranges\n", "a.tsv", "tsv"),
        (b"id\tlabels\ttext\n", "a.txt", "tsv"),
        (b"Price\tWeight\nOranges", "a.txt", "text"),
        (b"[1] A footnote.", "a.txt", "text"),
        (b"Oranges,\rlemons", "a.txt", "text"),
        (b"<http://eurovoc.europa.eu/693> is about oranges", "a.txt", "text"),
    ],
)
def test_formats_are_told_apart(start: bytes, name: str, format: str) -> None:
    assert detect(start, name) == format


def test_a_file_made_to_hold_up_the_search_for_its_root_does_not() -> None:
    """With every way to read it tried, this would take longer than the world has stood."""
    started = time.process_time()
    assert detect(b"<!DOCTYPE x [ ]>" * 200 + b"<!--" + b"-->" * 200, "act.xml") == "html"
    assert time.process_time() - started < 5


def test_a_folder_of_text_html_and_formex_gives_one_act_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(ACT)
    (tmp_path / "b.xml").write_text(HTML)
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(FORMEX.encode()))
    (tmp_path / "c.key").write_text("citrus fruit\n")
    acts = list(read(tmp_path))
    assert [act.id for act in acts] == ["a", "b", "c"]
    for act in acts:
        assert "COUNCIL REGULATION (EEC) No 1/73" in act.title
        kinds = [section.kind for section in act.sections]
        assert kinds == ["header", "recitals", "article", "attachments"]
        assert "Oranges may be imported." in act.sections[2].text
    assert acts[2].labels == ("citrus fruit",)


def test_the_format_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"text": "this is what the file says"}')
    (act,) = read(tmp_path / "a.txt", format="text")
    assert act.text == '{"text": "this is what the file says"}'
    with pytest.raises(InputError, match="field 'celex_id': missing key"):
        list(read(tmp_path / "a.txt", format="eurlex57k"))
    (tmp_path / "b.txt").write_text("no JSON")
    with pytest.raises(InputError, match="broken JSON"):
        list(read(tmp_path / "b.txt", format="eurlex57k"))


def test_standard_input_may_be_an_act() -> None:
    (act,) = read_stream(io.BytesIO(ACT.encode()))
    assert act.id == "standard input"
    assert len(act.sections) == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"%PDF-1.7\n", "is a damaged PDF"),
        (b"PK\x03\x04\x14\x00", "is a damaged archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a text"),
        (b"", "empty file"),
    ],
)
def test_what_is_no_document_says_why_and_can_be_skipped(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "a.txt").write_text(ACT)
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        list(read(tmp_path))
    skipped = Skipped()
    assert [act.id for act in read(tmp_path, skipped=skipped)] == ["a"]
    assert skipped.count == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "windows-1252"])
def test_plain_text_is_read_in_the_encodings_that_editors_write(
    tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "act.txt").write_bytes("Décision sur les oranges".encode(encoding))
    (act,) = read(tmp_path / "act.txt")
    assert act.text == "Décision sur les oranges"


def test_two_files_of_one_stem_are_a_duplicate(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(ACT)
    (tmp_path / "a.html").write_text(HTML)
    with pytest.raises(InputError, match=r"a\.txt: duplicate id: 'a' was read before, from .*html"):
        list(read(tmp_path))


def test_formex_that_is_cut_off_is_one_reason_however_it_breaks(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(FORMEX[:200])
    (tmp_path / "b.xml").write_text(FORMEX[:400])
    skipped = Skipped()
    assert list(read(tmp_path, skipped=skipped)) == []
    assert (skipped.count, len(skipped.reasons)) == (2, 1)
