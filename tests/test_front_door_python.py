"""`import labelwise`: what a person needs in Python, the same as on the command line."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelwise
from labelwise import model as front
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import CallError, LabelwiseError
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.svm import SVM
from labelwise.model import TagOptions

DOCS = Path(__file__).parent.parent / "docs/python.md"


@pytest.fixture(scope="module")
def model(synthetic: Dataset) -> labelwise.Model:
    method = SVM()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return labelwise.Model(method, thesaurus=synthetic.thesaurus)


@pytest.mark.skipif(not DOCS.is_file(), reason="the pages are not part of the package")
def test_the_examples_of_the_page_hold() -> None:
    assert doctest.testfile(str(DOCS), module_relative=False).failed == 0
    assert doctest.testmod(front).failed == 0


def test_importing_it_costs_nothing() -> None:
    code = "import sys, labelwise; print('numpy' in sys.modules, labelwise.load.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False load\n"
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = labelwise.lode
    assert all(getattr(labelwise, name) for name in labelwise.__all__)


@pytest.mark.parametrize("name", ["train", "evaluate", "join", "compare"])
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
    with pytest.raises(CallError, match="--prepared or --on is needed"):
        labelwise.evaluate(trained)


def test_a_text_a_document_a_file_and_a_list_are_tagged(
    model: labelwise.Model, synthetic: Dataset, tmp_path: Path
) -> None:
    act = synthetic.test[0]
    of_act = model.tag(act, top=4)
    assert isinstance(of_act, labelwise.Tagging)
    assert of_act.document is act
    assert [tag.rank for tag in of_act] == [1, 2, 3, 4]
    scores = model.scores(act)[0]
    columns = [model.labels.index[tag.id] for tag in of_act]
    assert columns == np.argsort(-scores, kind="stable")[:4].tolist()
    assert [tag.score for tag in of_act] == [float(scores[column]) for column in columns]

    file = tmp_path / "act.txt"
    file.write_text(act.text, "utf-8")
    [of_file] = model.tag(file, top=4)
    of_text = model.tag(file.read_text("utf-8"), top=4)
    assert [tag.id for tag in of_text] == [tag.id for tag in of_file]
    assert [one.document.id for one in model.tag([act, file, "steel"])] == [act.id, "act", "text"]
    assert model.scores([act, synthetic.test[1]]).shape == (2, len(model.labels))


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


def test_labels_are_added_where_words_are_known(model: labelwise.Model, synthetic: Dataset) -> None:
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    word = next(word for word in synthetic.test[0].text.split() if word.isalpha() and len(word) > 4)
    wider = labelwise.Model(exact).with_labels({"new": word})
    assert "new" in {tag.id for tag in wider.tag(synthetic.test[0], top=50, include=["new"])}
    assert "new" not in labelwise.Model(exact).labels.index
    with pytest.raises(LabelwiseError, match="svm cannot score a label"):
        model.with_labels({"new": word})


def test_python_and_the_command_line_say_the_same(
    labelwise_cli: Callable[..., Any], model: labelwise.Model, synthetic: Dataset, tmp_path: Path
) -> None:
    from labelwise import bundle

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


@pytest.fixture
def labelwise_cli() -> Callable[..., str]:
    def call(*words: object) -> str:
        command = [sys.executable, "-m", "labelwise", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return call
