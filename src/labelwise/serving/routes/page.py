"""The files of the indexer's page, and nothing else of the disk."""

from __future__ import annotations

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from labelwise.serving.problems import ProblemError

router = APIRouter(include_in_schema=False)

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
}


def _files(folder: Traversable, before: str = "") -> dict[str, Traversable]:
    """The files by the name they have in an address. A name that is not here is not served,
    whatever it may mean to the file system."""
    found: dict[str, Traversable] = {}
    if not folder.is_dir():
        return found
    for one in folder.iterdir():
        if one.is_dir():
            found |= _files(one, f"{before}{one.name}/")
        elif any(one.name.endswith(ending) for ending in TYPES):
            found[before + one.name] = one
    return found


FILES = _files(resources.files("labelwise.serving") / "page")


@router.get("/")
async def index(request: Request) -> Response:
    return _sent("index.html", request)


@router.get("/page/{name:path}")
async def file(name: str, request: Request) -> Response:
    return _sent(name, request)


def _sent(name: str, request: Request) -> Response:
    found = FILES.get(name)
    if found is None:
        raise ProblemError(404, "not-found", "the page has no such file")
    data = found.read_bytes()
    tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=TYPES[name[name.rindex(".") :]])
