"""The pages of EUR-Lex, from the old text-only ones to the Official Journal of today."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelwise.corpus.document import Document
from labelwise.corpus.eurlex_html import parse_html
from labelwise.corpus.markup import sniff
from labelwise.errors import InputError

FILES = Path(__file__).parent / "files"
PAGES = sorted(path.name for path in FILES.iterdir() if path.suffix in {".html", ".xhtml"})


def read(name: str) -> Document:
    return parse_html((FILES / name).read_bytes(), name)


def texts(document: Document, kind: str) -> list[str]:
    return [section.text for section in document.sections if section.kind == kind]


def page(body: str, head: str = "") -> bytes:
    return f"<html><head>{head}</head><body>{body}</body></html>".encode()


def test_an_act_of_the_official_journal_is_split_by_its_ids() -> None:
    act = read("oj_2024.xhtml")
    assert act.id == "32024R9123"
    assert act.title == (
        "REGULATION (EU) 2024/9123 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 27 March 2024"
        " on the labelling of mountain orchard fruit and amending Regulation (EU) 2017/9456"
        " (Text with EEA relevance)"
    )
    (header,) = texts(act, "header")
    assert header.startswith("REGULATION (EU) 2024/9123")
    assert header.endswith("THE EUROPEAN PARLIAMENT AND THE COUNCIL OF THE EUROPEAN UNION")
    (recitals,) = texts(act, "recitals")
    assert recitals.startswith("Having regard to the Treaty")
    assert "\n(1) Growers in mountain areas pick apples" in recitals
    assert recitals.endswith(
        "(2) Article 3 of Regulation (EU) 2017/9456 should therefore be amended,"
    )
    first, second, third = texts(act, "article")
    assert first == (
        "CHAPTER I\nGENERAL PROVISIONS\nSubject matter\n1. This Regulation lays down rules on:\n"
        "(a) the term ‘mountain orchard’, namely:\n(i) apples and pears;\n"
        "2. It applies above 600 metres."
    )
    assert "‘Article 3\nGrading\nFruit shall be graded by size.\nArticle 3a\n" in second
    assert third.startswith("Entry into force\nThis Regulation shall enter into force")
    assert third.endswith("directly applicable in all Member States.")
    (attachments,) = texts(act, "attachments")
    assert attachments.startswith("Done at Brussels, 27 March 2024.")
    assert attachments.endswith(
        "ANNEX II\nCorrelation table\nDirective 95/9111/EC This Regulation\n"
        "Article 1 Article 1\nArticle 4 —"
    )


def test_footnotes_come_after_the_signature_and_their_marks_go() -> None:
    act = read("oj_2024.xhtml")
    assert "Social Committee,\nWhereas:" in texts(act, "recitals")[0]
    signature, note, annex = ("A. PERSON", "OJ C 9, 12.1.2023, p. 47", "ANNEX I\nVarieties")
    (attachments,) = texts(act, "attachments")
    assert attachments.index(signature) < attachments.index(note) < attachments.index(annex)


def test_older_pages_of_the_journal_are_split_by_their_classes() -> None:
    act = read("oj_2006.html")
    assert act.id == "32006D9456"
    first, second = texts(act, "article")
    assert "1. Article 2 is replaced by the following:\n‘Article 2\nThe markets in" in first
    assert first.endswith("Article 5\nRecords shall be kept for three years.’")
    assert second == "Addressees\nThis Decision is addressed to the Member States."
    (recitals,) = texts(act, "recitals")
    assert "91/9068/EEC, and in particular" in recitals
    assert "\n(2) The list should be brought up to date," in recitals
    assert texts(act, "attachments")[0].endswith(
        "OJ L 946, 19.2.1991, p. 19.\nANNEX\nApproved sheep markets\nNorth Ferry Open on Mondays."
    )


def test_a_consolidated_text_loses_its_cover_and_its_marks() -> None:
    act = read("consolidated_2012.xhtml")
    assert act.id == "02009R9543-20120301"
    assert act.title.startswith("COUNCIL REGULATION (EC) No 9543/2009 of 18 June 2009")
    assert act.text.count("concerning harvest surveys") == 1
    assert not any(mark in act.text for mark in ("►", "▼", "◄", "documentation tool", "9141/2012"))
    first, inserted, last = texts(act, "article")
    assert first.startswith("CHAPTER I\nSURVEYS\nSubject matter\n")
    assert inserted == (
        "Definitions\n1. For the purposes of this Regulation:\n"
        "(a) ‘bine’ means the stem of the hop plant;\n(i) whether cut or standing;\n"
        "(b) ‘yield’ means kilograms a hectare."
    )
    assert last == "Surveys are held each September."
    assert texts(act, "attachments")[0].startswith("ANNEX I\nHop varieties\nGolden Tettnang.")


def test_a_consolidated_text_without_ids_is_split_by_its_classes() -> None:
    act = read("consolidated_flat.html")
    assert texts(act, "article") == [
        "Scope\nThis Directive applies to moored barges.",
        "TITLE II\nMOORINGS\nBarges shall be moored at both ends.",
    ]
    assert "Article 1\nKnots and ropes." in texts(act, "attachments")[0]
    assert "documentation tool" not in act.text


def test_bare_paragraphs_are_split_by_their_words() -> None:
    act = read("bare_paragraphs.xhtml")
    assert [len(texts(act, kind)) for kind in ("header", "recitals", "article")] == [1, 1, 2]
    assert texts(act, "attachments")[0].endswith(
        "ANNEX\nSize A Figs shall be whole and sound.\nSize B Figs may be split."
    )


def test_an_old_text_only_page_is_read_although_it_is_not_well_formed() -> None:
    act = read("text_only_1985.html")
    assert act.id == "31985D9377"
    assert act.title == "COMMISSION DECISION of 7 June 1985 on wax moulds for hives"
    assert "the Commission’s moulds & frames; whereas 5 < 6," in texts(act, "recitals")[0]
    assert texts(act, "recitals")[0].endswith("Whereas the Committee has given its opinion,")
    first, second, third = texts(act, "article")
    assert first == "The moulds in the Annex are approved."
    assert '"Article 3\nFrames shall be of lime wood."' in second
    assert third == "This Decision is addressed to the Member States."
    (attachments,) = texts(act, "attachments")
    assert attachments.startswith("Done at Brussels, 7 June 1985.")
    assert attachments.endswith("Mould 2 Sheets shall be 3 mm thick.")


@pytest.mark.parametrize("name", PAGES)
def test_the_head_of_a_page_never_leaks(name: str) -> None:
    if name == "portal_without_act.html":
        return
    text = read(name).text.lower()
    for secret in (
        *("viticulture", "geographical protection", "honey adulteration", "apiculture"),
        *("river ferry", "inland waterway transport", "secret", "statistics", "tracker"),
        *("cookies", "sign in", "legal notice", "skip to", "avis juridique", "official journal l"),
    ):
        assert secret not in text


def test_an_act_deep_inside_a_portal_page_is_found() -> None:
    act = read("portal_with_act.html")
    assert act.id == "32019R9815"
    assert act.title == (
        "COMMISSION IMPLEMENTING REGULATION (EU) 2019/9815 of 3 June 2019"
        " on the timetables of river ferries"
    )
    assert texts(act, "article") == [
        "Ferries leave on the hour.",
        "This Regulation shall enter into force on 1 July 2019.",
    ]
    assert texts(act, "attachments")[0].endswith("ANNEX\nFerries and landings.")


def test_the_journal_inside_a_portal_page_is_read_as_it_is_alone() -> None:
    alone = (FILES / "oj_2024.xhtml").read_text(encoding="utf-8")
    body = alone[alone.index("<body>") + 6 : alone.index("</body>")]
    portal = page(
        '<header class="ecl-site-header">Sign in</header><div id="PP1Contents">Notice</div>'
        '<div class="tocWrapper"><nav><a href="#art_1">Article 1</a></nav></div>'
        f'<div id="PP4Contents"><div id="document1" class="tabContent">{body}</div></div>'
        '<footer class="ecl-site-footer">Legal notice</footer>',
        '<meta name="WT.z_docID" content="32024R9123">',
    )
    assert parse_html(portal, "page.html") == read("oj_2024.xhtml")


def test_a_portal_page_without_an_act_is_refused() -> None:
    with pytest.raises(InputError, match=r"portal_without_act\.html: is a page of the EUR-Lex"):
        read("portal_without_act.html")


def test_a_page_that_is_no_act_is_one_article() -> None:
    news = parse_html(page("<h1>Chestnuts</h1><p>Prices fell.</p>"), "news.html")
    assert [(x.kind, x.text) for x in news.sections] == [("article", "Chestnuts\nPrices fell.")]
    assert (news.id, news.title) == ("news", "Chestnuts")


@pytest.mark.parametrize("data", [b"", b"<html></html>", page("<script>x</script>"), b"<?xml?>"])
def test_a_page_without_text_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="holds no text"):
        parse_html(data, "empty.html")


def test_hidden_elements_and_scripts_are_not_text() -> None:
    body = (
        '<p style="display: none">gold subject</p><p hidden>gold subject</p>'
        '<span class="sr-only">gold subject</span><div aria-hidden="true">gold subject</div>'
        "<style>gold subject</style><!-- gold subject --><template>gold subject</template>"
        "<p>HAS ADOPTED THIS DECISION:</p><p>Article 1</p><p>Visible.</p>"
    )
    assert parse_html(page(body), "x.html").text == "Visible."


def test_breaks_and_preformatted_lines_are_lines() -> None:
    text = "HAS ADOPTED THIS DECISION:\nArticle 1\nNuts are sold.\nArticle 2\nHusks are burnt."
    for body in (f"<pre>{text}</pre>", f"<p>{text.replace(chr(10), '<br>')}</p>"):
        found = texts(parse_html(page(body), "x.html"), "article")
        assert found == ["Nuts are sold.", "Husks are burnt."]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
@pytest.mark.parametrize("name", ["oj_2006.html", "text_only_1985.html", "oj_2024.xhtml"])
def test_the_encoding_of_a_page_does_not_matter(name: str, encoding: str) -> None:
    text = (FILES / name).read_text(encoding="utf-8")  # which keeps saying charset=utf-8
    assert parse_html(text.encode(encoding), name) == read(name)


def test_articles_of_other_languages_are_found_by_their_classes() -> None:
    body = "".join(
        f'<p class="oj-ti-art">Artikel {n}</p><p class="oj-normal">Text {n}.</p>' for n in (1, 2, 3)
    )
    document = parse_html(page(f'<p class="oj-doc-ti">VERORDNUNG</p>{body}'), "de.html")
    assert texts(document, "article") == ["Text 1.", "Text 2.", "Text 3."]


def test_one_text_in_several_shapes_gives_the_same_articles() -> None:
    titles = ["Nuts", "Husks", "Entry into force"]
    classes = {
        '<p class="oj-ti-art">Article {n}</p><p class="oj-sti-art">{title}</p>',
        '<p class="ti-art">Article {n}</p><p class="sti-art">{title}</p>',
        '<p class="title-article-norm">Article {n}</p><p class="stitle-article-norm">{title}</p>',
        '<div class="eli-subdivision" id="art_{n}"><p>Article {n}</p><p>{title}</p></div>',
        "<p>Article {n}</p><p>{title}</p>",
        "<P>ARTICLE {n}<BR>{title}",
        '<p class="Titrearticle">Article {n}<br/>{title}</p>',
        "<h3>Article {n} {title}</h3>",
    }
    for shape in classes:
        body = "".join(shape.format(n=n, title=title) for n, title in enumerate(titles, 1))
        document = parse_html(page(f"<p>HAS ADOPTED THIS DECISION:</p>{body}"), "x.html")
        assert texts(document, "article") == titles


def test_outside_entities_are_never_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    uri = (tmp_path / "secret.txt").as_uri()
    attack = (
        f'<?xml version="1.0"?>\n<!DOCTYPE html [<!ENTITY x SYSTEM "{uri}">]>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>&x;</p></body></html>'
    )
    with pytest.raises(InputError, match=r"x\.html, line 2: declares XML entities of its own"):
        parse_html(attack.encode(), "x.html")


def test_an_act_of_a_hundred_thousand_words_is_read_in_seconds() -> None:
    sentence = "<p class='oj-normal'>The chestnuts shall be <b>weighed</b> twice each day (1).</p>"
    row = "<table><tr><td><p>(a)</p></td><td><p>Husks shall be burnt.</p></td></tr></table>"
    articles = [
        f'<div class="eli-subdivision" id="art_{n}"><p class="oj-ti-art">Article {n}</p>'
        + (sentence + row) * 60
        + "</div>"
        for n in range(1, 151)
    ]
    by_id = page("<p>HAS ADOPTED THIS DECISION:</p>" + "".join(articles))
    by_text = page("<p>HAS ADOPTED THIS DECISION:</p>" + "<br>".join(articles).replace("art_", ""))
    started = time.process_time()
    for data in (by_id, by_text):
        document = parse_html(data, "long.html")
        assert len(texts(document, "article")) == 150
        assert len(document.text.split()) > 100_000
    assert time.process_time() - started < 20


@pytest.mark.parametrize("tag", ["font", "div", "span"])
def test_no_nesting_is_too_deep(tag: str) -> None:
    body = f"<{tag}>" * 6000 + "<p>HAS ADOPTED THIS DECISION:<p>Article 1<p>Deep down."
    assert texts(parse_html(page(body), "x.html"), "article") == ["Deep down."]


def test_broken_xhtml_is_read_as_a_browser_would() -> None:
    document = parse_html(
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
        b'<script src="x.js"/></head><body><a id="top"/><p>Nuts & husks<br>are <b>sold</p></body>',
        "x.html",
    )
    assert document.text == "Nuts & husks\nare sold"


def test_files_are_told_apart_by_their_content() -> None:
    kinds = {path.name: sniff(path.read_bytes()) for path in FILES.iterdir()}
    assert all(kinds[name] == "html" for name in PAGES)
    assert all(kind == "formex" for name, kind in kinds.items() if name.startswith("formex"))
    assert kinds["act_1967.txt"] == "text"
    assert sniff(b"\xef\xbb\xbf\r\n<!-- x --><HTML>") == "html"
    assert sniff("<?xml version='1.0' encoding='utf-16'?><ACT/>".encode("utf-16")) == "formex"
    assert sniff(b"<P>Article 1") == "html"
    assert sniff(b"") == sniff(b"5 < 6 and 7 > 3") == sniff(b"%PDF-1.7") == "text"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *("<p>", "</p>", "<table>", "<td>", "</table>", "<br>", "&nbsp;", "&bogus;", "<"),
                *('<div id="art_1">', "</div>", "Nuts", '<p class="oj-ti-art">', "Article 1"),
                *('<div id="TexteOnly">', "<TXT_TE>", "Done at Brussels", '<p class="note">'),
                *("ANNEX", "<!--", "HAS ADOPTED THIS DECISION:"),
            ]
        ),
        max_size=30,
    )
)
def test_any_tag_soup_gives_a_document_or_a_plain_error(pieces: list[str]) -> None:
    try:
        assert parse_html("".join(pieces).encode(), "soup.html").sections
    except InputError as error:
        assert str(error).startswith("soup.html: holds no text")  # noqa: PT017
