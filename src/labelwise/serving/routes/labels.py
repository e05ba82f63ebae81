"""Labels and concepts by name, and one with its place in the thesaurus."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from labelwise.corpus.labels import Group
from labelwise.serving.answers import answer
from labelwise.serving.problems import ProblemError, documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import FoundLabel, LabelDetails, LabelList
from labelwise.serving.tagging import language_of_labels

router = APIRouter(prefix="/v1", tags=["labels"])
ModelQuery = Annotated[str | None, Query(max_length=200, description="Id of a model.")]
LanguageQuery = Annotated[
    str | None, Query(max_length=20, description="The language of names, such as `fr`.")
]


@router.get("/labels", response_model=LabelList, responses=documented(404, 422))
async def labels(
    *,
    here: Here,
    q: Annotated[
        str, Query(max_length=200, description="An id, or words or their beginnings, in any order.")
    ] = "",
    model: ModelQuery = None,
    group: Annotated[Group | None, Query(description="Only labels of this group.")] = None,
    in_model: Annotated[bool, Query(description="Only labels of the model.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    labels: LanguageQuery = None,
) -> Response:
    """Labels of the model and concepts of its thesaurus, the best match first.

    Names in every language of the thesaurus are searched; `matched` is the one that was found.

    Without `q`, the labels of the model in their own order: frequent, few, zero.
    """
    one = here.models.get(model)
    space = one.method.label_space
    language = language_of_labels(one, labels)
    names = {match.concept.id: match.name for match in one.labels.found(q)}
    found = list(names) if q.strip() else list(space.ids)
    if in_model or group is not None:
        found = [id for id in found if id in space.index]
    if group is not None:
        found = [id for id in found if space.labels[space.index[id]].group == group]

    def shown(id: str) -> FoundLabel:
        info = one.labels.info(id, language)
        matched = names.get(id, info.descriptor)
        return FoundLabel(**info.__dict__, matched=None if matched == info.descriptor else matched)

    return answer(
        LabelList(
            model=one.id,
            labels=[shown(id) for id in found[offset : offset + limit]],
            total=len(found),
        )
    )


@router.get("/labels/{label}", response_model=LabelDetails, responses=documented(404, 422))
async def label(
    here: Here,
    label: Annotated[str, Path(max_length=500, description="The id.")],
    model: ModelQuery = None,
    labels: LanguageQuery = None,
) -> Response:
    """One label or concept, with its place in the thesaurus."""
    one = here.models.get(model)
    if label not in one.labels:
        raise ProblemError(
            404, "unknown-label", "neither the model nor its thesaurus has this id", field="label"
        )
    return answer(one.labels.details(label, language_of_labels(one, labels)))
