"""Faithfulness for people and for machines: three tables, what they say in words, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from labelwise.evaluation.tables import Table
from labelwise.evidence.faithfulness import (
    AFFORDABLE,
    MEASURES,
    OWN,
    RANDOM,
    Faithfulness,
    Figure,
    Measure,
)
from labelwise.methods.base import EvidenceKind

NAMES: Mapping[str, str] = {
    "attention": "attention",
    "attingrad": "AttInGrad",
    "contribution": "contributions",
    "gradient": "gradient × input",
    "integrated": "integrated gradients",
    "match": "matches",
    "occlusion": "occlusion",
    "random": "random words",
}

TITLES: Mapping[Measure, str] = {
    "comprehensiveness": "Comprehensiveness: what the score loses without the words "
    "(higher is better)",
    "sufficiency": "Sufficiency: what the score loses with nothing but the words (lower is better)",
}

COMPARED = "Normalised AOPC (0 the lowest found, 1 the highest), and the cost in readings"


def faithfulness_tables(found: Faithfulness) -> list[Table]:
    """One table a measure: a row a source of words, a column a share of them, and the AOPC; and one
    where methods and explainers compare."""
    tables = []
    for measure in MEASURES:
        shares = [f"{share:.0%}" for share in found.plan.shares]
        table = Table(["evidence", *shares, "AOPC"], title=TITLES[measure])
        for source in found.losses:
            at = [found.at(source, measure, place).mean for place in range(len(shares))]
            cells = [*map(signed, at), _plus_minus(found.aopc(source, measure))]
            table.add([_name(found, source), *cells])
        tables.append(table)
    compared = Table(["evidence", *MEASURES, "cost"], title=COMPARED)
    for source in found.losses:
        figures = [_plus_minus(found.normalised_aopc(source, measure)) for measure in MEASURES]
        cost = "" if source == RANDOM else f"{found.costs[source]:.1f}"
        compared.add([_name(found, source), *figures, cost])
    return [*tables, compared]


def findings(found: Faithfulness) -> list[str]:
    """What the tables say, flattering or not; a difference counts from two standard errors on."""
    sentences = []
    for other in (source for source in found.losses if source != OWN):
        removed = found.difference(OWN, other, "comprehensiveness")
        kept = found.difference(OWN, other, "sufficiency")
        sentences.append(
            f"Against {_name(found, other)}: to remove the words of {_name(found, OWN)} costs "
            f"{_cost(removed)} ({_verdict(removed.mean, removed.error)}), to keep them alone "
            f"{_cost(kept)} ({_verdict(-kept.mean, kept.error)})."
        )
    best = found.best_affordable()
    standing = found.standing(best)
    of_each = found.labels / len(found.documents)
    labels = f"{of_each:.3g} label" + ("s" if of_each != 1 else "")
    sentences.append(
        f"Most faithful of what costs less than {AFFORDABLE:.0f} readings for the {labels} of a "
        f"document: {_name(found, best)}, {signed(standing.mean)} ± {signed(standing.error)} of 1 "
        "for both measures together"
        + (
            "."
            if best == OWN
            else f"; {_name(found, OWN)}, which is shown, has {signed(found.standing(OWN).mean)}."
        )
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
                "kind": _kind(found, source),
                **{measure: _measure_json(found, source, measure) for measure in MEASURES},
            }
            for source in found.losses
        },
        "limits": {
            measure: dict(zip(("lowest", "highest"), of.tolist(), strict=True))
            for measure, of in zip(MEASURES, found.limits.mean(axis=0), strict=True)
        },
        "costs": {source: round(cost, 2) for source, cost in found.costs.items()},
        "findings": findings(found),
    }


def _measure_json(found: Faithfulness, source: str, measure: Measure) -> dict[str, Any]:
    places = range(len(found.plan.shares))
    record: dict[str, Any] = {
        "at": [asdict(found.at(source, measure, place)) for place in places],
        "aopc": asdict(found.aopc(source, measure)),
        "normalised": asdict(found.normalised_aopc(source, measure)),
    }
    if source != OWN:
        record["own minus this"] = asdict(found.difference(OWN, source, measure))
    return record


def signed(value: float) -> str:
    """Three decimals without the leading zero, a minus where the score rises instead.

    >>> signed(0.0521), signed(-0.0521), signed(-0.0001)
    ('.052', '-.052', '.000')
    """
    text = f"{value:.3f}".replace("0.", ".", 1)
    return ".000" if text == "-.000" else text


def _plus_minus(figure: Figure) -> str:
    return f"{signed(figure.mean)} ± {signed(figure.error)}"


def _name(found: Faithfulness, source: str) -> str:
    return NAMES[found.own if source == OWN else source]


def _kind(found: Faithfulness, source: str) -> str:
    """What a record calls a source: evidence that is not one of several explainers, by its kind."""
    of_kind = source == OWN and found.own in get_args(EvidenceKind)
    return found.own if of_kind else _name(found, source)


def _cost(difference: Figure) -> str:
    more = "more" if difference.mean >= 0 else "less"
    return f"{signed(abs(difference.mean))} ± {signed(difference.error)} {more}"


def _verdict(better_by: float, error: float) -> str:
    if better_by > 2 * error:
        return "better"
    return "worse" if better_by < -2 * error else "no clear difference"
