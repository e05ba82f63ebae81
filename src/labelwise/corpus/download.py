"""Downloads a file over HTTP: goes on where it broke off, tries again, never waits for ever."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from labelwise import __version__
from labelwise.errors import LabelwiseError
from labelwise.progress import bar

BLOCK = 1 << 18
TRY_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))
"""HTTP answers that may be better next time; other errors are final."""


class DownloadError(LabelwiseError):
    """A file that could not be downloaded; the message names the address and the reason."""


class BrokenOffError(Exception):
    """A failure worth another attempt, after the seconds that a server may have asked for."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


def download(
    address: str,
    target: Path,
    *,
    limit: int,
    timeout: float = 30.0,
    attempts: int = 4,
    pause: float = 1.0,
) -> None:
    """Download to ``target``, which appears only when it is complete.

    What came so far lies in ``<target>.part``, and the next attempt, in this call or a later one,
    asks for the rest. Beside it ``<target>.part.json`` notes which version of the file it is a part
    of, so that a file that changed on the server is started over. ``attempts`` failures in a row
    without a byte gained end it, with pauses that double; ``limit`` is the most bytes accepted.
    """
    part = target.with_name(target.name + ".part")
    notes = target.with_name(target.name + ".part.json")
    failures, furthest = 0, _size(part)
    while True:
        try:
            _go_on(address, part, notes, limit=limit, timeout=timeout)
            break
        except BrokenOffError as error:
            failures = 1 if _size(part) > furthest else failures + 1
            furthest = max(furthest, _size(part))
            if failures >= attempts:
                raise DownloadError(f"{address}: {error}") from error
            time.sleep(pause * 2 ** (failures - 1))
    part.replace(target)
    notes.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _go_on(address: str, part: Path, notes: Path, *, limit: int, timeout: float) -> None:
    """One request: the rest of the file where the server knows how, else all of it."""
    headers = {"User-Agent": f"labelwise/{__version__}", "Accept-Encoding": "identity"}
    have, version = _size(part), _read_notes(notes, address)
    if have and version:
        # If-Range: the rest if the file is still the same, all of it otherwise.
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            _receive(response, address, part, notes, limit=limit)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # nothing is left to send: the part is whole, or of another file
            if error.headers.get("Content-Range", "") == f"bytes */{have}":
                return
            _remove(part, notes)
            raise BrokenOffError("the server has no such part of the file") from error
        reason = f"the server answered {error.code} {error.reason}"
        if error.code in TRY_AGAIN:
            raise BrokenOffError(reason) from error
        raise DownloadError(f"{address}: {reason}") from error
    except urllib.error.URLError as error:
        raise BrokenOffError(reason_of(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise BrokenOffError(reason_of(error)) from error


def _receive(response: Any, address: str, part: Path, notes: Path, *, limit: int) -> None:
    have = _size(part)
    if response.status == 206:
        start, total = _content_range(response.headers.get("Content-Range", ""))
        if start != have:
            _remove(part, notes)
            raise BrokenOffError("the server sent another part of the file than asked for")
    else:  # the server ignores ranges, or the file changed: all of it comes
        have = 0
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
        _write(part, "wb", b"")
        _write(notes, "wb", _notes(address, response))
    if total is not None and total > limit:
        raise DownloadError(f"{address}: the file has {total:,} bytes, more than the {limit:,} due")
    name = Path(urlsplit(address).path).name
    with bar(f"Downloading {name} (bytes)", total) as advance:
        advance(have)
        while block := response.read(BLOCK):
            have += len(block)
            if have > limit:
                _remove(part, notes)
                raise DownloadError(f"{address}: the file goes on after the {limit:,} bytes due")
            _write(part, "ab", block)
            advance(len(block))
    if total is not None and have < total:
        raise BrokenOffError(f"the connection broke off after {have:,} of {total:,} bytes")


def _content_range(value: str) -> tuple[int | None, int | None]:
    """Start and total of ``bytes 100-199/200``; the total may be ``*``."""
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", value.strip())
    if match is None:
        return None, None
    return int(match[1]), int(match[2]) if match[2] != "*" else None


def _notes(address: str, response: Any) -> bytes:
    """What tells one version of the file from another: a strong ETag, else the date."""
    etag = response.headers.get("ETag", "")
    version = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    return json.dumps({"address": address, "version": version}).encode()


def _read_notes(notes: Path, address: str) -> str:
    """The version that the part belongs to; empty where it is unknown or of another address."""
    try:
        found = json.loads(notes.read_bytes())
        return str(found["version"]) if found["address"] == address else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _write(path: Path, mode: str, block: bytes) -> None:
    """A full disk is no reason to try again."""
    try:
        with path.open(mode) as stream:
            stream.write(block)
    except OSError as error:
        raise LabelwiseError(f"{path}: cannot be written ({error.strerror})") from error


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def reason_of(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "the server did not answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
