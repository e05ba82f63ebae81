"""The thesaurus: its files, its hierarchy, its search."""

from __future__ import annotations

import gzip
import json
import lzma
import sys
import time
from pathlib import Path

import pytest

from labelwise.corpus.thesaurus import Concept, Thesaurus, read_thesaurus
from labelwise.errors import InputError, LabelwiseError, MissingExtraError

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ev: <http://eurovoc.europa.eu/> .
ev:900 a skos:Concept ; skos:prefLabel "90 FOOD"@en ; skos:prefLabel "90 ALIMENTS"@fr ;
    dct:type "domain" .
ev:910 a skos:ConceptScheme ; skos:prefLabel "Whole thesaurus"@en ; skos:hasTopConcept ev:1 .
ev:911 a skos:ConceptScheme ; skos:prefLabel "9011 garden produce"@en ; dct:subject ev:900 ;
    skos:hasTopConcept ev:1 .
ev:1 a skos:Concept ; skos:prefLabel "fruit"@en ; skos:prefLabel "fruit"@fr ;
    skos:inScheme ev:910 ; skos:inScheme ev:911 ; skos:narrower ev:2 .
ev:2 a skos:Concept ; skos:prefLabel "citrus fruit"@en ; skos:prefLabel "agrume"@fr ;
    skos:altLabel "orange"@en ; skos:altLabel "lemon"@en-GB ; skos:altLabel "clémentine"@fr ;
    skos:inScheme ev:911 ; skos:related ev:3 .
ev:3 a skos:Concept ; skos:prefLabel "fruit juice"@en ; skos:inScheme ev:911 ;
    skos:broader ev:1 ; skos:broader ev:77 .
"""

RDF_XML = """<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#"
  xmlns:xl="http://www.w3.org/2008/05/skos-xl#"
  xmlns:eu="http://eurovoc.europa.eu/schema#">
  <eu:Domain rdf:about="http://eurovoc.europa.eu/900">
    <rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
    <rdfs:label xml:lang="en">90 FOOD</rdfs:label>
  </eu:Domain>
  <eu:MicroThesaurus rdf:about="http://eurovoc.europa.eu/911">
    <skos:prefLabel xml:lang="en">9011 garden produce</skos:prefLabel>
    <eu:domain rdf:resource="http://eurovoc.europa.eu/900"/>
  </eu:MicroThesaurus>
  <skos:Concept rdf:about="http://eurovoc.europa.eu/1">
    <xl:prefLabel>
      <xl:Label rdf:about="http://eurovoc.europa.eu/t1">
        <xl:literalForm xml:lang="en">fruit</xl:literalForm>
      </xl:Label>
    </xl:prefLabel>
    <skos:topConceptOf rdf:resource="http://eurovoc.europa.eu/911"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://eurovoc.europa.eu/2">
    <skos:prefLabel xml:lang="en">citrus fruit</skos:prefLabel>
    <skos:broader rdf:resource="http://eurovoc.europa.eu/1"/>
    <skos:inScheme rdf:resource="http://eurovoc.europa.eu/911"/>
  </skos:Concept>
</rdf:RDF>"""


@pytest.fixture
def turtle(tmp_path: Path) -> Path:
    path = tmp_path / "garden.ttl"
    path.write_text(TURTLE)
    return path


def test_turtle_gives_concepts_microthesauri_and_domains_apart(turtle: Path) -> None:
    thesaurus = read_thesaurus(turtle)
    assert thesaurus.descriptors == {"1": "fruit", "2": "citrus fruit", "3": "fruit juice"}
    assert thesaurus.microthesauri == {"911": "9011 garden produce"}
    assert thesaurus.domains == {"900": "90 FOOD"}
    citrus = thesaurus["2"]
    assert citrus.uri == "http://eurovoc.europa.eu/2"
    assert citrus.alt_labels == ("lemon", "orange")
    assert (citrus.microthesauri, citrus.domains) == (("911",), ("900",))


def test_addresses_that_are_none_are_not_repeated_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = TURTLE + "<http://eurovoc.europa.eu/a b {c}> skos:broader ev:1 .\n"
    (tmp_path / "thesaurus.ttl").write_text(broken, "utf-8")
    read_thesaurus(tmp_path / "thesaurus.ttl")
    assert capfd.readouterr() == ("", "")


def test_links_are_complete_in_both_directions_and_those_astray_are_noted(turtle: Path) -> None:
    thesaurus = read_thesaurus(turtle)
    assert thesaurus["1"].narrower == ("2", "3")
    assert thesaurus["2"].broader == ("1",)
    assert thesaurus["3"].related == ("2",)
    assert thesaurus.notes == ("1 links lead to concepts that are not in the thesaurus",)


def test_another_language_names_what_it_can_and_says_what_it_cannot(turtle: Path) -> None:
    thesaurus = read_thesaurus(turtle, language="fr")
    assert thesaurus.descriptors == {"1": "fruit", "2": "agrume", "3": "fruit juice"}
    assert thesaurus["2"].alt_labels == ("clémentine",)
    assert thesaurus.domains == {"900": "90 ALIMENTS"}
    assert thesaurus.notes[0].startswith("1 of 3 concepts have no label in 'fr'")
    with pytest.raises(InputError, match="no concept has a label in 'de'; choose among en, fr"):
        read_thesaurus(turtle, language="de")


def test_rdf_xml_with_the_schema_of_eurovoc_and_skos_xl(tmp_path: Path) -> None:
    path = tmp_path / "eurovoc.rdf.gz"
    path.write_bytes(gzip.compress(RDF_XML.encode()))
    thesaurus = read_thesaurus(path)
    assert thesaurus.place("2") == "90 FOOD › 9011 garden produce › fruit › citrus fruit"
    assert len(thesaurus) == 2


def test_concepts_outside_eurovoc_keep_their_uri_as_id(tmp_path: Path) -> None:
    path = tmp_path / "yso.ttl"
    path.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        '<http://example.org/p1> a skos:Concept ; skos:prefLabel "archives" .'
    )
    assert read_thesaurus(path, language="fi").descriptors == {"http://example.org/p1": "archives"}


def test_the_chain_goes_up_nearest_first_and_survives_a_cycle() -> None:
    thesaurus = Thesaurus.of(
        [
            Concept("1", "", "food"),
            Concept("2", "", "fruit", broader=("1",)),
            Concept("3", "", "citrus fruit", broader=("2",)),
            Concept("4", "", "hen", broader=("5",)),
            Concept("5", "", "egg", broader=("4",)),
        ]
    )
    assert [concept.label for concept in thesaurus.broader_chain("3")] == ["fruit", "food"]
    assert thesaurus.broader_chain("1") == ()
    assert [concept.label for concept in thesaurus.broader_chain("4")] == ["egg"]
    assert thesaurus.place("3") == "food › fruit › citrus fruit"
    with pytest.raises(LabelwiseError, match="99 is not a concept"):
        thesaurus.broader_chain("99")


def test_search_ignores_case_and_accents_and_looks_at_every_word() -> None:
    thesaurus = Thesaurus.of(
        [
            Concept("1", "", "Économie verte"),
            Concept("2", "", "politique économique"),
            Concept("3", "", "développement durable", ("économie durable",)),
            Concept("4", "", "économie"),
            Concept("5", "", "statistiques (méthode économétrique)"),
        ]
    )

    def found(prefix: str, limit: int = 10) -> list[str]:
        return [match.concept.id for match in thesaurus.search(prefix, limit)]

    assert found("ECONO") == ["4", "1", "3", "2", "5"]
    assert found("économie v") == ["1"]
    assert found("econo", limit=2) == ["4", "1"]
    assert found("conomie") == []
    assert found("  ") == []


CITRUS = Thesaurus.of(
    [
        Concept("1", "", "fruit", microthesauri=("m",), domains=("d",)),
        Concept(
            *("693", "", "citrus fruit", ("lemon", "orange")),
            broader=("1",),
            translations=(("fr", ("agrume", "citron")),),
            notes=("Fruit of the genus Citrus.",),
        ),
        Concept("6006", "", "import of fruit"),
    ],
    {"m": "6006 plant product"},
    {"d": "60 AGRI-FOODSTUFFS"},
    group_translations={"fr": {"m": "6006 produit végétal"}},
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("693", [("693", "citrus fruit")]),  # by its id
        ("fruit citrus", [("693", "citrus fruit")]),  # in any order
        ("Lemo", [("693", "lemon")]),  # by another name, which is told
        ("AGRUM", [("693", "agrume")]),  # in another language
        ("citron fruit", []),  # one name has to have all the words
    ],
)
def test_a_concept_is_found_by_id_and_by_words_of_any_of_its_names(
    words: str, found: list[tuple[str, str]]
) -> None:
    assert [(one.concept.id, one.name) for one in CITRUS.search(words)] == found


def test_in_another_language_names_are_translated_and_the_rest_stays() -> None:
    french = CITRUS.in_language("fr")
    assert CITRUS.in_language("fr") is french  # thousands of concepts are named once
    assert CITRUS.languages == ("fr",)
    assert french.place("693") == "fruit › agrume"
    assert french.place("1") == "60 AGRI-FOODSTUFFS › 6006 produit végétal › fruit"
    assert french["693"].alt_labels == ("citron",)
    assert Thesaurus.from_json(json.loads(json.dumps(CITRUS.to_json()))) == CITRUS


def test_parts_of_a_thesaurus_are_named_by_number_and_id() -> None:
    assert CITRUS.within("mt:6006") == CITRUS.within("mt:m") == CITRUS.within("domain:60") == ("1",)
    assert CITRUS.within("under:1") == ("1", "693")
    for wrong in ("mt:60", "domain:", "under:77", "693", "branch:1"):
        with pytest.raises(LabelwiseError, match="is no part of the thesaurus"):
            CITRUS.within(wrong)


def test_descriptor_json_in_its_shapes(tmp_path: Path) -> None:
    concepts = {
        "1": {"concept_id": "1", "label": "fruit", "alt_labels": [], "parents": []},
        "2": {
            "concept_id": "2",
            "label": "citrus fruit",
            "alt_labels": ["lemon"],
            "parents": ["1"],
        },
    }
    by_id = tmp_path / "EURLEX57K.json.xz"
    by_id.write_bytes(lzma.compress(json.dumps(concepts).encode()))
    lines = tmp_path / "eurovoc_concepts.jsonl"
    lines.write_text('{"id": "1", "title": "fruit"}\n{"id": "2", "title": "citrus fruit"}\n')
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps(list(concepts.values()), indent=1))
    names = tmp_path / "names.json"
    names.write_text(json.dumps({"1": "fruit", "2": {"en": "citrus fruit", "fr": "agrume"}}))
    one = tmp_path / "one.jsonl"
    one.write_text('{"id": "1", "title": "fruit"}')
    for path in (by_id, lines, listed, names):
        assert read_thesaurus(path).descriptors == {"1": "fruit", "2": "citrus fruit"}, path
    assert read_thesaurus(names)["2"].translations == (("fr", ("agrume",)),)
    assert read_thesaurus(by_id).place("2") == "fruit › citrus fruit"
    assert read_thesaurus(by_id)["2"].alt_labels == ("lemon",)
    assert read_thesaurus(one).descriptors == {"1": "fruit"}


def test_tables_of_descriptors(tmp_path: Path) -> None:
    csv = tmp_path / "descriptors.csv"
    csv.write_text('id,label,alt_labels,broader\n1,fruit,,\n2,"citrus, fresh",lemon|lime,1\n')
    thesaurus = read_thesaurus(csv)
    assert thesaurus["2"] == Concept("2", "", "citrus, fresh", ("lemon", "lime"), ("1",))
    assert thesaurus["1"].narrower == ("2",)
    annif_csv = tmp_path / "annif.csv"
    annif_csv.write_text("uri,label_en,label_fi\nhttp://eurovoc.europa.eu/1,fruit,hedelmä\n")
    assert read_thesaurus(annif_csv, "fi").descriptors == {"1": "hedelmä"}
    annif_tsv = tmp_path / "annif.tsv"
    annif_tsv.write_text("<http://eurovoc.europa.eu/1>\tfruit\n<http://example.org/2>\tlime\n")
    assert read_thesaurus(annif_tsv).descriptors == {"1": "fruit", "http://example.org/2": "lime"}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.json", b'{"1": {"alt_labels": []}}', "concept 1, field 'label': missing key"),
        ("t.json", b'{"1": {"label": 5}}', "concept 1, field 'label': wrong type"),
        ("t.json", b'{"1": ["fruit"]}', "a concept is an object, this is a list"),
        ("t.json", b'{"1": {"label": "fruit", "parents": 5}}', "field 'parents': wrong type"),
        ("t.json", b'{"1": ', "line 1: broken JSON"),
        ("t.json", b"{}", "there is no concept in it"),
        ("t.jsonl", b'{"id": "1", "title": "fruit"}\n{"title": "x"}', "line 2, field 'id'"),
        (
            "t.jsonl",
            b'{"id": "1", "title": "a"}\n{"id": "1", "title": "b"}',
            "'1' stands there twi",
        ),
        ("t.csv", b"code,name\n1,fruit\n", "must name 'id' and 'label'; it names code, name"),
        ("t.csv", b"id,label\n1,\n", "line 2, field 'label'"),
        ("t.csv", b"id,label\n1,caf\xe9\n", "line 2: wrong encoding: byte 6 of the line is 0xE9"),
        ("t.csv", b'id,label\n1,"fruit\n2,fig\n', "line 3: broken CSV"),
        ("t.ttl", b"<a> <b> ", "broken Turtle"),
        ("t.ttl", b"@prefix a: <b:> .\n", "there are no SKOS concepts in it"),
        ("t.rdf", b"<?xml version='1.0'?>\n<rdf:RDF>", "broken RDF/XML"),
        ("t.ttl.xz", lzma.compress(TURTLE.encode())[:-30], "truncated archive"),
        ("t.ttl", b"", "empty file"),
    ],
)
def test_bad_files_say_what_is_wrong(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        read_thesaurus(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such thesaurus file"):
        read_thesaurus(tmp_path / "missing.ttl")


def test_without_rdflib_the_extra_is_named(turtle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'labelwise\[thesaurus\]'"):
        read_thesaurus(turtle)


@pytest.mark.real
@pytest.mark.slow
def test_eurovoc_has_its_known_size_and_is_searched_in_no_time(real_data: Path) -> None:
    thesaurus = read_thesaurus(real_data / "eurovoc" / "eurovoc-2021-en-fr.ttl.xz")
    sizes = (len(thesaurus), len(thesaurus.microthesauri), len(thesaurus.domains))
    assert sizes == (7317, 127, 21)
    assert thesaurus.notes == ()
    assert all(concept.microthesauri for concept in thesaurus.concepts.values())
    assert [concept.label for concept in thesaurus.broader_chain("693")] == ["fruit"]
    thesaurus.search("a")
    took = []
    for _ in range(5):  # the quickest: other tests run on the same cores
        start = time.process_time()
        found = [match.concept.id for match in thesaurus.search("CITRUS F")]
        took.append(time.process_time() - start)
    assert min(took) < 0.05
    assert found[0] == "693"


@pytest.mark.real
def test_the_descriptors_of_eurlex57k_are_all_there(real_data: Path) -> None:
    thesaurus = read_thesaurus(real_data / "eurlex57k" / "EURLEX57K.json.xz")
    assert len(thesaurus) == 7201
    assert thesaurus.descriptors["1309"] == "import"


EUROVOC_LIST = [
    {"id": "1", "label": "trade", "broader_ids": [], "related_ids": ["2"], "alt_labels": []},
    {"id": "2", "label": "import", "broader_ids": ["1"], "alt_labels": ["imports"]},
    {"id": "3", "label": "EC import", "replaced_by_ids": ["4"], "broader_ids": ["1"]},
    {"id": "4", "label": "EU import", "replaced_by_ids": ["2", "404"], "broader_ids": ["3"]},
    {"id": "5", "label": "quota", "broader_ids": ["4"], "replaced_by_ids": ["404"]},
    {"id": "6", "label": "round", "replaced_by_ids": ["7"]},
    {"id": "7", "label": "about", "replaced_by_ids": ["6"]},
    {"id": "100147", "label": "20 TRADE", "geo_area_code": None},
]


def test_eurovoc_s_own_list_is_read_with_links_and_successors(tmp_path: Path) -> None:
    file = tmp_path / "eurovoc.json"
    file.write_text(json.dumps(EUROVOC_LIST))
    thesaurus = read_thesaurus(file)
    assert thesaurus.successors == {"3": ("2",), "4": ("2",)}
    assert list(thesaurus.concepts) == ["1", "100147", "2", "5", "6", "7"]
    assert thesaurus["2"].related == ("1",)
    assert thesaurus["2"].broader == ("1",)
    assert thesaurus["5"].broader == ("2",)  # its broader concept was replaced twice over
    assert thesaurus.today("3") == ("2",)
    assert thesaurus.today("5") == ("5",)  # its successor is unknown here: it stays
    assert thesaurus.assignable == ("1", "2", "5", "6", "7")
    assert [match.concept.id for match in thesaurus.search("import")] == ["2"]


def test_a_bundle_s_thesaurus_remembers_what_its_labels_took_the_place_of(tmp_path: Path) -> None:
    file = tmp_path / "eurovoc.json"
    file.write_text(json.dumps(EUROVOC_LIST))
    around = read_thesaurus(file).around(["2"])
    again = Thesaurus.from_json(json.loads(json.dumps(around.to_json())))
    assert again == around
    assert again.today("3") == ("2",)
    assert read_thesaurus(file).around(["1"]).successors == {}
