"""Agreements, rules of procedure and other texts that are built as acts are, but not quite."""

from __future__ import annotations

import pytest

from labelwise.corpus.document import Section
from labelwise.corpus.eurlex_html import parse_html
from labelwise.corpus.lost_lines import found_again
from labelwise.corpus.plain_text import split_act

TITLE = "AGREEMENT\nbetween the European Union and Ruritania\non trade in nuts\n"
PARTIES = "The European Union, hereinafter referred to as ‘the Union’,\nand\nRuritania,\n"
RECITALS = "BUILDING on their friendship;\nMINDFUL that nuts keep badly,\n"
AGREED = "HAVE AGREED AS FOLLOWS:\n"
CHAPTERS = "".join(
    f"CHAPTER {chapter}\nNUTS\n"
    + "".join(
        f"Article {chapter}.{n}\nKind {n}\nNuts of kind {chapter}.{n}, as in\n"
        f"Article 1.1 of this Agreement.\n"
        for n in range(1, 12)
    )
    for chapter in (1, 2)
)
SIGNED = "Done at Strelsau, on the third day of March in the year two thousand and twenty-four.\n"


def texts(sections: tuple[Section, ...], kind: str) -> list[str]:
    return [section.text for section in sections if section.kind == kind]


def test_the_title_of_an_agreement_ends_before_the_parties() -> None:
    for parties in (PARTIES, f"PREAMBLE\n{PARTIES}", "THE KINGDOM OF RURITANIA,\nand\nJAPAN,\n"):
        title, sections = split_act(TITLE + parties + RECITALS + AGREED + CHAPTERS + SIGNED)
        assert title == "AGREEMENT between the European Union and Ruritania on trade in nuts"
        assert texts(sections, "header") == [(TITLE + parties).rstrip("\n")]


@pytest.mark.parametrize(
    "title",
    ["AGREEMENT BETWEEN THE EUROPEAN UNION AND\nTHE REPUBLIC", "DECISION\nsigned in\nThe Hague"],
)
def test_a_title_may_go_on_with_the_name_of_a_party_or_a_place(title: str) -> None:
    text = (
        f"{title}\non nuts\nTHE COUNCIL OF THE EUROPEAN UNION,\nWhereas:\n{AGREED}Article 1\nNuts."
    )
    assert split_act(text)[0] == " ".join(f"{title}\non nuts".splitlines())


@pytest.mark.parametrize(
    "before",
    [
        "P9_TA(2024)9123",
        "Only the original UN/ECE texts have legal effect under international public law.",
    ],
)
def test_what_stands_before_the_title_of_other_texts_is_not_the_title(before: str) -> None:
    assert split_act(f"{before}\nNuts in the Union\nNuts are good.")[0] == "Nuts in the Union"


def test_recitals_of_an_agreement_begin_with_any_word_of_mind() -> None:
    agreed = "THE COUNCIL AND RURITANIA HAVE AGREED AS FOLLOWS:\n"
    for front in (PARTIES + RECITALS + AGREED, RECITALS + agreed):
        sections = split_act(TITLE + front + CHAPTERS + SIGNED)[1]
        assert texts(sections, "recitals")[0].startswith("BUILDING on")
    lettered = "(a) ALSO RECALLING the nuts;\n(b) NOTING the husks,\n"
    sections = split_act(TITLE + PARTIES + lettered + AGREED + CHAPTERS + SIGNED)[1]
    assert texts(sections, "recitals") == [lettered.rstrip("\n")]


def test_what_follows_a_preamble_is_recitals_whatever_its_words() -> None:
    text = "RULES OF PROCEDURE\nof the Nut Committee\nPREAMBLE\n1.\nThe Committee speaks of nuts.\n"
    sections = split_act(f"{text}Article 1\nNuts.\nArticle 2\nHusks.")[1]
    assert texts(sections, "recitals") == ["PREAMBLE\n1.\nThe Committee speaks of nuts."]


def test_articles_that_are_numbered_by_chapter_are_found() -> None:
    annex = "ANNEX 2-A\nArticle 1\nGeneral.\nArticle 2\nHusks."
    sections = split_act(TITLE + PARTIES + RECITALS + AGREED + CHAPTERS + SIGNED + annex)[1]
    found = texts(sections, "article")
    assert len(found) == 22
    assert found[1].startswith("Kind 2\nNuts of kind 1.2, as in\nArticle 1.1 of")
    assert found[11].startswith("CHAPTER 2\nNUTS\nKind 1\n")
    assert texts(sections, "attachments") == [SIGNED + annex]


def test_articles_numbered_by_chapter_are_found_by_the_classes_of_a_page() -> None:
    lines = (TITLE + PARTIES + RECITALS + AGREED + CHAPTERS + SIGNED).splitlines()
    marked = (
        f'<p class="oj-ti-art">{line}</p>'
        if line.startswith("Article") and not line.endswith(".")
        else f"<p>{line}</p>"
        for line in lines
    )
    page = f"<html><body>{''.join(marked)}</body></html>".encode()
    document = parse_html(page, "agreement.html")
    assert len(texts(document.sections, "article")) == 22
    assert texts(document.sections, "article")[1].startswith("Kind 2\n")


def test_numbers_of_chapters_are_no_articles_where_articles_are_numbered_through() -> None:
    text = "\n".join(f"Article {n}\nNuts {n}.\nArticle {n}.1\nHusks." for n in (1, 2, 3))
    assert len(texts(split_act(TITLE + AGREED + text + "\n" + SIGNED)[1], "article")) == 3


def test_rules_stand_in_place_of_articles_in_rules_of_procedure() -> None:
    rules = "\n".join(f"Rule {n}\nMembers speak of {n} nuts." for n in range(1, 9))
    annex = "\nANNEX\nArticle 1\nConduct.\nArticle 2\nGifts."
    sections = split_act(f"RULES OF PROCEDURE\nof the Nut Committee\n{rules}{annex}")[1]
    assert texts(sections, "article") == [f"Members speak of {n} nuts." for n in range(1, 9)]
    assert len(texts(split_act(TITLE + AGREED + "Article 1\nNuts.\n" + rules)[1], "article")) == 1


def test_an_article_on_annexes_does_not_end_the_articles_and_the_annexes_do() -> None:
    body = "Article 1\nNuts.\nArticle 2\nAnnexes\nThey are part of it.\nArticle 3\nForce.\n"
    annex = "ANNEX 1\nSIZES\nArticle 1\nSmall.\nArticle 2\nLarge."
    sections = split_act(TITLE + PARTIES + RECITALS + AGREED + body + annex)[1]
    assert texts(sections, "article") == ["Nuts.", "Annexes\nThey are part of it.", "Force."]
    assert texts(sections, "attachments") == [annex]


def test_an_article_on_annexes_may_be_the_last() -> None:
    body = "Article 1\nNuts.\nArticle 2\nAnnexes\nThe Annexes are part of this Agreement.\n"
    sections = split_act(TITLE + PARTIES + RECITALS + AGREED + body + SIGNED + "ANNEX\nSizes")[1]
    assert texts(sections, "article")[1] == "Annexes\nThe Annexes are part of this Agreement."
    assert texts(sections, "attachments") == [SIGNED + "ANNEX\nSizes"]


def test_articles_of_an_annex_are_not_those_of_an_act_without_articles() -> None:
    annex = "ANNEX\nArticle 1\nConduct.\nArticle 2\nGifts."
    sections = split_act(f"{TITLE}{AGREED}The code in the Annex is adopted.\n{SIGNED}{annex}")[1]
    assert texts(sections, "article") == ["The code in the Annex is adopted."]
    assert texts(sections, "attachments") == [SIGNED + annex]


@pytest.mark.parametrize("body", ["THE COUNCIL OF THE EUROPEAN UNION,\n", f"PREAMBLE\n{PARTIES}"])
def test_a_table_of_contents_before_the_recitals_is_not_in_the_header(body: str) -> None:
    listed = "TABLE OF CONTENTS\nPREAMBLE\nTITLE I\nTHE NUTS\n4\nThe husks\n7\nANNEX I\nSacks\n9\n"
    again = "AGREEMENT ON NUTS\n"
    recitals = "Having regard to nuts,\n"
    text = TITLE + listed + again + body + recitals + AGREED + CHAPTERS + SIGNED
    title, sections = split_act(text)
    assert title == "AGREEMENT between the European Union and Ruritania on trade in nuts"
    header = (TITLE + body.replace("PREAMBLE\n", "")).rstrip("\n")
    assert texts(sections, "header")[0].rstrip(",") == header.rstrip(",")
    assert (listed + again).rstrip("\n") in texts(sections, "attachments")[0]


def test_the_title_of_what_is_no_act_goes_on_with_small_letters() -> None:
    text = "COUNCIL RESOLUTION\nof 3 March 2024\non nuts\n(2024/C 9001/01)\nNuts are good."
    assert split_act(text)[0] == "COUNCIL RESOLUTION of 3 March 2024 on nuts"
    assert split_act("Nuts are cheap.\nand good\nBuy some.")[0] == "Nuts are cheap."
    letter = "Nuts are\n" + "sold and bought\n" * 50 + "End."
    assert split_act(letter)[0] == "Nuts are"


def test_an_annex_that_was_run_together_with_its_title_is_found() -> None:
    act = "Having regard to nuts,HAS ADOPTED THIS DECISION:Article 1Nuts are sold." + " Nuts." * 70
    for annex, heading in (
        ("ANNEX IIISizes", "ANNEX III"),
        ("ANNEXSIZES OF NUTS", "ANNEX"),
        ("Annex ASizes", "Annex A"),
    ):
        assert found_again(f"{act}{annex} in mm.")[-2] == heading
    assert found_again(f"{act} See ANNEXES and the Annex.")[-1].endswith("the Annex.")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("RECOGNIZING that nuts are scarce", "TAKING INTO ACCOUNT the wishes of squirrels"),
        ("AWARE of the price of nuts", "BEARING IN MIND that squirrels pay nothing"),
        ("WHEREAS, without prejudice to squirrels, nuts are sold", "CONSIDERING their price"),
        ("Whereas: (1) nuts are scarce", "HAVING REGARD TO squirrels"),
    ],
)
def test_recitals_in_the_line_of_the_parties_are_not_in_the_header(first: str, second: str) -> None:
    sections = split_act(
        "CONVENTION on nuts THE PARTIES TO THE PRESENT CONVENTION,"
        f" hereinafter called ‘the Parties’, {first}, {second}, HAVE AGREED AS FOLLOWS:"
        " Article 1 Nuts are sold. Article 2 Dearly."
    )[1]
    assert [(one.kind, one.text) for one in sections[:2]] == [
        (
            "header",
            "CONVENTION on nuts THE PARTIES TO THE PRESENT CONVENTION,"
            " hereinafter called ‘the Parties’,",
        ),
        ("recitals", f"{first},\n{second},"),
    ]


def test_a_letter_before_a_recital_stays_with_it() -> None:
    recital = "(a) RECALLING that nuts are sold and that squirrels eat most of them,"
    sections = split_act(f"{TITLE}{PARTIES}{recital}\n{AGREED}{CHAPTERS}{SIGNED}")[1]
    assert recital in "\n".join(texts(sections, "recitals")).splitlines()


RESOLUTION = "COUNCIL RESOLUTION\nof 3 March 2024\non figs in schools\n(C/2024/9180)"
COUNCIL = "THE COUNCIL OF THE EUROPEAN UNION"


@pytest.mark.parametrize(
    ("between", "recitals"),
    [
        (",\n", "RECALLING its conclusions on dates;\nEat figs."),
        (",\n", "1.\nSTRESSING that figs are sweet;\n2.\nEat figs."),
        (", ", "Having regard to its conclusions on dates;\nEat figs."),
    ],
)
def test_a_resolution_that_is_not_signed_has_header_and_recitals(
    between: str, recitals: str
) -> None:
    title, sections = split_act(f"{RESOLUTION}\n{COUNCIL}{between}{recitals}")
    assert title == RESOLUTION.replace("\n", " ")
    assert [(section.kind, section.text) for section in sections] == [
        ("header", f"{RESOLUTION}\n{COUNCIL}"),
        ("recitals", recitals),
    ]


def test_the_beginning_of_an_act_falls_into_its_zones_though_its_articles_are_not_there() -> None:
    sections = split_act(f"{RESOLUTION}\n{COUNCIL},\nHaving regard to the Treaty,\nWhereas:")[1]
    assert [section.kind for section in sections] == ["header", "recitals"]


def test_a_body_that_a_text_only_names_makes_no_act_of_it() -> None:
    sections = split_act(f"A notice on figs\nIt is by\n{COUNCIL},\nwhich likes figs.\nThe end")[1]
    assert [section.kind for section in sections] == ["article"]


PROPOSAL = "Proposal for a\nCOUNCIL REGULATION\non the welfare of fig trees"


def test_the_memorandum_of_a_proposal_is_neither_its_title_nor_its_header() -> None:
    memorandum = (
        f"EUROPEAN COMMISSION\nBrussels, 12.3.2024\nCOM(2024) 9123 final\n{PROPOSAL}\n"
        "EXPLANATORY MEMORANDUM\n1. CONTEXT OF THE PROPOSAL\n"
        "Considering their age, trees need care.\n"
        "Proposal for a Directive on dates is under way.\n2024/9067 (NLE)"
    )
    act = (
        f"{PROPOSAL}\n{COUNCIL},\nHaving regard to the Treaty,\nHAS ADOPTED THIS REGULATION:\n"
        "Article 1\nFig trees are watered.\nArticle 2\nDaily.\nDone at Brussels,\nANNEX\nTrees"
    )
    title, sections = split_act(f"{memorandum}\n{act}")
    assert title == PROPOSAL.replace("\n", " ")
    assert sections[:-1] == split_act(act)[1][:-1]
    assert sections[-1].text == f"Done at Brussels,\n{memorandum}\nANNEX\nTrees"


def test_a_proposal_without_a_memorandum_keeps_its_cover() -> None:
    sections = split_act(f"COM(2024) 9123 final\n{PROPOSAL}\n{COUNCIL},\nWhereas figs are sweet,")[
        1
    ]
    assert sections[0].text == f"COM(2024) 9123 final\n{PROPOSAL}\n{COUNCIL}"


@pytest.mark.parametrize(
    "heads",
    [
        [
            "Article 1Scope and definitions",
            "Article 2Common principles",
            "Article 3Entry into force",
        ],
        ["Article 1.1Objectives", "Article 1.2General definitions", "Article 2.1Customs duties"],
        ["Article IScope", "Article IICommon principles", "Article IIICooperation"],
    ],
    ids=["numbers", "by chapter", "Roman"],
)
def test_a_heading_whose_title_has_lost_its_blank_is_one(heads: list[str]) -> None:
    texts = ["This Agreement is about figs.", "Figs are fruit.", "It enters into force in May."]
    lines = [line for both in zip(heads, texts, strict=True) for line in both]
    _, sections = split_act("\n".join(["AGREEMENT on figs", "HAVE AGREED AS FOLLOWS:", *lines]))
    articles = [one.text for one in sections if one.kind == "article"]
    assert [one.splitlines()[-1] for one in articles] == texts
    assert articles[1].splitlines()[0] in heads[1]
