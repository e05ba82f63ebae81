"""The load of the benchmark by itself: it counts what it says, and both sides' answers alike."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import httpx
import pytest
from serving_cases import ACT

from labelwise.bench.load import Measured, Request, free_port, load, memory_of, percentile, running
from labelwise.bench.page import markdown
from labelwise.bench.service import URI, batches, name_of, relevant, single, table
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError

pytestmark = pytest.mark.xdist_group("serving")


def test_every_request_is_sent_once_and_its_answer_kept_in_its_place(client: httpx.Client) -> None:
    texts = [f"{ACT} Article {n}" for n in range(20)]
    requests = [
        Request("/v1/tag", json.dumps({"text": text, "id": str(n)}).encode(), "application/json")
        for n, text in enumerate(texts)
    ]
    measured = load(client.base_url.port or 0, requests, clients=4)
    assert [json.loads(one)["document"] for one in measured.answers] == [str(n) for n in range(20)]
    assert len(measured.waits) == measured.documents == 20
    assert 0 < measured.median <= measured.slowest <= measured.seconds
    assert measured.rate == pytest.approx(20 / measured.seconds)


def test_an_answer_that_is_none_ends_the_load_with_a_sentence(client: httpx.Client) -> None:
    wrong = [Request("/v1/tag", b"{}", "application/json")] * 3
    with pytest.raises(LabelwiseError, match=r"/v1/tag answered 422"):
        load(client.base_url.port or 0, wrong, clients=2)


def test_single_requests_and_batches_ask_for_the_same(
    client: httpx.Client, synthetic: Dataset
) -> None:
    documents, port = list(synthetic.test[:40]), client.base_url.port or 0
    one_by_one = load(port, single("svm", documents), clients=2)
    together = load(port, batches("svm", documents), clients=2)
    assert (one_by_one.documents, together.documents) == (40, 40)
    assert len(together.answers) == 2
    assert relevant(one_by_one.answers, documents) == relevant(together.answers, documents) > 0.3


def test_sides_stand_beside_the_peer_with_their_memory_where_it_was_taken() -> None:
    answer = json.dumps({"results": [{"uri": f"{URI}1309"}]}).encode()
    ours, theirs = name_of("labelwise", 2), name_of("Annif", 1)
    found = {
        ours: [Measured(0.5, [0.5], [answer], documents=1)],
        theirs: [Measured(1.0, [1.0], [answer], documents=1)],
    }
    documents = [Document("act", "Imports of rice", (), labels=("1309",))]
    shown = markdown(table(found, documents, theirs, memory={ours: 3_000_000, theirs: 9_000_000}))
    assert "to Annif's 1 worker |" in shown
    assert "| labelwise, 2 workers | 2 | 2.00 | 500 ms | 500 ms | 1.0000 | 3.0 MB |" in shown
    assert "memory" not in markdown(table(found, documents, theirs))


def test_percentiles_lie_between_the_values() -> None:
    assert percentile([float(n) for n in range(101)], 99) == 99
    assert percentile([5.0], 99) == 5


def test_memory_counts_a_process_and_its_children() -> None:
    assert memory_of(os.getpid()) > 10_000_000


def test_a_service_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no model here')"]
    with (
        pytest.raises(LabelwiseError, match="does not serve: no model here"),
        running(command, port=free_port(), ready="/", env=os.environ, folder=tmp_path),
    ):
        pass
