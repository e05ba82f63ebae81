"""Keys, headers, and what an answer never says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.methods import Method
from labelwise.methods.base import Scores
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")

KEY = "a key with spaces and ümlauts"


@pytest.fixture(scope="module")
def keyed(fitted: dict[str, Method]) -> Any:
    from serving_cases import served

    with served([Servable("model", method=fitted["exact-match"])], api_key=KEY) as client:
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": ""},
        {"X-API-Key": "wrong"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic " + "x" * 40},
        {"X-API-Key": KEY[:-1].encode()},
        {"X-API-Key": KEY.encode() * 1000},
    ],
)
def test_without_the_key_nothing_is_told(keyed: httpx.Client, headers: Any) -> None:
    for method, path in [
        ("POST", "/v1/tag"),
        ("GET", "/v1/models"),
        ("GET", "/v1/projects"),
        ("GET", "/metrics"),
        ("GET", "/no/such/address"),
        ("PUT", "/v1/tag"),
    ]:
        answer = keyed.request(method, path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["type"] == "urn:labelwise:unauthorised"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": KEY.encode()},
        {"Authorization": f"Bearer {KEY}".encode()},
        {"Authorization": f"bearer   {KEY}".encode()},
    ],
)
def test_with_the_key_in_either_header_all_is_open(keyed: httpx.Client, headers: Any) -> None:
    assert keyed.get("/v1/models", headers=headers).status_code == 200
    assert keyed.post("/v1/tag", json={"text": "oranges"}, headers=headers).status_code == 200


def test_health_readiness_and_the_description_need_no_key(keyed: httpx.Client) -> None:
    for path in ("/health", "/ready", "/openapi.json"):
        assert keyed.get(path).status_code == 200
    description = keyed.get("/openapi.json").json()
    assert description["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


@pytest.mark.parametrize(
    "path", ["/v1/models", "/health", "/no/such/address", "/openapi.json", "/"]
)
def test_every_answer_has_a_strict_content_policy_and_no_cors(
    client: httpx.Client, path: str
) -> None:
    answer = client.get(path, headers={"Origin": "https://example.org"})
    policy = answer.headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert not [one for one in policy if "unsafe" in one or "*" in one or "http" in one]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "server" not in answer.headers


def test_another_sites_question_whether_it_may_ask_is_not_granted(client: httpx.Client) -> None:
    answer = client.options(
        "/v1/tag",
        headers={"Origin": "https://example.org", "Access-Control-Request-Method": "POST"},
    )
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


class Broken:
    """A method that fails with what nobody should read."""

    def __init__(self, method: Method, error: Exception) -> None:
        self.method, self.error = method, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    def scores(self, documents: Sequence[Document]) -> Scores:
        raise self.error

    def evidence(self, document: Document, labels: Sequence[str]) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [ValueError("/home/someone/secret.txt"), LabelwiseError("/home/someone/model: is broken")],
)
def test_a_fault_is_a_500_without_trace_or_path(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], error: Exception
) -> None:
    client = serve([Servable("model", method=Broken(fitted["exact-match"], error))])  # type: ignore[arg-type]
    for path in ("/v1/tag", "/v1/evidence"):
        answer = client.post(path, json={"text": "oranges"})
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"] == "urn:labelwise:internal"
        assert "secret" not in answer.text
        assert "home" not in answer.text
        assert "Traceback" not in answer.text
    streamed = client.post("/v1/tag/stream", json={"text": "oranges"})
    assert '"event":"problem"' in streamed.text.splitlines()[-1]
    assert "home" not in streamed.text
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/..%2fserver.py",
        "/page/%2e%2e/%2e%2e/pyproject.toml",
        "/page//etc/passwd",
        "/page/index.html%00.js",
        "/../../etc/passwd",
    ],
)
def test_no_address_leads_to_another_file(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:labelwise:not-found"


def test_a_text_that_is_the_name_of_a_file_of_the_server_is_a_text_like_any_other(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "act.txt"
    routes: list[tuple[str, dict[str, Any]]] = [
        ("/v1/tag", {"text": "act.txt", "model": "svm"}),
        ("/v1/tag/batch", {"documents": [{"text": "act.txt"}, {"text": str(file)}]}),
        ("/v1/tag/stream", {"text": str(file)}),
        ("/v1/evidence", {"text": "act.txt", "top": 2}),
        ("/v1/compare", {"text": "act.txt", "models": ["svm", "exact-match"]}),
        ("/v1/score", {"text": "act.txt", "concepts": [{"id": "x", "descriptor": "fruit"}]}),
    ]

    def answers() -> list[tuple[int, str]]:
        found = [client.post(path, json=body) for path, body in routes]
        form = {"text": "act.txt", "limit": 3}
        found.append(client.post("/v1/projects/svm/suggest", data=form))
        return [(one.status_code, re.sub(r'"seconds":[\d.e-]+', "", one.text)) for one in found]

    without = answers()
    file.write_text("On imports of citrus fruit.", "utf-8")
    assert answers() == without
    assert {status for status, _ in without} == {200}


def test_the_framework_shows_no_pages_of_its_own(client: httpx.Client) -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert client.get(path).status_code == 404
