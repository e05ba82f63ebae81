"""Annif's interface: its answers here, and the real Annif from PyPI as the client."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_cases import ACT

from labelwise.bench.processes import environment
from labelwise.bench.service import ANNIF
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError

pytestmark = pytest.mark.xdist_group("serving")

ROOT = Path(__file__).parents[2]


def suggest(client: httpx.Client, **form: Any) -> httpx.Response:
    return client.post("/v1/projects/svm/suggest", data=form)


def test_a_suggestion_has_annifs_four_fields_and_our_scores(client: httpx.Client) -> None:
    results = suggest(client, text=ACT, limit=4).json()["results"]
    tagged = client.post("/v1/tag", json={"text": ACT, "top": 4}).json()["predictions"]
    assert results == [
        {
            "uri": one["uri"],
            "label": one["descriptor"],
            "notation": None,
            "score": one["score"],
        }
        for one in tagged
    ]


def test_limit_and_threshold_cut_as_annif_does(client: httpx.Client) -> None:
    ten = suggest(client, text=ACT).json()["results"]
    assert len(ten) == 10
    assert suggest(client, text=ACT, limit=0).json() == {"results": []}
    cut = (ten[4]["score"] + ten[5]["score"]) / 2
    assert suggest(client, text=ACT, threshold=cut).json()["results"] == ten[:5]
    everything = suggest(client, text=ACT, limit=100_000).json()["results"]
    assert all(one["score"] >= 0 for one in everything)
    # a label that a method gives nothing is no suggestion
    matched = client.post("/v1/projects/exact-match/suggest", data={"text": ACT, "limit": 1000})
    assert all(one["score"] > 0 for one in matched.json()["results"])


def test_a_batch_keeps_order_and_ids(client: httpx.Client) -> None:
    documents = [{"text": ACT, "document_id": "a"}, {"text": ""}, {"text": "Oranges."}]
    answer = client.post(
        "/v1/projects/svm/suggest-batch", json={"documents": documents}, params={"limit": 2}
    ).json()
    assert [one["document_id"] for one in answer] == ["a", None, None]
    assert answer[0]["results"] == suggest(client, text=ACT, limit=2).json()["results"]
    assert answer[1]["results"] == []
    too_many = client.post(
        "/v1/projects/svm/suggest-batch", json={"documents": [{"text": "Oranges."}] * 33}
    )
    assert too_many.status_code == 422
    assert too_many.json()["field"] == "documents"


def test_a_text_longer_than_a_megabyte_is_taken(client: httpx.Client) -> None:
    answer = suggest(client, text="The import of oranges & lemons, 100 % free. " * 30_000, limit=1)
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == 1


def test_projects_and_vocabularies(client: httpx.Client, synthetic: Dataset) -> None:
    projects = client.get("/v1/projects").json()["projects"]
    assert [one["project_id"] for one in projects] == ["svm", "exact-match", "z-cnn-lwan"]
    one = client.get("/v1/projects/svm").json()
    assert one == projects[0]
    assert one["backend"] == {"backend_id": "svm"}
    assert one["is_trained"] is True
    assert one["modification_time"].startswith("20")
    assert one["vocab"]["size"] == len(synthetic.label_space)
    assert client.get("/v1/vocabs").json()["vocabs"][0]["loaded"] is True
    assert client.get("/v1/").json()["version"]


@pytest.mark.parametrize(
    ("form", "status", "field"),
    [
        ({}, 422, "text"),
        ({"text": ACT, "limit": "many"}, 422, "limit"),
        ({"text": ACT, "limit": -1}, 422, "limit"),
        ({"text": ACT, "threshold": 2}, 422, "threshold"),
        ({"text": ACT, "threshold": "nan"}, 422, "threshold"),
        ({"text": ACT, "language": "fi"}, 400, "language"),
    ],
)
def test_wrong_parameters_are_named(
    client: httpx.Client, form: dict[str, Any], status: int, field: str
) -> None:
    answer = client.post(
        "/v1/projects/svm/suggest",
        data=form,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == status, answer.text
    assert answer.json()["field"] == field


def test_another_project_and_learning_are_refused_as_annif_refuses_them(
    client: httpx.Client,
) -> None:
    assert client.post("/v1/projects/none/suggest", data={"text": ACT}).status_code == 404
    assert client.get("/v1/projects/none").status_code == 404
    assert client.post("/v1/projects/svm/learn", json=[]).status_code == 403
    assert client.post("/v1/projects/svm/suggest", json={"text": ACT}).status_code == 415


@pytest.fixture(scope="module")
def annif() -> Path:
    """The folder of the programs of an environment that holds Annif, made if need be."""
    try:
        return Path(environment("annif", ANNIF, ROOT / "benchmarks")).parent
    except LabelwiseError as error:
        pytest.skip(str(error))


Annif = Callable[..., str]


@pytest.fixture
def run_annif(annif: Path, client: httpx.Client, synthetic: Dataset, tmp_path: Path) -> Annif:
    """Annif's command line, in a folder with a project that asks the service."""
    (tmp_path / "projects.cfg").write_text(
        "[labelwise]\nname=labelwise over HTTP\nlanguage=en\nbackend=http\nvocab=synthetic\n"
        f"endpoint={client.base_url}/v1/projects/svm/suggest\nlimit=50\n",
        "utf-8",
    )
    (tmp_path / "vocabulary.tsv").write_text(
        "".join(
            f"<http://eurovoc.europa.eu/{one.id}>\t{one.descriptor}\n"
            for one in synthetic.label_space.labels
        ),
        "utf-8",
    )

    def run(*arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [str(annif / "annif"), *arguments],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("load-vocab", "--language", "en", "synthetic", "vocabulary.tsv")
    return run


@pytest.mark.slow
def test_annifs_http_backend_suggests_what_the_service_says(
    run_annif: Annif, client: httpx.Client, synthetic: Dataset, tmp_path: Path
) -> None:
    assert "labelwise over HTTP" in run_annif("list-projects")
    shown = run_annif("show-project", "labelwise")
    assert re.search(r"Trained: +True", shown)
    for document in synthetic.test[:3]:
        text = document.text
        lines = run_annif("suggest", "--limit", "5", "labelwise", stdin=text).splitlines()
        rows = [line.split("\t") for line in lines]
        ours = suggest(client, text=text, limit=5).json()["results"]
        assert [row[0].strip("<>") for row in rows] == [one["uri"] for one in ours]
        assert [row[1] for row in rows] == [one["label"] for one in ours]
        assert [float(row[-1]) for row in rows] == pytest.approx(
            [one["score"] for one in ours], abs=1e-3
        )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for document in synthetic.test[:5]:
        (corpus / f"{document.id}.txt").write_text(document.text, "utf-8")
        (corpus / f"{document.id}.tsv").write_text(
            "".join(
                f"<http://eurovoc.europa.eu/{id}>\t"
                f"{synthetic.label_space.labels[synthetic.label_space.index[id]].descriptor}\n"
                for id in document.labels
            ),
            "utf-8",
        )
    measured = run_annif("eval", "--limit", "10", "labelwise", str(corpus))
    ndcg = next(line for line in measured.splitlines() if line.startswith("NDCG@10"))
    assert float(ndcg.split()[-1]) > 0.3


@pytest.mark.slow
def test_annifs_own_client_works_unchanged(
    annif: Path, client: httpx.Client, synthetic: Dataset
) -> None:
    texts = [document.text for document in synthetic.test[:3]]
    done = subprocess.run(
        [
            str(annif / "python"),
            str(Path(__file__).parent / "annif_client_program.py"),
            str(client.base_url),
        ],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["info"] == client.get("/v1/").json()
    assert found["projects"] == client.get("/v1/projects").json()["projects"]
    assert found["project"]["project_id"] == "svm"
    ours = suggest(client, text=texts[0], limit=5, threshold=0.01).json()["results"]
    assert found["suggest"] == ours
    assert [one["document_id"] for one in found["batch"]] == ["doc-0", "doc-1", "doc-2"]
    assert found["batch"][0]["results"] == ours[:3]
    assert "no model here is called 'no-such-project'" in found["unknown"]
    assert "403" in found["learn"]
