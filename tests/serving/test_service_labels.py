"""Labels by name, with their place; models, health, readiness and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from conformance import SMALL_NETWORK

from labelwise import bundle
from labelwise.corpus.dataset import Dataset
from labelwise.methods import Method
from labelwise.serving.models import Servable

pytestmark = pytest.mark.xdist_group("serving")


def test_labels_are_found_by_the_beginning_of_a_word(
    client: httpx.Client, synthetic: Dataset
) -> None:
    label = next(one for one in synthetic.label_space.labels if " " in one.descriptor)
    start = label.descriptor.split()[1][:4]
    answer = client.get("/v1/labels", params={"q": start.upper(), "limit": 200}).json()
    assert label.id in [one["id"] for one in answer["labels"]]
    assert answer["total"] == len(answer["labels"])


def test_labels_are_listed_in_their_order_page_by_page(
    client: httpx.Client, synthetic: Dataset
) -> None:
    first = client.get("/v1/labels", params={"limit": 7}).json()
    second = client.get("/v1/labels", params={"limit": 7, "offset": 7}).json()
    ids = [one["id"] for one in first["labels"] + second["labels"]]
    assert ids == list(synthetic.label_space.ids[:14])
    assert first["total"] == len(synthetic.label_space)
    zero = client.get("/v1/labels", params={"group": "zero", "limit": 1000}).json()
    assert {one["group"] for one in zero["labels"]} == {"zero"}
    groups = synthetic.label_space.groups
    assert zero["total"] == groups["zero"].stop - groups["zero"].start


def test_a_label_stands_under_domain_microthesaurus_and_broader_concept(
    client: httpx.Client, synthetic: Dataset
) -> None:
    thesaurus = synthetic.thesaurus
    assert thesaurus is not None
    label = next(id for id in synthetic.label_space.ids if thesaurus[id].broader)
    answer = client.get(f"/v1/labels/{label}").json()
    broader = [link["name"] for link in answer["place"]["broader"]]
    assert broader[-1] == thesaurus[thesaurus[label].broader[0]].label
    names = [answer["place"][part][0]["name"] for part in ("domains", "microthesauri")]
    assert answer["place"]["path"] == " › ".join([*names, *broader, answer["descriptor"]])
    assert set(answer["alternatives"]) == set(thesaurus[label].alt_labels)


def test_a_concept_that_only_the_thesaurus_has_is_found_and_marked(
    client: httpx.Client, synthetic: Dataset
) -> None:
    thesaurus = synthetic.thesaurus
    assert thesaurus is not None
    unseen = sorted(set(thesaurus.concepts) - set(synthetic.label_space.ids))
    assert unseen
    answer = client.get(f"/v1/labels/{unseen[0]}").json()
    assert (answer["in_model"], answer["group"], answer["count"]) == (False, None, 0)
    query = {"q": answer["descriptor"], "limit": 100}
    found = client.get("/v1/labels", params=query).json()["labels"]
    assert unseen[0] in [one["id"] for one in found]
    own = client.get("/v1/labels", params={**query, "in_model": True}).json()["labels"]
    assert unseen[0] not in [one["id"] for one in own]


def test_an_unknown_label_is_not_found(client: httpx.Client) -> None:
    answer = client.get("/v1/labels/none-such")
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:labelwise:unknown-label"


def test_the_place_comes_from_the_bundle_where_its_card_has_one(
    serve: Callable[..., httpx.Client],
    fitted: dict[str, Method],
    synthetic: Dataset,
    tmp_path: Path,
) -> None:
    method = fitted["exact-match"]
    label = method.label_space.labels[0]
    card = {
        "thesaurus": {
            "concepts": {
                label.id: {
                    "label": label.descriptor,
                    "broader": ["above"],
                    "microthesauri": ["m"],
                    "domains": ["d"],
                },
                "above": {"label": "a broader concept"},
            },
            "microthesauri": {"m": "10 a microthesaurus"},
            "domains": {"d": "1 A DOMAIN"},
        }
    }
    bundle.save(method, tmp_path / "placed", card=card)
    client = serve([Servable("placed", tmp_path / "placed")])
    place = client.get(f"/v1/labels/{label.id}").json()["place"]
    expected = ["1 A DOMAIN", "10 a microthesaurus", "a broader concept", label.descriptor]
    assert place["path"] == " › ".join(expected)
    # what the card does not know comes from the given thesaurus, or is a descriptor alone
    whole = serve(
        [Servable("placed", tmp_path / "placed")],
        thesaurus=synthetic.paths["train"].parent / "thesaurus.ttl",
    )
    assert whole.get(f"/v1/labels/{label.id}").json()["place"]["path"] == place["path"]
    second = method.label_space.labels[1]
    assert len(whole.get(f"/v1/labels/{second.id}").json()["place"]["path"].split(" › ")) > 2
    # the other labels of the model are there as well, by their descriptors alone
    other = method.label_space.labels[1]
    assert client.get(f"/v1/labels/{other.id}").json()["place"]["path"] == other.descriptor
    assert "thesaurus" not in client.get("/v1/models/placed").json()["card"]


def test_a_given_thesaurus_adds_synonyms_and_links_to_a_bare_concept_of_the_bundle(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], tmp_path: Path
) -> None:
    method = fitted["exact-match"]
    label, above = method.label_space.labels[:2]
    card = {"thesaurus": {"concepts": {label.id: {"label": label.descriptor}}}}
    bundle.save(method, tmp_path / "bare", card=card)
    given = tmp_path / "thesaurus.ttl"
    given.write_text(
        f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://eurovoc.europa.eu/{label.id}> a skos:Concept ;
            skos:prefLabel "today's name"@en ; skos:altLabel "zanthoxylum"@en ;
            skos:broader <http://eurovoc.europa.eu/{above.id}> .
        <http://eurovoc.europa.eu/{above.id}> a skos:Concept ; skos:prefLabel "what is above"@en .
        """,
        encoding="utf-8",
    )
    client = serve([Servable("bare", tmp_path / "bare")], thesaurus=given)
    found = client.get(f"/v1/labels/{label.id}").json()
    assert found["descriptor"] == label.descriptor
    assert found["alternatives"] == ["zanthoxylum", "today's name"]
    assert [one["id"] for one in found["place"]["broader"]] == [above.id]
    (by_synonym,) = client.get("/v1/labels?q=zanthox").json()["labels"]
    assert by_synonym["id"] == label.id


@pytest.fixture
def french(
    serve: Callable[..., httpx.Client], fitted: dict[str, Method], tmp_path: Path
) -> httpx.Client:
    """A service whose thesaurus has French names for two labels, one under the other."""
    lower, above = fitted["svm"].label_space.labels[:2]
    given = tmp_path / "thesaurus.ttl"
    given.write_text(
        f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        <http://eurovoc.europa.eu/{lower.id}> a skos:Concept ;
            skos:prefLabel "{lower.descriptor}"@en , "poivre du Sichuan"@fr ;
            skos:altLabel "zanthoxylum"@en , "clavalier"@fr ;
            skos:scopeNote "Not to be confused with pepper."@en ;
            skos:broader <http://eurovoc.europa.eu/{above.id}> .
        <http://eurovoc.europa.eu/{above.id}> a skos:Concept ;
            skos:prefLabel "{above.descriptor}"@en , "ce qui est au-dessus"@fr .
        """,
        encoding="utf-8",
    )
    return serve([Servable("svm", method=fitted["svm"])], thesaurus=given)


def test_concepts_are_found_by_id_synonym_and_in_any_language(
    french: httpx.Client, synthetic: Dataset
) -> None:
    id = synthetic.label_space.ids[0]
    for words, name in (("zanthox", "zanthoxylum"), ("sichuan poivre", "poivre du Sichuan")):
        (found,) = french.get("/v1/labels", params={"q": words}).json()["labels"]
        assert (found["id"], found["matched"]) == (id, name)
    found = french.get("/v1/labels", params={"q": id}).json()["labels"][0]
    assert (found["id"], found["matched"]) == (id, None)
    card = french.get(f"/v1/labels/{id}").json()
    assert card["notes"] == ["Not to be confused with pepper."]
    assert card["names"] == {"fr": "poivre du Sichuan"}


def test_names_and_places_are_in_the_language_that_is_asked_for(
    french: httpx.Client, synthetic: Dataset
) -> None:
    id, above = synthetic.label_space.ids[:2]
    assert french.get("/v1/models/svm").json()["languages"] == ["fr"]
    card = french.get(f"/v1/labels/{id}?labels=fr").json()
    assert card["place"]["path"] == "ce qui est au-dessus › poivre du Sichuan"
    body = {"text": "Oranges.", "include": [f"under:{above}"], "labels": "fr"}
    found = french.post("/v1/tag", json=body).json()["predictions"]
    assert {one["descriptor"] for one in found} == {"ce qui est au-dessus", "poivre du Sichuan"}
    own = synthetic.label_space.labels[2]  # without a French name a label keeps its own
    assert french.get(f"/v1/labels/{own.id}?labels=fr").json()["descriptor"] == own.descriptor
    wrong = french.post("/v1/tag", json={"text": "Oranges.", "labels": "de"})
    assert wrong.status_code == 422
    assert wrong.json()["detail"] == "labels: svm has names in en, fr, not in 'de'"
    wrong = french.post("/v1/tag", json={"text": "Oranges.", "exclude": ["mt:0000"]})
    assert wrong.json()["detail"].startswith("exclude: 'mt:0000' is no part of the thesaurus")


def test_what_is_explained_is_named_in_the_language_that_is_asked_for(
    french: httpx.Client, synthetic: Dataset
) -> None:
    labels = list(synthetic.label_space.ids[:3])  # the third has no French name
    tagged = french.post("/v1/tag", json={"text": "Oranges.", "include": labels, "labels": "fr"})
    named = {one["id"]: one for one in tagged.json()["predictions"]}
    body = {"text": "Oranges.", "labels": labels, "names": "fr"}
    found = french.post("/v1/evidence", json=body).json()["evidence"]
    for one in found:
        for field in ("descriptor", "place", "rank"):
            assert one[field] == named[one["id"]][field]
    assert found[0]["descriptor"] == "poivre du Sichuan"
    wrong = french.post("/v1/evidence", json={"text": "Oranges.", "names": "de"})
    assert wrong.json()["field"] == "names"
    assert wrong.json()["detail"] == "names: svm has names in en, fr, not in 'de'"


def test_models_tell_what_they_are(client: httpx.Client, synthetic: Dataset) -> None:
    answer = client.get("/v1/models").json()
    assert answer["default"] == "svm"
    models = {one["id"]: one for one in answer["models"]}
    assert models["z-cnn-lwan"]["zero_shot"] is True
    assert models["svm"]["zero_shot"] is False
    assert models["svm"]["max_words"] is None
    assert models["z-cnn-lwan"]["max_words"] == SMALL_NETWORK["max_tokens"]
    assert models["svm"]["labels"] == len(synthetic.label_space)
    assert sum(models["svm"]["groups"].values()) == models["svm"]["labels"]
    assert models["svm"]["synthetic"] is True
    assert client.get("/v1/models/svm").json() == models["svm"]
    assert client.get("/v1/models/none").status_code == 404


def test_health_readiness_and_limits(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "alive"
    ready = client.get("/ready").json()
    assert ready["models"] == ["svm", "exact-match", "z-cnn-lwan"]
    assert ready["limits"] == {
        "max_body": 10_000_000,
        "max_documents": 100,
        "queue": 500,
        "timeout": 60.0,
    }


def test_figures_are_in_prometheus_text_and_count(client: httpx.Client) -> None:
    def figure(start: str) -> float:
        answer = client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = [line for line in answer.text.splitlines() if line.startswith(start)]
        return float(lines[0].rsplit(" ", 1)[1]) if lines else 0.0

    asked = 'labelwise_requests_total{route="/v1/tag",method="POST",status="200"}'
    scored = 'labelwise_documents_total{model="svm"}'
    before, documents = figure(asked), figure(scored)
    client.post("/v1/tag", json={"text": "Oranges are fruit."})
    assert figure(asked) == before + 1
    assert figure(scored) == documents + 1
    assert figure("process_resident_memory_bytes") > 10_000_000
    assert figure('labelwise_request_seconds_count{route="/v1/tag"}') >= 1
    text = client.get("/metrics").text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


def test_addresses_that_nobody_knows_are_one_route_in_the_figures(client: httpx.Client) -> None:
    for n in range(5):
        client.get(f"/no/such/{n}")
        client.request(f"ODD{n}", "/v1/tag")
    text = client.get("/metrics").text
    assert "/no/such" not in text
    assert "ODD" not in text
    assert 'route="unmatched",method="GET",status="404"' in text
