"""The benchmark of training encoders, in small, on a CPU: both sides are the same network."""

from __future__ import annotations

import dataclasses
import doctest
import json
from pathlib import Path

import pytest
import torch
from encoder_cases import frequent_words, tiny_encoder

from labelwise.bench import Plan, Result, encoder_gpu
from labelwise.bench.encoder_gpu import (
    OURS,
    PEER,
    Encoder,
    Scale,
    benchmark,
    known_folder,
    networks,
    random_split,
    some_batches,
)
from labelwise.bench.page import section
from labelwise.corpus.dataset import Dataset
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import DataRecord
from labelwise.layers.encoder_files import EncoderShape, read_tokenizer
from labelwise.methods.encoder import EncoderSettings
from labelwise.training.batches import Gatherer, epoch_batches
from labelwise.training.numbered import Reading
from labelwise.training.prepared import prepare, prepare_pieces, write_prepared

SETTINGS = EncoderSettings(pieces=2, piece_tokens=30, stride=30, batch=4, dropout=0.0)
ENCODERS = (
    Encoder("small-bert", EncoderShape("bert", 300, 32, 2, 2, 64, 64, 1e-12), SETTINGS),
    Encoder("small-mpnet", EncoderShape("mpnet", 300, 32, 2, 2, 64, 64, 1e-5, 32), SETTINGS),
)
SMALL = Scale(ENCODERS, documents=24, labels=20, batches=3)


@pytest.fixture(scope="module")
def result() -> Result:
    torch.set_num_threads(1)
    return benchmark(Plan(repeats=2), SMALL, "cpu")


def test_each_encoder_has_a_table_with_both_sides(result: Result) -> None:
    assert len(result["tables"]) == 2
    for table in result["tables"]:
        assert [row[""] for row in table["rows"]] == [OURS, PEER]
        for row in table["rows"]:
            assert row["documents a second"]["repeats"] == 2
            # Six batches of four documents, of which three are measured.
            seconds = 24 / row["documents a second"]["highest"]
            assert row["epoch"]["lowest"] == pytest.approx(seconds)


def test_the_result_becomes_a_section_that_says_what_was_random(result: Result) -> None:
    text = section(json.loads(json.dumps(result)), "encoder-gpu.json")
    assert "## Training an encoder with label-wise attention on a GPU" in text
    assert "### small-mpnet, 24 documents, 2 pieces of 30 tokens, 4 documents a batch" in text
    assert "random pieces, as long as those of EURLEX57K" in text
    assert "weights random, in the encoder's shape" in text


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda one: one.name)
def test_both_sides_give_the_same_logits_and_gradients(encoder: Encoder) -> None:
    ours, peer, _ = networks(encoder, 20, "cpu")
    rows = random_split(6, 20, 300).rows(Reading(60, piece_tokens=30, stride=30))
    rows.lengths[-1] = 7  # some padding
    batch = Gatherer(rows, torch.device("cpu"))(range(6))
    for network in (ours, peer):
        network.eval()(batch).square().sum().backward()
    with torch.no_grad():
        torch.testing.assert_close(ours(batch), peer(batch), rtol=1e-4, atol=1e-4)
    gradient = peer.model.embeddings.word_embeddings.weight.grad
    torch.testing.assert_close(ours.words.weight.grad, gradient, rtol=1e-3, atol=1e-4)


def test_the_sides_start_alike_in_the_result_too(result: Result) -> None:
    for table in result["tables"]:
        assert table["difference"] < 0.1


def test_when_the_time_is_up_nothing_is_begun() -> None:
    result = benchmark(Plan(repeats=1, max_seconds=0), SMALL, "cpu")
    assert result["left out"] == ["small-bert", "small-mpnet"]
    assert result["tables"] == []


def test_what_does_not_fit_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def full_card(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("labelwise.bench.encoder_gpu.plain_attention", full_card)
    monkeypatch.setattr("labelwise.bench.encoder_gpu._difference", lambda *_: 0.0)
    ours, peer = benchmark(Plan(repeats=1), SMALL, "cpu")["tables"][0]["rows"]
    assert ours["epoch"]["repeats"] == 1
    assert peer == {"": PEER, "memory": "out of memory"}


def test_a_prepared_corpus_is_taken_and_one_in_words_refused(
    synthetic: Dataset, tmp_path: Path
) -> None:
    words = frequent_words(section.text for act in synthetic.train for section in act.sections)
    pieces = read_tokenizer(tiny_encoder("bert", words))
    train, space = synthetic.train[:30], synthetic.label_space
    shape = dataclasses.replace(ENCODERS[0].shape, rows=len(pieces))
    scale = dataclasses.replace(
        SMALL, encoders=[dataclasses.replace(ENCODERS[0], shape=shape)], batches=2
    )
    for prepared in (prepare_pieces(train, [], space, pieces), prepare(train, [], space, dim=4)):
        folder = tmp_path / type(prepared.vocabulary).__name__
        write_prepared(folder, prepared)
        record = {"data": dataclasses.asdict(DataRecord.of(synthetic))}
        (folder / "data.json").write_text(json.dumps(record))
    result = benchmark(Plan(data=tmp_path / "Pieces", repeats=1), scale, "cpu")
    assert result["data"]["name"] == synthetic.name
    assert result["tables"][0]["what"].startswith("small-bert, 30 documents")
    with pytest.raises(LabelwiseError, match="prepared in words, and encoders read word pieces"):
        benchmark(Plan(data=tmp_path / "Vocabulary"), scale, "cpu")


def test_the_weights_of_an_encoder_are_taken_where_its_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_encoder("mpnet")
    encoder = Encoder(folder.name, ENCODERS[1].shape, SETTINGS)
    monkeypatch.setenv("LABELWISE_ENCODERS", str(folder.parent))
    assert known_folder(folder.name) == folder
    assert known_folder("small-bert") is None
    ours, peer, weights = networks(encoder, 20, "cpu")
    assert weights == "of the encoder"
    torch.testing.assert_close(ours.words.weight, peer.model.embeddings.word_embeddings.weight)


def test_batches_are_chosen_evenly_by_their_tokens() -> None:
    examples = random_split(24, 20, 300).rows(Reading(2_000, piece_tokens=30, stride=30))
    epoch = epoch_batches(examples, 4, 10_000, 0, 0)
    assert len(epoch) == 6
    lengths = encoder_gpu.lengths(24)
    tokens = [int(lengths[list(batch)].sum()) for batch in some_batches(epoch, examples, 3)]
    ordered = sorted(int(lengths[list(batch)].sum()) for batch in epoch)
    assert tokens == ordered[1::2]
    assert len(some_batches(epoch, examples, 100)) == 6


def test_the_examples_hold() -> None:
    assert doctest.testmod(encoder_gpu).failed == 0
