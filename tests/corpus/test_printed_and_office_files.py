"""PDF, DOCX, ODT and EPUB: the zones of the act, and every way in which a file can be bad."""

from __future__ import annotations

import doctest
import io
import struct
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import written_files as made

from labelwise.corpus import archives, epub, pdf
from labelwise.corpus.document import Document, Section
from labelwise.corpus.plain_text import split_act
from labelwise.corpus.readers import detect, read, read_stream
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError, MissingExtraError

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def parsed(data: bytes, name: str = "file") -> Document:
    (document,) = read_stream(io.BytesIO(data), name)
    return document


def words_of(sections: Sequence[Section]) -> list[list[str]]:
    """The words of each section: a printed title has no lines of its own."""
    return [section.text.split() for section in sections]


def word(body: str) -> bytes:
    document = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
    return made.with_parts(made.docx([]), word_document=document.encode())


def test_the_examples_hold() -> None:
    assert doctest.testmod(epub).failed == 0


@pytest.mark.parametrize("name", made.every_kind())
def test_an_act_has_the_zones_that_its_text_has(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(made.every_kind()[name])
    (document,) = read(tmp_path)
    assert words_of(document.sections) == words_of(split_act(made.ACT)[1])
    assert document.title == " ".join(made.ACT.splitlines()[:3])
    assert [section.kind for section in document.sections] == made.ZONES
    assert document.id == "act"


@pytest.mark.parametrize("name", made.every_kind())
def test_the_content_tells_the_format_whatever_the_name(name: str) -> None:
    data = made.every_kind()[name]
    assert f".{detect(data[:4096], 'upload')}" == Path(name).suffix
    assert parsed(data, "32001R0012.bin").id == "32001R0012"


@pytest.mark.parametrize("name", made.every_kind())
def test_a_file_that_is_cut_off_is_damaged_and_can_be_skipped(name: str, tmp_path: Path) -> None:
    data = made.every_kind()[name]
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="is a damaged"):
        list(read(tmp_path))
    skipped = Skipped()
    assert list(read(tmp_path, skipped=skipped)) == []
    assert skipped.count == 1


# PDF ---------------------------------------------------------------------------------------------


def test_a_pdf_of_two_pages_is_one_act_without_its_running_heads() -> None:
    lines = made.ACT.splitlines()
    head = "Official Journal of the European Communities"
    pages = [
        [f"L 4/7 EN {head} 6.1.2001", *lines[:8], "The import duty on oranges and le-", "7"],
        [f"6.1.2001 EN {head} L 4/8", "mons shall be fixed every week.", *lines[9:], "8"],
    ]
    document = parsed(made.pdf(pages), "act.pdf")
    assert words_of(document.sections) == words_of(split_act(made.ACT)[1])


def test_a_scan_says_that_it_has_no_text() -> None:
    for stamp in ("", "Copy 12"):
        with pytest.raises(InputError, match="holds no text, only pictures of pages"):
            parsed(made.scanned(stamp))


def test_a_pdf_without_a_word_holds_no_text() -> None:
    with pytest.raises(InputError, match="holds no text"):
        parsed(made.pdf([[]]))


def test_an_encrypted_pdf_says_so() -> None:
    with pytest.raises(InputError, match="is encrypted: save it without a password"):
        parsed(made.pdf([["Figs are sweet."]], encrypt="secret"))


def test_a_pdf_that_only_its_owner_may_change_is_read() -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption

    locked = StandardEncryption(userPassword="", ownerPassword="secret", canModify=0)
    assert parsed(made.pdf([["Figs are sweet."]], encrypt=locked)).text == "Figs are sweet."


def test_pages_characters_and_time_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    three = made.pdf([["Figs."], ["Dates."], ["Nuts."]])
    for bound, value, problem in (
        ("PAGES", 2, "holds 3 pages, and 2 are read at most"),
        ("CHARACTERS", 8, "holds more than 8 characters"),
        ("SECONDS", -1.0, "not enough to read more than page 0"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(pdf, bound, value)
            with pytest.raises(InputError, match=problem):
                parsed(three)


def test_without_the_extra_a_pdf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtraError, match=r"labelwise\[files\]"):
        parsed(made.pdf([["Figs."]]))


# DOCX --------------------------------------------------------------------------------------------


def test_word_shows_insertions_and_hides_deletions_fields_and_contents() -> None:
    body = """
<w:p><w:pPr><w:pStyle w:val="TOC1"/></w:pPr><w:r><w:t>Article 1 … 3</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Figs are </w:t></w:r>
<w:del><w:r><w:delText>sour</w:delText></w:r></w:del><w:ins><w:r><w:t>sweet</w:t></w:r></w:ins>
<w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:t>.</w:t></w:r></w:p>
<w:p><w:r><w:t>cross</w:t><w:noBreakHyphen/><w:t>border</w:t><w:br/><w:t>trade</w:t></w:r></w:p>"""
    assert parsed(word(body)).text == "Figs are sweet.\ncross-border\ntrade"


def test_a_row_of_a_table_is_a_line() -> None:
    def row(*cells: str) -> str:
        return "".join(f"<w:tc><w:p><w:r><w:t>{one}</w:t></w:r></w:p></w:tc>" for one in cells)

    table = f"<w:tbl><w:tr>{row('Figs', '3 kg')}</w:tr><w:tr>{row('Dates', '4 kg')}</w:tr></w:tbl>"
    after = "<w:p><w:r><w:t>Nuts</w:t></w:r></w:p>"
    assert parsed(word(table + after)).text == "Figs 3 kg\nDates 4 kg\nNuts"


def test_footnotes_of_word_come_after_the_signature() -> None:
    def note(text: str, type: str = "") -> str:
        return f"<w:footnote {type}><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>"

    notes = note("—", 'w:type="separator"') + note("OJ L 12, p. 1.", 'w:id="2"')
    file = made.with_parts(
        made.docx([*made.ACT.splitlines(), "ANNEX", "Figs."]),
        word_footnotes=f"<w:footnotes {WORD}>{notes}</w:footnotes>".encode(),
    )
    end = "Done at Brussels, 5 January 2001.\nOJ L 12, p. 1.\nANNEX\nFigs."
    assert parsed(file).sections[-1].text == end


def test_another_zip_archive_is_told_from_a_document() -> None:
    for name in ("xl/workbook.xml", "notes.txt"):
        with pytest.raises(InputError, match="is a zip archive other than DOCX, ODT and EPUB"):
            parsed(made.zipped([(name, b"<x/>")]))


def test_old_word_files_say_how_to_save_them() -> None:
    with pytest.raises(InputError, match="save it as DOCX or ODT, without a password"):
        parsed(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "act.doc")


# ODT ---------------------------------------------------------------------------------------------


def test_an_odt_gives_what_it_shows() -> None:
    body = """<text:tracked-changes><text:deletion><text:p>Sour.</text:p></text:deletion>
</text:tracked-changes><text:table-of-content><text:p>Figs … 1</text:p></text:table-of-content>
<text:h>Figs</text:h><text:p>Figs<text:s text:c="2"/>are <text:span>sweet</text:span><text:note>
<text:note-citation>1</text:note-citation><text:note-body><text:p>So is honey.</text:p>
</text:note-body></text:note>.<text:line-break/>Dates<text:tab/>too.</text:p>
<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>
<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"""
    assert parsed(made.odt(body)).text == "Figs\nFigs are sweet.\nDates too.\na b\nSo is honey."


def test_an_encrypted_odt_says_so() -> None:
    manifest = b"<manifest><encryption-data/></manifest>"
    mimetype = ("mimetype", b"application/vnd.oasis.opendocument.text")
    with pytest.raises(InputError, match="is encrypted"):
        parsed(made.zipped([mimetype, ("META-INF/manifest.xml", manifest)]))


# EPUB --------------------------------------------------------------------------------------------


def test_a_book_is_read_in_the_order_of_its_spine_without_its_contents() -> None:
    lines = made.ACT.splitlines()
    pages = {"b": made.html_paragraphs(lines[:9]), "a 2": made.html_paragraphs(lines[9:])}
    assert parsed(made.epub(pages)).sections == split_act(made.ACT)[1]


def test_a_locked_book_says_so_and_locked_fonts_do_no_harm() -> None:
    def lock(part: str) -> tuple[str, bytes]:
        xml = f'<encryption><CipherReference URI="{part}"/></encryption>'
        return "META-INF/encryption.xml", xml.encode()

    pages = {"act": "<p>Figs are sweet.</p>"}
    assert parsed(made.epub(pages, extra=[lock("OEBPS/font.otf")])).text == "Figs are sweet."
    with pytest.raises(InputError, match="is encrypted"):
        parsed(made.epub(pages, extra=[lock("OEBPS/text/act.xhtml")]))


# What all archives share -------------------------------------------------------------------------


def test_a_bomb_stops_at_the_bound_whatever_its_archive_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "LIMIT", 100_000)
    bomb = word("<w:p/>" * 100_000)
    with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
        size = struct.pack("<I", archive.getinfo("word/document.xml").file_size)
    lies = bomb.replace(size, struct.pack("<I", 50))
    assert lies != bomb
    for file in (bomb, lies):
        with pytest.raises(InputError, match=r"holds more than|is a damaged archive"):
            parsed(file)


@pytest.mark.parametrize("flags", [0b100000, 0b1000000])  # patched data, and strong encryption
def test_what_python_cannot_unpack_is_a_damaged_archive(flags: int) -> None:
    packed = bytearray(word("<w:p/>"))
    for head, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        start = packed.index(head)
        while start >= 0:
            packed[start + at] |= flags
            start = packed.find(head, start + 1)
    with pytest.raises(InputError, match="is a damaged archive"):
        parsed(bytes(packed))


def test_an_archive_of_a_later_version_of_zip_is_a_damaged_archive() -> None:
    packed = bytearray(word("<w:p/>"))
    packed[packed.index(b"PK\x01\x02") + 6] = 148
    with pytest.raises(InputError, match="is a damaged archive"):
        parsed(bytes(packed))


def test_a_page_that_a_book_names_many_times_is_counted_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "LIMIT", 100_000)
    book = made.epub({"act": f"<p>{'Figs. ' * 5_000}</p>"})
    again = b'<itemref idref="p0"/>'
    with zipfile.ZipFile(io.BytesIO(book)) as old:
        files = [(name, old.read(name).replace(again, again * 50)) for name in old.namelist()]
    with pytest.raises(InputError, match="holds more than 100,000 bytes"):
        parsed(made.zipped(files))


def test_a_part_with_a_password_is_encrypted() -> None:
    data = bytearray(word("<w:p/>"))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        found = data.find(mark)
        while found >= 0:
            data[found + at] |= 1
            found = data.find(mark, found + 4)
    with pytest.raises(InputError, match="is encrypted"):
        parsed(bytes(data))


@pytest.mark.parametrize("declared", ['<!ENTITY a "x">', '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_entities_of_a_files_own_are_refused(declared: str) -> None:
    hostile = f'<?xml version="1.0"?><!DOCTYPE x [{declared}]><x>&a;</x>'.encode()
    files = [
        made.with_parts(made.docx([]), word_document=hostile),
        made.with_parts(made.odt(""), content=hostile),
        made.with_parts(made.epub({}), **{"META-INF_container": hostile}),
    ]
    for file in files:
        with pytest.raises(InputError, match="declares XML entities of its own"):
            parsed(file)
