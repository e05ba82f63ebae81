"""A thesaurus in SKOS, as Turtle or RDF/XML. Knows how EUROVOC names microthesauri and domains."""

from __future__ import annotations

import io
import logging
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from labelwise.corpus.concept_ids import concept_id
from labelwise.corpus.sources import Origin, decode, whole
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import InputError, MissingExtraError

SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
DCT = "http://purl.org/dc/terms/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Labels = dict[str, dict[str, list[str]]]
"""For each URI, its labels by language; the language of a plain label is empty."""


def read_skos(stream: io.BufferedReader, path: Path, language: str) -> Thesaurus:
    """The concepts of a SKOS file, named in the language where they can be."""
    return _thesaurus(_graph(whole(stream, path), path), path, language)


def _graph(data: bytes, path: Path) -> Any:
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError("reading a SKOS thesaurus", "thesaurus") from error
    # Of every address that it doubts rdflib writes a line, which may be the whole file again.
    logging.getLogger("rdflib.term").setLevel(logging.ERROR)
    graph = rdflib.Graph()
    xml = data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml") or b"<rdf:RDF" in data[:4096]
    try:
        if xml:
            graph.parse(data=data, format="xml")
        else:
            graph.parse(data=decode(data, Origin(path)), format="turtle")
    except InputError:
        raise
    except Exception as error:  # rdflib and its parsers raise many kinds, none of them documented
        line = error.getLineNumber() if hasattr(error, "getLineNumber") else None
        line = line or getattr(error, "lines", None)
        kind = "RDF/XML" if xml else "Turtle"
        reason = " ".join(str(getattr(error, "message", error)).split())[:200]
        raise InputError(
            f"broken {kind}: {reason}", file=path, line=line if isinstance(line, int) else None
        ) from error
    return graph


def _thesaurus(graph: Any, path: Path, language: str) -> Thesaurus:
    preferred, alternative = _labels(graph, "prefLabel"), _labels(graph, "altLabel")
    microthesauri = _microthesauri(graph, preferred)
    domains = _domains(graph, microthesauri)
    schemes = _links(graph, f"{SKOS}inScheme", f"{SKOS}topConceptOf")
    for scheme, top in _pairs(graph, f"{SKOS}hasTopConcept"):
        schemes[top].add(scheme)
    broader = _links(graph, f"{SKOS}broader")
    narrower = _links(graph, f"{SKOS}narrower")
    related = _links(graph, f"{SKOS}related")

    uris = sorted(set(_instances(graph, f"{SKOS}Concept")) - domains)
    if not uris:
        raise InputError("there are no SKOS concepts in it", file=path)
    languages = sorted({tag for uri in uris for tag in preferred.get(uri, {}) if tag})
    if languages and not any(_in_language(preferred.get(uri, {}), language) for uri in uris):
        raise InputError(
            f"no concept has a label in '{language}'; choose among {', '.join(languages)}",
            file=path,
        )

    def name(uri: str) -> str:
        return _name(preferred.get(uri, {}), language) or concept_id(uri)

    notes_of = [_labels(graph, kind) for kind in ("definition", "scopeNote")]
    concepts, unnamed = [], 0
    for uri in uris:
        unnamed += not _in_language(preferred.get(uri, {}), language)
        within = sorted(schemes[uri] & microthesauri.keys())
        concepts.append(
            Concept(
                concept_id(uri),
                uri,
                name(uri),
                tuple(sorted(_in_language(alternative.get(uri, {}), language))),
                tuple(map(concept_id, broader[uri])),
                tuple(map(concept_id, narrower[uri])),
                tuple(map(concept_id, related[uri])),
                tuple(map(concept_id, within)),
                tuple(
                    sorted({concept_id(one) for scheme in within for one in microthesauri[scheme]})
                ),
                translations=_translations(
                    preferred.get(uri, {}), alternative.get(uri, {}), language
                ),
                notes=tuple(
                    note for kind in notes_of for note in _in_language(kind.get(uri, {}), language)
                ),
            )
        )
    notes = []
    if unnamed:
        notes.append(
            f"{unnamed} of {len(uris)} concepts have no label in '{language}' and are named in "
            "another language or by their id"
        )
    return Thesaurus.of(
        concepts,
        {concept_id(uri): name(uri) for uri in microthesauri},
        {concept_id(uri): name(uri) for uri in domains},
        notes,
        group_translations={
            code: {
                concept_id(uri): min(found)
                for uri in (*microthesauri, *domains)
                if (found := preferred.get(uri, {}).get(code))
            }
            for code in languages
            if code.split("-")[0] != language.lower()
        },
    )


def _translations(
    preferred: dict[str, list[str]], alternative: dict[str, list[str]], language: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names in all other languages, the preferred one of each first."""
    return tuple(
        (code, (*sorted(preferred[code]), *sorted(alternative.get(code, ()))))
        for code in sorted(preferred)
        if code and code.split("-")[0] != language.lower()
    )


def _labels(graph: Any, kind: str) -> Labels:
    """Plain labels, and those of SKOS-XL, which stand on a node of their own.

    What has no preferred label in SKOS is named by its label in RDF Schema.
    """
    import rdflib

    found: Labels = defaultdict(lambda: defaultdict(list))
    for subject, literal in graph.subject_objects(rdflib.URIRef(SKOS + kind)):
        found[str(subject)][(literal.language or "").lower()].append(str(literal))
    for subject, node in graph.subject_objects(rdflib.URIRef(SKOSXL + kind)):
        for literal in graph.objects(node, rdflib.URIRef(f"{SKOSXL}literalForm")):
            names = found[str(subject)][(literal.language or "").lower()]
            if str(literal) not in names:
                names.append(str(literal))
    if kind == "prefLabel":
        named = set(found)
        for subject, literal in graph.subject_objects(rdflib.URIRef(f"{RDFS}label")):
            if str(subject) not in named:
                found[str(subject)][(literal.language or "").lower()].append(str(literal))
    return found


def _in_language(labels: dict[str, list[str]], language: str) -> list[str]:
    """The labels in a language or a variant of it (en, en-GB), and those that have no language."""
    wanted = language.lower()
    tags = [tag for tag in sorted(labels) if tag.split("-")[0] == wanted or tag == wanted]
    return [label for tag in tags for label in labels[tag]] or labels.get("", [])


def _name(labels: dict[str, list[str]], language: str) -> str:
    """The label in a language, in English, or in the first language there is."""
    for candidates in (_in_language(labels, language), _in_language(labels, "en")):
        if candidates:
            return min(candidates)
    return min((label for tag in sorted(labels)[:1] for label in labels[tag]), default="")


def _microthesauri(graph: Any, labels: Labels) -> dict[str, set[str]]:
    """The concept schemes inside the thesaurus, with their domains.

    They are linked to a domain, typed as such, or numbered with four digits ("2826 social
    affairs"); the scheme of the whole thesaurus is none of these.
    """
    domains = _links(graph, f"{DCT}subject")
    for subject, predicate, value in graph:
        if _local(str(predicate)).lower() == "domain":
            domains[str(subject)].add(str(value))
    typed = {str(one) for one, kind in _types(graph) if _local(kind).lower() == "microthesaurus"}
    return {
        scheme: domains[scheme] & labels.keys()
        for scheme in sorted({*_instances(graph, f"{SKOS}ConceptScheme"), *typed})
        if domains[scheme] & labels.keys() or scheme in typed or _numbered(labels.get(scheme, {}))
    }


def _domains(graph: Any, microthesauri: dict[str, set[str]]) -> set[str]:
    """Domains are linked from a microthesaurus, or say of themselves that they are one."""
    import rdflib

    linked = {domain for domains in microthesauri.values() for domain in domains}
    typed = {one for one, kind in _types(graph) if _local(kind).lower() == "domain"}
    for subject, kind in graph.subject_objects(rdflib.URIRef(f"{DCT}type")):
        if _local(str(kind)).lower() == "domain":
            typed.add(str(subject))
    return linked | typed


def _numbered(labels: dict[str, list[str]]) -> bool:
    return any(re.match(r"\d{4} ", name) for names in labels.values() for name in names)


def _types(graph: Any) -> list[tuple[str, str]]:
    return _pairs(graph, f"{RDF}type")


def _instances(graph: Any, kind: str) -> list[str]:
    return [subject for subject, found in _types(graph) if found == kind]


def _links(graph: Any, *predicates: str) -> defaultdict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for predicate in predicates:
        for subject, value in _pairs(graph, predicate):
            found[subject].add(value)
    return found


def _pairs(graph: Any, predicate: str) -> list[tuple[str, str]]:
    import rdflib

    pairs = graph.subject_objects(rdflib.URIRef(predicate))
    return [(str(subject), str(value)) for subject, value in pairs]


def _local(uri: str) -> str:
    return re.split(r"[/#]", uri)[-1]
