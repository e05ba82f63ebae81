"""Faithfulness for people and for machines: two tables, what they say in words, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from labelwise.evaluation.tables import Table
from labelwise.evidence.faithfulness import MEASURES, Faithfulness, Figure, Measure, Source
from labelwise.methods.base import EvidenceKind

NAMES: Mapping[Source, str] = {"gradient": "gradient × input", "random": "random words"}

OWN_NAMES: Mapping[EvidenceKind, str] = {
    "attention": "attention",
    "contribution": "contributions",
    "match": "matches",
}

TITLES: Mapping[Measure, str] = {
    "comprehensiveness": "Comprehensiveness: what the score loses without the words "
    "(higher is better)",
    "sufficiency": "Sufficiency: what the score loses with nothing but the words (lower is better)",
}


def faithfulness_tables(found: Faithfulness) -> list[Table]:
    """One table a measure: a row a source of words, a column a share of them, and the AOPC."""
    tables = []
    for measure in MEASURES:
        shares = [f"{share:.0%}" for share in found.plan.shares]
        table = Table(["evidence", *shares, "AOPC"], title=TITLES[measure])
        for source in found.losses:
            at = [found.at(source, measure, place).mean for place in range(len(shares))]
            aopc = found.aopc(source, measure)
            cells = [*map(signed, at), f"{signed(aopc.mean)} ± {signed(aopc.error)}"]
            table.add([_name(found, source), *cells])
        tables.append(table)
    return tables


def findings(found: Faithfulness) -> list[str]:
    """What the tables say, flattering or not; a difference counts from two standard errors on."""
    sentences = []
    for other in (source for source in found.losses if source != "own"):
        removed = found.difference("own", other, "comprehensiveness")
        kept = found.difference("own", other, "sufficiency")
        sentences.append(
            f"Against {NAMES[other]}: to remove the words of {_name(found, 'own')} costs "
            f"{_cost(removed)} ({_verdict(removed.mean, removed.error)}), to keep them alone "
            f"{_cost(kept)} ({_verdict(-kept.mean, kept.error)})."
        )
    return sentences


def faithfulness_json(found: Faithfulness) -> dict[str, Any]:
    """All figures: mean and standard error at each share, of the AOPC, and of differences."""
    return {
        "plan": asdict(found.plan),
        "documents": list(found.documents),
        "labels": found.labels,
        "score": asdict(found.score),
        "evidence": {
            source: {
                "kind": found.kind if source == "own" else NAMES[source],
                **{measure: _measure_json(found, source, measure) for measure in MEASURES},
            }
            for source in found.losses
        },
        "findings": findings(found),
    }


def _measure_json(found: Faithfulness, source: Source, measure: Measure) -> dict[str, Any]:
    places = range(len(found.plan.shares))
    record: dict[str, Any] = {
        "at": [asdict(found.at(source, measure, place)) for place in places],
        "aopc": asdict(found.aopc(source, measure)),
    }
    if source != "own":
        record["own minus this"] = asdict(found.difference("own", source, measure))
    return record


def signed(value: float) -> str:
    """Three decimals without the leading zero, a minus where the score rises instead.

    >>> signed(0.0521), signed(-0.0521), signed(-0.0001)
    ('.052', '-.052', '.000')
    """
    text = f"{value:.3f}".replace("0.", ".", 1)
    return ".000" if text == "-.000" else text


def _name(found: Faithfulness, source: Source) -> str:
    return OWN_NAMES[found.kind] if source == "own" else NAMES[source]


def _cost(difference: Figure) -> str:
    more = "more" if difference.mean >= 0 else "less"
    return f"{signed(abs(difference.mean))} ± {signed(difference.error)} {more}"


def _verdict(better_by: float, error: float) -> str:
    if better_by > 2 * error:
        return "better"
    return "worse" if better_by < -2 * error else "no clear difference"
