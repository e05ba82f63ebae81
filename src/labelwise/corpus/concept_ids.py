"""From a concept's URI to the id that labels carry."""

from __future__ import annotations

import re

_EUROVOC = re.compile(r"https?://eurovoc\.europa\.eu/([^/#?]+)")


def concept_id(uri: str) -> str:
    """EUROVOC URIs become EUROVOC ids; every other URI is its own id.

    >>> concept_id("<http://eurovoc.europa.eu/1309>")
    '1309'
    >>> concept_id("<http://www.yso.fi/onto/yso/p1265>")
    'http://www.yso.fi/onto/yso/p1265'
    """
    bare = uri.strip().removeprefix("<").removesuffix(">")
    match = _EUROVOC.fullmatch(bare)
    return match[1] if match else bare
