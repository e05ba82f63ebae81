"""Files made to be slow: for each shape, a function from a number of pieces to a file.

Found by reading every regular expression and every walk of the readers, and by trying. What nests
does so deeper than the parser of HTML goes, in a file of any size, so that all are read in one way.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

ACT_HEAD = "COUNCIL REGULATION (EC) No 1/2001\nTHE COUNCIL,\nHaving regard to the Treaty,\n"
ENACTED = "HAS ADOPTED THIS REGULATION:\n"


class Shape(NamedTuple):
    """A file by its size: the pieces at which it is measured first, its name, and its maker."""

    pieces: int
    name: str
    make: Callable[[int], str]


def _page(inner: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: f"<html><body>{inner(n)}</body></html>"


def _nested(n: int, opening: str, inner: str, closing: str) -> str:
    return opening * n + inner + closing * n


def _xml(inner: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: f'<?xml version="1.0"?><ACT>{inner(n)}</ACT>'


SHAPES: dict[str, Shape] = {
    # one long line of text
    "blanks after a bracket in HTML": Shape(
        150_000, "a.html", _page(lambda n: "<p>(" + " " * n + "x</p>")
    ),
    "brackets with a blank each": Shape(100_000, "a.html", _page(lambda n: "<p>" + "( " * n)),
    "blanks and brackets in HTML": Shape(
        65_000, "a.html", _page(lambda n: "<p>x" + " " * n + "( " * n)
    ),
    "blanks in a line": Shape(1_500_000, "a.txt", lambda n: "x" + " " * n + "y"),
    "tabs in a line": Shape(1_500_000, "a.txt", lambda n: "x" + "\t" * n + "y"),
    "one body after another on one line": Shape(
        45_000, "a.txt", lambda n: ")THE COUNCIL" * n + f"\n{ENACTED}Article 1\nx"
    ),
    "one body after another before a recital": Shape(
        35_000, "a.txt", lambda n: ")THE COUNCIL" * n + f"x Having\n{ENACTED}Article 1\nx"
    ),
    "banks on one line": Shape(
        100_000, "a.txt", lambda n: ")THE" + " BANK" * n + f"x Having\n{ENACTED}Article 1\nx"
    ),
    "bodies on many lines": Shape(
        448, "a.txt", lambda n: (")THE COUNCIL" * 35 + "x\n") * n + f"{ENACTED}Article 1\nx"
    ),
    "closing brackets and capitals": Shape(
        800_000, "a.txt", lambda n: ")" * n + "THE COUNCIL\n" + ACT_HEAD
    ),
    "THE in capitals": Shape(15_000, "a.txt", lambda n: "THE " * n),
    "THE COUNCIL, without an end": Shape(60_000, "a.txt", lambda n: "x) THE COUNCIL, " * n),
    "HAS ADOPTED on one line": Shape(50_000, "a.txt", lambda n: "HAS ADOPTED " * n),
    "articles on one line": Shape(35_000, "a.txt", lambda n: ENACTED + "Article 1 " * n),
    "articles run together": Shape(
        2_000, "a.txt", lambda n: "".join(f"x.Article {k % 9999}Scope1. Y" for k in range(n))
    ),
    "article after colon and blanks": Shape(
        1_500_000, "a.txt", lambda n: "x:" + " " * n + "Article"
    ),
    "openings of brackets": Shape(100_000, "a.txt", lambda n: "(1) " * n),
    "labels of points": Shape(150_000, "a.txt", lambda n: "a)" * n),
    "labels and a quotation": Shape(100_000, "a.txt", lambda n: "1." * n + "‘x"),
    "quotation marks": Shape(65_000, "a.txt", lambda n: "‘x’ " * n),
    "dates of a running head": Shape(85_000, "a.txt", lambda n: "1.1.2001 " * n + "x"),
    "footnote of the Journal": Shape(
        200_000, "a.txt", lambda n: ENACTED + "Article 1\n(1) " + "(OJ " * n
    ),
    "added words": Shape(200_000, "a.txt", lambda n: ENACTED + "added " * n + ":\nArticle 1\nx"),
    "digits": Shape(1_500_000, "a.txt", lambda n: "1" * n),
    "digits and commas": Shape(400_000, "a.txt", lambda n: "1,2." * n),
    "capital letters": Shape(1_500_000, "a.txt", lambda n: "THE " + "A" * n),
    "letters without a blank": Shape(1_500_000, "a.txt", lambda n: "a" * n),
    "CELEX numbers": Shape(150_000, "a.txt", lambda n: "32001R0001 " * n),
    "a consolidated number and dashes": Shape(
        1_500_000, "a.txt", lambda n: "02001R0001" + " " * n + "x"
    ),
    # many lines
    "short lines": Shape(9_500, "a.txt", lambda n: "x\n" * n),
    "article headings": Shape(
        3_000,
        "a.txt",
        lambda n: ENACTED + "".join(f"Article {k % 9999}\nText.\n" for k in range(n)),
    ),
    "article headings that fall": Shape(
        3_000,
        "a.txt",
        lambda n: ENACTED + "".join(f"Article {9999 - k % 9999}\nText.\n" for k in range(n)),
    ),
    "the same article again": Shape(3_000, "a.txt", lambda n: ENACTED + "Article 1\nText.\n" * n),
    "articles with letters": Shape(
        2_500,
        "a.txt",
        lambda n: (
            ENACTED + "".join(f"Article {k % 50}{'abcdef'[k % 6]}\nText.\n" for k in range(n))
        ),
    ),
    "announced articles": Shape(
        2_500,
        "a.txt",
        lambda n: ENACTED + "".join(f"is replaced by:\nArticle {k % 999}\nT.\n" for k in range(n)),
    ),
    "quotations that open": Shape(6_500, "a.txt", lambda n: ENACTED + "‘Article 1\n" * n),
    "quotations that open and one that closes": Shape(
        7_000, "a.txt", lambda n: ENACTED + "‘Article 1\n" * n + "end.’\n"
    ),
    "chapters": Shape(4_000, "a.txt", lambda n: ENACTED + "CHAPTER I\nArticle 1\n" * n),
    "annexes": Shape(9_000, "a.txt", lambda n: ENACTED + "Article 1\nx\n" + "ANNEX I\n" * n),
    "formulas": Shape(7_000, "a.txt", lambda n: ENACTED * n),
    "formulas and headings": Shape(3_000, "a.txt", lambda n: (ENACTED + "Article 1\n") * n),
    "signatures": Shape(7_500, "a.txt", lambda n: ENACTED + "Done at Brussels\n" * n),
    "recitals": Shape(8_000, "a.txt", lambda n: "Whereas x,\n" * n),
    "footnotes": Shape(9_000, "a.txt", lambda n: ENACTED + "Article 1\nx\n" + "(1) OJ L 1\n" * n),
    "a cover's titles": Shape(8_000, "a.txt", lambda n: "CONSLEG: 2001\n" + "REGULATION x\n" * n),
    # HTML
    "divisions with heads": Shape(
        9_000, "a.html", _page(lambda n: _nested(n, "<div><head>x</head>", "x", "</div>"))
    ),
    "divisions with scripts": Shape(
        9_000, "a.html", _page(lambda n: _nested(n, "<div><script>x</script>", "x", "</div>"))
    ),
    "heads that do not close": Shape(3_000, "a.html", _page(lambda n: "<div><head>" * n)),
    "scripts that do not close": Shape(40_000, "a.html", _page(lambda n: "<div><script>" * n)),
    "deep divisions": Shape(9_000, "a.html", _page(lambda n: _nested(n, "<div>", "x", "</div>"))),
    "deep spans with text": Shape(
        9_000, "a.html", _page(lambda n: _nested(n, "<span>x", "y", "</span>"))
    ),
    "paragraphs under deep divisions": Shape(
        1_500,
        "a.html",
        _page(lambda n: _nested(200, "<div>", "<p>Article 1</p>" * n, "</div>")),
    ),
    "paragraphs under deep divisions of a portal": Shape(
        1_000,
        "a.html",
        _page(
            lambda n: (
                '<div class="ecl-x">' + _nested(200, "<div>", "<p>Article 1</p>" * n, "</div>")
            )
        ),
    ),
    "nested links": Shape(
        4_800, "a.html", _page(lambda n: _nested(n, '<span><a href="#x">', "x", "</a></span>"))
    ),
    "links in divisions": Shape(
        4_800, "a.html", _page(lambda n: _nested(n, '<a href="#a"><div>', "1", "</div></a>"))
    ),
    "nested titles": Shape(
        4_800, "a.html", _page(lambda n: _nested(n, "<h1>x<div>", "", "</div></h1>"))
    ),
    "nested references": Shape(
        1_500,
        "a.html",
        _page(lambda n: _nested(n, '<div class="reference">' + "x" * 50, "", "</div>")),
    ),
    "footnotes that link both ways": Shape(
        748,
        "a.html",
        _page(
            lambda n: "".join(
                f'<p><a href="#b{k}" id="a{k}">1</a>x<a href="#a{k}" id="b{k}">1</a></p>'
                for k in range(n)
            )
        ),
    ),
    "first children all the way down": Shape(
        48,
        "a.html",
        _page(
            lambda n: (
                '<p><a href="#b" id="a">1</a><a href="#a" id="b">1</a></p>'
                + _nested(200, "<div>", "<p>x</p>" * 50 * n, "</div>")
            )
        ),
    ),
    "ids and parts": Shape(
        1_500,
        "a.html",
        _page(lambda n: "".join(f'<div id="art_{k}"><p>Text</p></div>' for k in range(n))),
    ),
    "texts after deep elements": Shape(
        148,
        "a.html",
        _page(
            lambda n: (
                '<p><a href="#b" id="a">1</a><a href="#a" id="b">1</a></p><div>'
                + _nested(n, "<span>", "", "</span>")
                + "x<br>" * 10 * n
            )
        ),
    ),
    "end tags of nothing": Shape(
        200, "a.html", _page(lambda n: "<div>" * n + "<p>x</span></p>" * 10 * n)
    ),
    "attributes": Shape(
        60_000, "a.html", _page(lambda n: "<p " + " ".join(f"a{k}" for k in range(n)) + ">x</p>")
    ),
    "line separators of Unicode": Shape(
        300_000, "a.html", _page(lambda n: "<p>Article 1" + "\u2028" * n + "x</p>")
    ),
    "many classes": Shape(150_000, "a.html", _page(lambda n: '<p class="' + "a " * n + '">x</p>')),
    "a long class": Shape(650_000, "a.html", _page(lambda n: f'<p class="hd-{"a" * n}">x</p>')),
    "a long style": Shape(
        150_000, "a.html", _page(lambda n: f'<p style="{"display" + " " * n}">x</p>')
    ),
    "styles again and again": Shape(
        40_000, "a.html", _page(lambda n: f'<p style="{"display :" * n}">x</p>')
    ),
    "tags that do not end": Shape(100_000, "a.html", _page(lambda n: "<b " * n)),
    "empty elements": Shape(6_000, "a.html", _page(lambda n: "<p/>" * n)),
    "empty elements that do not end": Shape(100_000, "a.html", _page(lambda n: "<p " * n)),
    "opening angles": Shape(200_000, "a.html", _page(lambda n: "<" * n)),
    "comments that do not end": Shape(100_000, "a.html", _page(lambda n: "<!--" * n)),
    "entities": Shape(150_000, "a.html", _page(lambda n: "&amp;" * n)),
    "entities that do not end": Shape(200_000, "a.html", _page(lambda n: "&amp" * n)),
    "declarations": Shape(45_000, "a.html", lambda n: "<?xml " * n + "<html><body>x</body></html>"),
    "document types": Shape(
        40_000, "a.html", lambda n: "<!DOCTYPE [" * n + "<html><body>x</body></html>"
    ),
    "marks of amendments": Shape(100_000, "a.html", _page(lambda n: "<p>" + "►M1 " * n)),
    "cells of a table": Shape(
        1_000, "a.html", _page(lambda n: "<table>" + "<tr><td>x<td>y" * n + "</table>")
    ),
    "tables in tables": Shape(
        648, "a.html", _page(lambda n: _nested(n, "<table><tr><td>x", "", "</td></tr></table>"))
    ),
    "preformatted lines": Shape(7_500, "a.html", _page(lambda n: "<pre>" + "x\n" * n + "</pre>")),
    "text-only elements": Shape(
        1_500, "a.html", _page(lambda n: "<txt_te>" + "<p>Article 1</p>" * n + "</txt_te>x")
    ),
    # Formex
    "deep elements of Formex": Shape(
        200_000, "a.xml", _xml(lambda n: _nested(n, "<P>x", "", "</P>"))
    ),
    "notes of Formex": Shape(2_500, "a.xml", _xml(lambda n: "<P>x<NOTE><P>y</P></NOTE></P>" * n)),
    "nested notes of Formex": Shape(
        70_000, "a.xml", _xml(lambda n: _nested(n, "<NOTE><P>x</P>", "", "</NOTE>"))
    ),
    "articles of Formex": Shape(
        6_000,
        "a.xml",
        _xml(
            lambda n: "<ENACTING.TERMS>" + "<ARTICLE><P>x</P></ARTICLE>" * n + "</ENACTING.TERMS>"
        ),
    ),
    "instances of Formex": Shape(
        55_000, "a.xml", _xml(lambda n: "<BIB.INSTANCE/>" * n + "<P>x</P>")
    ),
    "attributes in Formex": Shape(
        150_000, "a.xml", _xml(lambda n: "<P " + " ".join(f'a{k}="1"' for k in range(n)) + ">x</P>")
    ),
    "namespaces in Formex": Shape(
        75_000,
        "a.xml",
        _xml(lambda n: "<P " + " ".join(f'xmlns:a{k}="u{k}"' for k in range(n)) + ">x</P>"),
    ),
    "elements with namespaces of their own": Shape(
        5_000,
        "a.xml",
        _xml(lambda n: "".join(f'<a{k}:P xmlns:a{k}="u{k}">x</a{k}:P>' for k in range(n))),
    ),
    "deep namespaces": Shape(
        448,
        "a.xml",
        _xml(
            lambda n: (
                "".join(f'<P xmlns:a{k}="u{k}">' for k in range(n))
                + "<a0:P>x</a0:P>" * 10 * n
                + "</P>" * n
            )
        ),
    ),
    "references in Formex": Shape(100_000, "a.xml", _xml(lambda n: "<P>" + "&nbsp;" * n + "</P>")),
    "ampersands in Formex": Shape(600_000, "a.xml", _xml(lambda n: "<P>" + "&x" * n + "</P>")),
    # other formats
    "opening brackets in JSON": Shape(1_500_000, "a.json", lambda n: '[{"text": ' + "[" * n),
    "many records": Shape(
        1_000,
        "a.jsonl",
        lambda n: "".join(json.dumps({"text": "x", "id": str(k)}) + "\n" for k in range(n)),
    ),
    "bad records": Shape(
        15_000, "a.json", lambda n: json.dumps([{"text": "x", "id": "1"}, *[3] * n])
    ),
    "tabs": Shape(1_500_000, "a.tsv", lambda n: "1\t2\t" + "\t" * n),
    "quotes in CSV": Shape(500_000, "a.csv", lambda n: 'text,subject_uris\n"' + '""' * n + '",\n'),
    "subjects": Shape(
        50_000, "a.tsv", lambda n: "text\t" + "<http://eurovoc.europa.eu/1> " * n + "\n"
    ),
}
