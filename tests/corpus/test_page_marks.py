"""Heads and feet of pages between the lines of an act: as copied, as printed, act by act."""

from __future__ import annotations

import doctest
import time

import pytest

from labelwise.corpus import page_marks
from labelwise.corpus.document import Document
from labelwise.corpus.eurlex_html import parse_html
from labelwise.corpus.formex import parse_formex
from labelwise.corpus.plain_text import parse_text

HEAD = "Official Journal\nof the European Union\nEN\nL series\n2024/9026\n12.7.2024\n"
PRINTED_HEAD = "Official Journal EN\nof the European Union L series\n2024/9026 12.7.2024\n"
ELI = "ELI: http://data.europa.eu/eli/reg/2024/9026/oj"
ISSN = "ISSN 1977-0677 (electronic edition)"
ACT = """REGULATION (EU) 2024/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL
of 13 June 2024
on nutcrackers
THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION,
Having regard to the Treaty on the Functioning of the European Union,
HAVE ADOPTED THIS REGULATION:
Article 1
Nutcrackers shall be approved.
Article 2
{0}This Regulation shall enter into force on 1 August 2024.
Done at Brussels, 13 June 2024.
ANNEX
List of nuts
"""


def texts(document: Document, kind: str) -> list[str]:
    return [section.text for section in document.sections if section.kind == kind]


def act_of(text: str) -> Document:
    return parse_text(text.encode(), "act.txt")


def test_the_examples_hold() -> None:
    assert doctest.testmod(page_marks).failed == 0


@pytest.mark.parametrize("head", [HEAD, PRINTED_HEAD, HEAD.replace("EN\nL", "L").replace(".", "/")])
def test_the_head_of_an_act_that_came_by_itself_is_none_of_its_text(head: str) -> None:
    document = act_of(f"{head}{ACT.format('')}{ELI}\n{ISSN}")
    assert document.title == (
        "REGULATION (EU) 2024/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 13 June 2024"
        " on nutcrackers"
    )
    assert document.id == "32024R9026"
    assert document.text.startswith("REGULATION")
    assert document.text.endswith("List of nuts")


@pytest.mark.parametrize(
    "between",
    [
        f"OJ L, 12.7.2024 EN\n{ELI} 1/144\n",
        f"{ELI}\n1/144\nEN\nOJ L, 12.7.2024\n",
        f"EN OJ L, 12.7.2024\n2/144 {ELI}\n",
        "L 119/2 EN Official Journal of the European Union 4.5.2016\n",
        "4.5.2016\nEN\nOfficial Journal of the European Union\nL 119/3\n",
    ],
)
def test_heads_and_feet_between_the_lines_are_left_out(between: str) -> None:
    document = act_of(ACT.format(between))
    assert texts(document, "article") == [
        "Nutcrackers shall be approved.",
        "This Regulation shall enter into force on 1 August 2024.",
    ]


def test_words_and_sentences_that_pages_have_broken_become_whole() -> None:
    text = ACT.format(f"{ELI} 1/2\n").replace("approved.", "ap-\nproved as\nArticle 7 says.")
    assert texts(act_of(text), "article")[0] == "Nutcrackers shall be approved as\nArticle 7 says."
    by_form_feed = ACT.format("\f").replace("approved.", "ap-\nproved.")
    assert texts(act_of(by_form_feed), "article")[0] == "Nutcrackers shall be approved."


def test_paragraphs_that_were_never_printed_stay_as_they_are() -> None:
    """An agreement is published behind the decision on it, with a head of its own."""
    between = "12.7.2024\nEN\nOfficial Journal of the European Union\nL 195/5\n"
    long = "Nutcrackers are tools, " * 20
    document = act_of(ACT.format(between).replace("approved.", f"approved\nif clean.\n{long}end."))
    assert texts(document, "article")[0].startswith("Nutcrackers shall be approved\nif clean.\n")


def test_dates_languages_and_journals_in_tables_and_sentences_stay() -> None:
    kept = (
        "EN\nFR\n12.7.2024\n1/2\nIt is published in the\nOfficial Journal of the European Union\n"
    )
    assert texts(act_of(ACT.format(kept)), "article")[1].startswith(kept)


def test_a_corrigendum_is_not_called_as_the_act_that_it_corrects() -> None:
    eli = ELI.replace("/oj", "/corrigendum/2024-09-04/oj")
    text = (
        f"{HEAD}Corrigendum to Regulation (EU) 2024/9026\non nutcrackers\nOn page 3:\n‘nuts’\n{eli}"
    )
    document = parse_text(text.encode(), "corrigendum.txt")
    assert document.id == "corrigendum"
    assert document.title == "Corrigendum to Regulation (EU) 2024/9026 on nutcrackers"
    page = "".join(f"<p>{line}</p>" for line in text.splitlines())
    assert parse_html(f"<html><body>{page}</body></html>".encode(), "c.html").id == "c"
    formex = (
        "<CORR><BIB.INSTANCE><NO.DOC><NO.CURRENT>9026</NO.CURRENT><YEAR>2024</YEAR></NO.DOC>"
        "</BIB.INSTANCE><TITLE><TI><P>Corrigendum to Regulation (EU) 2024/9026</P></TI></TITLE>"
        "<CONTENTS.CORR><P>for nuts read husks</P></CONTENTS.CORR></CORR>"
    )
    assert parse_formex(formex.encode(), "c.xml").id == "c"


def test_the_identifier_of_another_act_in_a_footnote_is_not_the_number_of_this_one() -> None:
    note = f"(1) Regulation on nuts (OJ L, 2024/9026, 12.7.2024,\n{ELI}).\n"
    assert act_of(ACT.format("") + note).id == "act"


@pytest.mark.parametrize(
    "part",
    [
        "II\n(Non-legislative acts)\nREGULATIONS\n",
        "I\n(Acts whose publication is obligatory)\n",
        "IV\n(Acts adopted before 1 December 2009 under the EC Treaty)\nDECISIONS\n",
    ],
)
def test_the_part_of_the_journal_that_an_act_stands_in_is_not_its_title(part: str) -> None:
    document = act_of("4.5.2016 EN Official Journal of the European Union L 119/1\n" + part + ACT)
    assert document.title.startswith("REGULATION (EU) 2024/9026 OF")
    assert document.text.startswith("REGULATION (EU) 2024/9026 OF")


def test_a_decision_of_a_joint_committee_is_called_by_its_sector() -> None:
    title = "DECISION OF THE EEA JOINT COMMITTEE\nNo 9069/2024\n[2024/9265]\n"
    eli = ELI.replace("reg/2024/9026", "dec/2024/9265")
    text = f"{title}THE EEA JOINT COMMITTEE,\nHAS ADOPTED THIS DECISION:\nArticle 1\nNuts.\n{eli}"
    assert act_of(text).id == "22024D9265"
    page = "".join(f"<p>{line}</p>" for line in text.splitlines())
    assert parse_html(f"<html><body>{page}</body></html>".encode(), "d.html").id == "22024D9265"
    assert act_of(text.replace("[2024/9265]", "(EU) 2024/9265")).id == "32024D9265"


PRINTED_COVER = """02024R9026 — EN — 01.02.2025 — 001.001 — 1
This text is meant purely as a documentation tool and has no legal effect. The institutions do
not assume any liability for its contents. What counts are the acts as they were published, with
their preambles, in the Official Journal of the European Union; they can be opened by the links
in this document.
►B REGULATION (EU) 2024/9026 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL
of 13 June 2024
on nutcrackers
(OJ L 9026, 12.7.2024, p. 1)
Amended by:
Official Journal
No page date
►M1 Commission Regulation (EU) 2025/9100 of 3 December 2024 L 9100 1 12.1.2025
02024R9026 — EN — 01.02.2025 — 001.001 — 2
▼B
"""


def test_a_consolidated_text_copied_from_its_pages_has_neither_cover_nor_heads_nor_marks() -> None:
    act = ACT.format("02024R9026 — EN — 01.02.2025 — 001.001 — 3\n▼M1\n")
    document = act_of(PRINTED_COVER + act.replace("approved.", "ap-\nproved. ◄"))
    assert document.id == "02024R9026-20250201"
    assert document.title.endswith("of 13 June 2024 on nutcrackers")
    assert document.text.startswith("REGULATION (EU) 2024/9026 OF")
    assert texts(document, "article") == [
        "Nutcrackers shall be approved.",
        "This Regulation shall enter into force on 1 August 2024.",
    ]


def test_very_many_heads_take_seconds() -> None:
    started = time.process_time()
    act_of("EN 12.7.2024 L 1/2\n" * 50_000 + "Official Journal " * 50_000 + "ELI: " * 50_000)
    act_of("Nuts.\n" + "Official Journal\nof the European Union\n1/2\n" * 20_000)
    assert time.process_time() - started < 10
