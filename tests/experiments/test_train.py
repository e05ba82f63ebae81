"""Training in Python: what a file of settings names is found, made and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import labelwise
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.errors import InputError
from labelwise.text.vector_files import write_vectors
from labelwise.text.vectors import read_vectors

QUICK = {"epochs": 1, "max_tokens": 40, "filters": 4, "kernel": 3, "device": "cpu"}


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    make_dataset(tmp_path / "acts", train=30, dev=6, test=6)
    return tmp_path / "acts"


def test_vectors_of_two_files_are_joined_and_kept_beside_the_bundle(
    acts: Path, tmp_path: Path
) -> None:
    known = read_vectors(acts / "vectors.txt")
    write_vectors(acts / "own.txt", type(known)(known.words, known.matrix[:, :3]))
    config = tmp_path / "cnn-lwan.toml"
    config.write_text('vectors = "vectors.txt+own.txt"\n')
    out = tmp_path / "made" / "cnn.bundle"
    model = labelwise.train("cnn-lwan", data=acts, out=out, config=config, settings=QUICK)
    kept = tmp_path / "made" / "vectors" / open_dataset(acts).fingerprint
    joined = kept / "vectors.txt+own.txt"
    assert model.method.settings.vectors == str(joined)
    assert read_vectors(joined).dim == known.dim + 3
    assert labelwise.load(out).labels.fingerprint == model.labels.fingerprint


def test_vectors_that_are_nowhere_are_named(acts: Path) -> None:
    with pytest.raises(InputError, match=r"glove\.txt: there is no such file of word vectors"):
        labelwise.train("cnn-lwan", data=acts, settings={**QUICK, "vectors": "glove.txt"})


def test_a_trained_model_tells_what_was_left_out_and_its_bundle_does_not(
    acts: Path, tmp_path: Path
) -> None:
    again, out = tmp_path / "again.jsonl", tmp_path / "match.bundle"
    again.write_bytes((acts / "dev.jsonl").read_bytes())
    model = labelwise.train("exact-match", data=acts, more=[again], out=out)
    assert {(one.file, one.kept) for one in model.repeated} == {(again, "dev")}
    assert len(model.repeated) == 6
    assert labelwise.load(out).card == model.card
