"""A table of contents behind "HAVE ADOPTED THIS REGULATION:", as long acts have one."""

from __future__ import annotations

import pytest

from labelwise.corpus.plain_text import split_act

FRONT = """REGULATION (EU) 2021/9103 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL
of 3 March 2021
on the marketing of chestnuts
THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION,
Having regard to the Treaty on the Functioning of the European Union,
HAVE ADOPTED THIS REGULATION:
"""
TITLES = ["Subject matter", "Definitions", "Sizes of chestnuts", "Entry into force"]
CHAPTERS = {1: "CHAPTER I\nGENERAL PROVISIONS\n", 3: "CHAPTER II\nTRADE\n"}
SIGNED = "Done at Brussels, 3 March 2021.\nANNEX I\nSizes.\nANNEX II\nSacks."


def listed(entry: str) -> str:
    return "\n".join(
        CHAPTERS.get(n, "") + entry.format(n=n, title=title) for n, title in enumerate(TITLES, 1)
    )


def body() -> str:
    return "\n".join(
        CHAPTERS.get(n, "") + f"Article {n}\n{title}\nChestnuts of kind {n}."
        for n, title in enumerate(TITLES, 1)
    )


@pytest.mark.parametrize("named", ["TABLE OF CONTENTS\n", "Contents\n", ""])
@pytest.mark.parametrize(
    "entry", ["Article {n}\n{title}", "Article {n}\n{title}\n7{n}", "Article {n} {title} .... 7{n}"]
)
def test_articles_and_annexes_of_a_table_of_contents_are_none(named: str, entry: str) -> None:
    annexes = "\nANNEX I\nSizes of chestnuts in millimetres\nANNEX II\nSacks\n"
    title, sections = split_act(FRONT + named + listed(entry) + annexes + body() + "\n" + SIGNED)
    assert title.endswith("on the marketing of chestnuts")
    articles = [section.text for section in sections if section.kind == "article"]
    assert articles == [
        CHAPTERS.get(n, "") + f"{title}\nChestnuts of kind {n}."
        for n, title in enumerate(TITLES, 1)
    ]
    (attachments,) = (section.text for section in sections if section.kind == "attachments")
    assert attachments.startswith("Done at Brussels")
    assert attachments.index(TITLES[2]) < attachments.index("ANNEX I\nSizes.")  # nothing is lost
    assert "Chestnuts of kind" not in attachments


def test_entries_on_one_line_each_do_not_end_before_their_last_chapter() -> None:
    """Nothing but the chapter of the first article stands between the last entry and it."""
    text = FRONT + listed("Article {n} {title} .... 7{n}") + "\n" + body() + "\n" + SIGNED
    articles = [section.text for section in split_act(text)[1] if section.kind == "article"]
    assert articles[0].startswith("CHAPTER I\nGENERAL PROVISIONS\nSubject matter")
    assert not any("...." in article for article in articles)


def test_articles_that_come_once_are_no_table_of_contents() -> None:
    """The entries of 1 and 2 alone come again: an act whose annex has articles of its own."""
    text = FRONT + listed("Article {n}\n{title}") + "\n" + SIGNED + "\nArticle 1\nA.\nArticle 2\nB."
    articles = [section.text for section in split_act(text)[1] if section.kind == "article"]
    assert [article.splitlines()[-1] for article in articles] == TITLES


def test_articles_with_sentences_are_no_table_of_contents_though_all_come_again() -> None:
    text = FRONT + body() + "\nANNEX\n" + body() + "\n" + SIGNED
    articles = [section.text for section in split_act(text)[1] if section.kind == "article"]
    assert [article.splitlines()[-1] for article in articles] == [
        f"Chestnuts of kind {n}." for n in range(1, len(TITLES) + 1)
    ]


@pytest.mark.parametrize("named", ["CONTENT", "TABLE OF CONTENTS"])
@pytest.mark.parametrize("annex", ["ANNEX", "SECTION 2\nOther nuts"], ids=["annex", "none"])
def test_a_table_of_chapters_alone_is_no_part_of_the_first_article(named: str, annex: str) -> None:
    table = (
        f"{named}\nCHAPTER I\nGENERAL\n11\nCHAPTER II\nNUTS\n12\nSECTION 1\nBrazil nuts\n{annex}"
    )
    body = "CHAPTER I\nGENERAL\nArticle 1\nNuts are fruit.\nCHAPTER II\nNUTS\nArticle 2\nThey keep."
    _, sections = split_act(f"COUNCIL REGULATION\nHAS ADOPTED THIS REGULATION:\n{table}\n{body}")
    articles = [one.text for one in sections if one.kind == "article"]
    assert articles == ["CHAPTER I\nGENERAL\nNuts are fruit.", "CHAPTER II\nNUTS\nThey keep."]
    (rest,) = (one.text for one in sections if one.kind == "attachments")
    assert rest == table
