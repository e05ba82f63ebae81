"""A service with a store: acts come in, people decide, and nobody overwrites anybody."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_cases import ACT, served, wait_until

from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.errors import LabelwiseError
from labelwise.methods import Method
from labelwise.serving.app import create_app
from labelwise.serving.models import Servable
from labelwise.serving.server import Server
from labelwise.serving.signing_in import FAILURES, Proxy
from labelwise.serving.worklist import Worklist

pytestmark = pytest.mark.xdist_group("serving")

Serve = Callable[..., httpx.Client]


@pytest.fixture(scope="module")
def desk(fitted: dict[str, Method], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A desk without people, which is that of whoever runs it."""
    where = str(tmp_path_factory.mktemp("desk") / "desk.sqlite")
    with served([Servable("svm", method=fitted["svm"])], store=where) as client:
        yield client


def added(client: httpx.Client, name: str, text: str = ACT, **headers: str) -> str:
    """Put an act on the worklist."""
    body = {"acts": [{"id": name, "text": f"{text}\n{name}"}], "source": f"{name}.txt"}
    answer = client.post("/v1/desk/acts", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["acts"][0]["id"])


def decide(client: httpx.Client, act: str, version: int, *decisions: Any, **more: Any) -> Any:
    body = {"version": version, "decisions": list(decisions)} | more
    return client.post(f"/v1/desk/acts/{act}/decisions", json=body)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def a_label(client: httpx.Client, place: int = 0) -> dict[str, Any]:
    return client.get(f"/v1/labels?limit=1&offset={place}").json()["labels"][0]


def test_an_act_comes_in_is_tagged_in_advance_decided_and_done(desk: httpx.Client) -> None:
    assert desk.get("/ready").json()["desk"] is True
    id = added(desk, "32001R0012")
    again = desk.post(
        "/v1/desk/acts", json={"acts": [{"id": "other", "text": f"{ACT}\n32001R0012"}]}
    )
    assert again.json()["acts"] == [{"id": id, "new": False}]
    wait_until(lambda: desk.get(f"/v1/desk/acts/{id}").json()["predictions"] is not None)
    act = desk.get(f"/v1/desk/acts/{id}").json()
    tagged = desk.post("/v1/tag", json={"sections": act["sections"], "top": 50}).json()
    assert act["predictions"] == tagged["predictions"]
    assert act["source"] == "32001R0012.txt"
    best = act["predictions"][0]
    shown = {"what": "accept", "model": "svm", "score": best["score"], "rank": best["rank"]}
    written = decide(desk, id, 0, shown | {"concept": best["id"]}).json()
    (kept,) = written["decisions"]
    assert (kept["concept"], kept["score"], kept["rank"]) == (best["id"], best["score"], 1)
    assert kept["fingerprint"] == desk.get("/v1/models/svm").json()["fingerprint"]
    assert kept["info"]["descriptor"] == best["descriptor"]
    assert (written["state"], written["version"]) == ("open", 1)
    assert decide(desk, id, 1, {"what": "done"}).json()["state"] == "done"
    (line,) = desk.get("/v1/desk/acts", params={"q": id}).json()["acts"]
    assert (line["state"], line["chosen"]) == ("done", 1)
    assert line["suggested"] == sum(one["assigned"] for one in act["predictions"])


def test_who_saw_an_older_version_gets_409_with_what_changed(desk: httpx.Client) -> None:
    id, label = added(desk, "32001R0020"), a_label(desk)["id"]
    assert decide(desk, id, 0, {"what": "accept", "concept": label}).status_code == 200
    refused = decide(desk, id, 0, {"what": "reject", "concept": label})
    assert refused.status_code == 409
    problem = refused.json()
    assert problem["type"] == "urn:labelwise:conflict"
    assert [(one["what"], one["concept"]) for one in problem["changed"]] == [("accept", label)]
    assert problem["now"]["version"] == 1
    assert [one["what"] for one in problem["now"]["decisions"]] == ["accept"]


def test_what_cannot_be_decided_is_named(desk: httpx.Client) -> None:
    id = added(desk, "32001R0021")
    for wrong in ({"what": "accept"}, {"what": "done", "concept": a_label(desk)["id"]}):
        answer = decide(desk, id, 0, wrong)
        assert (answer.status_code, answer.json()["field"]) == (422, "decisions[0].concept")
    unknown = decide(desk, id, 0, {"what": "accept", "concept": "no such concept"})
    assert (unknown.status_code, unknown.json()["field"]) == (422, "decisions[0].concept")
    assert decide(desk, "nobody", 0, {"what": "open"}).status_code == 404
    assert desk.get("/v1/desk/acts/nobody").json()["type"] == "urn:labelwise:unknown-act"
    decide(desk, id, 0, {"what": "done"})
    late = decide(desk, id, 1, {"what": "accept", "concept": a_label(desk)["id"]})
    assert (late.status_code, late.json()["type"]) == (409, "urn:labelwise:wrong-state")


def test_a_write_whose_answer_was_lost_can_be_sent_again(desk: httpx.Client) -> None:
    id, label = added(desk, "32001R0022"), a_label(desk)["id"]
    for _ in range(2):
        answer = decide(desk, id, 0, {"what": "accept", "concept": label}, key="k1")
        assert (answer.status_code, answer.json()["version"]) == (200, 1)


def test_a_concept_that_is_added_has_the_score_that_the_model_gives_it(
    desk: httpx.Client,
) -> None:
    id, label = added(desk, "32001R0023"), a_label(desk, 7)["id"]
    written = decide(desk, id, 0, {"what": "add", "concept": label}).json()
    sections = desk.get(f"/v1/desk/acts/{id}").json()["sections"]
    asked = {"sections": sections, "include": [label], "top": 1}
    (alone,) = desk.post("/v1/tag", json=asked).json()["predictions"]
    (kept,) = written["decisions"]
    assert (kept["score"], kept["rank"], kept["model"]) == (alone["score"], None, "svm")
    assert kept["fingerprint"] == desk.get("/v1/models/svm").json()["fingerprint"]


def test_an_act_gets_another_id_and_title_upon_a_version_and_is_found_and_exported_by_them(
    desk: httpx.Client,
) -> None:
    id, other, label = added(desk, "scan"), added(desk, "32001R0024"), a_label(desk)["id"]
    named = {"what": "rename", "new_id": "32001R0025", "new_title": "Regulation on lemons"}
    decide(desk, id, 0, {"what": "accept", "concept": label}, {"what": "done"})
    assert decide(desk, id, 0, named).json()["type"] == "urn:labelwise:conflict"
    written = decide(desk, id, 1, named).json()
    assert (written["act"], written["title"]) == ("32001R0025", "Regulation on lemons")
    assert (written["state"], len(written["decisions"])) == ("done", 1)
    taken = decide(desk, other, 0, named)
    assert (taken.status_code, taken.json()["type"]) == (409, "urn:labelwise:id-taken")
    assert "another act has the id '32001R0025'" in taken.json()["detail"]
    assert desk.get("/v1/desk/acts/32001R0025").json()["title"] == "Regulation on lemons"
    assert desk.get(f"/v1/desk/acts/{id}").status_code == 404
    exported = desk.get("/v1/desk/export", params={"as": "ttl"}).text
    assert "<http://publications.europa.eu/resource/celex/32001R0025>" in exported
    assert '"Regulation on lemons"' in exported
    for wrong in ({"what": "rename"}, {"what": "open", "new_id": "x"}):
        answer = decide(desk, other, 0, wrong)
        assert (answer.status_code, answer.json()["field"]) == (422, "decisions[0].new_id")


def test_an_act_tells_what_its_reader_can_take_back(desk: httpx.Client) -> None:
    id, label = added(desk, "32001R0026"), a_label(desk)["id"]
    assert desk.get(f"/v1/desk/acts/{id}").json()["undo"] == []
    decide(desk, id, 0, {"what": "accept", "concept": label})
    decide(desk, id, 1, {"what": "reject", "concept": label})
    (step,) = desk.get(f"/v1/desk/acts/{id}").json()["undo"]
    assert (step["concept"], step["what"], step["before"]["what"]) == (label, "reject", "accept")


def test_a_concept_has_acts_of_the_worklist_as_examples(desk: httpx.Client) -> None:
    id, label = added(desk, "32001R0027"), a_label(desk, 9)["id"]
    path = f"/v1/desk/concepts/{label}/acts"
    assert desk.get(path).json()["acts"] == []
    decide(desk, id, 0, {"what": "add", "concept": label})
    title = desk.get(f"/v1/desk/acts/{id}").json()["title"]
    assert desk.get(path).json()["acts"] == [{"id": id, "title": title}]
    assert desk.get(path, params={"besides": id}).json()["acts"] == []


def test_without_a_store_there_are_no_such_routes(client: httpx.Client) -> None:
    assert client.get("/ready").json()["desk"] is False
    assert client.get("/v1/desk/acts").status_code == 404
    assert "/v1/desk/acts" not in client.get("/openapi.json").json()["paths"]


def test_every_route_says_what_its_problems_look_like(tmp_path: Path) -> None:
    worklist = Worklist(str(tmp_path / "desk.sqlite"), loopback=True)
    schema = create_app([], worklist=worklist).openapi()
    routes = {path: one for path, one in schema["paths"].items() if path.startswith("/v1/desk")}
    assert {"/v1/desk/acts", "/v1/desk/export", "/v1/desk/session"} <= set(routes)
    for path, methods in routes.items():
        for method, route in methods.items():
            problems = {
                status: answer
                for status, answer in route["responses"].items()
                if int(status) >= 400
            }
            assert {"400", "401", "403", "500", "503"} <= set(problems), (path, method)
            for answer in problems.values():
                assert list(answer["content"]) == ["application/problem+json"], (path, method)


# --- people -------------------------------------------------------------------------------------


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    people = People(Database(str(tmp_path / "desk.sqlite")))
    return {
        name: people.add(name, role)  # type: ignore[arg-type]
        for name, role in (("Ana", "indexer"), ("Ben", "reviewer"), ("Chloé", "admin"))
    }


@pytest.fixture
def staffed(
    serve: Serve, fitted: dict[str, Method], tokens: dict[str, str], tmp_path: Path
) -> httpx.Client:
    """A desk with an indexer, a reviewer and an admin."""
    where = str(tmp_path / "desk.sqlite")
    return serve([Servable("em", method=fitted["exact-match"])], store=where)


def test_whoever_has_not_signed_in_sees_nothing(staffed: httpx.Client) -> None:
    assert staffed.get("/v1/desk/session").json()["name"] is None
    for method, path in (("GET", "/acts"), ("GET", "/acts/x"), ("POST", "/acts"), ("GET", "/next")):
        answer = staffed.request(method, f"/v1/desk{path}", json={} if method == "POST" else None)
        assert answer.status_code == 401
        assert answer.json()["type"] == "urn:labelwise:not-signed-in"


def test_a_session_is_a_cookie_that_no_script_reads_and_writes_carry_more(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    answer = staffed.post("/v1/desk/session", json={"token": tokens["Ana"]})
    assert (answer.json()["name"], answer.json()["role"]) == ("Ana", "indexer")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    body = {"acts": [{"id": "a", "text": ACT}]}
    refused = staffed.post("/v1/desk/acts", json=body)
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:labelwise:foreign-site")
    csrf = {"X-CSRF-Token": answer.json()["csrf"]}
    foreign = staffed.post("/v1/desk/acts", json=body, headers=csrf | {"Origin": "https://a.eu"})
    assert foreign.status_code == 403
    assert staffed.post("/v1/desk/acts", json=body, headers=csrf).status_code == 200
    (line,) = staffed.get("/v1/desk/acts").json()["acts"]
    assert line["id"] == "a"
    assert staffed.delete("/v1/desk/session", headers=csrf).status_code == 200
    assert staffed.get("/v1/desk/acts").status_code == 401


def test_a_program_sends_its_token_with_every_request(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    bearer = {"Authorization": f"Bearer {tokens['Ana']}"}
    added(staffed, "a", **bearer)
    assert staffed.get("/v1/desk/acts", headers=bearer).json()["total"] == 1


def test_tokens_are_not_guessed_by_trying(staffed: httpx.Client, tokens: dict[str, str]) -> None:
    answers = [staffed.post("/v1/desk/session", json={"token": "x"}) for _ in range(FAILURES)]
    assert {one.status_code for one in answers} == {401}
    late = staffed.post("/v1/desk/session", json={"token": tokens["Ana"]})
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) > 0


def test_a_second_reading_is_for_reviewers_and_does_not_show_the_first(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    ana, ben = ({"Authorization": f"Bearer {tokens[name]}"} for name in ("Ana", "Ben"))
    id, label = added(staffed, "a", **ana), a_label(staffed)["id"]
    path = f"/v1/desk/acts/{id}"
    first = {"version": 0, "decisions": [{"what": "add", "concept": label}, {"what": "done"}]}
    assert staffed.post(f"{path}/decisions", json=first, headers=ana).status_code == 200
    second = {"version": 0, "reading": 2, "decisions": [{"what": "open"}]}
    assert staffed.post(f"{path}/decisions", json=second, headers=ana).status_code == 403
    seen = staffed.get(path, params={"reading": 2}, headers=ben).json()
    assert seen["reading"]["decisions"] == []
    assert staffed.post(f"{path}/decisions", json=second, headers=ben).status_code == 200
    (line,) = staffed.get("/v1/desk/acts", headers=ben).json()["acts"]
    assert (line["state"], line["second"], line["second_who"]) == ("done", "open", "Ben")


def test_an_admin_says_who_works_here_and_nobody_else_does(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    ana, ben, chloe = (bearer(tokens[name]) for name in ("Ana", "Ben", "Chloé"))
    path = "/v1/desk/people"
    for method, where in (("GET", ""), ("POST", ""), ("PUT", "/Ana"), ("DELETE", "/Ana")):
        body = {"name": "Ana", "role": "admin"} if method == "POST" else {"role": "admin"}
        sent = {"json": body} if method in ("POST", "PUT") else {}
        assert staffed.request(method, path + where, headers=ben, **sent).status_code == 403
    made = staffed.post(path, json={"name": "Dora", "role": "indexer"}, headers=chloe).json()
    dora = bearer(made["token"])
    assert staffed.get("/v1/desk/session", headers=dora).json()["role"] == "indexer"
    changed = staffed.put(f"{path}/Dora", json={"role": "reviewer"}, headers=chloe).json()
    assert {"name": "Dora", "role": "reviewer"} in changed["people"]
    assert staffed.get("/v1/desk/session", headers=dora).json()["role"] == "reviewer"
    again = staffed.post(path, json={"name": "Dora", "role": "indexer"}, headers=chloe).json()
    assert staffed.get("/v1/desk/acts", headers=dora).status_code == 401  # the old token ended
    dora = bearer(again["token"])
    assert staffed.delete(f"{path}/Dora", headers=chloe).status_code == 200
    assert staffed.get("/v1/desk/acts", headers=dora).status_code == 401
    assert staffed.get("/v1/desk/acts", headers=ana).status_code == 200


def test_no_admin_locks_the_door_from_outside(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    chloe, path = bearer(tokens["Chloé"]), "/v1/desk/people"
    for method in ("PUT", "DELETE"):
        sent = {"json": {"role": "indexer"}} if method == "PUT" else {}
        answer = staffed.request(method, f"{path}/Chloé", headers=chloe, **sent)
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:labelwise:not-allowed")
    unknown = staffed.delete(f"{path}/Eve", headers=chloe)
    assert (unknown.status_code, unknown.json()["type"]) == (404, "urn:labelwise:unknown-person")
    unfit = staffed.post(path, json={"name": "<Eve>", "role": "indexer"}, headers=chloe)
    assert (unfit.status_code, unfit.json()["field"]) == (422, "name")


def test_the_first_person_of_a_desk_is_an_admin(
    serve: Serve, fitted: dict[str, Method], tmp_path: Path
) -> None:
    alone = serve(
        [Servable("em", method=fitted["exact-match"])], store=str(tmp_path / "empty.sqlite")
    )
    refused = alone.post("/v1/desk/people", json={"name": "Ana", "role": "indexer"})
    assert (refused.status_code, refused.json()["field"]) == (422, "role")
    first = alone.post("/v1/desk/people", json={"name": "Ana", "role": "admin"}).json()
    assert alone.get("/v1/desk/acts").status_code == 401  # from now on one signs in
    assert alone.get("/v1/desk/people", headers=bearer(first["token"])).status_code == 200


def test_an_admin_withdraws_an_act_which_keeps_its_log_and_brings_it_back(
    staffed: httpx.Client, tokens: dict[str, str]
) -> None:
    ana, ben, chloe = (bearer(tokens[name]) for name in ("Ana", "Ben", "Chloé"))
    id, label = added(staffed, "a", **ana), a_label(staffed)["id"]

    def write(version: int, who: dict[str, str], *decisions: Any) -> httpx.Response:
        body = {"version": version, "decisions": list(decisions)}
        return staffed.post(f"/v1/desk/acts/{id}/decisions", json=body, headers=who)

    assert write(0, ana, {"what": "add", "concept": label}, {"what": "done"}).status_code == 200
    assert write(1, ben, {"what": "withdraw"}).status_code == 403
    assert write(1, chloe, {"what": "withdraw"}).json()["state"] == "withdrawn"
    listed = staffed.get("/v1/desk/acts", headers=ana).json()
    assert (listed["acts"], listed["states"]["withdrawn"]) == ([], 1)
    assert staffed.get("/v1/desk/next", headers=ana).json()["id"] is None
    assert label not in staffed.get("/v1/desk/export?every=true", headers=ana).text
    log = staffed.get("/v1/desk/log", headers=ana).text.splitlines()
    assert [json.loads(one)["what"] for one in log] == ["add", "done", "withdraw"]
    assert write(2, ana, {"what": "reopen"}).status_code == 403
    late = write(2, chloe, {"what": "done"})
    assert (late.status_code, late.json()["type"]) == (409, "urn:labelwise:wrong-state")
    back = write(2, chloe, {"what": "reopen"}).json()
    assert (back["state"], [one["concept"] for one in back["decisions"]]) == ("open", [label])
    assert staffed.get("/v1/desk/acts", headers=ana).json()["total"] == 1


def test_a_proxy_names_people_only_from_where_it_is_trusted(
    serve: Serve, fitted: dict[str, Method], tokens: dict[str, str], tmp_path: Path
) -> None:
    where, model = str(tmp_path / "desk.sqlite"), Servable("em", method=fitted["exact-match"])
    header = {"X-Remote-User": "Ana"}
    trusted = serve([model], store=where, proxy=Proxy.of("X-Remote-User", ["127.0.0.0/8"]))
    asked = trusted.get("/v1/desk/session", headers=header).json()
    assert asked["name"] == "Ana"
    body = {"acts": [{"id": "a", "text": ACT}]}
    assert trusted.post("/v1/desk/acts", json=body, headers=header).status_code == 403
    csrf = header | {"X-CSRF-Token": asked["csrf"]}
    assert trusted.post("/v1/desk/acts", json=body, headers=csrf).status_code == 200
    unknown = trusted.get("/v1/desk/acts", headers={"X-Remote-User": "Eve"})
    assert unknown.status_code == 403
    forwarded = header | {"X-Forwarded-For": "127.0.0.1"}
    other = serve([model], store=where, proxy=Proxy.of("X-Remote-User", ["192.0.2.1"]))
    assert other.get("/v1/desk/acts", headers=forwarded).status_code == 401
    with pytest.raises(LabelwiseError, match="--trusted-proxy"):
        Proxy.of("X-Remote-User", [])


def test_a_desk_without_people_is_not_shown_to_other_machines(
    fitted: dict[str, Method], tmp_path: Path
) -> None:
    with pytest.raises(LabelwiseError, match="no people"):
        Server(
            [Servable("em", method=fitted["exact-match"])],
            host="0.0.0.0",
            port=0,
            store=str(tmp_path / "desk.sqlite"),
        )
