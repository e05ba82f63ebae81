"""The inference benchmark: same documents for both sides, figures from what they answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise.bench import Plan, inference
from labelwise.bench.inference import IN_FULL, OURS, PEER, SORTED, Sizes, benchmark, of_length, some
from labelwise.bench.page import cell, section
from labelwise.corpus.document import Document, Section

pytestmark = pytest.mark.xdist_group("inference")  # measured once for all of them

SMALL = Sizes(documents=12, ranked=10, calls=4, units=8)


@pytest.fixture(scope="module")
def asked_of_the_peer() -> list[dict[str, Any]]:
    return []


@pytest.fixture(scope="module")
def result(
    tmp_path_factory: pytest.TempPathFactory, asked_of_the_peer: list[dict[str, Any]]
) -> dict[str, Any]:
    """Measured with a stand-in for the peer, which takes four seconds a document."""

    def stand_in(command: list[str]) -> None:
        request = json.loads(Path(command[2]).read_text())
        found = np.load(Path(request["folder"]) / "documents.npz")
        request["lengths"], request["act"] = found["lengths"].tolist(), found["act"].tolist()
        asked_of_the_peer.append(request)
        seconds = 4.0 * len(found["lengths"])
        answer = {"seconds": seconds, "peak memory": 3e9, "calls": [0.5, 0.7]}
        Path(command[3]).write_text(json.dumps(answer))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "environment", lambda *_: "python")
        patch.setattr(inference, "run_program", stand_in)
        return benchmark(Plan(out=tmp_path_factory.mktemp("out"), repeats=1), SMALL)


def test_each_side_has_its_row_and_ours_was_measured(result: dict[str, Any]) -> None:
    many, one = result["tables"]
    rows = {row[""]: row for row in many["rows"]}
    assert list(rows) == [OURS, IN_FULL, PEER, SORTED]
    assert rows[PEER]["documents a second"]["median"] == 0.25
    for name in (OURS, IN_FULL):
        assert rows[name]["documents a second"]["repeats"] == 1
        assert rows[name]["documents a second"]["median"] > 0
        assert 5e7 < rows[name]["peak memory"]["median"] < 2e9
    assert [row[""] for row in one["rows"]] == [OURS, IN_FULL, PEER]
    assert one["rows"][0]["calls"] == SMALL.calls
    assert 0 < one["rows"][0]["median"] <= one["rows"][0]["99th percentile"]
    assert one["rows"][0]["load"]["lowest"] > 0
    assert one["rows"][2]["median"] == pytest.approx(0.6)
    times = cell(many["columns"][1], rows[OURS], many["rows"], "")
    ratio = rows[OURS]["documents a second"]["median"] / 0.25
    assert float(times.split()[0]) == pytest.approx(ratio, abs=0.01)


def test_the_peer_gets_the_same_words_in_its_own_batches(
    result: dict[str, Any], asked_of_the_peer: list[dict[str, Any]]
) -> None:
    assert [one["by_length"] for one in asked_of_the_peer] == [False, True]
    for request in asked_of_the_peer:
        assert request["batch"] == 16
        assert len(request["lengths"]) == SMALL.documents
        assert sum(request["lengths"]) == request["tokens"]
        assert request["units"] == 8
        assert request["labels"] == result["data"]["counts"]["labels"]
        assert len(request["act"]) > 500
        assert max(request["act"]) < request["vocabulary"]


def test_its_section_of_the_page_names_the_peer_and_leaves_out_an_untrained_ranking(
    result: dict[str, Any],
) -> None:
    text = section(result, "inference-synthetic.json")
    assert "## Tagging with BIGRU-LWAN on a CPU" in text
    assert "libmultilabel[nn]==0.10.0" in text
    assert "RP@5 |" not in text


def test_a_trained_bundle_beside_the_results_is_taken_and_ranked(tmp_path: Path) -> None:
    from labelwise.corpus.dataset import open_dataset
    from labelwise.corpus.synthetic import make_dataset

    make_dataset(tmp_path / "data", train=200, dev=20, test=20)
    data = open_dataset(tmp_path / "data")
    plan = Plan(out=tmp_path / "benchmarks")
    saved, method = inference.model(plan, data, SMALL, tmp_path)
    assert saved == tmp_path / "untrained"
    trained = tmp_path / "bundles" / "bigru-lwan-0.bundle"
    bundles.save(method, trained)
    found, _ = inference.model(plan, data, SMALL, tmp_path)
    assert found == trained
    wider, _ = inference.model(plan, data, Sizes(units=9), tmp_path)
    assert wider == tmp_path / "untrained"
    figures = inference.ranked(method, some(data.dev, 20))
    assert figures[OURS] == pytest.approx(figures[IN_FULL], abs=0.05)


def test_the_documents_are_spread_over_all_and_the_act_is_the_nearest() -> None:
    acts = [Document(str(n), "", (Section("article", "word " * n),)) for n in (3, 900, 650, 720)]
    assert of_length(acts, 700).id == "720"
    assert [one.id for one in some(acts, 2)] == ["3", "650"]
    assert list(some(acts, 100)) == acts
