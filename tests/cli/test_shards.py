"""A linear model trained by shards of its labels is the one that a single training gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise import bundle as bundles
from labelwise.corpus.shard import Shard
from labelwise.errors import LabelwiseError

QUICK = ("--set", "passes=2", "--set", "longest_ngram=1")


@pytest.mark.parametrize("method", ["svm", "logistic"])
def test_shards_are_joined_to_the_bundle_of_one_training_bit_for_bit(
    labelwise: Callable[..., Any], corpus: Path, tmp_path: Path, method: str
) -> None:
    asked = ("train", method, "--data", corpus, *QUICK)
    assert labelwise(*asked, "--out", tmp_path / "whole").code == 0
    parts = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, part in zip((1, 2, 3), parts, strict=True):
        called = labelwise(*asked, "--shard", f"{number}/3", "--out", part)
        assert called.code == 0, called.err
        assert "labelwise join shards" in called.err
    shuffled = [parts[2], parts[0], parts[1]]
    joined = labelwise("join", "shards", *shuffled, "--data", corpus, "--out", tmp_path / "joined")
    assert joined.code == 0, joined.err
    assert method in joined.out

    one, other = (bundles.describe(tmp_path / name) for name in ("whole", "joined"))
    assert one["files"] == other["files"]  # their checksums among them
    for same in ("method", "settings", "threshold"):
        assert one[same] == other[same]
    assert one["card"]["data"] == other["card"]["data"]
    assert "shard" not in other["card"]
    assert len(other["card"]["command"].splitlines()) == 4  # three trainings and the joining


def test_what_is_no_whole_set_of_shards_is_said_in_a_sentence(
    labelwise: Callable[..., Any], corpus: Path, bundle: Path, tmp_path: Path
) -> None:
    def trained(shard: str, *settings: str) -> Path:
        out = tmp_path / "-".join((shard.replace("/", "-"), *settings))
        called = labelwise(
            "train", "svm", "--data", corpus, "--shard", shard, "--out", out, *QUICK, *settings
        )
        assert called.code == 0, called.err
        return out

    def said(*parts: Path) -> str:
        called = labelwise("join", "shards", *parts, "--data", corpus, "--out", tmp_path / "no")
        assert called.code == 1
        assert not (tmp_path / "no").exists()
        assert called.err.count("\n") == 1
        return str(called.err)

    first = trained("1/2")
    assert "shard 2/2 is missing: train it with --shard 2/2" in said(first)
    assert "which does not go with" in said(first, first)
    assert "is not a shard" in said(first, bundle)
    assert "is a shard of another training" in said(first, trained("2/2", "--seed", "1"))


def test_only_linear_models_are_trained_by_shards_and_not_by_more_than_there_are(
    labelwise: Callable[..., Any], corpus: Path, tmp_path: Path
) -> None:
    asked = ("--data", corpus, "--out", tmp_path / "no")
    lexical = labelwise("train", "lexical", *asked, "--shard", "1/2")
    assert "svm and logistic are trained by shards" in lexical.err
    many = labelwise("train", "svm", *asked, *QUICK, "--shard", "1/900")
    assert "shards at most, not 900" in many.err
    assert (lexical.code, many.code) == (1, 1)


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "3/", "-1/8", "1/0", "a/b"])
def test_what_is_not_a_shard_is_told(text: str) -> None:
    with pytest.raises(LabelwiseError, match="write 3/8 for the third of eight"):
        Shard.parse(text)


def test_every_thing_is_in_one_shard() -> None:
    parts = [Shard(number, 3).part(range(10)) for number in (1, 2, 3)]
    assert sorted(one for part in parts for one in part) == list(range(10))
