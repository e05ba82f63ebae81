"""Scores that a training keeps stand for those of its bundle, and of no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import Dataset
from labelwise.evaluation.runs import DataRecord
from labelwise.experiments import kept_scores
from labelwise.experiments.kept_scores import kept_file, read_kept, write_kept
from labelwise.experiments.training_data import Documents, Kept
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.lexical import Lexical


@pytest.fixture(scope="module")
def lexical(synthetic: Dataset) -> Lexical:
    method = Lexical()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return method


def test_what_was_kept_is_what_was_said_of_the_best_labels(
    synthetic: Dataset, lexical: Lexical, tmp_path: Path
) -> None:
    bundle, data = tmp_path / "lexical-0.bundle", DataRecord.of(synthetic)
    bundles.save(lexical, bundle)
    scores = lexical.scores(synthetic.dev)
    assert read_kept(bundle, "dev", lexical.label_space, data) is None
    write_kept(bundle, {"dev": scores}, lexical.label_space, data)
    kept = read_kept(bundle, "dev", lexical.label_space, data)
    assert kept is not None
    best = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    found, said = (np.take_along_axis(of, best, axis=1) for of in (kept, scores))
    np.testing.assert_allclose(found, said, rtol=0.02)

    assert read_kept(bundle, "test", lexical.label_space, data) is None
    others = DataRecord(**vars(data) | {"fingerprint": "another"})
    assert read_kept(bundle, "dev", lexical.label_space, others) is None
    exact = ExactMatch()
    exact.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    bundles.save(exact, bundle)
    assert read_kept(bundle, "dev", lexical.label_space, data) is None, "of another bundle"


def test_what_was_not_kept_of_a_group_is_as_low_as_the_lowest_that_was(
    synthetic: Dataset, lexical: Lexical, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_scores, "KEPT", {"frequent": 2, "few": 3, "zero": 1})
    bundle, data = tmp_path / "lexical-0.bundle", DataRecord.of(synthetic)
    bundles.save(lexical, bundle)
    scores = lexical.scores(synthetic.dev)
    write_kept(bundle, {"dev": scores}, lexical.label_space, data)
    kept = read_kept(bundle, "dev", lexical.label_space, data)
    assert kept is not None
    for group, part in lexical.label_space.groups.items():
        size = kept_scores.KEPT[group]
        assert size < part.stop - part.start
        in_order = np.sort(scores[:, part], axis=1)[:, ::-1]
        expected = np.maximum(scores[:, part], in_order[:, [size - 1]])
        np.testing.assert_allclose(kept[:, part], expected, rtol=0.02)


def test_a_member_whose_scores_were_kept_is_not_asked_again(
    synthetic: Dataset, lexical: Lexical, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "lexical-0.bundle"
    bundles.save(lexical, bundle)
    source = Documents(Path(synthetic.paths["train"]).parent)
    known = Kept(source, {str(bundle): lexical})
    asked = known.scores(lexical, "dev")
    write_kept(bundle, {"dev": asked}, lexical.label_space, source.record)

    def refuse(documents: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(lexical, "scores", refuse)
    assert known.scores(lexical, "dev").shape == asked.shape
    assert kept_file(bundle).is_file()


def test_damaged_scores_are_named_and_asked_for_again(
    synthetic: Dataset, lexical: Lexical, tmp_path: Path
) -> None:
    bundle, data = tmp_path / "lexical-0.bundle", DataRecord.of(synthetic)
    bundles.save(lexical, bundle)
    write_kept(bundle, {"dev": lexical.scores(synthetic.dev)}, lexical.label_space, data)
    content = kept_file(bundle).read_bytes()
    for damaged in (b"", content[:200], content[:400] + b"\0" * 40 + content[440:]):
        kept_file(bundle).write_bytes(damaged)
        with pytest.warns(UserWarning, match="the scores that were kept are damaged"):
            assert read_kept(bundle, "dev", lexical.label_space, data) is None
