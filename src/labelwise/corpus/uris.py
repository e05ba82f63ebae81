"""The addresses of concepts."""

from __future__ import annotations

from urllib.parse import quote

from labelwise.corpus.thesaurus import Concept

EUROVOC = "http://eurovoc.europa.eu/"


def uri_of(id: str, concept: Concept | None) -> str:
    """The thesaurus' URI; without one, EUROVOC's namespace, whose ids are bare numbers.

    >>> uri_of("693", None), uri_of("http://www.yso.fi/onto/yso/p1265", None)
    ('http://eurovoc.europa.eu/693', 'http://www.yso.fi/onto/yso/p1265')
    """
    if concept is not None and concept.uri:
        return concept.uri
    return id if "://" in id else EUROVOC + quote(id, safe="")
