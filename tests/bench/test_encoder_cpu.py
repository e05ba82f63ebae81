"""The benchmark of tagging with an encoder on a CPU, in small."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conformance import fitted

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.bench import Plan, Result, encoder_cpu
from labelwise.bench.encoder_cpu import (
    ALL,
    ALONE,
    BEST,
    EXPLAINED,
    IN_FULL,
    LOOKED_AT,
    PLAIN,
    SHIPPED,
    Sizes,
    benchmark,
    model,
    shortlisted,
)
from labelwise.bench.encoder_gpu import plain_attention
from labelwise.bench.page import section
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError

SMALL = Sizes(calls=1, documents=2, ranked=4, shortlists=(50, 500))


@pytest.fixture
def threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def plan(synthetic: Dataset, tmp_path: Path) -> Plan:
    folder = Path(synthetic.paths["train"]).parent
    return Plan(out=tmp_path / "benchmarks", data=folder, repeats=1)


@pytest.mark.usefixtures("threads_as_before")
def test_the_encoder_that_ships_is_measured_beside_its_peers(plan: Plan) -> None:
    result: Result = json.loads(json.dumps(benchmark(plan, SMALL)))
    alone, in_a_row, loading, lost = result["tables"]
    every = [SHIPPED, EXPLAINED, BEST, LOOKED_AT, ALL, IN_FULL, ALONE, PLAIN]
    assert [row[""] for row in alone["rows"]] == every
    assert [row[""] for row in in_a_row["rows"]] == [BEST, ALL, PLAIN]
    assert [row[""] for row in loading["rows"]] == list(shipped.NAMES)
    for table in (alone, in_a_row, loading):
        assert all(row["seconds"]["lowest"] > 0 for row in table["rows"])
    rows = {row[""]: row for row in lost["rows"]}
    assert list(rows) == [IN_FULL, ALL, "a shortlist of 50", "a shortlist of 500"]
    assert rows[IN_FULL][IN_FULL] == rows[ALL][ALL] == 1
    assert rows["a shortlist of 500"][ALL] >= rows["a shortlist of 50"][ALL]
    assert result["bundle"] == bundles.describe(shipped.path())["digest"]
    assert "7,414 labels" in section(result, "encoder-cpu-synthetic.json")


def test_a_trained_bundle_goes_before_the_one_that_ships(plan: Plan, synthetic: Dataset) -> None:
    own = plan.out.parent / "bundles" / "minilm.bundle"
    bundles.save(fitted("minilm-lwan", synthetic), own)
    digest, method = model(plan, synthetic)
    assert digest == bundles.describe(own)["digest"]
    assert method.label_space.fingerprint == synthetic.label_space.fingerprint


def test_every_shortlist_scores_its_own_labels_in_full(plan: Plan, synthetic: Dataset) -> None:
    _, method = model(plan, synthetic)
    acts = synthetic.test[:2]
    found = shortlisted(method, acts, (10, 1_000))
    in_full = method.scores(acts)
    same = {most: np.isclose(scores, in_full, rtol=1e-4).sum() for most, scores in found.items()}
    assert same[1_000] >= 2_000
    assert same[10] < same[1_000]


def test_the_plain_network_is_ours(plan: Plan, synthetic: Dataset) -> None:
    _, method = model(plan, synthetic)
    act = synthetic.test[0]
    rows = encoder_cpu.pieces_of(method, act)
    assert sum(row.shape[1] - 2 for row in rows) == int(method._number([act]).lengths.sum())
    with torch.no_grad():
        queries, outputs, bias = method.network.labels()
        h = torch.randn(1, 30, queries.shape[1])
        there = torch.arange(30)[None] < 20
        (logits,) = plain_attention(h, there, queries, outputs, bias)
        weights = (h[0, :20] @ queries.T).softmax(0)  # (tokens, labels)
        expected = (weights * (h[0, :20] @ outputs.T)).sum(0) + bias
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


def test_without_transformers_it_says_what_to_install(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(LabelwiseError, match="pip install transformers"):
        benchmark(plan, SMALL)
