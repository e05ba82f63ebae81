"""Acts of the worklist as examples of a concept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from labelwise.desk.examples import examples
from labelwise.serving.answers import answer
from labelwise.serving.desk_shapes import Example, Examples
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.signing_in import Who

router = APIRouter(prefix="/v1/desk", tags=["worklist"])


@router.get("/concepts/{concept:path}/acts", response_model=Examples, responses=documented(422))
def acts_with(
    here: Here,
    who: Who,
    concept: Annotated[str, Path(max_length=500, description="The id of the concept.")],
    besides: Annotated[
        str, Query(max_length=600, description="An act that is left out: the one at work.")
    ] = "",
) -> Response:
    """Up to five acts for which the concept was chosen, the last decided first."""
    found = examples(here.worklist.store.database, concept, besides=besides)
    return answer(Examples(acts=[Example(id=id, title=title) for id, title in found]))
