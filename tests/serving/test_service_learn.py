"""Teaching a model over Annif's interface: off unless asked for, bounded, and at once in effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable

TEXT = "Aquaculture of sturgeons: caviar from farmed sturgeons shall be labelled as such."


def ask(client: httpx.Client) -> list[dict[str, object]]:
    said = client.post("/v1/projects/svm/suggest", data={"text": TEXT, "limit": "1000"})
    found: list[dict[str, object]] = said.json()["results"]
    return found


def test_a_model_suggests_what_it_was_taught(
    serve: Callable[..., httpx.Client], folders: dict[str, Path]
) -> None:
    limits = Limits(learned_acts=2, max_documents=2)
    client = serve(
        [Servable("svm", folders["svm"]), Servable("words", folders["exact-match"])], limits=limits
    )
    last = ask(client)[-1]
    lesson = {"text": TEXT, "subjects": [{"uri": last["uri"]}]}
    before = client.get("/v1/models/svm").json()["fingerprint"]
    taught = client.post("/v1/projects/svm/learn", json=[lesson])
    assert (taught.status_code, taught.content) == (204, b"")
    assert client.get("/v1/models/svm").json()["fingerprint"] != before
    [after] = [one for one in ask(client) if one["uri"] == last["uri"]]
    assert float(str(after["score"])) > 5 * float(str(last["score"]))
    assert client.post("/v1/evidence", json={"text": TEXT, "top": 3}).status_code == 200

    many = client.post("/v1/projects/svm/learn", json=[lesson] * 3)
    assert many.status_code == 413
    strange = {"text": TEXT, "subjects": [{"uri": "http://eurovoc.europa.eu/no-label"}]}
    said = client.post("/v1/projects/svm/learn", json=[strange]).json()
    assert said["detail"] == "subjects: no-label is no label of svm"
    said = client.post("/v1/projects/words/learn", json=[lesson]).json()
    assert said["status"] == 403
    assert "cannot learn from decisions" in said["detail"]


def test_without_being_asked_for_no_model_learns(client: httpx.Client) -> None:
    said = client.post("/v1/projects/svm/learn", json=[])
    assert said.status_code == 403
    assert said.json()["detail"] == "svm does not learn here: start the service with --learn"


@pytest.mark.parametrize("body", [{}, [{"subjects": "x"}]])
def test_what_is_no_list_of_documents_is_refused(client: httpx.Client, body: object) -> None:
    assert client.post("/v1/projects/svm/learn", json=body).status_code == 422
