"""`labelwise vectors`: learned from the training documents, joined, cut to a prepared corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vector_files import write_vectors
from labelwise.text.vectors import read_vectors
from labelwise.training.prepared import read_prepared
from labelwise.training.vector_rows import with_vector_rows


@pytest.fixture(scope="module")
def acts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "acts"
    make_dataset(folder, train=40, dev=8, test=8)
    return folder


@pytest.fixture
def own(acts: Path, tmp_path: Path) -> Path:
    """A file of vectors, three numbers a word."""
    known = read_vectors(acts / "vectors.txt")
    write_vectors(tmp_path / "own.txt", type(known)(known.words, known.matrix[:, :3]))
    return tmp_path / "own.txt"


def test_vectors_are_learned_as_the_options_say(
    labelwise: Callable[..., Any], acts: Path, tmp_path: Path
) -> None:
    pytest.importorskip("numba")
    from labelwise.text.skipgram import SkipGram, learn_vectors

    given = {"dim": 4, "min_count": 3, "window": 2, "negatives": 2, "epochs": 1, "seed": 7}
    options = [word for name, n in given.items() for word in (f"--{name.replace('_', '-')}", n)]
    out = tmp_path / "learned.txt"
    made = labelwise("vectors", "--data", acts, *options, "--out", out, "--json")
    assert made.code == 0, made.err
    expected = learn_vectors(tokenize_corpus(open_dataset(acts).train), SkipGram(**given))
    write_vectors(tmp_path / "expected.txt", expected)
    assert out.read_bytes() == (tmp_path / "expected.txt").read_bytes()
    told = made.json
    assert (told["file"], told["words"], told["dim"]) == (str(out), len(expected), 4)


def test_the_vectors_of_two_files_stand_side_by_side(
    labelwise: Callable[..., Any], acts: Path, own: Path, tmp_path: Path
) -> None:
    out = tmp_path / "both.txt.xz"
    made = labelwise("vectors", "--join", acts / "vectors.txt", own, "--out", out)
    assert made.code == 0, made.err
    assert read_vectors(out).dim == read_vectors(acts / "vectors.txt").dim + 3
    assert f"--set vectors={out}" in made.err


def test_a_file_is_cut_to_a_prepared_corpus_in_place_of_its_vectors_or_beside_them(
    labelwise: Callable[..., Any], acts: Path, own: Path, tmp_path: Path
) -> None:
    prepared, out = tmp_path / "prepared", tmp_path / "rows.npz"
    asked = ("prepare", "--data", acts, "--vectors", acts / "vectors.txt", "--out", prepared)
    assert labelwise(*asked).code == 0
    corpus, _ = read_prepared(prepared)
    cut = ("vectors", "--prepared", prepared, "--vectors", own, "--out", out)
    for more, name, dim in (((), "own.txt", 3), (("--beside",), "vectors.txt+own.txt", 53)):
        made = labelwise(*cut, *more)
        assert made.code == 0, made.err
        assert "Next:" not in made.err
        other, called = with_vector_rows(corpus, out)
        assert (called, other.vectors.shape[1]) == (name, dim)


def test_options_of_different_tasks_are_refused(
    labelwise: Callable[..., Any],
    acts: Path,
    own: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    out = tmp_path / "out"
    for given, said in (
        (("--prepared", tmp_path), "--prepared and --vectors are given together"),
        (("--join", own, own, "--prepared", tmp_path, "--vectors", own), "choose one"),
        (("--data", acts, "--beside"), "--beside goes with --prepared"),
        ((), "--data (or LABELWISE_DATA) is needed to learn vectors"),
    ):
        refused = labelwise("vectors", *given, "--out", out)
        assert (refused.code, said in refused.err) == (2, True)
    assert not out.exists()
