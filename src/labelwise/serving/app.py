"""The application: routes behind the guard, and every error in one shape."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from labelwise import __version__
from labelwise.desk.database import StoreError
from labelwise.desk.people import UnfitNameError, UnknownPersonError
from labelwise.desk.store import ConflictError, RefusedError, TakenError, UnlistedActError
from labelwise.serving import fields
from labelwise.serving.annif_shapes import BatchRequest, IndexedDocument, SuggestForm
from labelwise.serving.desk_shapes import (
    AddRequest,
    DecideRequest,
    DecisionLine,
    PersonRequest,
    RoleRequest,
    SignIn,
    StopRequest,
)
from labelwise.serving.documents import Reader
from labelwise.serving.fetching import Fetcher
from labelwise.serving.guard import Guard
from labelwise.serving.heads import Heads
from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.models import Models, Servable
from labelwise.serving.problems import Problem, ProblemError
from labelwise.serving.routes import (
    agreement,
    annif,
    desk_files,
    evidence,
    examples,
    labels,
    operations,
    page,
    parse,
    people,
    session,
    stopped,
    tag,
)
from labelwise.serving.routes import worklist as worklists
from labelwise.serving.service import Service
from labelwise.serving.shapes import (
    CompareRequest,
    EvidenceRequest,
    FetchRequest,
    ScoreRequest,
    TagBatchRequest,
    TagRequest,
    TagStreamRequest,
)
from labelwise.serving.traffic import Traffic
from labelwise.serving.worklist import RunningWorklist, Worklist

BODIES = (
    TagRequest,
    TagBatchRequest,
    TagStreamRequest,
    CompareRequest,
    EvidenceRequest,
    ScoreRequest,
    FetchRequest,
    BatchRequest,
    IndexedDocument,
)
"""What requests hold; the routes judge it themselves (see ``bodies``)."""

DESK_BODIES = (AddRequest, DecideRequest, PersonRequest, RoleRequest, SignIn, StopRequest)
"""The same of a service with a store."""

DESCRIPTION = (
    "Tags documents with concepts from a thesaurus, and shows the words that speak for them."
)


def create_app(
    wanted: Sequence[Servable],
    *,
    limits: Limits | None = None,
    api_key: str | None = None,
    thesaurus: Path | None = None,
    fetch_from: frozenset[str] = frozenset(),
    loopback: bool = False,
    sites: Sequence[str] = (),
    metrics: Metrics | None = None,
    worklist: Worklist | None = None,
    failed: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The service for these models. They are loaded when it starts; until then it is not ready.

    ``loopback``: it listens on this machine alone; ``sites``: names that it has besides.
    """
    limits, metrics = limits or Limits(), metrics or Metrics()
    traffic = Traffic(limits)
    models = Models(wanted, limits, metrics, lambda: traffic.under_way, thesaurus)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        reader = Reader(limits)
        fetcher = Fetcher(fetch_from, limits) if fetch_from else None
        desk = RunningWorklist.begin(worklist, models) if worklist else None
        app.state.service = Service(models, limits, reader, metrics, fetcher, desk)
        loading = models.load(failed)
        await reader.start()
        if all(one.method is not None for one in wanted):  # a moment: ready at the first request
            await asyncio.to_thread(loading.join)
        yield
        if desk is not None:
            await desk.close()
        models.close()
        reader.close()
        if fetcher is not None:
            fetcher.close()

    app = FastAPI(
        title="labelwise",
        description=DESCRIPTION,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # its scripts come from another host
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.models, app.state.desk = models, worklist is not None
    parts = [tag, evidence, labels, parse, operations, annif, page]
    if worklist is not None:
        parts += [worklists, session, desk_files, stopped, agreement, examples, people]
    for part in parts:
        app.include_router(part.router)
    # Newer FastAPIs keep the routes of a router behind one of their own, which names no methods.
    app.state.routes = [*app.routes, *(route for part in parts for route in part.router.routes)]
    app.add_middleware(Heads)
    app.add_middleware(
        Guard,
        limits=limits,
        metrics=metrics,
        traffic=traffic,
        api_key=api_key,
        loopback=loopback,
        sites=frozenset(name.lower() for name in sites),
    )
    app.add_exception_handler(ProblemError, _problem)
    app.add_exception_handler(StoreError, _store)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.openapi = lambda: _openapi(app, keyed=api_key is not None)  # type: ignore[method-assign]
    _watch(models, metrics)
    return app


def _watch(models: Models, metrics: Metrics) -> None:
    metrics.watch(
        "labelwise_queue_documents",
        "Documents that wait or are being read, by model.",
        lambda: {(("model", one.id),): one.scorer.held for one in [*models.loaded.values()]},
    )
    metrics.watch(
        "labelwise_ready", "1 when the models are loaded.", lambda: {(): float(models.ready)}
    )
    metrics.watch(
        "labelwise_model_labels",
        "Labels of each model.",
        lambda: {
            (("model", one.id), ("method", one.info.method)): one.info.labels
            for one in [*models.loaded.values()]
        },
    )


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    return error.response()


async def _store(request: Request, error: Exception) -> Response:
    """What the store refused. Its own faults are told by the log alone: they may name files."""
    match error:
        case ConflictError():
            more = {
                "changed": [DecisionLine(**vars(one)) for one in error.since],
                "now": worklists.shown_reading(request.app.state.service, error.reading),
            }
            made = ProblemError(409, "conflict", str(error), more=more)
        case UnlistedActError():
            made = ProblemError(404, "unknown-act", str(error))
        case UnknownPersonError():
            made = ProblemError(404, "unknown-person", str(error))
        case UnfitNameError():
            made = ProblemError(422, "invalid", str(error), field="name")
        case TakenError():
            made = ProblemError(409, "id-taken", str(error))
        case RefusedError():
            made = ProblemError(409, "wrong-state", str(error))
        case _:
            logging.getLogger("uvicorn.error").error("the store: %s", error)
            sentence = "the store of this service cannot be used now; its log says why"
            made = ProblemError(503, "store", sentence, headers={"Retry-After": "5"})
    return made.response()


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return fields.problem(error.errors()).response()


async def _http(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: an unknown address, a wrong method, a broken body."""
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404:
            made = ProblemError(404, "not-found", "no such address: see /openapi.json")
        case 405:
            allowed = _methods(request)
            made = ProblemError(
                405,
                "method-not-allowed",
                f"this address takes {allowed}",
                headers={"Allow": allowed},
            )
        case _:
            made = ProblemError(
                422, "invalid", "the body cannot be read as what it says it is", field="body"
            )
    return made.response()


def _methods(request: Request) -> str:
    """All that an address takes; the framework itself names those of its first route alone."""
    found = [
        route.methods or ()
        for route in request.app.state.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
    ]
    named = {method for methods in found for method in methods}
    return ", ".join(sorted(named | {"HEAD"} if "GET" in named else named))


def _openapi(app: FastAPI, *, keyed: bool) -> dict[str, Any]:
    """FastAPI's description, with our shape of problems in place of its own."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        bodies = (*BODIES, *DESK_BODIES) if app.state.desk else BODIES
        _, found = models_json_schema(
            [(shape, "validation") for shape in (Problem, SuggestForm, *bodies)],
            ref_template="#/components/schemas/{model}",
        )
        schemas.update(found["$defs"])
        if keyed:
            made["components"]["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            }
            made["security"] = [{"bearer": []}, {"header": []}]
        app.openapi_schema = made
    return app.openapi_schema
