"""A worklist leaves as files that other programs read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from desk_cases import change, store_with

from labelwise.corpus.decisions import decided, read_decisions
from labelwise.corpus.readers import read
from labelwise.desk.exports import act_lines, export, log_lines
from labelwise.desk.store import Store

MARC = "{http://www.loc.gov/MARC21/slim}"


@pytest.fixture
def done(tmp_path: Path) -> Store:
    """A store with one act that is done and one that is open."""
    store = store_with(tmp_path / "desk.sqlite", ["32001R0012", "=act 7"])
    decided = [change("accept", "693", 1), change("reject", "20", 2), change("add", "161")]
    store.decide("32001R0012", [*decided, change("done")], version=0, who="ana")
    store.decide("=act 7", [change("accept", "693", 1)], version=0, who="ben")
    return store


def test_csv_has_a_line_for_each_decision_and_runs_nothing(done: Store) -> None:
    rows = list(csv.DictReader(io.StringIO("".join(export(done, "csv")))))
    assert [(row["concept"], row["decision"], row["rank"]) for row in rows] == [
        ("693", "accepted", "1"),
        ("20", "rejected", "2"),
        ("161", "added", ""),
    ]
    assert {row["act"] for row in rows} == {"32001R0012"}
    every = list(csv.DictReader(io.StringIO("".join(export(done, "csv", ("open",))))))
    assert [row["act"] for row in every] == ["'=act 7"]


def test_jsonl_has_an_act_a_line_with_its_address(done: Store) -> None:
    first, second = [json.loads(one) for one in export(done, "jsonl", ("done", "open"))]
    assert first["document"]["uri"] == "http://publications.europa.eu/resource/celex/32001R0012"
    assert [one["descriptor"] for one in first["concepts"]] == ["citrus fruit", "tariff quota"]
    assert [one["id"] for one in first["rejected"]] == ["20"]
    assert second["document"]["uri"].startswith("urn:uuid:")


def test_turtle_says_who_assigned_each_subject_and_which_model_suggested_it(done: Store) -> None:
    rdflib = pytest.importorskip("rdflib", reason="needs rdflib (extra thesaurus)")
    graph = rdflib.Graph().parse(data="".join(export(done, "ttl", ("done", "open"))), format="ttl")
    act = rdflib.URIRef("http://publications.europa.eu/resource/celex/32001R0012")
    prov = rdflib.Namespace("http://www.w3.org/ns/prov#")
    subjects = set(graph.objects(act, rdflib.DCTERMS.subject))
    assert {str(one).rpartition("/")[2] for one in subjects} == {"693", "161"}
    agents = {}
    for statement in graph.subjects(rdflib.RDF.subject, act):
        concept = str(graph.value(statement, rdflib.RDF.object)).rpartition("/")[2]
        by = graph.objects(statement, prov.wasAttributedTo)
        agents[concept] = {
            str(graph.value(one, rdflib.FOAF.name) or graph.value(one, rdflib.RDFS.label))
            for one in by
        }
    assert agents == {"693": {"ana", "svm"}, "161": {"ana"}}


def test_marc_has_a_field_650_a_concept_and_tells_what_a_model_suggested(done: Store) -> None:
    root = ElementTree.fromstring("".join(export(done, "marcxml")))
    (record,) = root.findall(f"{MARC}record")

    def fields(tag: str) -> list[dict[str, str]]:
        return [
            {"ind2": one.get("ind2", "")} | {x.get("code", ""): x.text or "" for x in one}
            for one in record.findall(f"{MARC}datafield[@tag='{tag}']")
        ]

    citrus, quota = fields("650")
    assert (citrus["a"], citrus["0"]) == ("citrus fruit", "http://eurovoc.europa.eu/693")
    assert (citrus["ind2"], citrus["2"]) == ("7", "eurovocen")
    assert "8" not in quota
    (linked,) = fields("883")
    assert (linked["8"], linked["a"], linked["c"]) == (citrus["8"], "labelwise svm", "0.9")


def test_the_log_has_what_learning_needs(done: Store) -> None:
    lines = list(log_lines(done))
    needed = {"act", "concept", "what", "who", "when", "model", "fingerprint", "score", "rank"}
    assert all(needed <= set(line) for line in lines)
    assert [line["what"] for line in lines] == ["accept", "reject", "add", "done", "accept"]
    done.decide("32001R0012", [change("reject", "693", 1)], version=0, who="ben", reading=2)
    assert list(log_lines(done)) == lines, "a second reader takes nothing back"
    assert [line["who"] for line in log_lines(done, reading=2)] == ["ben"]


def test_learning_reads_the_log_as_it_was_meant(done: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in log_lines(done)))
    found = decided(read_decisions(path))["32001R0012"]
    assert (found.chosen, found.refused, found.done) == ({"693", "161"}, {"20"}, True)


def test_done_acts_are_documents_with_the_chosen_concepts_as_gold(
    done: Store, tmp_path: Path
) -> None:
    path = tmp_path / "done.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in act_lines(done)))
    (document,) = read(path)
    assert (document.id, document.labels) == ("32001R0012", ("693", "161"))
    assert document.sections == done.act("32001R0012").document.sections
