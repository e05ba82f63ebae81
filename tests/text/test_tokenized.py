"""The tokenised corpus: the numbers spell the documents, whatever the jobs and the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.document import SECTION_KINDS, Document, Section
from labelwise.text import tokenized, tokenizer
from labelwise.text.tokenized import TokenizedCorpus, content_key, tokenize_corpus
from labelwise.text.tokenizer import words

ACTS = [
    Document(
        "32001R0001",
        "Commission Regulation (EC) No 1/2001",
        (
            Section("header", "Commission Regulation (EC) No 1/2001 on citrus fruit"),
            Section(
                "recitals", "Whereas the import of citrus fruit from Spain has risen by 1,5 %;"
            ),
            Section("article", "Import duties on oranges shall be EUR 12.50 a tonne."),
            Section("article", "This Regulation shall enter into force on 1 January 2001."),
            Section("attachments", "ANNEX: oranges, lemons, mandarins"),
        ),
    ),
    Document("empty", "", ()),
    Document("blank", "", (Section("article", " \n"),)),
    Document("31990L0314", "", (Section("article", "Ο κανονισμός; İstanbul, ΤΗΣ ΕΠΙΤΡΟΠΗΣ"),)),
]

texts = st.text(alphabet=st.sampled_from("aAbB1.,;Σσς é\u0301\n"), max_size=30)
sections = st.builds(Section, st.sampled_from(SECTION_KINDS), texts)
documents = st.builds(
    lambda id, sections: Document(id, "", tuple(sections)), texts, st.lists(sections, max_size=4)
)


def assert_same(one: TokenizedCorpus, other: TokenizedCorpus) -> None:
    assert one.words == other.words
    for name in ("counts", "tokens", "section_starts", "document_starts", "section_kinds"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert np.array_equal(first, second), name


def assert_spells(corpus: TokenizedCorpus, documents: Sequence[Document]) -> None:
    """Every section's numbers, turned back into words, are the words of its text."""
    assert len(corpus) == len(documents)
    for row, document in enumerate(documents):
        first, last = corpus.document_starts[row : row + 2]
        assert last - first == len(document.sections)
        for at, section in zip(range(first, last), document.sections, strict=True):
            numbers = corpus.tokens[corpus.section_starts[at] : corpus.section_starts[at + 1]]
            assert [corpus.words[number] for number in numbers] == words(section.text)
            assert SECTION_KINDS[corpus.section_kinds[at]] == section.kind


@given(st.lists(documents, max_size=5))
def test_the_numbers_spell_the_documents(documents: list[Document]) -> None:
    corpus = tokenize_corpus(documents)
    assert_spells(corpus, documents)
    counted = Counter(
        word
        for document in documents
        for section in document.sections
        for word in words(section.text)
    )
    expected = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    assert list(zip(corpus.words, corpus.counts.tolist(), strict=True)) == expected


def test_the_arrays_have_the_promised_types_and_are_read_only() -> None:
    corpus = tokenize_corpus(ACTS)
    assert corpus.counts.dtype == np.int64
    assert corpus.tokens.dtype == np.int32
    assert corpus.section_starts.dtype == corpus.document_starts.dtype == np.int64
    assert corpus.section_kinds.dtype == np.uint8
    with pytest.raises(ValueError, match="read-only"):
        corpus.tokens[0] = 0


def test_token_starts_mark_the_documents() -> None:
    corpus = tokenize_corpus(ACTS)
    lengths = [sum(len(words(section.text)) for section in act.sections) for act in ACTS]
    assert np.diff(corpus.token_starts).tolist() == lengths
    assert lengths[1:3] == [0, 0]


def test_no_documents_are_a_corpus_too(tmp_path: Path) -> None:
    corpus = tokenize_corpus([])
    assert (len(corpus), corpus.words, len(corpus.tokens)) == (0, [], 0)
    tokenize_corpus([], cache=tmp_path)
    assert_same(tokenize_corpus([], cache=tmp_path), corpus)


@pytest.mark.parametrize("chunk", [1, 40, 100, 10_000])
def test_the_size_of_the_chunks_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    expected = tokenize_corpus(ACTS)
    monkeypatch.setattr(tokenized, "CHUNK", chunk)
    assert_same(tokenize_corpus(ACTS, jobs=1), expected)


def test_the_number_of_jobs_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    acts = [replace(act, id=f"{act.id}-{copy}") for copy in range(20) for act in ACTS]
    expected = tokenize_corpus(acts, jobs=1)
    monkeypatch.setattr(tokenized, "CHUNK", 200)
    for jobs in (2, 3):
        assert_same(tokenize_corpus(acts, jobs=jobs), expected)


def test_a_small_corpus_starts_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("joblib.Parallel", refuse)
    assert_spells(tokenize_corpus(ACTS, jobs=2), ACTS)


SCRIPT = """
import sys
from labelwise.corpus.document import Document, Section
from labelwise.text import tokenized
print("the script runs")
tokenized.CHUNK = 100
act = "Import duties on oranges shall be EUR 12.50 a tonne, from Spain and Italy alike. " * 2
acts = [Document(str(n), "", (Section("article", act + str(n)),)) for n in range(20)]
corpus = tokenized.tokenize_corpus(acts, jobs=2)
print(corpus.words, corpus.tokens.tolist())
"""


def test_a_script_without_a_main_guard_and_any_hash_seed_give_the_same(tmp_path: Path) -> None:
    """Worker processes must not run the user's script again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    outputs = [
        subprocess.run(
            [sys.executable, script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0].count("the script runs") == 1
    assert outputs[0] == outputs[1]


@given(st.lists(documents, max_size=3), st.lists(documents, max_size=3))
def test_equal_documents_and_only_they_have_equal_keys(
    one: list[Document], other: list[Document]
) -> None:
    assert content_key(one) == content_key([replace(document) for document in one])
    assert (content_key(one) == content_key(other)) == (one == other)


@pytest.mark.parametrize(
    "changed",
    [
        replace(ACTS[0], id="32001R0002"),
        replace(ACTS[0], sections=ACTS[0].sections[:-1]),
        replace(ACTS[0], sections=(*ACTS[0].sections[:-1], Section("attachments", "ANNEX"))),
        replace(
            ACTS[0],
            sections=(*ACTS[0].sections[:-1], replace(ACTS[0].sections[-1], kind="article")),
        ),
    ],
)
def test_another_id_text_or_kind_is_another_key(changed: Document) -> None:
    assert content_key([changed, *ACTS[1:]]) != content_key(ACTS)


def test_labels_and_titles_do_not_touch_the_key() -> None:
    assert content_key([replace(ACTS[0], labels=("693",), title="")]) == content_key(ACTS[:1])


def building_counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    built: list[int] = []
    build = tokenized._build

    def counted(documents: Sequence[Document], jobs: int | None) -> TokenizedCorpus:
        built.append(len(documents))
        return build(documents, jobs)

    monkeypatch.setattr(tokenized, "_build", counted)
    return built


def test_the_second_time_comes_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = building_counted(monkeypatch)
    first = tokenize_corpus(ACTS, cache=tmp_path)
    second = tokenize_corpus(ACTS, cache=tmp_path)
    assert built == [len(ACTS)]
    assert_same(first, second)
    assert isinstance(second.tokens.base, np.memmap)


def test_splits_share_a_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = building_counted(monkeypatch)
    for _ in range(2):
        for split in (ACTS[:1], ACTS[1:]):
            assert_spells(tokenize_corpus(split, cache=tmp_path), split)
    assert built == [1, 3]


def test_a_cache_of_other_rules_or_other_documents_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = building_counted(monkeypatch)
    tokenize_corpus(ACTS, cache=tmp_path)
    monkeypatch.setattr(tokenizer, "VERSION", tokenizer.VERSION + 1)
    tokenize_corpus(ACTS, cache=tmp_path)
    assert built == [4, 4]
    edited = [*ACTS[:3], replace(ACTS[3], sections=(Section("article", "Corrigendum"),))]
    assert_spells(tokenize_corpus(edited, cache=tmp_path), edited)


@pytest.mark.parametrize("file", ["tokens.npy", "words.npy", "section_kinds.npy", "meta.json"])
def test_a_damaged_cache_is_rebuilt_with_a_warning_and_good_again(
    tmp_path: Path, file: str
) -> None:
    expected = tokenize_corpus(ACTS, cache=tmp_path)
    path = tmp_path / content_key(ACTS) / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    with pytest.warns(UserWarning, match="damaged"):
        assert_same(tokenize_corpus(ACTS, cache=tmp_path), expected)
    assert_same(tokenize_corpus(ACTS, cache=tmp_path), expected)
