"""Saved models of any kind become one by a command, weighed on dev."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.cli import main
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.runs import Run
from labelwise.experiments.joining import model_digest
from labelwise.methods import REGISTRY, get
from labelwise.methods.base import Joining
from labelwise.methods.blend import Blend


@pytest.fixture(scope="session")
def exact(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exact-match bundle of the same data as the svm."""
    out = tmp_path_factory.mktemp("joined") / "exact.bundle"
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "train", "exact-match", "--data", str(corpus), "--out", str(out)])
    assert ended.value.code == 0
    return out


def test_two_bundles_are_blended_measured_and_explained(
    labelwise: Callable[..., Any],
    corpus: Path,
    bundle: Path,
    exact: Path,
    act: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "blend.bundle"
    called = labelwise("join", "blend", bundle, exact, "--data", corpus, "--out", out)
    assert called.code == 0, called.err
    assert "weight of svm" in called.out
    assert "weight of exact-match" in called.out
    assert f"Next: labelwise evaluate {out}" in called.err

    blend = bundles.load(out)
    assert isinstance(blend, Blend)
    card = bundles.describe(out)["card"]
    assert card["members"] == ["svm", "exact-match"]
    unseen, rarest = card["weights"][:2]
    assert unseen["training documents"] == 0
    assert unseen["weights"][0] == 0
    assert rarest["weights"][0] > 0
    assert len(card["command"].splitlines()) == 3  # two trainings and the joining
    assert card["seconds"]["fit"] > 0

    measured = labelwise(
        "evaluate", out, "--data", corpus, "--results", tmp_path / "results", "--json"
    )
    assert measured.code == 0
    run = Run.read(tmp_path / "results/synthetic/blend/seed-0.json")
    assert run.threshold == pytest.approx(blend.threshold)
    assert run.settings["members"] == ["svm", "exact-match"]
    alone = bundles.load(exact)
    zero, test = blend.label_space.groups["zero"], open_dataset(corpus).test
    ours, theirs = blend.scores(test)[:, zero], alone.scores(test)[:, zero]
    np.testing.assert_array_equal(
        np.argsort(-ours, axis=1, kind="stable"), np.argsort(-theirs, axis=1, kind="stable")
    )

    told = labelwise("explain", act, "--bundle", out, "--json")
    assert told.code == 0
    tagged = labelwise("tag", act, "--bundle", out, "--add-label", "n1=customs duty", "--json")
    assert tagged.code == 0


def test_the_weights_are_told_to_machines(
    labelwise: Callable[..., Any], corpus: Path, bundle: Path, exact: Path, tmp_path: Path
) -> None:
    asked = ("join", "blend", bundle, exact, "--data", corpus, "--out", tmp_path / "b", "--json")
    told = json.loads(labelwise(*asked).out)
    again = json.loads(labelwise(*asked).out)
    assert told["method"] == "blend"
    assert [row["training documents"] for row in told["weights"]][:2] == [0, 1]
    assert again["weights"] == told["weights"]


def test_a_blend_is_measured_where_it_is_joined(
    labelwise: Callable[..., Any], corpus: Path, bundle: Path, exact: Path, tmp_path: Path
) -> None:
    out, results = tmp_path / "out", tmp_path / "results"
    asked = ("join", "blend", bundle, exact, "--data", corpus, "--out", out, "--name", "both")
    called = labelwise(*asked, "--results", results)
    assert called.code == 0, called.err
    joined = Run.read(results / "synthetic/both/seed-0.json")
    assert labelwise("evaluate", out, "--data", corpus, "--results", tmp_path / "again").code == 0
    again = Run.read(tmp_path / "again/synthetic/both/seed-0.json")
    for split in ("dev", "test"):
        for measure in ("RP@5", "nDCG@5", "micro-F1 tuned"):
            assert joined.value(split, "all", measure) == again.value(split, "all", measure)
    wrong = labelwise(*asked, "--like", out, "--results", results)
    assert "--results does not fit" in wrong.err


def test_a_blend_may_be_weighed_like_another_without_documents(
    labelwise: Callable[..., Any],
    corpus: Path,
    bundle: Path,
    exact: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    twin, out = tmp_path / "twin", tmp_path / "out"
    asked = ("join", "blend", bundle, exact)
    assert labelwise(*asked, "--data", corpus, "--out", twin).code == 0
    called = labelwise(*asked, "--like", twin, "--out", out, "--name", "final")
    assert called.code == 0, called.err
    was, now = bundles.describe(twin)["card"], bundles.describe(out)["card"]
    assert (now["name"], now["weights"]) == ("final", was["weights"])
    assert bundles.load(out).threshold == bundles.load(twin).threshold

    assert "or --like is needed" in labelwise(*asked, "--out", tmp_path / "no").err
    other = labelwise(*asked, "--like", bundle, "--out", tmp_path / "no")
    assert "is a svm, and not a blend" in other.err
    wrong = ("join", "ensemble-lwan", bundle, exact, "--like", twin, "--out", tmp_path / "no")
    assert "a blend can be like another one" in labelwise(*wrong).err


def test_what_is_joined_has_neither_the_name_nor_the_origin_of_its_first_member(
    labelwise: Callable[..., Any], corpus: Path, bundle: Path, exact: Path, tmp_path: Path
) -> None:
    """Its figures would take the place of those of the member."""
    small, out = tmp_path / "small", tmp_path / "out"
    asked = ("--prune", "0.01", "--results", tmp_path / "sizes", "--name", "ours-small")
    called = labelwise("compact", bundle, "--data", corpus, "--out", small, *asked)
    assert called.code == 0, called.err
    asked = ("--out", out, "--results", tmp_path / "results")
    assert labelwise("join", "blend", small, exact, "--data", corpus, *asked).code == 0
    assert (tmp_path / "results/synthetic/blend/seed-0.json").is_file()
    was, now = (bundles.describe(folder)["card"] for folder in (small, out))
    assert was["name"] == "ours-small"
    assert not {"name", "parent", "compact", "twin"} & now.keys()
    assert now["thesaurus"] == was["thesaurus"]
    labelwise("join", "blend", exact, small, "--data", corpus, "--out", out)
    assert bundles.describe(out)["card"]["thesaurus"] == was["thesaurus"], "whoever has it"


def test_what_cannot_be_joined_is_said_in_a_sentence(
    labelwise: Callable[..., Any], corpus: Path, bundle: Path, exact: Path, tmp_path: Path
) -> None:
    def said(*arguments: object, data: Path = corpus) -> str:
        called = labelwise("join", *arguments, "--data", data, "--out", tmp_path / "no.bundle")
        assert called.code == 1
        assert not (tmp_path / "no.bundle").exists()
        assert called.err.count("\n") == 1
        return str(called.err)

    assert "is not made by joining; these are: blend, ensemble-lwan, shards" in said(bundle, exact)
    assert "blend is joined from two bundles or more" in said("blend", bundle)
    assert "joins a bigru-lwan and a z-bigru-lwan" in said("ensemble-lwan", bundle, exact)
    copy = shutil.copytree(exact, tmp_path / "copy.bundle")
    assert "joins two bundles" in said("ensemble-lwan", bundle, exact, copy)
    again = exact.parent / "." / ".." / exact.parent.name / exact.name
    told = said("blend", exact, bundle, again)
    assert "exact.bundle is given twice: a bundle is one member" in told
    assert "this is not a bundle" in said("blend", bundle, tmp_path)
    other = tmp_path / "other"
    make_dataset(other, train=60, dev=10, test=10, seed=5)
    assert "has other labels or label counts than" in said("blend", bundle, exact, data=other)
    (other / "dev.jsonl").unlink()
    assert "has no dev documents" in said("blend", bundle, exact, data=other)


@pytest.mark.usefixtures("workers_here")
def test_reproduce_makes_a_blend_of_the_bundles_of_its_members(
    labelwise: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Blend, "joined_from", ("svm", "exact-match"))
    make_dataset(tmp_path / "acts", train=80, dev=16, test=16)
    asked = ("reproduce", "--data", "acts", "-m", "blend", "--seeds", 2, "--no-report")
    said = labelwise(*asked)
    assert said.code == 0, said.err
    found = {path.parent.name: Run.read(path) for path in tmp_path.rglob("seed-*.json")}
    assert set(found) == {"svm", "exact-match", "blend"}  # and no second seed of any
    blend = bundles.load(tmp_path / "bundles/blend-0.bundle")
    assert found["blend"].threshold == pytest.approx(blend.threshold)
    assert "weights" in bundles.describe(tmp_path / "bundles/blend-0.bundle")["card"]
    assert "blend, seed 0: finished before" in labelwise(*asked).err
    svm = model_digest(tmp_path / "bundles/svm-0.bundle")
    assert found["blend"].members["svm-0"] == svm

    said = labelwise(*asked, "--set", "C=2.0")
    assert "blend, seed 0: started" in said.err
    assert "exact-match, seed 0: finished before" in said.err
    again = Run.read(tmp_path / "results/acts/blend/seed-0.json")
    assert again.members["exact-match-0"] == found["blend"].members["exact-match-0"]
    assert again.members["svm-0"] != svm


def test_every_method_that_is_joined_has_members_and_a_way_to_join_them() -> None:
    classes = [get(name) for name in REGISTRY]
    joined = [cls for cls in classes if cls.joined_from]
    assert joined == [cls for cls in classes if issubclass(cls, Joining)]
    assert {name for cls in joined for name in cls.joined_from} <= set(REGISTRY)
