"""Documents become rows: cut where the settings say, no empty section, never without a word."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from labelwise.text.flat_tokens import FlatTokens
from labelwise.training.numbered import Reading, gold_columns, number

# Three documents: sections of 4, 0 and 6 tokens; no section; sections of 0, 2, 3, 1 tokens.
TOKENS = np.arange(2, 18, dtype=np.int32)
SECTIONS = np.array([0, 4, 4, 10, 10, 12, 15, 16])
DOCUMENTS = np.array([0, 3, 3, 7])


def rows(reading: Reading) -> list[list[list[int]]]:
    numbered = number(FlatTokens(TOKENS, SECTIONS, DOCUMENTS), reading)
    return [
        [
            numbered.tokens[start : start + length].tolist()
            for start, length in zip(
                numbered.starts[first:end], numbered.lengths[first:end], strict=True
            )
        ]
        for first, end in zip(numbered.first[:-1], numbered.first[1:], strict=True)
    ]


def test_a_flat_document_is_one_row_of_all_its_sections() -> None:
    assert rows(Reading(100)) == [[list(range(2, 12))], [[1]], [list(range(12, 18))]]


def test_a_flat_document_is_cut_at_its_longest() -> None:
    assert rows(Reading(5)) == [[[2, 3, 4, 5, 6]], [[1]], [[12, 13, 14, 15, 16]]]


def test_sections_are_rows_and_empty_ones_are_gone() -> None:
    assert rows(Reading(100, True, 9, 9)) == [
        [[2, 3, 4, 5], [6, 7, 8, 9, 10, 11]],
        [[1]],
        [[12, 13], [14, 15, 16], [17]],
    ]


def test_sections_are_cut_in_number_in_length_and_together() -> None:
    assert rows(Reading(100, True, 2, 3)) == [
        [[2, 3, 4], [6, 7, 8]],
        [[1]],
        [[12, 13], [14, 15, 16]],
    ]
    assert rows(Reading(4, True, 9, 3)) == [[[2, 3, 4], [6]], [[1]], [[12, 13], [14, 15]]]


def test_the_longest_row_of_each_document_is_known() -> None:
    numbered = number(FlatTokens(TOKENS, SECTIONS, DOCUMENTS), Reading(100, True, 9, 9))
    assert numbered.longest.tolist() == [6, 1, 3]
    assert len(numbered) == 3


def test_a_corpus_without_a_single_token_can_be_numbered() -> None:
    nothing = np.zeros(0, dtype=np.int32)
    for reading in (Reading(9), Reading(9, True, 9, 9)):
        numbered = number(FlatTokens(nothing, np.array([0, 0]), np.array([0, 1, 1])), reading)
        assert numbered.lengths.tolist() == [1, 1]
        assert numbered.tokens[numbered.starts].tolist() == [1, 1]


def test_gold_columns_fill_up_with_a_column_that_is_no_label() -> None:
    gold = sp.csr_matrix(np.array([[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]))
    assert gold_columns(gold).tolist() == [[1, 2], [4, 4], [0, 4]]
    assert gold_columns(sp.csr_matrix((2, 3))).tolist() == [[3], [3]]
