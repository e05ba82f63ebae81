"""The measures are the paper's, by its worked example, its identities and other libraries."""

from __future__ import annotations

import json
import lzma
import time
from collections import Counter
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import scipy.sparse as sp
from evaluation_cases import Example, label_space
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import f1_score, ndcg_score

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation import measures as measures_module
from labelwise.evaluation.counts import VIEWS
from labelwise.evaluation.measures import KS, evaluate, evaluate_topk, without_ties
from labelwise.evaluation.ranking import top_k

RANKED = [f"{name}@{k}" for name in ("P", "R", "RP", "nDCG") for k in KS]


@pytest.mark.parametrize(
    ("group", "k", "documents", "p", "r", "rp", "ndcg"),
    [
        ("all", 1, 4, 0.75, 0.25, 0.75, 0.75),
        ("all", 5, 4, 0.4, 0.625, 0.65, 0.627117),
        ("frequent", 3, 3, 0.555556, 0.888889, 0.888889, 0.772004),
        ("few", 3, 3, 0.444444, 1, 1, 0.774785),
        ("zero", 5, 2, 0.2, 1, 1, 1),
    ],
)
def test_the_worked_example_of_the_paper(
    worked_example: Example,
    group: str,
    k: int,
    documents: int,
    p: float,
    r: float,
    rp: float,
    ndcg: float,
) -> None:
    found = evaluate(worked_example.scores, worked_example.gold, worked_example.space)[group]
    assert found["documents"] == documents
    expected = {"P": p, "R": r, "RP": rp, "nDCG": ndcg}
    assert {name: found[f"{name}@{k}"] for name in expected} == pytest.approx(expected, abs=5e-7)


def test_micro_f1_of_the_worked_example_counts_all_documents(worked_example: Example) -> None:
    found = evaluate(worked_example.scores, worked_example.gold, worked_example.space)
    f1 = {group: found[group]["micro-F1"] for group in VIEWS}
    expected = {"all": 0.428571, "frequent": 0.375, "few": 0.5, "zero": 0.5, "zero-among-all": 0.5}
    assert f1 == pytest.approx(expected, abs=5e-7)
    assert found.counts.f1_counts("all").sum(axis=0).tolist() == [6, 10, 6]


def test_zero_shot_labels_ranked_among_all_are_further_down(worked_example: Example) -> None:
    found = evaluate(worked_example.scores, worked_example.gold, worked_example.space)
    # Label 8 is the sixth of D2 and label 9 the first of D3.
    harder = found["zero-among-all"]
    assert harder["documents"] == 2
    assert harder["RP@1"] == harder["RP@5"] == 0.5
    assert harder["RP@6"] == 1
    assert harder["nDCG@6"] == pytest.approx((1 + 1 / np.log2(7)) / 2)
    assert found["zero"]["RP@5"] == 1


def test_labels_that_all_tie_have_no_ranking(worked_example: Example) -> None:
    space, gold = worked_example.space, worked_example.gold
    scores = worked_example.scores.copy()
    scores[:, space.groups["zero"]] = np.arange(5, dtype=np.float32)[:, None]
    found = evaluate(scores, gold, space)
    assert found["zero"]["RP@5"] > 0  # the order of the labels happens to hit
    shown = without_ties(found, scores, space)
    assert all(np.isnan(shown["zero"][name]) for name in RANKED)
    for name in ("documents", "micro-F1"):
        assert shown["zero"][name] == found["zero"][name]
    for other in ("all", "frequent", "few", "zero-among-all"):
        assert shown[other] == found[other]
    scores[3, -1] -= 1  # one document that ranks them is enough
    assert without_ties(evaluate(scores, gold, space), scores, space)["zero"]["RP@5"] > 0


def test_sparse_and_dense_gold_give_the_same_figures(worked_example: Example) -> None:
    dense = evaluate(worked_example.scores, worked_example.gold, worked_example.space)
    rows, columns = worked_example.gold.nonzero()
    # Every label twice, and an explicit zero: still the same gold labels.
    data = [1] * (2 * len(rows)) + [0]
    sparse = sp.coo_matrix((data, ([*rows, *rows, 4], [*columns, *columns, 0])), shape=(5, 10))
    for gold in (sp.csr_matrix(worked_example.gold), sparse, worked_example.gold.astype(bool)):
        again = evaluate(worked_example.scores, gold, worked_example.space)
        assert again.values == dense.values


def random_case(seed: int, documents: int = 30) -> tuple[np.ndarray, np.ndarray, LabelSpace]:
    """Scores without ties; every third document has no gold label."""
    random = np.random.default_rng(seed)
    space = label_space(7, 13, 5)
    scores = random.permutation(documents * len(space)).astype(np.float32)
    gold = random.random((documents, len(space))) < random.random((documents, 1)) * 0.5
    gold[::3] = False
    return scores.reshape(documents, -1) / scores.size, gold, space


@pytest.mark.parametrize("seed", range(3))
def test_ndcg_agrees_with_scikit_learn(seed: int) -> None:
    scores, gold, space = random_case(seed)
    found = evaluate(scores, gold, space)
    for group in ("all", "frequent", "few", "zero"):
        columns = slice(None) if group == "all" else space.groups[group]
        s, g = scores[:, columns], gold[:, columns]
        kept = g.any(axis=1)
        assert found[group]["documents"] == kept.sum() > 0
        for k in KS:
            expected = ndcg_score(g[kept], s[kept], k=k)
            assert found[group][f"nDCG@{k}"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_precision_recall_and_ndcg_agree_with_ir_measures(seed: int) -> None:
    scores, gold, space = random_case(seed)
    found = evaluate(scores, gold, space)
    relevant = {
        str(row): {str(label): 1 for label in np.flatnonzero(gold[row])}
        for row in range(len(gold))
        if gold[row].any()
    }
    ranked = {
        row: {str(label): float(score) for label, score in enumerate(scores[int(row)])}
        for row in relevant
    }
    theirs = {name: getattr(ir_measures, name) for name in ("P", "R", "nDCG")}
    asked = [measure @ k for measure in theirs.values() for k in KS]
    expected = ir_measures.calc_aggregate(asked, relevant, ranked)
    for name, measure in theirs.items():
        for k in KS:
            assert found["all"][f"{name}@{k}"] == pytest.approx(expected[measure @ k], abs=1e-9)


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_f1_agrees_with_scikit_learn(threshold: float) -> None:
    scores, gold, space = random_case(5)
    found = evaluate(scores, gold, space, threshold=0.5, tuned_threshold=threshold)
    for group in ("all", "frequent", "few", "zero"):
        columns = slice(None) if group == "all" else space.groups[group]
        truth, guess = gold[:, columns], scores[:, columns] > np.float32(threshold)
        micro = f1_score(truth, guess, average="micro", zero_division=0)
        macro = f1_score(truth, guess, average="macro", zero_division=np.nan)
        assert found[group]["micro-F1 tuned"] == pytest.approx(micro)
        assert found[group]["macro-F1 tuned"] == pytest.approx(macro)


cases = st.integers(1, 5).flatmap(
    lambda documents: st.tuples(
        # Whole numbers from a narrow range, so that ties abound.
        hnp.arrays(np.float32, (documents, 14), elements=st.integers(-3, 3).map(float)),
        hnp.arrays(np.bool_, (documents, 14)),
    )
)
SPACE = label_space(5, 6, 3)


def naive(scores: np.ndarray, gold: np.ndarray, columns: range, wanted: range) -> dict[str, float]:
    """The definitions word by word: a stable sort, then loops."""
    rows: list[dict[str, float]] = []
    for document in range(len(scores)):
        ranking = sorted(columns, key=lambda label: (-scores[document, label], label))
        relevant = [label for label in wanted if gold[document, label]]
        if not relevant:
            continue
        row = {}
        for k in KS:
            hit = [label in relevant for label in ranking[:k]]
            row[f"P@{k}"] = sum(hit) / k
            row[f"R@{k}"] = sum(hit) / len(relevant)
            row[f"RP@{k}"] = sum(hit) / min(k, len(relevant))
            dcg = sum(h / np.log2(1 + place) for place, h in enumerate(hit, 1))
            ideal = sum(1 / np.log2(1 + place) for place in range(1, min(k, len(relevant)) + 1))
            row[f"nDCG@{k}"] = dcg / ideal
        rows.append(row)
    return {name: float(np.mean([row[name] for row in rows])) for name in RANKED} if rows else {}


@settings(max_examples=60, deadline=None)
@given(cases)
def test_figures_are_the_definitions_word_by_word_with_ties(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    scores, gold = case
    found = evaluate(scores, gold, SPACE)
    views = {
        "all": (range(14), range(14)),
        "frequent": (range(5), range(5)),
        "few": (range(5, 11), range(5, 11)),
        "zero": (range(11, 14), range(11, 14)),
        "zero-among-all": (range(14), range(11, 14)),
    }
    for view, (columns, wanted) in views.items():
        expected = naive(scores, gold, columns, wanted)
        if expected:
            assert {n: found[view][n] for n in RANKED} == pytest.approx(expected, abs=1e-12)
        else:
            assert found[view]["documents"] == 0
            assert all(np.isnan(found[view][name]) for name in RANKED)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_identities_of_the_paper_hold(case: tuple[np.ndarray, np.ndarray]) -> None:
    scores, gold = case
    found = evaluate(scores, gold, SPACE)
    for view in VIEWS:
        figures, relevant = found[view], found.counts.gold_labels(view)
        relevant = relevant[relevant > 0]
        if not len(relevant):
            continue
        assert all(0 <= figures[name] <= 1 for name in RANKED)
        assert figures["RP@1"] == figures["P@1"]
        for k in KS:
            if relevant.max() <= k:
                assert figures[f"RP@{k}"] == figures[f"R@{k}"]
            if relevant.min() >= k:
                assert figures[f"RP@{k}"] == figures[f"P@{k}"]
    perfect = evaluate(gold.astype(np.float32), gold, SPACE)
    for view in VIEWS:
        if perfect[view]["documents"] and view != "zero-among-all":
            assert all(perfect[view][f"nDCG@{k}"] == 1 for k in KS)
            assert all(perfect[view][f"RP@{k}"] == 1 for k in KS)
            assert perfect[view]["micro-F1"] == perfect[view]["macro-F1"] == 1


@settings(max_examples=40, deadline=None)
@given(cases, st.randoms(use_true_random=False))
def test_neither_document_order_nor_a_monotone_change_of_scores_matters(
    case: tuple[np.ndarray, np.ndarray], random: object
) -> None:
    scores, gold = case
    found = evaluate(scores, gold, SPACE)
    order = np.arange(len(scores))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = evaluate(scores[order], gold[order], SPACE)
    stretched = evaluate(np.exp(scores), gold, SPACE)
    for view in VIEWS:
        for name in RANKED:
            expected = pytest.approx(found[view][name], abs=1e-12, nan_ok=True)
            assert shuffled[view][name] == expected
            assert stretched[view][name] == expected


def test_blocks_of_documents_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, gold, space = random_case(8, documents=50)
    whole = evaluate(scores, gold, space, tuned_threshold=0.9)
    monkeypatch.setattr(measures_module, "BLOCK", 7 * len(space))
    pieces = evaluate(scores, gold, space, tuned_threshold=0.9)
    assert pieces.values == whole.values
    assert np.array_equal(pieces.counts.hits, whole.counts.hits)


def test_chance_is_the_mean_over_all_rankings() -> None:
    """Five labels have 120 rankings: the chance level is their plain average."""
    from itertools import permutations

    space = label_space(5, 0, 0)
    gold = np.array([[1, 0, 0, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]])
    rankings = [np.array(order, dtype=np.float32) for order in permutations(range(5))]
    each = [evaluate(np.tile(order, (4, 1)), gold, space)["all"] for order in rankings]
    chance = evaluate(np.zeros((4, 5), dtype=np.float32), gold, space).chance["all"]
    for name in RANKED:
        assert chance[name] == pytest.approx(np.mean([figures[name] for figures in each]))


def test_chance_among_all_labels_is_lower_than_among_the_zero_shot_ones(
    worked_example: Example,
) -> None:
    chance = evaluate(worked_example.scores, worked_example.gold, worked_example.space).chance
    assert chance["zero"]["R@1"] == pytest.approx(1 / 2)
    assert chance["zero-among-all"]["R@1"] == pytest.approx(1 / 10)


@pytest.mark.real
def test_chance_on_the_zero_shot_labels_of_eurlex57k(real_data: Path) -> None:
    documents: dict[str, list[Document]] = {}
    for split in ("train", "dev", "test"):
        with lzma.open(real_data / "eurlex57k" / f"{split}.jsonl.xz", "rt", encoding="utf-8") as f:
            documents[split] = [
                Document(str(row), "", (), tuple(json.loads(line)["concepts"]))
                for row, line in enumerate(f)
            ]
    counts = Counter(label for document in documents["train"] for label in document.labels)
    for document in documents["dev"] + documents["test"]:
        for label in document.labels:
            counts.setdefault(label, 0)
    space = LabelSpace.from_counts(counts)
    gold = space.gold(documents["test"])
    found = evaluate(np.zeros(gold.shape, dtype=np.float32), gold, space)
    assert round(found.chance["zero"]["RP@5"], 3) == 0.031
    assert round(found.chance["zero"]["nDCG@5"], 3) == 0.018
    assert found["all"]["documents"] == 6000


def test_lists_of_the_best_labels_give_the_figures_of_dense_scores() -> None:
    scores, gold, space = random_case(3)
    scores = np.round(scores, 1)  # ties
    dense = evaluate(scores, gold, space, tuned_threshold=0.3)
    ranked = top_k(scores, len(space))
    listed = np.take_along_axis(scores, ranked, axis=1)
    # The order of a list does not matter, its scores do.
    found = evaluate_topk(ranked[:, ::-1], listed[:, ::-1], gold, space, tuned_threshold=0.3)
    for view in VIEWS:
        assert found[view].pop("rankings cut short") == 0
        assert found[view].pop("predictions cut short") == 0
    assert found.values == dense.values
    assert found.chance == dense.chance


def test_a_list_too_short_for_a_group_says_so() -> None:
    scores, gold, space = random_case(4)
    ranked = top_k(scores, 10)
    listed = np.take_along_axis(scores, ranked, axis=1)
    dense, found = evaluate(scores, gold, space), evaluate_topk(ranked, listed, gold, space)
    assert found["all"]["rankings cut short"] == 0
    assert {n: found["all"][n] for n in RANKED} == {n: dense["all"][n] for n in RANKED}
    assert found["few"]["rankings cut short"] > 0
    assert all(found["few"][n] <= dense["few"][n] for n in RANKED)
    # About half of the 25 labels are above .5, but only ten are listed.
    assert found["all"]["predictions cut short"] > 20
    at_the_end = evaluate_topk(ranked, listed, gold, space, threshold=0.95)
    assert at_the_end["all"]["predictions cut short"] < 5


def test_empty_places_of_a_list_are_no_labels() -> None:
    space = label_space(2, 2, 0)
    gold = np.array([[1, 0, 0, 0], [0, 0, 1, 0]])
    ranked = np.array([[1, 0, -1], [-1, -1, -1]])
    scores = np.array([[0.9, 0.8, np.nan], [np.nan] * 3])
    found = evaluate_topk(ranked, scores, gold, space)
    assert found["all"]["R@5"] == 0.5
    assert found["all"]["P@1"] == 0
    assert found["all"]["micro-F1"] == pytest.approx(2 * 1 / (2 + 2))


def test_a_score_that_is_no_number_is_an_error_that_says_where(worked_example: Example) -> None:
    scores = worked_example.scores.copy()
    scores[2, 7] = np.nan
    with pytest.raises(LabelwiseError, match="row 2, column 7 is NaN"):
        evaluate(scores, worked_example.gold, worked_example.space)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: (e.scores[:, :9], e.gold[:, :9], e.space), "the label space has 10 labels"),
        (lambda e: (e.scores[:4], e.gold, e.space), r"gold labels have the shape \(5, 10\)"),
        (lambda e: (e.scores[0], e.gold, e.space), r"the scores have the shape \(10,\)"),
    ],
)
def test_wrong_shapes_are_named(worked_example: Example, change: object, message: str) -> None:
    with pytest.raises(LabelwiseError, match=message):
        evaluate(*change(worked_example))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("ranked", "message"),
    [
        ([[0, 10]], "columns 0 to 9"),
        ([[-2, 1]], "columns 0 to 9"),
        ([[3, 3]], "row 0 names the label in column 3 twice"),
        ([[0.0, 1.0]], "whole numbers"),
        ([[0, 1, 2]], "but their scores"),
    ],
)
def test_wrong_lists_are_named(worked_example: Example, ranked: object, message: str) -> None:
    with pytest.raises(LabelwiseError, match=message):
        evaluate_topk(ranked, [[0.5, 0.4]], worked_example.gold[:1], worked_example.space)


@pytest.mark.parametrize("ks", [[0], [11], []])
def test_k_outside_one_to_ten_is_refused(worked_example: Example, ks: list[int]) -> None:
    with pytest.raises(LabelwiseError, match="K must be from 1 to 10"):
        evaluate(worked_example.scores, worked_example.gold, worked_example.space, ks=ks)


def test_all_figures_of_a_whole_split_cost_about_one_stable_sort() -> None:
    """6,000 × 4,271 scores. The yardstick is what a plain implementation does first, once."""
    random = np.random.default_rng(0)
    space = label_space(746, 3362, 163)
    scores = random.random((6000, 4271), dtype=np.float32)
    gold = sp.random(6000, 4271, density=5 / 4271, format="csr", random_state=0)
    start = time.process_time()
    np.argsort(-scores[:600], axis=1, kind="stable")
    yardstick = 10 * (time.process_time() - start)
    start = time.process_time()
    evaluate(scores, gold, space, threshold=0.999, tuned_threshold=0.998)
    assert time.process_time() - start < 2 * yardstick


@pytest.mark.parametrize("high", [-np.inf, 0.0, 2.0])
def test_a_label_that_the_method_does_not_know_is_missed_whatever_its_score(
    worked_example: Example, high: float
) -> None:
    example = worked_example
    scores = example.scores.copy()
    scores[:, [4, 9]] = high
    got = evaluate(scores, example.gold, example.space, tuned_threshold=0.3, unranked=[4, 9])
    known = np.delete(np.tile(np.arange(10), (5, 1)), [4, 9], axis=1)
    listed = np.take_along_axis(example.scores, known, axis=1)
    expected = evaluate_topk(known, listed, example.gold, example.space, tuned_threshold=0.3)
    for group in VIEWS:
        for measure, value in got[group].items():
            assert value == pytest.approx(expected[group][measure], nan_ok=True), (group, measure)
    # Of the two zero-shot labels one is known: the other one's place in the ranking stays empty.
    assert got.counts.per_document("zero", "RP@5")[3] == 0
    # At .5 six labels are missed where all are known; here 4 of the first act and 9 are too.
    assert got.counts.f1_counts("all").sum(axis=0)[2] == 6 + 2
