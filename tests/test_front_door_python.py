"""`import labelwise`: what a person needs in Python, the same as on the command line."""

from __future__ import annotations

import doctest
import inspect
import io
import json
import re
import shutil
import subprocess
import sys
import typing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelwise
from labelwise import bundle
from labelwise import model as front
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.first_words import word_count
from labelwise.corpus.synthetic import make_dataset
from labelwise.corpus.thesaurus import Concept, Thesaurus, read_thesaurus
from labelwise.errors import CallError, LabelwiseError
from labelwise.methods.base import Evidence
from labelwise.methods.blend import Blend
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.lexical import Lexical, LexicalSettings
from labelwise.methods.spans import Span
from labelwise.methods.svm import SVM
from labelwise.model import Tag, TagOptions

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs/python.md"


@pytest.fixture(scope="module")
def model(synthetic: Dataset) -> labelwise.Model:
    method = SVM()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return labelwise.Model(method, thesaurus=synthetic.thesaurus)


@pytest.mark.skipif(not DOCS.is_file(), reason="the pages are not part of the package")
def test_the_examples_of_the_page_hold() -> None:
    assert doctest.testfile(str(DOCS), module_relative=False).failed == 0
    assert doctest.testmod(front).failed == 0


@pytest.mark.skipif(not DOCS.is_file(), reason="the pages are not part of the package")
def test_the_example_of_added_labels_in_the_readme_runs(
    synthetic: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    bundle.save(exact, tmp_path / "z.bundle", card={"name": "mine"})
    shutil.copy(synthetic.paths["test"], tmp_path / "acts.jsonl")
    monkeypatch.chdir(tmp_path)
    _, example = re.findall(r"```python\n(.+?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    done: dict[str, Any] = {}
    exec(example, done)
    assert done["scores"].shape == (len(synthetic.test), len(synthetic.label_space) + 1)
    assert [one.label for one in done["reasons"]] == ["7001"]
    wider = labelwise.load("wider.bundle")
    assert (wider.name, "7001" in wider.labels.index) == ("mine", True)


def test_importing_it_costs_nothing() -> None:
    code = "import sys, labelwise; print('numpy' in sys.modules, labelwise.load.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False load\n"
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = labelwise.lode
    assert all(getattr(labelwise, name) for name in labelwise.__all__)
    code = "import labelwise; print(set(labelwise.__all__) <= set(dir(labelwise)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("name", ["train", "evaluate", "join", "compare", "learn"])
def test_a_function_takes_the_options_of_the_command_of_its_name(name: str) -> None:
    from labelwise.cli import app

    options = set(inspect.signature(getattr(app, name)).parameters)
    taken = set(inspect.signature(getattr(labelwise, name)).parameters)
    assert taken - {"command"} == options - {"as_json", "help_settings"}


def test_the_options_of_tag_are_those_of_tags_and_typed() -> None:
    options = inspect.signature(labelwise.Model.tags).parameters
    named = {name: one.annotation for name, one in options.items() if one.kind == one.KEYWORD_ONLY}
    assert named == {
        name: kind.__forward_arg__ for name, kind in TagOptions.__annotations__.items()
    }
    for function in typing.get_overloads(labelwise.Model.tag):
        assert inspect.signature(function).parameters["options"].annotation == "Unpack[TagOptions]"


@pytest.mark.slow
def test_a_type_checker_refuses_an_option_that_there_is_not(tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text(
        "import labelwise\n"
        "model = labelwise.load()\n"
        "model.tag('an act', tpo=3)\n"
        "model.tag('an act', top='three')\n"
        "model.explain('an act', tpo=3)\n"
        "print(model.tag('an act', top=3, threshold='tuned').tags, model.tag(['an act'])[0].tags)\n"
    )
    asked = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    told = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
    assert told == {"3", "4", "5"}, done.stdout


def test_what_is_trained_and_measured_in_python_is_what_the_commands_write(
    labelwise_cli: Callable[..., Any], tmp_path: Path
) -> None:
    acts, bundle = tmp_path / "acts", tmp_path / "lexical.bundle"
    make_dataset(acts, train=60, dev=12, test=12)
    trained = labelwise.train("lexical", data=acts)
    assert not list(tmp_path.glob("*.bundle"))
    labelwise_cli("train", "lexical", "--data", acts, "--out", bundle)
    ran = labelwise_cli("evaluate", bundle, "--data", acts, "--results", tmp_path / "r", "--json")
    run = labelwise.evaluate(trained, data=acts)
    assert json.loads(json.dumps(run.to_json()["measures"])) == json.loads(ran)["measures"]
    assert run.threshold == json.loads(ran)["threshold"]
    [row] = labelwise.compare([tmp_path / "r"], rounds=10).methods
    assert row.figures["RP@5"].mean == run.value("test", "all", "RP@5")
    with pytest.raises(CallError, match="--prepared or --on is needed; in Python data, prep"):
        labelwise.evaluate(trained)


def test_one_stands_for_a_list_of_one_wherever_an_option_may_be_repeated(tmp_path: Path) -> None:
    acts, out, results = tmp_path / "acts", tmp_path / "exact.bundle", tmp_path / "r"
    make_dataset(acts, train=30, dev=6, test=6)
    more = Path(shutil.copy(acts / "dev.jsonl", tmp_path / "newer.jsonl"))
    labelwise.train("exact-match", data=acts, settings="whole_words=true", out=out)
    run = labelwise.evaluate(out, data=acts, split="test", results=results)
    assert run.splits == ["test"]
    for runs in (str(results), results, run):
        [row] = labelwise.compare(runs, measure="RP@5", rounds=10).methods
        assert list(row.figures) == ["RP@5"]
    with pytest.raises(LabelwiseError, match="blend is joined from two bundles or more, not from "):
        labelwise.join("blend", str(out), data=acts, out=tmp_path / "blend.bundle")
    for given in (str(more), more):
        assert "newer" in labelwise.train("exact-match", data=acts, more=given).card["data"]["name"]


def test_a_split_or_a_number_of_rounds_that_cannot_be_is_told(
    model: labelwise.Model, tmp_path: Path
) -> None:
    with pytest.raises(LabelwiseError, match="'tst' is not measured on; these are: dev, test"):
        labelwise.evaluate(model, data=tmp_path, split="tst")
    with pytest.raises(LabelwiseError, match="rounds is a whole number from 1 on, not -1"):
        labelwise.compare(tmp_path, rounds=-1)
    with pytest.raises(LabelwiseError, match="rounds is a whole number from 1 on, not '10'"):
        labelwise.compare(tmp_path, rounds="10")  # type: ignore[arg-type]
    with pytest.raises(LabelwiseError, match="by a file or folder, not by 3"):
        labelwise.compare([3])  # type: ignore[list-item]
    with pytest.raises(LabelwiseError, match="there are no runs to compare"):
        labelwise.compare([])


@pytest.mark.parametrize("words", [0, -5, 2.5, "9"])
def test_the_first_words_of_documents_are_a_number_of_them(
    model: labelwise.Model, tmp_path: Path, words: Any
) -> None:
    """Minus five were measured, in a folder of their own."""
    with pytest.raises(LabelwiseError, match="first_words is a whole number from 1 on, not"):
        labelwise.evaluate(model, on=tmp_path, first_words=words, results=tmp_path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"data": None}, "data is the folder of a data set, not None"),
        ({"hide": "0.5"}, "hide is a share of the labels or a number of them, not '0.5'"),
        ({"settings": 3}, "settings are a dict, or texts like 'C=2.0', one or a list of them"),
        ({"settings": [{"C": 2}]}, "settings are a dict, or texts like 'C=2.0'"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
    ],
)
def test_a_training_that_cannot_be_meant_is_told_before_it_begins(
    tmp_path: Path, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(LabelwiseError, match=re.escape(told)):
        labelwise.train("svm", **{"data": tmp_path, **options})


def test_a_model_says_where_labels_stand_in_the_thesaurus_that_it_was_trained_with(
    tmp_path: Path,
) -> None:
    make_dataset(tmp_path / "acts", train=80, dev=16, test=16)
    given = {"data": tmp_path / "acts", "thesaurus": tmp_path / "acts" / "thesaurus.ttl"}
    bundles = [tmp_path / "exact.bundle", tmp_path / "svm.bundle"]
    exact = labelwise.train("exact-match", out=bundles[0], **given)
    labelwise.train("svm", out=bundles[1], **given)
    both = labelwise.join("blend", bundles, out=tmp_path / "both.bundle", **given)
    known = read_thesaurus(given["thesaurus"])
    fishing = known.within("mt:106")
    for model in (exact, both, *map(labelwise.load, [*bundles, tmp_path / "both.bundle"])):
        tags = model.tag("On the fishery products of Italy.", top=5, include=["mt:106"])
        assert {tag.id for tag in tags} <= set(fishing)
        assert [tag.place for tag in tags] == [known.place_json(tag.id) for tag in tags]


def test_what_an_interpreter_shows_is_a_line(model: labelwise.Model, synthetic: Dataset) -> None:
    """Of a run it was 48,000 characters, of a tagging the whole act."""
    act = synthetic.test[0]
    found = model.tag(act, top=2, evidence=True)
    first, second = found
    said = f"{first.descriptor} {first.score:.3f}, {second.descriptor} {second.score:.3f}"
    assert repr(found) == f"<labels of {act.id}: {said}>"
    assert repr(model.tag("")) == "<labels of text: none>"
    run = labelwise.evaluate(model, data=synthetic.paths["train"].parent, split="test")
    rp5 = run.measures["test"]["all"]["RP@5"]
    assert repr(run) == f"<run of svm, seed 0, on {run.data.name}: test RP@5 {rp5:.3f}>"
    assert len(repr(labelwise.compare(run, rounds=1))) < 1_000


@pytest.mark.parametrize("what", [3, None, ["a"], ""])
def test_a_model_is_named_by_a_folder_or_a_name(what: Any) -> None:
    with pytest.raises(LabelwiseError, match="a model is named by its folder or by a name, not by"):
        labelwise.load(what)


def test_a_text_a_document_a_file_and_a_list_are_tagged(
    model: labelwise.Model, synthetic: Dataset, tmp_path: Path
) -> None:
    act = synthetic.test[0]
    of_act = model.tag(act, top=4)
    assert isinstance(of_act, labelwise.Tagging)
    assert of_act.document is act
    assert [tag.rank for tag in of_act] == [1, 2, 3, 4]
    assert (of_act[0], of_act[-1]) == (of_act.tags[0], of_act.tags[3])
    scores = model.scores(act)[0]
    columns = [model.labels.index[tag.id] for tag in of_act]
    assert columns == np.argsort(-scores, kind="stable")[:4].tolist()
    assert [tag.score for tag in of_act] == [float(scores[column]) for column in columns]

    file = tmp_path / "act.txt"
    file.write_text(act.text, "utf-8")
    [of_file] = model.tag(file, top=4)
    assert [tag.id for tag in model.explain(file, top=4)] == [tag.id for tag in of_file]
    of_text = model.tag(file.read_text("utf-8"), top=4)
    assert [tag.id for tag in of_text] == [tag.id for tag in of_file]
    assert [one.document.id for one in model.tag([act, file, "steel"])] == [act.id, "act", "text"]
    assert model.scores([act, synthetic.test[1]]).shape == (2, len(model.labels))


@pytest.mark.parametrize("what", [3, None, b"act.txt", ""])
def test_a_file_is_read_by_its_name_and_nothing_by_an_empty_one(what: Any) -> None:
    """A name that was to come from elsewhere and did not is not the folder that one stands in."""
    with pytest.raises(LabelwiseError, match="a file or a folder is named by a text or a Path"):
        labelwise.read(what)


@pytest.mark.parametrize("name", ["act.txt", "acts/act.txt", "acts/", "./acts"])
def test_the_name_of_a_file_is_not_taken_for_a_text(
    model: labelwise.Model, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acts").mkdir()
    for file in ("act.txt", "acts/act.txt"):
        (tmp_path / file).write_text("On imports of citrus fruit.", "utf-8")
    monkeypatch.chdir(tmp_path)
    kind = "file" if name.endswith("txt") else "folder"
    told = re.escape(f'"{name}" is the name of a {kind}: give Path("{name}") to read it, or its')
    calls: list[Callable[[], Any]] = [
        lambda: model.tag(name),
        lambda: model.tag(["a text", name]),
        lambda: model.explain(name),
        lambda: model.scores(name),
        lambda: model.scores([name]),
        lambda: model.evidence(name, model.labels.ids[:1]),
    ]
    for call in calls:
        with pytest.raises(LabelwiseError, match=told):
            call()
    assert len(model.tag(Path(name))) == 1
    [same] = model.tag([f"{name}\n"])  # a text in any case
    assert same.document.text == name


@pytest.mark.parametrize(
    "text",
    ["", ".", "acts", "no such file.txt", "oranges\0lemons", "x" * 900, "~/act.txt"],
)
def test_any_other_text_of_one_line_is_tagged(
    model: labelwise.Model, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acts").mkdir()
    monkeypatch.chdir(tmp_path)
    assert model.scores(text).shape == (1, len(model.labels))


def test_a_text_that_is_no_name_is_not_looked_for(
    model: labelwise.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(path: Path) -> bool:
        raise AssertionError(path)

    monkeypatch.setattr(Path, "is_file", looked)
    monkeypatch.setattr(Path, "is_dir", looked)
    for text in ("oranges " * 1000, "act.txt\n", "Oranges.\nLemons."):
        assert model.scores(text).shape == (1, len(model.labels))


def test_what_is_left_out_and_let_in(model: labelwise.Model, synthetic: Dataset) -> None:
    act = synthetic.test[0]
    first, second, *_ = [tag.id for tag in model.tag(act)]
    assert model.tag(act, exclude=[first]).tags[0].id == second
    assert [tag.id for tag in model.tag(act, include=[second])] == [second]
    assert all(tag.score > 0.9 for tag in model.tag(act, top=50, threshold=0.9))
    assert all(tag.assigned for tag in model.tag(act, top=50, threshold="tuned"))
    assert len(model.tag(act, top=50, threshold=1.0, best=2)) == 2
    assert len(model.tag("Nothing that it knows.", threshold="tuned")) == 1  # the best in any case
    with pytest.raises(LabelwiseError, match="steal is not a label of this model"):
        model.tag(act, include=["steal"])
    with pytest.raises(LabelwiseError, match="leave no label"):
        model.tag(act, include=[first], exclude=[first])
    with pytest.raises(LabelwiseError, match="two thresholds"):
        model.tag(act, threshold=0.5, certified=0.9)
    with pytest.raises(LabelwiseError, match="no precision is certified"):
        model.tag(act, certified=0.9)


def test_evidence_marks_words_of_the_document(model: labelwise.Model, synthetic: Dataset) -> None:
    act = synthetic.test[0]
    [tag] = model.tag(act, top=1, evidence=True)
    assert tag.evidence == model.evidence(act, [tag.id])[0]
    why = model.explain(act, [tag.id])
    assert [one.evidence for one in why] == [tag.evidence]
    words = tag.words(act)
    assert words
    assert all(word in act.text for word in words)
    for span in tag.to_json(act.text)["evidence"]["spans"]:
        assert span["text"] == act.text[span["start"] : span["end"]]
    assert model.tag(act).tags[0].words(act) == []


def test_words_whose_weight_is_written_as_nothing_are_not_written() -> None:
    spans = (Span(0, 6, 0.5), Span(7, 12, 4e-7), Span(13, 15, -4e-7), Span(16, 21, -6e-7))
    tag = Tag("693", "", "citrus fruit", 1, 0.9, True, "few")
    written = replace(tag, evidence=Evidence("693", "contribution", spans)).to_json("x" * 21)
    assert [one["weight"] for one in written["evidence"]["spans"]] == [0.5, -1e-6]


def test_a_model_says_where_it_or_a_part_of_it_stops_reading(
    model: labelwise.Model, synthetic: Dataset
) -> None:
    """The encoder of the model that ships reads the beginning of an act: nobody was told."""
    act = Document("1", "", (Section("header", "On lemons and limes"), Section("article", "x y")))
    words = word_count(act)
    assert model.unread(words) is None
    lexical = Lexical()
    lexical.fit(synthetic.train[:60], synthetic.dev[:20], synthetic.label_space)
    lexical.settings = LexicalSettings(first_words=3)
    alone = labelwise.Model(lexical)
    assert alone.unread(words) == "the document has 6 words, of which lexical reads 3 at most"
    assert alone.unread(3) is None
    both = labelwise.Model(Blend.from_methods([model.method, lexical], synthetic.dev[:20]))
    assert both.unread(words) == (
        "the document has 6 words, of which parts of blend read the beginning alone: lexical 3 at "
        "most"
    )


def test_labels_are_added_where_words_are_known(model: labelwise.Model, synthetic: Dataset) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    word = next(word for word in synthetic.test[0].text.split() if word.isalpha() and len(word) > 4)
    wider = labelwise.Model(exact).with_labels({"new": word})
    assert "new" in {tag.id for tag in wider.tag(synthetic.test[0], top=50, include=["new"])}
    assert "new" not in labelwise.Model(exact).labels.index
    with pytest.raises(LabelwiseError, match=r"svm cannot score a label .* can: .*exact-match"):
        model.with_labels({"new": word})


def test_names_in_another_language_stay_where_labels_are_added(synthetic: Dataset) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    act, (first, second) = synthetic.test[0], synthetic.label_space.labels[:2]
    given = Thesaurus.of(
        [
            Concept(first.id, "", first.descriptor, translations=(("fr", ("agrumes",)),)),
            Concept(second.id, "", "its name of today", broader=(first.id,)),
        ]
    )
    model = labelwise.Model(exact, name="mine", card={"name": "mine"})
    wider = model.in_language("fr", given).with_labels({"new": "bicycle"})
    tags = {tag.id: tag for tag in wider.tag(act, include=[first.id, second.id, "new"])}
    assert tags[first.id].descriptor == "agrumes"
    assert tags["new"].descriptor == "bicycle"
    assert tags[second.id].descriptor == second.descriptor  # without a French name it keeps its own
    assert tags[second.id].place_words == "agrumes › its name of today"
    assert (wider.name, wider.card) == (model.name, model.card)
    [again] = wider.in_language("fr", given).tag(act, include=["new"])
    assert again.id == "new"
    back = wider.in_language("en", given)  # its own, as the service has it
    assert back.tag(act, include=[first.id])[0].descriptor == first.descriptor
    for language, there in (("de", "en, fr"), ("", "en, fr")):
        with pytest.raises(
            LabelwiseError, match=f"no names of labels in '{language}', but in {there}"
        ):
            model.in_language(language, given)
    with pytest.raises(LabelwiseError, match="in 'fr', but in en: give a thesaurus that has them"):
        model.in_language("fr")
    assert model.tag(act, include=[first.id]).tags[0].descriptor == first.descriptor


def test_python_and_the_command_line_say_the_same(
    labelwise_cli: Callable[..., Any], model: labelwise.Model, synthetic: Dataset, tmp_path: Path
) -> None:
    folder = tmp_path / "svm.bundle"
    bundle.save(model.method, folder)
    act = tmp_path / "act.txt"
    act.write_text(synthetic.test[2].text, "utf-8")
    printed = json.loads(labelwise_cli("tag", act, "--bundle", folder, "--evidence", "--json"))
    [found] = labelwise.load(folder).tag(act, evidence=True)
    assert printed == [json.loads(json.dumps(found.to_json()))]


def test_documents_before_one_that_cannot_be_read_are_tagged(
    model: labelwise.Model, synthetic: Dataset
) -> None:
    def some() -> Any:
        yield from synthetic.test[:3]
        raise LabelwiseError("the fourth is damaged")

    found = model.tags(some())
    assert [next(found).document for _ in range(3)] == list(synthetic.test[:3])
    with pytest.raises(LabelwiseError, match="the fourth is damaged"):
        next(found)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"top": 0}, "top is a whole number from 1 on, not 0"),
        ({"top": 2.5}, "top is a whole number from 1 on, not 2.5"),
        ({"top": "3"}, "top is a whole number from 1 on, not '3'"),
        ({"threshold": "tunned"}, "threshold is a number or the word 'tuned', not 'tunned'"),
        ({"threshold": float("nan")}, "threshold is a number or the word 'tuned', not 'nan'"),
        ({"threshold": [0.5]}, "threshold is a number or the word 'tuned', not '[0.5]'"),
        ({"precision": 2}, "precision is a share, 0.8 say, not 2"),
        ({"precision": "0.8"}, "precision is a share, 0.8 say, not '0.8'"),
        ({"certified": "0.9"}, "certified is a share, 0.8 say, not '0.9'"),
        ({"precision": float("nan")}, "precision is a share, 0.8 say, not nan"),
        ({"best": -1}, "best is a whole number from 0 on, not -1"),
        (
            {"best": 3},
            front.ALONE,
        ),
        ({"top": True}, "top is a whole number from 1 on, not True"),
        ({"threshold": True}, "threshold is a number or the word 'tuned', not 'True'"),
        ({"precision": True}, "precision is a share, 0.8 say, not True"),
        ({"best": 9, "threshold": 0.9}, "best is 9, and top, the most there may be, 5"),
        ({"include": "693"}, "ids are given in a list, ['693'], not as '693'"),
        ({"exclude": "693"}, "ids are given in a list, ['693'], not as '693'"),
        ({"include": [693]}, "an id is a text, '693', not 693"),
        ({"exclude": 693}, "ids are given in a list, ['693'], not as '693'"),
        ({"include": [""]}, "an empty word is not a label of this model"),
    ],
)
def test_an_option_that_cannot_be_meant_is_an_error_and_no_empty_or_other_answer(
    model: labelwise.Model, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(LabelwiseError, match=f"^{re.escape(told)}$"):
        model.tag("On imports of citrus fruit.", **options)


@pytest.mark.parametrize("kind", [list, tuple, set, iter, np.array, lambda ids: (id for id in ids)])
def test_ids_may_come_in_whatever_can_be_read_once(
    model: labelwise.Model, kind: Callable[..., Any]
) -> None:
    text = "On imports of citrus fruit."
    first, second = (tag.id for tag in model.tag(text, top=2))
    assert [tag.id for tag in model.tag(text, include=kind([first, second]))] == [first, second]
    assert first not in {tag.id for tag in model.tag(text, exclude=kind([first]))}
    assert {tag.id for tag in model.explain(text, kind([first, second]))} == {first, second}


def test_all_labels_of_a_part_of_the_thesaurus_are_explained(model: labelwise.Model) -> None:
    assert model.thesaurus is not None
    broader = next(one.broader for one in model.thesaurus.concepts.values() if one.broader)
    part = f"under:{broader[0]}"
    ids, _ = model.meant([part])
    assert len(ids) > 1
    why = model.explain("On imports of citrus fruit.", [part], top=1)
    assert {tag.id for tag in why} == set(ids)


@pytest.mark.parametrize(
    "what",
    [None, 5, b"an act", {"text": "an act"}, ["an act", 5], io.StringIO("an act"), io.BytesIO()],
)
def test_what_is_no_document_is_an_error_that_says_what_is_one(
    model: labelwise.Model, what: Any
) -> None:
    calls: list[Callable[..., Any]] = [model.tag, model.scores, model.explain]
    for call in calls:
        with pytest.raises(LabelwiseError, match=r"a text, a Path, a Document or a list of these"):
            call(what)


def test_half_a_character_is_told_before_an_encoder_stumbles_over_it() -> None:
    """As it is in a file: what `errors="surrogateescape"` and JSON's \\ud800 leave in a text."""
    model = labelwise.load()
    calls: list[Callable[..., Any]] = [model.tag, model.scores, model.explain]
    for call in calls:
        with pytest.raises(LabelwiseError, match="half a character"):
            call("On imports of citrus \ud800 fruit.")


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (Section(typing.cast(Any, "main_body"), "Figs."), "article, attachments, not 'main_body'"),
        ("Figs.", "article, attachments, not 'str'"),
        (Section("article", "Figs \ud800."), "half a character"),
    ],
)
def test_a_document_that_no_reader_would_give_is_told(
    model: labelwise.Model, section: Any, told: str
) -> None:
    act = Document("mine", "On figs", (section,))
    calls: list[Callable[..., Any]] = [model.tag, model.scores, model.explain]
    for call in [*calls, lambda one: list(model.tags([one]))]:
        with pytest.raises(LabelwiseError, match=f"^document mine: .*{told}"):
            call(act)


def test_texts_in_place_of_documents_and_several_in_place_of_one_are_told(
    model: labelwise.Model,
) -> None:
    act: Any = ["imports of citrus fruit", "exports of steel"]
    for given in (act, Path("acts.jsonl"), Document("1", "", ()), None):
        with pytest.raises(LabelwiseError, match=r"documents were expected, .*; `tag` takes"):
            list(model.tags(typing.cast(Any, given)))
    with pytest.raises(LabelwiseError, match="one document was expected, and there are 2"):
        model.explain(act)
    with pytest.raises(LabelwiseError, match="ids are given in a list"):
        model.explain(act[0], "693")
    with pytest.raises(LabelwiseError, match="ids are given in a list"):
        model.evidence(act[0], "693")


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "... — (!)"])
def test_a_text_without_a_word_has_no_labels_and_those_asked_for_have_scores(
    model: labelwise.Model, text: str
) -> None:
    assert model.tag(text, evidence=True).tags == []
    assert model.explain(text).tags == []
    some = model.labels.ids[:2]
    assert {tag.id for tag in model.explain(text, some)} == set(some)


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ({"7001": " "}, "a label has an id and a descriptor, two texts, not '7001' and ' '"),
        ({"": "bicycle"}, "a label has an id and a descriptor, two texts, not '' and 'bicycle'"),
        ({7001: "bike"}, "a label has an id and a descriptor, two texts, not 7001 and 'bike'"),
        ({"7001": None}, "a label has an id and a descriptor, two texts, not '7001' and None"),
        (["7001"], "labels are given by id, {'7001': 'electric bicycle'}, not as ['7001']"),
        ("7001", "labels are given by id, {'7001': 'electric bicycle'}, not as '7001'"),
    ],
)
def test_a_label_without_an_id_or_a_name_is_not_added(
    synthetic: Dataset, extra: Any, told: str
) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    with pytest.raises(LabelwiseError, match=f"^{re.escape(told)}$"):
        labelwise.Model(exact).with_labels(extra)


def test_the_file_of_a_thesaurus_is_not_taken_for_the_thesaurus(synthetic: Dataset) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    model, file = labelwise.Model(exact), typing.cast(Any, "eurovoc.ttl.xz")
    for call in (
        lambda: model.with_labels({"7001": "electric bicycle"}, file),
        lambda: model.in_language("fr", file),
    ):
        with pytest.raises(LabelwiseError, match=r"read_thesaurus gives it, not 'eurovoc\.ttl"):
            call()


@pytest.fixture
def labelwise_cli() -> Callable[..., str]:
    def call(*words: object) -> str:
        command = [sys.executable, "-m", "labelwise", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return call
