"""The routes of a store answer made-up requests as their description promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    ensure_resource_availability,
    ignored_auth,
    positive_data_acceptance,
    unsupported_method,
    use_after_free,
)
from serving_cases import ACT, PATIENCE, served

from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.methods import Method
from labelwise.serving.app import create_app
from labelwise.serving.models import Servable
from labelwise.serving.worklist import Worklist

pytestmark = pytest.mark.xdist_group("serving")

load_all_checks()

NOT_THERE = (
    positive_data_acceptance,  # an act, a concept or a name may be written well and not be there
    ensure_resource_availability,
    use_after_free,
    ignored_auth,  # a session is a route that tells everybody who they are
)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The description of a service with a store, its routes of the store alone."""
    worklist = Worklist(str(tmp_path_factory.mktemp("described") / "desk.sqlite"), loopback=True)
    schema = create_app([], worklist=worklist).openapi()
    worklist.store.database.close()
    schema["paths"] = {
        path: one for path, one in schema["paths"].items() if path.startswith("/v1/desk")
    }
    return schemathesis.openapi.from_dict(schema)


@pytest.fixture(scope="module")
def admin(fitted: dict[str, Method], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A desk with an act, asked by an admin's program."""
    where = str(tmp_path_factory.mktemp("desk") / "desk.sqlite")
    database = Database(where)
    token = People(database).add("Chloé", "admin")
    database.close()
    with served([Servable("em", method=fitted["exact-match"])], store=where) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        added = client.post("/v1/desk/acts", json={"acts": [{"id": "0", "text": ACT}]})
        assert added.status_code == 200
        yield client


# Wrong tokens would close the door to all other requests.
schema = schemathesis.pytest.from_fixture("described").exclude(
    path="/v1/desk/session", method="POST"
)


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_of_those_described(case: Any, admin: httpx.Client) -> None:
    answer = case.call(
        base_url=str(admin.base_url),
        timeout=PATIENCE,
        headers={"Authorization": admin.headers["Authorization"]},
    )
    assert answer.status_code not in (401, 500, 503), answer.text
    left_out = list(NOT_THERE)
    if case.path.endswith("/decisions"):  # the id of an act may have slashes: another GET takes it
        left_out += [unsupported_method, allow_header_conformance]
    case.validate_response(answer, excluded_checks=left_out)
