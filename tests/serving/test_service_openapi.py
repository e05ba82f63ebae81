"""The description for machines is true: made-up requests get the answers that it promises."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from serving_cases import PATIENCE

from labelwise.serving.app import create_app

pytestmark = pytest.mark.xdist_group("serving")

load_all_checks()
description = schemathesis.openapi.from_dict(create_app([]).openapi())

MEANT = ("include", "exclude", "labels", "names", "concepts", "model", "file", "certified", "best")
"""Fields that may be written well and still name what is not there."""


@description.parametrize()
@settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_of_those_described(case: Any, client: httpx.Client) -> None:
    answer = case.call(base_url=str(client.base_url), timeout=PATIENCE)
    left_out = [positive_data_acceptance]
    if case.path == "/v1/parse":  # to a form, whatever is in a field is a file
        left_out.append(negative_data_rejection)
    case.validate_response(answer, excluded_checks=left_out)
    if case.meta.generation.mode.is_positive and answer.status_code == 422:
        assert answer.json()["field"].startswith(MEANT), answer.text


def test_every_route_says_what_its_problems_look_like() -> None:
    schema = create_app([]).openapi()
    for path, routes in schema["paths"].items():
        for method, route in routes.items():
            for status, answer in route["responses"].items():
                if int(status) >= 400:
                    assert list(answer["content"]) == ["application/problem+json"], (path, method)
            assert {"400", "401", "500", "503"} <= set(route["responses"])
    assert "HTTPValidationError" not in str(schema)


@pytest.mark.parametrize("path", ["/", "/v1/models", "/openapi.json", "/health", "/nowhere"])
def test_head_is_answered_as_get_is_without_the_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    for name in ("content-type", "content-length"):
        assert head.headers.get(name) == get.headers.get(name), name


def test_an_address_that_does_not_take_a_method_says_which_it_takes(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for path, taken in paths.items():
        answer = client.request("PATCH", re.sub(r"\{\w+\}", "one", path))
        assert answer.status_code == 405, path
        methods = {one.upper() for one in taken} | ({"HEAD"} if "get" in taken else set())
        assert methods <= set(answer.headers["allow"].split(", ")), path
        assert answer.json()["detail"] == f"this address takes {answer.headers['allow']}"
