"""Writes the synthetic thesaurus: descriptors as EURLEX57K has them, and SKOS Turtle."""

from __future__ import annotations

import json
from collections.abc import Iterable

from labelwise.corpus.synthetic.concepts import Concept, World
from labelwise.corpus.synthetic.phrases import DOMAINS, MICROTHESAURI

URI = "http://eurovoc.europa.eu/"
"""EUROVOC's namespace, whose local names the SKOS reader takes for ids. EUROVOC has numbers and
``c_...`` for names; the ``s...`` here are none of its concepts."""
SCHEME = "s9000"


def descriptors_json(world: World) -> str:
    """One entry a concept: its id, label, alternative labels and broader concepts."""
    entries = {
        concept.id: {
            "concept_id": concept.id,
            "label": concept.label,
            "alt_labels": list(concept.alternatives),
            "parents": list(concept.broader),
        }
        for concept in world.concepts
    }
    return json.dumps(entries, ensure_ascii=False, indent=0) + "\n"


def thesaurus_ttl(world: World) -> str:
    """The thesaurus in the shape of EUROVOC's SKOS: domains, microthesauri, concepts."""
    domains = {name: f"s9{i:03d}" for i, (name, _) in enumerate(DOMAINS, start=1)}
    schemes = {name: f"s9{i:03d}" for i, (name, _, _) in enumerate(MICROTHESAURI, start=101)}
    top = {name: [c.id for c in _tops(world.concepts, name)] for name in schemes}
    lines = [
        "# Synthetic: made by labelwise, not part of EUROVOC.",
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
        "@prefix dct: <http://purl.org/dc/terms/> .",
        f"@prefix syn: <{URI}> .",
        "",
    ]
    for number, (name, french) in enumerate(DOMAINS, start=1):
        lines.append(
            _statement(
                domains[name], "skos:Concept", *_labels(f"{number:02d} {name.upper()}",
                f"{number:02d} {french.upper()}"), f'skos:notation "{number:02d}"',
                'dct:type "domain"',
            )
        )  # fmt: skip
    lines.append(
        _statement(
            SCHEME, "skos:ConceptScheme", *_labels("synthetic thesaurus", "thésaurus synthétique"),
            *(f"skos:hasTopConcept syn:{id}" for ids in top.values() for id in ids),
        )
    )  # fmt: skip
    for number, (name, french, domain) in enumerate(MICROTHESAURI, start=101):
        lines.append(
            _statement(
                schemes[name], "skos:ConceptScheme", *_labels(f"{number} {name}",
                f"{number} {french}"), f'skos:notation "{number}"',
                f"dct:subject syn:{domains[domain]}",
                *(f"skos:hasTopConcept syn:{id}" for id in top[name]),
            )
        )  # fmt: skip
    related = _both_ways(world.concepts)
    for concept in world.concepts:
        lines.append(
            _statement(
                concept.id, "skos:Concept", *_labels(concept.label, concept.french),
                *(f"skos:altLabel {_text(alt)}@en" for alt in concept.alternatives),
                f"skos:inScheme syn:{SCHEME}",
                f"skos:inScheme syn:{schemes[concept.microthesaurus]}",
                *(f"skos:broader syn:{id}" for id in concept.broader),
                *(f"skos:related syn:{id}" for id in related[concept.id]),
                f'skos:notation "{concept.id}"',
            )
        )  # fmt: skip
    return "\n".join(lines) + "\n"


def _tops(concepts: Iterable[Concept], microthesaurus: str) -> list[Concept]:
    return [c for c in concepts if c.microthesaurus == microthesaurus and not c.broader]


def _both_ways(concepts: Iterable[Concept]) -> dict[str, list[str]]:
    """``skos:related`` is symmetric: each link stands at both of its ends."""
    links: dict[str, set[str]] = {concept.id: set() for concept in concepts}
    for concept in concepts:
        for other in concept.related:
            links[concept.id].add(other)
            links[other].add(concept.id)
    return {id: sorted(others) for id, others in links.items()}


def _statement(id: str, type: str, *parts: str) -> str:
    return f"syn:{id} a {type} ; " + " ; ".join(parts) + " ."


def _labels(english: str, french: str) -> tuple[str, str]:
    return f"skos:prefLabel {_text(english)}@en", f"skos:prefLabel {_text(french)}@fr"


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
