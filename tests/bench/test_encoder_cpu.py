"""The benchmark of tagging with an encoder on a CPU, in small."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from conformance import fitted
from encoder_cases import frequent_words, tiny_encoder

from labelwise import bundle as bundles
from labelwise.bench import encoder_cpu
from labelwise.bench.encoder_cpu import ALL, ALONE, BEST, IN_FULL, PLAIN, Sizes, benchmark, model
from labelwise.bench.encoder_peer import plain_attention
from labelwise.bench.page import section
from labelwise.bench.plan import Plan, Result
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError

SMALL = Sizes(calls=2, ranked=10, labels=1_200)


@pytest.fixture
def encoder(synthetic: Dataset) -> str:
    texts = (section.text for act in synthetic.train for section in act.sections)
    return str(tiny_encoder("bert", frequent_words(texts)))


@pytest.fixture
def threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def plan(synthetic: Dataset, tmp_path: Path) -> Plan:
    folder = Path(synthetic.paths["train"]).parent
    return Plan(out=tmp_path / "benchmarks", data=folder, repeats=2)


@pytest.mark.usefixtures("threads_as_before")
def test_ours_and_the_peers_are_measured_in_turns(plan: Plan, encoder: str) -> None:
    result: Result = json.loads(json.dumps(benchmark(plan, SMALL, encoder)))
    (table,) = result["tables"]
    assert [row[""] for row in table["rows"]] == [BEST, ALL, IN_FULL, ALONE, PLAIN]
    for row in table["rows"]:
        assert row["seconds"]["repeats"] == 2
        assert row["seconds"]["lowest"] > 0
    assert result["bundle"] is None
    text = section(result, "encoder-cpu-synthetic.json")
    assert "1,200 labels" in text
    assert "RP@5" not in text


@pytest.mark.usefixtures("threads_as_before")
def test_a_trained_bundle_is_taken_and_its_rankings_compared(
    plan: Plan, encoder: str, synthetic: Dataset
) -> None:
    bundles.save(fitted("minilm-lwan", synthetic), plan.out.parent / "bundles" / "minilm.bundle")
    result = benchmark(plan, SMALL, encoder)
    assert result["bundle"]
    rows = {row[""]: row for row in result["tables"][1]["rows"]}
    assert list(rows) == [BEST, ALL, IN_FULL]
    assert rows[IN_FULL]["the same"] == 1
    assert rows[BEST]["RP@5"] == pytest.approx(rows[IN_FULL]["RP@5"], abs=0.05)


def test_the_plain_network_is_ours(plan: Plan, encoder: str, synthetic: Dataset) -> None:
    _, method = model(plan, synthetic, SMALL, encoder)
    act = synthetic.test[0]
    rows = encoder_cpu.pieces_of(method, act)
    assert sum(row.shape[1] - 2 for row in rows) == int(method._number([act]).lengths.sum())
    with torch.no_grad():
        h = torch.randn(1, 30, 32)
        there = torch.arange(30)[None] < 20
        queries, outputs, bias = method.network.labels()
        (logits,) = plain_attention(h, there, queries, outputs, bias)
        weights = (h[0, :20] @ queries.T).softmax(0)  # (tokens, labels)
        expected = (weights * (h[0, :20] @ outputs.T)).sum(0) + bias
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)


def test_without_transformers_it_says_what_to_install(
    plan: Plan, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(LabelwiseError, match="pip install transformers"):
        benchmark(plan, SMALL, encoder)
