"""What an ONNX file holds besides the network, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
import onnxruntime
import pytest
from export_cases import KINDS, act_of, encoder, network
from methods.network_cases import BY_SECTION, acts, label_space
from tokenizers import Tokenizer

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import GROUPS
from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.export import onnx_file
from labelwise.export.onnx_file import check_exportable, write_onnx
from labelwise.export.parity import onnx_inputs, open_onnx
from labelwise.methods import REGISTRY, get
from labelwise.methods.base_network import BaseNetworkMethod
from labelwise.methods.ensemble_lwan import EnsembleLwan
from labelwise.methods.exact_match import ExactMatch
from labelwise.text.pieces import Pieces
from labelwise.text.tokenizer import PATTERN, words

DOCS = (Path(__file__).parents[2] / "docs" / "export.md").read_text("utf-8")
TAG, SECTION_NUMBERS, TAG_WITH_PIECES = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)

WITHOUT_US = "import sys; sys.modules['torch'] = sys.modules['labelwise'] = None\n"
"""Importing either is an ImportError from here on."""


def described(path: Path) -> dict[str, str]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found: dict[str, str] = session.get_modelmeta().custom_metadata_map
    return found


# What is inside


@pytest.mark.parametrize("name", ["bigru-lwan", "han"])
def test_the_file_names_its_labels_and_words_and_limits(name: str, tmp_path: Path) -> None:
    method = network(name)
    path = tmp_path / "model.onnx"
    assert write_onnx(method, path) == path.stat().st_size
    about = described(path)
    assert about["method"] == name
    assert float(about["threshold"]) == method.threshold
    assert json.loads(about["labels"]) == [
        [label.id, label.descriptor] for label in method.label_space.labels
    ]
    assert json.loads(about["words"]) == list(method.vocabulary.words)
    text = "Directive 2001/95/EC, worth EUR 1,500.25: cafe\u0301 ΟΔΟΣ"
    assert [t.lower() for t in re.findall(about["token_pattern"], text)] == words(text)
    assert about["max_tokens"] == "12"
    assert ("section_tokens" in about) == ("max_sections" in about) == (name in BY_SECTION)


def test_inputs_and_output_have_the_names_and_free_sizes_of_the_docs(tmp_path: Path) -> None:
    for name in ("cnn-lwan", "max-hss"):
        path = tmp_path / f"{name}.onnx"
        write_onnx(network(name), path)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        rows = "sections" if name in BY_SECTION else "documents"
        counts = [("counts", ["documents"])] if name in BY_SECTION else []
        assert [(one.name, one.shape) for one in session.get_inputs()] == [
            ("tokens", [rows, "tokens"]),
            ("lengths", [rows]),
            *counts,
        ]
        assert {one.type for one in session.get_inputs()} == {"tensor(int64)"}
        assert [(one.name, one.shape) for one in session.get_outputs()] == [
            ("scores", ["documents", 5])
        ]


# The examples of the docs


def tagged(program: str, model: str, texts: Sequence[str], folder: Path) -> list[list[str]]:
    """What an example prints for three texts where neither torch nor labelwise can be imported."""
    files = [f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        (folder / file).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_US + program, model, *files],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_the_example_of_the_docs_tags_texts_without_torch_and_labelwise(tmp_path: Path) -> None:
    method = network("bigru-lwan")
    write_onnx(method, tmp_path / "lwan.onnx")
    texts = [
        "Article 1\n\nThe customs duty on ORANGES and lemons, 5a, is 1,500.25 EUR.",
        "Vessels may fish for cod. " * 9,
        " \u200b ",
    ]
    lines = tagged(TAG, "lwan.onnx", texts, tmp_path)
    documents = [Document(text, "", (Section("article", text),)) for text in texts]
    expected = method.scores(documents)
    labels = method.label_space.labels
    assert [line[0] for line in lines] == ["0.txt"] * 5 + ["1.txt"] * 5 + ["2.txt"] * 5
    for number, scores in enumerate(expected):
        own = lines[5 * number : 5 * number + 5]
        assert [line[2] for line in own] == [
            labels[column].id for column in np.argsort(-scores, kind="stable")
        ]
        for line in own:
            label = labels[method.label_space.index[line[2]]]
            assert line[3] == label.descriptor
            assert float(line[1]) == pytest.approx(
                scores[method.label_space.index[label.id]], abs=1e-5
            )


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_for_encoders_tags_texts_without_torch_and_labelwise(
    kind: str, tmp_path: Path
) -> None:
    method = encoder(kind)
    write_onnx(method, tmp_path / "encoder.onnx")
    texts = ["Wine, of GRAPEVINES.\n\n(2) The import of oranges", "vessel " * 90, " "]
    lines = tagged(TAG_WITH_PIECES, "encoder.onnx", texts, tmp_path)
    expected = method.scores([Document(text, "", (Section("article", text),)) for text in texts])
    assert [line[0] for line in lines] == ["0.txt"] * 5 + ["1.txt"] * 5 + ["2.txt"] * 5
    for path, score, id, descriptor in lines:
        column = method.label_space.index[id]
        assert descriptor == method.label_space.labels[column].descriptor
        assert float(score) == pytest.approx(expected[int(path[0]), column], abs=1e-5)


def test_a_tokenizer_that_cuts_or_fills_up_texts_no_longer_does_in_the_file() -> None:
    method = copy(encoder("bert"))
    cutting = json.loads(method.vocabulary.written)
    cutting["truncation"] = {"direction": "Right", "max_length": 4, "stride": 0}
    cutting["truncation"]["strategy"] = "LongestFirst"
    method.vocabulary = Pieces.of(cutting)
    tokenizer = Tokenizer.from_str(onnx_file.about(method)["tokenizer"])
    text = "the import of wine and citrus fruit"
    (numbers,) = method.vocabulary.numbers([text])
    assert tokenizer.encode(text, add_special_tokens=False).ids == numbers.tolist()
    assert len(numbers) == 7


def test_the_examples_are_short() -> None:
    for example in (TAG, TAG_WITH_PIECES):
        assert len([line for line in example.splitlines() if line.strip()]) <= 25


def test_the_example_blocks_what_it_says() -> None:
    for package in ("torch", "labelwise"):
        done = subprocess.run(
            [sys.executable, "-c", f"{WITHOUT_US}import {package}"],
            capture_output=True,
            check=False,
        )
        assert b"ModuleNotFoundError" in done.stderr


def test_the_example_for_sections_cuts_as_labelwise_does(tmp_path: Path) -> None:
    method = network("lw-han")
    write_onnx(method, tmp_path / "lw-han.onnx")
    about = described(tmp_path / "lw-han.onnx")
    names: dict[str, Any] = {
        "about": about,
        "rows": {word: row for row, word in enumerate(json.loads(about["words"]))},
        "pattern": re.compile(about["token_pattern"]),
    }
    exec(SECTION_NUMBERS, names)
    documents = [act_of(n, sections) for n in range(25) for sections in (1, 2, 3, 7)]
    documents += acts(5, seed=7)  # with an empty section among the others
    for document in documents:
        inputs = onnx_inputs(method, [document])
        read = names["section_numbers"]([section.text for section in document.sections])
        assert [len(row) for row in read] == inputs["lengths"].tolist()
        assert inputs["counts"].tolist() == [len(read)]
        for row, padded in zip(read, inputs["tokens"], strict=True):
            assert row == padded[: len(row)].tolist()


def test_the_rules_of_the_docs_are_those_of_the_tokenizer() -> None:
    # Python's re has no Unicode properties: they are looked up as categories.
    (rule,) = re.findall(r"^```\n(.*)\n```$", DOCS, re.MULTILINE)
    number, word, visible = rule.split("|")
    assert number == r"\p{Nd}+(?:[.,]\p{Nd}+)+"
    assert word == r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*"
    visible = re.compile(visible.replace(r"\p{Cc}", r"\x00-\x1f\x7f-\x9f"))
    for code in [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]:
        one, kind = chr(code), category(chr(code))
        inside = 1 if kind[0] in "LNM" else 3 if visible.match(one) else 2
        assert len(PATTERN.findall(f"a{one}b")) == inside, hex(code)
        alone = kind[0] in "LN" or visible.match(one) is not None
        assert bool(PATTERN.findall(one)) == alone, hex(code)
        if kind[0] in "LN":
            assert (PATTERN.match(f"{one},{one}").end() == 3) == (kind == "Nd"), hex(code)


# What is refused


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").mkdir()
    with pytest.raises(LabelwiseError, match=r"model.onnx cannot be written: Is a directory"):
        write_onnx(network("cnn-lwan"), tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_methods_that_are_no_single_network_say_which_can_be_exported(tmp_path: Path) -> None:
    train = acts(10)
    method = ExactMatch()
    method.fit(train, acts(4, seed=1), label_space(train))
    path = tmp_path / "no.onnx"
    with pytest.raises(LabelwiseError, match=r"exact-match cannot be exported to ONNX.*bigru-lwan"):
        write_onnx(method, path)
    with pytest.raises(LabelwiseError, match="ensemble-lwan cannot be exported"):
        write_onnx(EnsembleLwan(), path)
    assert not path.exists()


def test_every_single_network_of_the_registry_can_be_exported() -> None:
    from labelwise.export.networks import NETWORKS

    single = {
        name
        for name in REGISTRY
        if issubclass(get(name), BaseNetworkMethod) and not issubclass(get(name), EnsembleLwan)
    }
    assert set(NETWORKS) == single


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'labelwise\[onnx\]'"):
        check_exportable("cnn-lwan")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'labelwise\[onnx\]'"):
        open_onnx("model.onnx")


def test_a_model_too_large_for_one_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_file, "LARGEST", 1000)
    path = tmp_path / "large.onnx"
    with pytest.raises(LabelwiseError, match="an ONNX file holds 2: export it with --int8"):
        write_onnx(network("cnn-lwan"), path)
    with pytest.raises(LabelwiseError, match="too many labels or words"):
        write_onnx(network("cnn-lwan"), path, int8=True)
    assert not path.exists()


def test_a_word_that_is_not_there_is_an_error_of_the_runtime(tmp_path: Path) -> None:
    method = network("bigru-lwan")
    path = tmp_path / "lwan.onnx"
    write_onnx(method, path)
    beyond = np.full((1, 2), len(method.vocabulary), np.int64)
    with pytest.raises(Exception, match="out of data bounds"):
        open_onnx(path)({"tokens": beyond, "lengths": np.array([2])})


def test_a_calibrated_network_is_refused_for_its_curves_would_be_lost(tmp_path: Path) -> None:
    method = copy(network("cnn-lwan"))
    method.calibration = Calibration({group: Curve("as it is") for group in GROUPS})
    with pytest.raises(LabelwiseError, match="as it was before `labelwise calibrate --on`"):
        write_onnx(method, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
