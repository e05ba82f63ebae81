"""``labelwise export``: a file where it is asked for, and a sentence where it cannot be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from methods.network_cases import fitted

from labelwise import bundle as bundles
from labelwise.export import parity
from labelwise.export.parity import largest_difference


@pytest.fixture(scope="module")
def lwan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks") / "lwan.bundle"
    bundles.save(fitted("bigru-lwan"), folder)
    return folder


def test_a_bundle_becomes_one_file_and_the_difference_is_shown(
    labelwise: Callable, lwan: Path, tmp_path: Path
) -> None:
    out = tmp_path / "lwan.onnx"
    called = labelwise("export", lwan, "--onnx", out)
    assert called.code == 0, called.err
    assert "bigru-lwan" in called.out
    assert "largest difference" in called.out
    assert [path.name for path in tmp_path.iterdir()] == ["lwan.onnx"]
    assert largest_difference(bundles.load(lwan), out) < 1e-5

    small = labelwise("export", lwan, "--onnx", tmp_path / "small.onnx", "--int8", "--json").json
    assert small["method"] == "bigru-lwan"
    assert small["int8"] is True
    assert small["bytes"] == (tmp_path / "small.onnx").stat().st_size
    assert 1e-6 < small["largest_difference"] < 0.01
    assert (small["labels"], small["words"]) == (5, len(fitted("bigru-lwan").vocabulary))


def test_a_file_that_scores_otherwise_is_not_kept(
    labelwise: Callable, lwan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "lwan.onnx"
    monkeypatch.setattr(parity, "largest_difference", lambda method, path: 0.4)
    called = labelwise("export", lwan, "--onnx", out)
    assert called.code == 1
    assert "would score otherwise than" in called.err
    assert not out.exists()
    assert labelwise("export", lwan, "--onnx", out, "--int8").code == 0  # as its figures say


def test_without_a_format_it_says_what_there_is(labelwise: Callable, lwan: Path) -> None:
    called = labelwise("export", lwan)
    assert called.code == 1
    assert "choose a format: --onnx FILE.onnx writes an ONNX model" in called.err


def test_a_file_is_replaced_only_when_told(labelwise: Callable, lwan: Path, tmp_path: Path) -> None:
    out = tmp_path / "notes.onnx"
    out.write_text("mine", "utf-8")
    called = labelwise("export", lwan, "--onnx", out)
    assert called.code == 1
    assert f"{out} exists already" in called.err
    assert out.read_text("utf-8") == "mine"
    assert labelwise("export", lwan, "--onnx", out, "--force").code == 0
    assert largest_difference(bundles.load(lwan), out) < 1e-5


def test_what_cannot_be_exported_is_refused_in_a_sentence(
    labelwise: Callable, lwan: Path, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "model.onnx"

    def refused(*arguments: object) -> str:
        called = labelwise("export", *arguments)
        assert called.code == 1
        assert called.err.count("\n") == 1
        assert not out.exists()
        return str(called.err)

    assert "there is no such folder" in refused(tmp_path / "nothing", "--onnx", out)
    assert "svm cannot be exported to ONNX" in refused(bundle, "--onnx", out)
    assert "there is no folder" in refused(lwan, "--onnx", tmp_path / "no" / "model.onnx")
    assert "is a folder: name the file" in refused(lwan, "--onnx", tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "pip install 'labelwise[onnx]'" in refused(lwan, "--onnx", out)
