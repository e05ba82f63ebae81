"""What stands before an act: running heads, heads of old pages, covers of consolidated texts."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from labelwise.corpus import covers
from labelwise.corpus.document import Document
from labelwise.corpus.eurlex_html import parse_html
from labelwise.corpus.formex import parse_formex
from labelwise.corpus.plain_text import parse_text, split_act
from labelwise.corpus.readers import read
from labelwise.errors import InputError

TITLE = (
    "REGULATION (EU) 2019/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 8 January 2019"
    " on the type-approval of nutcrackers (Text with EEA relevance)"
)
ACT = """REGULATION (EU) 2019/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL
of 8 January 2019
on the type-approval of nutcrackers
(Text with EEA relevance)
THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION,
Having regard to the Treaty on the Functioning of the European Union,
HAVE ADOPTED THIS REGULATION:
Article 1
Nutcrackers shall be approved.
Article 2
This Regulation shall enter into force on 1 May 2019 (1).
"""
SIGNED = "Done at Brussels, 8 January 2019."


def texts(document: Document, kind: str) -> list[str]:
    return [section.text for section in document.sections if section.kind == kind]


@pytest.mark.parametrize(
    "head",
    [
        "10.1.2019\nEN\nOfficial Journal of the European Union\nL 8/1",
        "10.1.2019\nEN\nOfficial Journal of the European Union\nLI 8/1",
        "10.1.2019\nEN FR FR\nOfficial Journal of the European Communities\nC 8/1",
        "L 8/2 EN Official Journal of the European Union 10.1.2019",
        "10. 1. 2019 | EN | Official Journal of the European Union | L 8/1",
        "Official Journal of the European Union\nEN\nL series\n2019/9026\n10.1.2019",
    ],
)
def test_the_running_head_is_neither_title_nor_header(head: str) -> None:
    title, sections = split_act(f"{head}\n{ACT}{SIGNED}")
    assert title == TITLE
    assert sections[0].text.startswith("REGULATION (EU) 2019/9026 OF THE EUROPEAN PARLIAMENT")
    assert "Official Journal" not in sections[0].text


def test_a_table_of_contents_is_no_title() -> None:
    contents = "on nutcrackers\nTable of contents\nArticle 1\nApproval\nArticle 2\nEntry into force"
    text = f"{ACT}{SIGNED}".replace("on the type-approval of nutcrackers", contents)
    assert split_act(text)[0].endswith("of 8 January 2019 on nutcrackers")


def test_text_that_is_no_act_loses_its_running_head_as_well() -> None:
    title, sections = split_act("10.1.2019\nEN\nC 8/1\nA notice on nuts\nNuts are sold.")
    assert title == "A notice on nuts"
    assert [section.text for section in sections] == ["A notice on nuts\nNuts are sold."]


def old_page(reference: str = "") -> str:
    return (
        "EUR-Lex - 31976L9211 - EN\nAvis juridique important\n|\n31976L9211\n"
        "Council Directive 76/9211/EEC of 20 January 1976 on the weight of chestnuts\n"
        f"Official Journal L 046 , 21/02/1976 P. 0001 - 0011{reference}\n"
        "COUNCIL DIRECTIVE of 20 January 1976 on the weight of chestnuts (76/9211/EEC)\n"
        "THE COUNCIL OF THE EUROPEAN COMMUNITIES,\nWhereas chestnuts are heavy,\n"
        "HAS ADOPTED THIS DIRECTIVE:\nArticle 1\nChestnuts are weighed.\nArticle 2\nTwice.\n"
        "Done at Brussels, 20 January 1976."
    )


@pytest.mark.parametrize(
    "reference",
    ["", " Finnish special edition: Chapter 13 Volume 4 P. 0169  Greek special edition"],
)
def test_the_head_of_an_old_page_gives_the_title_and_is_no_text(reference: str) -> None:
    document = parse_text(old_page(reference).encode(), "page.txt")
    assert document.title == (
        "Council Directive 76/9211/EEC of 20 January 1976 on the weight of chestnuts"
    )
    assert document.id == "31976L9211"
    assert texts(document, "header") == [
        "COUNCIL DIRECTIVE of 20 January 1976 on the weight of chestnuts (76/9211/EEC)\n"
        "THE COUNCIL OF THE EUROPEAN COMMUNITIES"
    ]


def test_the_title_of_an_old_page_stays_where_the_act_does_not_say_it_again() -> None:
    own = "COUNCIL DIRECTIVE of 20 January 1976 on the weight of chestnuts (76/9211/EEC)\n"
    document = parse_text(old_page().replace(own, "").encode(), "page.txt")
    assert texts(document, "header")[0].startswith("Council Directive 76/9211/EEC of 20 January")


COVER = [
    "02019R9026 — EN — 01.03.2021 — 001.001",
    "This text is meant purely as a documentation tool and has no legal effect.",
    "►B REGULATION (EU) 2019/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 8 January 2019"
    " on the type-approval of nutcrackers (Text with EEA relevance) (OJ L 8, 10.1.2019, p. 1)",
    "Amended by:",
    "Official Journal",
    "No page date",
    "►M1 REGULATION (EU) 2021/9102 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 3 March 2021"
    " L 77 1 5.3.2021",
    "▼B",
]


def bare(lines: list[str], notes: str) -> bytes:
    """A consolidated text in XHTML without a class."""
    body = "".join(f"<p>{line}</p>" for line in lines)
    return (
        '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        f"<title>CL2019R9026EN</title></head><body>{body}<hr/>{notes}</body></html>"
    ).encode()


LINKED = '<p><a id="E0001" href="#src.E0001">( 1 )</a> OJ L 8, 10.1.2019, p. 1.</p>'
MARK = '<a id="src.E0001" href="#E0001">( 1 )</a>'


@pytest.mark.parametrize(
    ("mark", "note"), [(MARK, LINKED), ("( 1 )", "<p>( 1 ) OJ L 8, 10.1.2019, p. 1.</p>")]
)
def test_a_consolidated_text_without_classes_loses_its_cover_and_its_last_article_no_footnote(
    mark: str, note: str
) -> None:
    lines = [*COVER, *ACT.replace("(1)", mark).splitlines()]
    document = parse_html(bare(lines, note), "page.html")
    assert document.title == TITLE
    assert document.id == "02019R9026-20210301"
    (header,) = texts(document, "header")
    assert header.startswith("REGULATION (EU) 2019/9026 OF")
    assert header.count("nutcrackers") == 1
    assert "2021/9102" not in document.text
    assert texts(document, "article")[1].startswith("This Regulation shall enter into force on")
    assert "OJ L 8" not in texts(document, "article")[1]
    assert texts(document, "attachments")[0].endswith("OJ L 8, 10.1.2019, p. 1.")


def test_links_that_are_no_footnotes_keep_their_lines_in_place() -> None:
    """A table of contents links to the articles, which do not link back."""
    lines = ACT.replace("Article 1", '<a id="one" href="#top">1</a> Article 1').splitlines()
    document = parse_html(bare(['<a href="#one">1</a> Approval', *lines], ""), "page.html")
    assert document.text.startswith("Approval\nREGULATION (EU) 2019/9026")


def test_a_consolidated_text_in_plain_words_loses_its_cover() -> None:
    title, sections = split_act("\n".join(COVER).replace("►", "") + f"\n{ACT}{SIGNED}")
    assert title == TITLE
    assert "Amended by" not in sections[0].text


FORMEX = (
    "<ACT><BIB.INSTANCE><NO.CELEX>32019R9026</NO.CELEX></BIB.INSTANCE><TITLE><TI><P>REGULATION"
    "</P></TI></TITLE><ENACTING.TERMS><ARTICLE><TI.ART>Article 1</TI.ART><ALINEA>Nuts.</ALINEA>"
    "</ARTICLE></ENACTING.TERMS></ACT>"
)


def test_the_id_is_the_celex_number_that_the_file_names(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(
        b'<html><head><meta name="DC.identifier" content="31985D9377"></head>'
        b"<body><p>HAS ADOPTED THIS DECISION:</p><p>Article 1</p><p>Nuts.</p></body></html>"
    )
    (tmp_path / "b.xml").write_text(FORMEX)
    (tmp_path / "c.txt").write_text(old_page())
    (tmp_path / "CELEX_32009R9731_EN_TXT.txt").write_text("Nuts.")
    (tmp_path / "nuts.txt").write_text("Nuts. See 32001L9042.")
    ids = {document.id for document in read(tmp_path)}
    assert ids == {"31985D9377", "32019R9026", "31976L9211", "32009R9731", "nuts"}


def test_two_files_of_one_act_are_a_duplicate(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(FORMEX)
    (tmp_path / "b.xml").write_text(FORMEX)
    with pytest.raises(InputError, match=r"b\.xml: duplicate id: '32019R9026' .*a\.xml"):
        list(read(tmp_path))


def test_an_annex_in_a_file_of_its_own_is_called_after_the_file() -> None:
    annex = FORMEX.replace("ACT>", "ANNEX>")
    assert parse_formex(annex.encode(), "L_2019008EN.01000901.xml").id == "L_2019008EN.01000901"


@pytest.mark.parametrize(
    "head",
    [
        "10.1.2019 EN Official Journal of the European Union L 8/1",
        "L 8/2 EN Official Journal of the European Union 10.1.2019",
        "10.1.2019 | EN | Official Journal of the European Union | L 8/1 |",
        "Official Journal of the European Union EN L series 2019/9026 10.1.2019",
    ],
)
def test_a_running_head_in_the_line_of_the_act_is_neither_title_nor_header(head: str) -> None:
    title, sections = split_act(f"{head} {ACT}{SIGNED}".replace("\n", " "))
    assert title == TITLE
    body = "THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION"
    assert sections[0].text == f"{TITLE}\n{body}"


@pytest.mark.parametrize("reference", ["", " Finnish special edition: Chapter 13 Volume 4 P. 0169"])
def test_the_head_of_an_old_page_in_the_line_of_the_act_is_known_as_on_lines(
    reference: str,
) -> None:
    whole = old_page(reference)
    document = parse_text(whole.replace("\n", " ").encode(), "page.txt")
    assert document.id == "31976L9211"
    assert document.title == parse_text(whole.encode(), "page.txt").title
    assert texts(document, "header") == [
        "COUNCIL DIRECTIVE of 20 January 1976 on the weight of chestnuts (76/9211/EEC)\n"
        "THE COUNCIL OF THE EUROPEAN COMMUNITIES"
    ]


@pytest.mark.parametrize("begin", ["OJ L figs are sold.", "EN 12/3 On figs.", "2024/9026 On figs."])
def test_what_only_begins_like_a_running_head_stays_whole(begin: str) -> None:
    assert split_act(begin)[1][0].text == begin


def test_the_example_of_heads_holds() -> None:
    assert doctest.testmod(covers).failed == 0


MENUS = """Skip to main content
EUR-Lex
My EUR-Lex
EUR-Lex home
This document is an excerpt from the EUR-Lex website
Document 32019R9026
Help
Text
Document information
Regulation (EU) 2019/9026 of the European Parliament and of the Council on nutcrackers
OJ L, 2019/9026, 10.1.2019, ELI: http://data.europa.eu/eli/reg/2019/9026/oj (BG, ES, CS, EN)
In force
Expand all Collapse all
Languages, formats and link to OJ
BG\tES\tCS
HTML\thtml bg
Multilingual display
Language 1
English (en)
"""
HEAD = "Text\nEuropean flag\nOfficial Journal\nof the European Union\nEN\nL series\n10.1.2019\n"


@pytest.mark.parametrize("head", [HEAD, HEAD.removeprefix("Text\nEuropean flag\n"), "Text\n"])
def test_an_act_copied_with_the_page_of_the_site_is_read_without_its_menus(head: str) -> None:
    menus = MENUS if head.startswith("Text") else MENUS.removesuffix("Language 1\nEnglish (en)\n")
    document = parse_text(f"{menus}{head}{ACT}{SIGNED}\nTop\nAbout EUR-Lex".encode(), "page.txt")
    alone = parse_text(f"{ACT}{SIGNED}".encode(), "act.txt")
    assert document.title == TITLE
    assert document.sections == alone.sections
    assert document.id == "32019R9026"


def test_what_only_speaks_of_texts_and_tops_keeps_them() -> None:
    text = f"{ACT}{SIGNED}\nANNEX\nText\nNutcrackers\nTop\nSpring"
    assert split_act(text)[1][-1].text.endswith("ANNEX\nText\nNutcrackers\nTop\nSpring")
