"""Formex 4: acts, consolidated acts, annexes, and what is none of these."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from labelwise.corpus.document import Document
from labelwise.corpus.formex import parse_formex
from labelwise.errors import InputError

FILES = Path(__file__).parent / "files"


def read(name: str) -> Document:
    return parse_formex((FILES / name).read_bytes(), name)


def texts(document: Document, kind: str) -> list[str]:
    return [section.text for section in document.sections if section.kind == kind]


def test_an_act_is_split_by_its_elements() -> None:
    act = read("formex_act.xml")
    assert act.id == "32017R9456"
    assert act.title == (
        "REGULATION (EU) 2017/9456 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL"
        " of 14 June 2017 on the grading of orchard fruit"
    )
    assert texts(act, "header")[0].endswith("THE COUNCIL OF THE EUROPEAN UNION")
    assert texts(act, "recitals") == [
        "Having regard to the Treaty on the Functioning of the European Union, and in particular"
        " Article 43(2) thereof,\nHaving regard to the opinion of the European Economic and Social"
        " Committee,\nWhereas:\n(1) Fruit is graded differently from one orchard to the next.\n"
        "(2) One scale should be used,"
    ]
    first, _, third = texts(act, "article")
    assert first == (
        "CHAPTER I\nGRADING\nSection 1\nScope\n1. This Regulation applies to:\n"
        "(a) apples, ‘pome fruit’;\n(b) pears.\n2. It does not apply to windfalls."
    )
    assert third.startswith("Entry into force\n")
    assert third.endswith("directly applicable in all Member States.")
    assert texts(act, "attachments") == [
        "Done at Strasbourg, 14 June 2017.\nFor the Council\nE. PERSON\nOJ C 9, 12.1.2016, p. 47."
    ]


def test_quoted_articles_belong_to_the_article_that_quotes_them() -> None:
    second = texts(read("formex_act.xml"), "article")[1]
    assert second == (
        "CHAPTER II\nDecision 1999/9003/EC is amended as follows:\n"
        "(1) Article 3 is replaced by the following:\n‘Article 3\nScales shall be calibrated.\n"
        "Article 3a\nCalibration is yearly.’"
    )


def test_a_consolidated_act_has_its_own_title_and_annex() -> None:
    act = read("formex_consolidated.xml")
    assert act.id == "02011L9083-20220528"
    assert act.title == (
        "DIRECTIVE 2011/9083/EU of 25 October 2011 on the flying of kites near airfields"
    )
    assert "balloons" not in act.text
    assert texts(act, "article") == [
        "Subject matter\nKites shall not be flown within 500 metres of an airfield.",
        "The length of a line is:\nSmall kites Lines shall be shorter than 30 metres.\n"
        "Large kites Lines shall be shorter than 20 metres.",
    ]
    assert texts(act, "attachments") == ["ANNEX I\nArticle 1\nModel rules for clubs."]


def test_an_annex_in_a_file_of_its_own_is_attachments() -> None:
    annex = read("formex_annex.xml")
    assert annex.title == "ANNEX I"
    assert [(section.kind, section.text) for section in annex.sections] == [
        (
            "attachments",
            "ANNEX I\nAMOUNT OF FEES\nA. The fees for grading are:\n1. Basic fee:\nEUR 850",
        )
    ]


def test_a_list_of_parts_says_which_files_to_open() -> None:
    with pytest.raises(InputError, match=r"open the parts L_2017954EN\.01000101\.xml, L_2017954EN"):
        read("formex_doc.xml")


def test_acts_inside_a_wrapper_or_a_namespace_are_found() -> None:
    inner = (FILES / "formex_act.xml").read_text(encoding="utf-8").split("?>", 1)[1]
    wrapped = parse_formex(f"<COMBINED.FMX>{inner}</COMBINED.FMX>".encode(), "formex_act.xml")
    assert wrapped.sections == read("formex_act.xml").sections
    spaced = inner.replace("<ACT ", '<ACT xmlns="urn:formex" ', 1)
    assert parse_formex(spaced.encode(), "formex_act.xml") == read("formex_act.xml")


def test_an_act_without_articles_is_one_article() -> None:
    act = parse_formex(
        b"<ACT><TITLE><TI><P>COUNCIL RECOMMENDATION on bees</P></TI></TITLE><PREAMBLE>"
        b"<PREAMBLE.INIT>THE COUNCIL OF THE EUROPEAN UNION,</PREAMBLE.INIT><PREAMBLE.FINAL>HEREBY"
        b" RECOMMENDS:</PREAMBLE.FINAL></PREAMBLE><ENACTING.TERMS><P>Plant clover.</P>"
        b"</ENACTING.TERMS></ACT>",
        "bees.xml",
    )
    assert texts(act, "article") == ["Plant clover."]
    assert texts(act, "recitals") == []


def test_a_root_of_another_kind_is_split_by_its_words() -> None:
    general = parse_formex(
        b"<GENERAL><TITLE><TI><P>DECISION No 4 OF THE BOARD</P></TI></TITLE><CONTENTS>"
        b"<P>THE MANAGEMENT BOARD,</P><P>Having regard to the Treaty,</P>"
        b"<P>HAS DECIDED AS FOLLOWS:</P><P>Article 1</P><P>Bees are free.</P><P>Article 2</P>"
        b"<P>So are wasps.</P><P>Done at Parma, 1 May 2009.</P></CONTENTS></GENERAL>",
        "board.xml",
    )
    assert texts(general, "article") == ["Bees are free.", "So are wasps."]
    assert texts(general, "attachments") == ["Done at Parma, 1 May 2009."]


def test_an_error_that_quotes_lines_of_the_file_is_still_one_sentence() -> None:
    with pytest.raises(InputError, match="not well-formed") as told:
        parse_formex(b"<ACT><P><![CDATA[ figs\nand dates\nand nuts", "act.xml")
    assert "\n" not in str(told.value)


def test_broken_xml_names_the_file_and_the_line() -> None:
    with pytest.raises(InputError, match=r"cut\.xml, line 2: is not well-formed XML"):
        parse_formex(b"<ACT>\n<TITLE><TI>", "cut.xml")
    with pytest.raises(InputError, match=r"empty\.xml: holds no text"):
        parse_formex(b"<ACT><BIB.INSTANCE><DATE>1</DATE></BIB.INSTANCE></ACT>", "empty.xml")
    with pytest.raises(InputError, match=r"nothing\.xml"):
        parse_formex(b"", "nothing.xml")


def test_entities_are_neither_read_nor_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    outside = f'<!DOCTYPE ACT [<!ENTITY x SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]>'
    laughs = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 10))
    for prolog in (outside, f'<!DOCTYPE ACT [<!ENTITY x0 "ha">{laughs}<!ENTITY x "&x9;">]>'):
        started = time.process_time()
        with pytest.raises(InputError, match=r"act\.xml, line 1: declares XML entities"):
            parse_formex(f"{prolog}<ACT><TITLE>&x;</TITLE></ACT>".encode(), "act.xml")
        assert time.process_time() - started < 5


def test_a_declared_type_outside_the_file_is_not_fetched() -> None:
    data = b'<!DOCTYPE ACT SYSTEM "http://192.0.2.1/formex.dtd"><ACT><P>Bees are free.</P></ACT>'
    started = time.process_time()
    assert parse_formex(data, "act.xml").text == "Bees are free."
    assert time.process_time() - started < 5


def test_a_prolog_that_never_ends_is_refused_at_once() -> None:
    started = time.process_time()
    with pytest.raises(InputError, match="not well-formed"):
        parse_formex(b"<ACT><P>x</P></ACT>" + b"<!DOCTYPE[" * 200_000, "act.xml")
    assert time.process_time() - started < 10


def test_characters_named_as_in_html_are_read() -> None:
    assert parse_formex(b"<ACT><P>Bees&nbsp;&amp;&nbsp;wasps</P></ACT>", "a.xml").text == (
        "Bees & wasps"
    )


def test_an_act_of_a_hundred_thousand_words_is_read_in_seconds() -> None:
    point = "<ITEM><NP><NO.P>(a)</NO.P><TXT>Bees shall be counted twice each day.</TXT></NP></ITEM>"
    article = f"<ALINEA><P>Note:</P><LIST>{point * 100}</LIST></ALINEA></ARTICLE>"
    data = "".join(
        f"<DIVISION><ARTICLE><TI.ART>Article {n}</TI.ART>{article}</DIVISION>"
        for n in range(1, 141)
    )
    started = time.process_time()
    document = parse_formex(f"<ACT><ENACTING.TERMS>{data}</ENACTING.TERMS></ACT>".encode(), "b.xml")
    assert len(texts(document, "article")) == 140
    assert len(document.text.split()) > 100_000
    assert time.process_time() - started < 10
