"""For those who run the service: models, health, readiness, figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi.responses import PlainTextResponse

from labelwise import __version__
from labelwise.serving import metrics
from labelwise.serving.answers import answer
from labelwise.serving.problems import documented
from labelwise.serving.service import Here
from labelwise.serving.shapes import Health, LimitsInfo, ModelInfo, ModelList, Readiness

router = APIRouter(tags=["operations"])


@router.get("/v1/models", response_model=ModelList, responses=documented())
async def models(here: Here) -> Response:
    """The models that are loaded; the first is the default."""
    default = here.models.get(None)
    infos = [model.info for model in here.models.loaded.values()]
    return answer(ModelList(models=infos, default=default.id))


@router.get("/v1/models/{model}", response_model=ModelInfo, responses=documented(404, 422))
async def model(here: Here, model: Annotated[str, Path(max_length=200)]) -> Response:
    """One of them."""
    return answer(here.models.get(model).info)


@router.get("/health", response_model=Health, responses=documented())
async def health() -> Response:
    """Whether the process lives."""
    return answer(Health(status="alive", version=__version__))


@router.get("/ready", response_model=Readiness, responses=documented())
async def ready(here: Here) -> Response:
    """Whether the models are loaded, and what a request may hold."""
    here.models.require_ready()
    limits = here.limits
    return answer(
        Readiness(
            status="ready",
            models=list(here.models.loaded),
            limits=LimitsInfo(
                max_body=limits.max_body,
                max_documents=limits.max_documents,
                queue=limits.queue,
                timeout=limits.timeout,
            ),
            desk=here.desk is not None,
        )
    )


@router.get("/metrics", response_class=PlainTextResponse, responses=documented())
async def figures(here: Here) -> Response:
    """Figures for Prometheus."""
    return Response(here.metrics.exposition(), media_type=metrics.CONTENT_TYPE)
