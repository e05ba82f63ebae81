"""A server that speaks as much of the Hugging Face Hub's interface as pushing and fetching need."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


class Hub(ThreadingHTTPServer):
    """Repositories by name, each a list of commits: an id and the files by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, list[tuple[str, dict[str, bytes]]]] = {}
        self.fetched: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def commit(self, name: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        """The last commit for ``main``, or the one of this id."""
        commits = self.repositories.get(name, [])
        if revision == "main":
            return commits[-1] if commits else ("0" * 40, {})
        return next((one for one in commits if one[0] == revision), None)


@contextmanager
def serving() -> Iterator[Hub]:
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield hub
        hub.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def _answer(self, body: Any, code: int = 200, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _missing(self, what: str) -> None:
        self._answer({"error": what}, 404, X_Error_Code=what)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/(revision|tree)/([^/]+)", path):
            name, what, revision = found.groups()
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)", path):
            name, what, revision = found[1], "revision", "main"
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(*found.groups())
            return
        else:
            self._missing("EntryNotFound")
            return
        commit = self.server.commit(name, revision)
        if name not in self.server.repositories:
            self._missing("RepoNotFound")
        elif commit is None:
            self._missing("RevisionNotFound")
        elif what == "tree":
            self._answer([_entry(*one) for one in commit[1].items()])
        else:
            siblings = [{"rfilename": one, "size": len(commit[1][one])} for one in commit[1]]
            self._answer({"id": name, "modelId": name, "sha": commit[0], "siblings": siblings})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _resolve(self, name: str, revision: str, file: str) -> None:
        commit = self.server.commit(name, revision)
        if commit is None or file not in commit[1]:
            self._missing("EntryNotFound")
            return
        data = commit[1][file]
        if self.command == "GET":
            self.server.fetched.append(file)
        etag = f'"{hashlib.sha1(data).hexdigest()}"'
        self._answer(data, ETag=etag, X_Repo_Commit=commit[0])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Authorization") != "Bearer hf_of_the_test":
            self._answer({"error": "who are you?"}, 401)
            return
        path = urlsplit(self.path).path
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = "/".join(filter(None, (asked.get("organization"), asked["name"])))
            self.server.repositories.setdefault(name, [])
            self._answer({"url": f"{self.server.address}/{name}", "id": name})
        elif path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/preupload/main", path):
            files = [one["path"] for one in json.loads(body)["files"]]
            mode = {"uploadMode": "regular", "shouldIgnore": False}
            self._answer({"files": [{"path": one, **mode} for one in files]})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", path):
            self._commit(found[1], [json.loads(line) for line in body.splitlines()])
        else:
            self._missing("EntryNotFound")

    def _commit(self, name: str, lines: list[dict[str, Any]]) -> None:
        _, before = self.server.commit(name, "main") or ("", {})
        files = dict(before)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        whole = b"".join(name.encode() + data for name, data in sorted(files.items()))
        oid = hashlib.sha1(whole).hexdigest()
        self.server.repositories[name].append((oid, files))
        url = f"{self.server.address}/{name}/commit/{oid}"
        self._answer({"success": True, "commitOid": oid, "commitUrl": url, "hookOutput": ""})


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
