"""Labels and concepts by name, and one with its place in the thesaurus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from labelwise.corpus.labels import Group
from labelwise.serving.answers import answer
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import LabelDetails, LabelList

router = APIRouter(prefix="/v1", tags=["labels"])
ModelQuery = Annotated[str | None, Query(max_length=200, description="Id of a model.")]


@router.get("/labels", response_model=LabelList, responses=documented(404, 422))
async def labels(
    *,
    here: Here,
    q: Annotated[str, Query(max_length=200, description="The beginning of a word.")] = "",
    model: ModelQuery = None,
    group: Annotated[Group | None, Query(description="Only labels of this group.")] = None,
    in_model: Annotated[bool, Query(description="Only labels of the model.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """Labels of the model and concepts of its thesaurus, the best match first.

    Without `q`, the labels of the model in their own order: frequent, few, zero.
    """
    one = here.models.get(model)
    space = one.method.label_space
    found = one.labels.found(q) if q.strip() else list(space.ids)
    if in_model or group is not None:
        found = [id for id in found if id in space.index]
    if group is not None:
        found = [id for id in found if space.labels[space.index[id]].group == group]
    return answer(
        LabelList(
            model=one.id,
            labels=[one.labels.info(id) for id in found[offset : offset + limit]],
            total=len(found),
        )
    )


@router.get("/labels/{label}", response_model=LabelDetails, responses=documented(404, 422))
async def label(
    here: Here,
    label: Annotated[str, Path(max_length=500, description="The id.")],
    model: ModelQuery = None,
) -> Response:
    """One label or concept, with its place in the thesaurus."""
    one = here.models.get(model)
    if label not in one.labels:
        raise ProblemError(
            404, "unknown-label", "neither the model nor its thesaurus has this id", field="label"
        )
    return answer(one.labels.details(label))
