"""Whether people agree with the model, and with each other."""

from __future__ import annotations

from fastapi import APIRouter, Response

from labelwise.desk.agreement import agreement as agreed
from labelwise.desk.figures import Tally, figures
from labelwise.serving.answers import answer
from labelwise.serving.desk_shapes import (
    AgreementResponse,
    ConceptTally,
    FiguresResponse,
    Missed,
    MonthTally,
    OverSuggested,
    RankTally,
    Readers,
)
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.signing_in import Who

router = APIRouter(prefix="/v1/desk", tags=["worklist"])


@router.get("/agreement", response_model=AgreementResponse, responses=documented())
def agreement(here: Here, who: Who) -> Response:
    """First and second readers beside each other: Cohen's kappa by pair, Krippendorff's alpha."""
    found = agreed(here.worklist.store)
    return answer(
        AgreementResponse(
            acts=found.acts,
            alpha=found.alpha,
            pairs=[
                Readers(**vars(one), kappa=one.kappa, overlap=one.overlap) for one in found.pairs
            ],
        )
    )


@router.get("/figures", response_model=FiguresResponse, responses=documented())
def all_figures(here: Here, who: Who) -> Response:
    """What people make of the suggestions: by concept, rank and month, and the time it takes."""
    found = figures(here.worklist.store)
    stopped = set(here.worklist.store.stopped())
    name = found.names.__getitem__
    return answer(
        FiguresResponse(
            acts=found.acts,
            **_counts(found.decided),
            concepts=[
                ConceptTally(id=id, descriptor=name(id), **_counts(tally))
                for id, tally in found.by_concept.items()
            ],
            ranks=[RankTally(rank=n, **_counts(tally)) for n, tally in found.by_rank.items()],
            months=[MonthTally(month=n, **_counts(tally)) for n, tally in found.by_month.items()],
            missed=[Missed(id=id, descriptor=name(id), added=n) for id, n in found.missed],
            over=[
                OverSuggested(
                    id=one.concept,
                    descriptor=name(one.concept),
                    suggested=one.suggested,
                    refused=one.refused,
                    stopped=one.concept in stopped,
                )
                for one in found.over
            ],
            seconds=found.seconds,
        )
    )


def _counts(tally: Tally) -> dict[str, int]:
    return vars(tally)
