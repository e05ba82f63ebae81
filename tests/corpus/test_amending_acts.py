"""Acts that quote articles of other acts: which articles are their own."""

from __future__ import annotations

import string
import time

import pytest

from labelwise.corpus.plain_text import split_act

FRONT = """REGULATION (EU) 2021/9102 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL
of 3 March 2021
amending Regulation (EU) 2017/9023 on the marketing of chestnuts
THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION,
Having regard to the Treaty on the Functioning of the European Union,
HAVE ADOPTED THIS REGULATION:
"""
LAST = "This Regulation shall enter into force on 1 May 2021."
SIGNED = "\nDone at Brussels, 3 March 2021."


def articles_of(*articles: str) -> list[str]:
    """The articles found in an amending act that has these."""
    body = "\n".join(f"Article {n}\n{article}" for n, article in enumerate(articles, 1))
    sections = split_act(FRONT + body + SIGNED)[1]
    return [section.text for section in sections if section.kind == "article"]


@pytest.mark.parametrize("letters", ["bcd", "bcdefgh", string.ascii_lowercase[1:]])
def test_however_many_articles_are_quoted_the_own_ones_after_them_are_found(letters: str) -> None:
    """No quotation marks, and only the first is announced."""
    inserted = "\n".join(f"Article 8{x}\nHusks of size {x} are burnt." for x in letters)
    amending = f"The following Articles are inserted:\nArticle 8a\nHusks are kept.\n{inserted}"
    found = articles_of(amending, "Regulation (EU) 2016/9001 is repealed.", LAST)
    assert [article.split()[0] for article in found] == ["The", "Regulation", "This"]


def test_quoted_articles_of_high_numbers_do_not_outweigh_the_own_ones() -> None:
    quoted = "\n".join(f"Article {n}\nNuts of size {n} are sold." for n in range(21, 30))
    amending = f"The chapter on sizes is replaced by the following:\nArticle 20\nNuts.\n{quoted}"
    found = articles_of("Nuts are dried.", amending, "Husks are burnt.", LAST)
    assert [len(article.splitlines()) for article in found] == [1, 21, 1, 1]


def test_articles_inserted_after_the_own_article_of_that_number_are_no_articles_of_the_act() -> (
    None
):
    amending = (
        "Regulation (EU) 2017/9023 is amended as follows:\nthe following Articles are inserted:\n"
        "Article 2a\nHusks are kept.\nArticle 2b\nHusks are weighed."
    )
    found = articles_of("Nuts are dried.", amending, LAST)
    assert [len(article.splitlines()) for article in found] == [1, 6, 1]


def test_a_consolidated_act_keeps_inserted_articles_and_does_without_deleted_ones() -> None:
    numbers = ["1", "2", "2a", "2c", "3", "6", "7"]
    text = FRONT + "\n".join(f"Article {n}\nNuts of kind {n}." for n in numbers) + SIGNED
    found = [section.text for section in split_act(text)[1] if section.kind == "article"]
    assert found == [f"Nuts of kind {n}." for n in numbers]


def test_a_quotation_that_is_never_closed_does_not_swallow_the_next_article() -> None:
    """The mark that closes the first is lost, and the next article has a quotation as well."""
    found = articles_of(
        "In Regulation (EU) 2017/9023, Article 5 is replaced by the following:\n"
        "‘Article 5\nNuts are sold by weight.",
        "In Directive 2009/9138/EU, Article 7(2) is replaced by the following:\n"
        "‘2. Husks are weighed, too.\n3. They are burnt.’.",
        LAST,
    )
    assert [article.split()[1] for article in found] == ["Regulation", "Directive", "Regulation"]
    assert found[0].endswith("Nuts are sold by weight.")
    assert found[2] == LAST


def test_a_blank_before_the_closing_mark_does_not_keep_a_quotation_open() -> None:
    for opening, closing in ("‘’", "“”"):
        found = articles_of(
            f"The following paragraph is added:\n{opening}4. Nuts are dried. {closing}.",
            f"The following paragraph is added:\n{opening}5. Husks\nare burnt.{closing};",
            LAST,
        )
        assert len(found) == 3


def test_quoted_articles_stay_quoted_where_every_paragraph_opens_with_a_mark() -> None:
    found = articles_of(
        "Articles 2 and 3 are replaced by the following:\n‘Article 2\n‘Nuts are sold.\n"
        "‘Article 3\n‘Husks are burnt.’.",
        LAST,
    )
    assert len(found) == 2
    assert found[1] == LAST


def test_a_title_may_begin_with_the_small_letter_of_an_electronic_thing() -> None:
    found = articles_of("Nuts are dried.", "eHusk common data\nThe data are kept.", LAST)
    assert found[1] == "eHusk common data\nThe data are kept."


def test_an_act_of_very_many_headings_is_split_in_seconds() -> None:
    quoting = "The following is inserted:\n" + "Article 8b\n‘Nuts.\nArticle 9zz\nHusks.\n" * 20_000
    started = time.process_time()
    assert len(articles_of(quoting, LAST)) >= 2
    assert time.process_time() - started < 10
