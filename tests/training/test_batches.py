"""Batches hold each document once, alike in length, within both limits, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labelwise.text.flat_tokens import FlatTokens
from labelwise.training.batches import Gatherer, by_length, cut_into_batches, epoch_batches
from labelwise.training.numbered import Numbered, Reading, number


def corpus(documents: int = 300, by_section: bool = False) -> Numbered:
    random = np.random.default_rng(0)
    sections = random.integers(1, 5, documents)
    lengths = random.integers(1, 60, sections.sum())
    tokens = random.integers(2, 99, lengths.sum()).astype(np.int32)
    section_starts = np.concatenate([[0], np.cumsum(lengths)])
    document_starts = np.concatenate([[0], np.cumsum(sections)])
    reading = Reading(500, by_section, 9, 50)
    return number(FlatTokens(tokens, section_starts, document_starts), reading)


@pytest.mark.parametrize("by_section", [False, True])
def test_an_epoch_holds_every_document_once_within_both_limits(by_section: bool) -> None:
    documents = corpus(by_section=by_section)
    batches = epoch_batches(documents, batch=16, batch_tokens=1500, seed=0, epoch=0)
    assert sorted(d for batch in batches for d in batch) == list(range(300))
    rows = np.diff(documents.first)
    for batch in batches:
        assert len(batch) <= 16
        assert rows[batch].sum() * documents.longest[batch].max() <= 1500 or len(batch) == 1


def test_an_epoch_follows_from_its_seed_and_number() -> None:
    documents = corpus()

    def batches(seed: int, epoch: int) -> list[list[int]]:
        return epoch_batches(documents, 16, 10_000, seed, epoch)

    assert batches(0, 3) == batches(0, 3)
    assert batches(0, 3) != batches(0, 4)
    assert batches(0, 3) != batches(1, 3)


def test_documents_of_a_batch_are_alike_in_length() -> None:
    documents = corpus()
    batches = epoch_batches(documents, 16, 10_000, seed=0, epoch=0)
    spread = np.mean([np.ptp(documents.longest[batch]) for batch in batches])
    assert spread < np.ptp(documents.longest) / 6


def test_a_document_beyond_the_budget_is_a_batch_of_its_own() -> None:
    documents = corpus()
    batches = cut_into_batches(range(300), documents, batch=16, batch_tokens=1)
    assert batches == [[document] for document in range(300)]


def test_the_longest_come_first_when_scoring() -> None:
    documents = corpus()
    assert (np.diff(documents.longest[by_length(documents)]) <= 0).all()


@pytest.mark.parametrize("by_section", [False, True])
def test_a_gathered_batch_is_the_documents_and_nothing_else(by_section: bool) -> None:
    documents = corpus(by_section=by_section)
    batch = Gatherer(documents, torch.device("cpu"))([5, 250, 17, 3])
    assert sorted(batch.documents) == [3, 5, 17, 250]
    assert batch.index.tolist() == batch.documents
    assert (batch.lengths.diff() <= 0).all()
    assert batch.cpu_lengths.tolist() == batch.lengths.tolist()
    assert batch.tokens.shape == (int(batch.counts.sum()), int(batch.lengths[0]))
    if not by_section:
        assert batch.owner.tolist() == [0, 1, 2, 3]
    for row in range(len(batch.tokens)):
        document, length = batch.documents[int(batch.owner[row])], int(batch.lengths[row])
        at = documents.first[document] + int(batch.position[row])
        start = documents.starts[at]
        assert length == documents.lengths[at]
        assert (
            batch.tokens[row, :length].tolist() == documents.tokens[start : start + length].tolist()
        )
        assert not batch.tokens[row, length:].any()
