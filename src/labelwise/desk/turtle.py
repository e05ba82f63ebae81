"""Decisions in Turtle: subjects of the acts (Dublin Core), and who assigned them when (PROV)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from labelwise.desk.records import Decision

PREFIXES = {
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


_UNSAFE = re.compile(r'[\x00-\x20<>"{}|^`\\\x7f]')


def turtle(acts: Iterable[tuple[str, str, Sequence[Decision]]]) -> Iterator[str]:
    """Acts by address, title and chosen concepts. Each assignment is a statement that was generated
    at a time, attributed to a person and, where it was suggested, derived from a model."""
    yield "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    agents: dict[tuple[str, str], str] = {}
    concepts: set[str] = set()
    for act, title, chosen in acts:
        subjects = [f"    dcterms:subject {' , '.join(_iri(one.uri or '') for one in chosen)} ;\n"]
        yield (
            f"\n{_iri(act)}\n{subjects[0] if chosen else ''}    dcterms:title {literal(title)} .\n"
        )
        for one in chosen:
            yield from _concept(one, concepts)
            yield from _agents(one, agents)
            yield _assignment(act, one, agents)


def _concept(one: Decision, seen: set[str]) -> Iterator[str]:
    if one.uri and one.uri not in seen:
        seen.add(one.uri)
        name = literal(one.descriptor or "")
        yield f"\n{_iri(one.uri)} a skos:Concept ;\n    skos:prefLabel {name}@en .\n"


def _agents(one: Decision, agents: dict[tuple[str, str], str]) -> Iterator[str]:
    person = ("person", one.who)
    if person not in agents:
        agents[person] = f"_:person{len(agents) + 1}"
        yield f"\n{agents[person]} a prov:Person ;\n    foaf:name {literal(one.who)} .\n"
    model = ("model", one.fingerprint or "")
    if one.fingerprint and model not in agents:
        agents[model] = f"_:model{len(agents) + 1}"
        yield (
            f"\n{agents[model]} a prov:SoftwareAgent ;\n"
            f"    rdfs:label {literal(one.model or '')} ;\n"
            f"    dcterms:identifier {literal(one.fingerprint)} .\n"
        )


def _assignment(act: str, one: Decision, agents: dict[tuple[str, str], str]) -> str:
    by = [agents["person", one.who]]
    if one.what == "accept" and one.fingerprint:
        by.append(agents["model", one.fingerprint])
    return (
        "\n[] a prov:Entity , rdf:Statement ;\n"
        f"    rdf:subject {_iri(act)} ;\n"
        "    rdf:predicate dcterms:subject ;\n"
        f"    rdf:object {_iri(one.uri or '')} ;\n"
        f"    prov:wasAttributedTo {' , '.join(by)} ;\n"
        f'    prov:generatedAtTime "{one.when}"^^xsd:dateTime .\n'
    )


def _iri(address: str) -> str:
    """What must not stand in an IRI is written in percent."""
    return f"<{_UNSAFE.sub(lambda found: quote(found[0]), address)}>"


def literal(text: str) -> str:
    """A string of Turtle.

    >>> literal('a "b"')
    '"a \\\\"b\\\\""'
    """
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    safe = "".join(escapes.get(one, one) for one in text)
    safe = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", safe)
    return f'"{safe}"'
