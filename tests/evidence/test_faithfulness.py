"""Faithfulness: figures that can be worked out by hand, and evidence that can be told from chance.

The toy method scores a label by the words present: each word adds what the label's table says.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evidence import occlusion
from labelwise.evidence.cuts import Cuts
from labelwise.evidence.faithfulness import Figure, RemovalPlan, measure_faithfulness
from labelwise.evidence.faithfulness_tables import (
    faithfulness_json,
    faithfulness_tables,
    findings,
    signed,
)
from labelwise.evidence.limits import limits
from labelwise.evidence.occlusion import occluded
from labelwise.evidence.words import Words
from labelwise.methods import Evidence, Method, Scores, Span, State, get
from labelwise.methods.base import EvidenceKind
from labelwise.text.tokenizer import tokenize, words

ADDS: Mapping[str, Mapping[str, float]] = {
    "693": {"citrus": 0.4, "fruit": 0.2, "lemons": 0.1, "steel": -0.1},
    "1309": {"import": 0.5, "customs": 0.3},
}
ACT = Document(
    "32001R0001",
    "",
    (
        Section("header", "On the import of citrus fruit"),
        Section("article", "Steel, lemons: none of these."),
    ),
    ("693",),
)  # 6 and 8 words, 10 of them without any effect on the gold label


def tokens(document: Document) -> list[str]:
    return [one.text for part in document.sections for one in tokenize(part.text)]


class Toy(Method):
    """Knows exactly what each word adds; says so, says the opposite, or looks elsewhere."""

    name = "toy"

    def __init__(self, sign: float = 1.0, kind: EvidenceKind = "contribution", read: int = 99):
        super().__init__()
        self.sign, self.kind, self.read = sign, kind, read
        self.asked: list[int] = []
        self._label_space = LabelSpace.from_counts({"693": 9, "1309": 8}, {})

    def _scores(self, documents: Sequence[Document]) -> Scores:
        self.asked.append(len(documents))
        rows = [
            [sum(ADDS[id].get(w, 0.0) for w in words(one.text)[: self.read]) for id in self.ids]
            for one in documents
        ]
        return np.array(rows, dtype=np.float32)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.label_space.ids

    def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
        return [self._evidence_for(document, label) for label in labels]

    def _evidence_for(self, document: Document, label: str) -> Evidence:
        tokens = tokenize(document.text)[: self.read]
        weighed = [(t.start, t.end, self.sign * ADDS[label].get(t.text, 0.0)) for t in tokens]
        kept = [Span(*one) for one in weighed if one[2] or self.kind == "attention"]
        return Evidence(label, self.kind, tuple(kept))

    def _fit(self, train: Sequence[Document], dev: Sequence[Document]) -> None: ...
    def state(self) -> State:
        return State({})

    def _restore(self, state: State) -> None: ...


def test_the_figures_are_those_worked_out_by_hand() -> None:
    # 14 words; 1 % is one word, 10 % is one, 20 % is three. The score of 693 is .6.
    plan = RemovalPlan(gold=True, shares=(0.01, 0.1, 0.2))
    found = measure_faithfulness(Toy(), [ACT], plan)
    removed = [found.at("own", "comprehensiveness", at).mean for at in range(3)]
    assert removed == pytest.approx([0.4, 0.4, 0.7])  # citrus; then fruit and lemons too
    kept = [found.at("own", "sufficiency", at).mean for at in range(3)]
    assert kept == pytest.approx([0.2, 0.2, -0.1])  # without "steel" the score even rises
    assert found.aopc("own", "comprehensiveness").mean == pytest.approx(0.5)
    assert found.aopc("own", "sufficiency").mean == pytest.approx(0.1)
    assert (found.documents, found.labels) == (("32001R0001",), 1)
    assert found.score.mean == pytest.approx(0.6)


def test_a_document_counts_once_by_the_mean_over_its_labels() -> None:
    found = measure_faithfulness(Toy(), [ACT], RemovalPlan(top=2, shares=(0.01,)))
    assert found.labels == 2
    assert found.aopc("own", "comprehensiveness").mean == pytest.approx((0.4 + 0.5) / 2)


def test_random_words_lose_what_they_hold_on_the_average() -> None:
    found = measure_faithfulness(Toy(), [ACT], RemovalPlan(gold=True, shares=(0.5,), draws=3000))
    # Half of the words are taken, so each word with a chance of one half.
    assert found.at("random", "comprehensiveness", 0).mean == pytest.approx(0.3, abs=0.02)
    assert found.at("random", "sufficiency", 0).mean == pytest.approx(0.3, abs=0.02)


def test_the_random_words_follow_from_the_seed() -> None:
    figures = [
        measure_faithfulness(Toy(), [ACT], RemovalPlan(seed=seed)).losses["random"]
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(figures[0], figures[1])
    assert not np.array_equal(figures[0], figures[2])


def test_evidence_that_points_the_wrong_way_is_called_worse() -> None:
    acts = [Document(f"3200{at}R", "", ACT.sections, ("693",)) for at in range(8)]
    plan = RemovalPlan(gold=True, draws=20)
    right, wrong = (measure_faithfulness(Toy(sign), acts, plan) for sign in (1, -1))
    against = [next(one for one in findings(of) if "random words" in one) for of in (right, wrong)]
    assert against[0].count("(better)") == 2
    assert against[1].count("(worse)") == 2
    assert "costs .4" in against[0]
    assert "more (better)" in against[0]
    assert findings(right)[-1].startswith(
        "Most faithful of what costs less than 10 readings for the 1 label of a document: "
    )


def test_evidence_without_a_difference_is_not_called_better() -> None:
    class Blind(Toy):
        """Its evidence is one word that has no effect."""

        def _evidence_for(self, document: Document, label: str) -> Evidence:
            return Evidence(label, "match", (Span(0, 2, 1.0),))  # "On"

    acts = [Document(f"3200{at}R", "", ACT.sections, ("693",)) for at in range(8)]
    plan = RemovalPlan(gold=True, shares=(0.5,), draws=20, explainers=())
    found = measure_faithfulness(Blind(), acts, plan)
    assert "no clear difference" in findings(found)[0]
    assert "(better)" not in findings(found)[0]


def test_words_that_are_not_read_do_not_move_in_when_others_go() -> None:
    """The method reads six words; "lemons" is beyond them and stays so."""
    reader = Toy(kind="attention", read=6)
    found = measure_faithfulness(reader, [ACT], RemovalPlan(gold=True, shares=(0.5,), draws=1))
    assert found.score.mean == pytest.approx(0.6)
    assert found.at("own", "comprehensiveness", 0).mean == pytest.approx(0.6)


def test_documents_with_words_removed_are_scored_together_and_each_of_them_once() -> None:
    toy = Toy()
    measure_faithfulness(toy, [ACT], RemovalPlan(top=2, draws=4, explainers=()))
    reading, cut, occluded, *searched = toy.asked
    assert reading == 1  # the labels are chosen
    # The whole act, and 3 sizes × 2 measures × (2 labels + 4 draws): of 14 words, 1 %, 5 % and 10 %
    # are one word.
    assert 25 < cut <= 1 + 3 * 2 * (2 + 4)
    assert occluded == 1 + 14
    # Then the ends of the scale, at each share 2 labels × 4 ends × 2 sets × 2 orders at most.
    assert len(searched) <= 5
    assert max(searched) <= 2 * 4 * 2 * 2


def test_a_normalised_figure_is_one_at_the_highest_and_zero_at_the_lowest() -> None:
    """The toy's own evidence is the best order of the words, the opposite the worst."""
    plan = RemovalPlan(gold=True, shares=(0.1, 0.5), explainers=())
    right, wrong = (measure_faithfulness(Toy(sign), [ACT], plan) for sign in (1, -1))
    assert right.normalised_aopc("own", "comprehensiveness").mean == pytest.approx(1)
    assert right.normalised_aopc("own", "sufficiency").mean == pytest.approx(0)
    assert right.standing("own").mean == pytest.approx(1)
    assert wrong.normalised_aopc("own", "comprehensiveness").mean == pytest.approx(0)
    assert wrong.standing("own").mean == pytest.approx(0)
    np.testing.assert_allclose(right.limits, wrong.limits)
    assert 0 < right.normalised_aopc("random", "comprehensiveness").mean < 1


def test_the_limits_are_those_of_all_orders_where_words_count_by_themselves() -> None:
    """Each word adds by itself: the best that any 1, 3 or 7 of 14 words can do is known."""
    found = measure_faithfulness(Toy(), [ACT], RemovalPlan(gold=True, shares=(0.01, 0.2, 0.5)))
    expected = [
        [-0.1, (0.4 + 0.7 + 0.7) / 3],  # steel alone is taken out; the words that add are
        [(0.2 - 0.1 - 0.1) / 3, 0.7],  # the words that add are left; steel alone is
    ]
    np.testing.assert_allclose(found.limits[0], expected, atol=1e-6)


def test_orders_that_are_mixed_reach_further_than_each_of_them() -> None:
    """Two orders know one word each; the beam takes a word from both."""
    toy, words = Toy(), Words(ACT)
    cuts = Cuts(toy, words, np.ones(14, dtype=bool), ["693"])
    at = {word: place for place, word in enumerate(tokens(ACT))}
    rest = [place for word, place in at.items() if word not in ADDS["693"]]
    orders = [np.array([at[first], *rest]) for first in ("citrus", "fruit")]
    (found,) = limits(cuts, [orders], (1 / 14, 2 / 14))
    assert found[0, 1] == pytest.approx((0.4 + 0.6) / 2)


def test_a_label_that_no_cut_moves_has_no_normalised_figure() -> None:
    class Stubborn(Toy):
        def _scores(self, documents: Sequence[Document]) -> Scores:
            return np.full((len(documents), 2), 0.5, dtype=np.float32)

    found = measure_faithfulness(Stubborn(), [ACT], RemovalPlan(gold=True))
    assert np.isnan(found.normalised_aopc("own", "comprehensiveness").mean)
    assert found.aopc("own", "comprehensiveness").mean == 0


def test_occlusion_finds_what_each_word_adds() -> None:
    (one,) = occluded(Toy(), ACT, ["693"])
    weights = dict(zip(tokens(ACT), Words(ACT).weights(one.spans), strict=True))
    shares = {word: adds / 0.8 for word, adds in ADDS["693"].items()}
    assert {word: weight for word, weight in weights.items() if weight} == pytest.approx(shares)
    assert one.kind == "contribution"
    (silent,) = occluded(Toy(), Document("1", "", ()), ["693"])
    assert silent.spans == ()


def test_a_long_document_is_occluded_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occlusion, "WINDOWS", 4)
    toy = Toy()
    (one,) = occluded(toy, ACT, ["693"])
    assert toy.asked == [1 + 4]  # windows of four words
    weights = Words(ACT).weights(one.spans)
    assert len(set(weights[:4])) == 1
    assert len(set(weights[4:8])) == 1


def test_what_an_explainer_costs_is_told_in_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Slow(Toy):
        explainers, explainer = ("quick", "slow"), "quick"

        def _scores(self, documents: Sequence[Document]) -> Scores:
            now[0] += 0.25 * len(documents)
            return super()._scores(documents)

        def _evidence(self, document: Document, labels: Sequence[str]) -> list[Evidence]:
            now[0] += 0.5
            return super()._evidence(document, labels)

        def _explained(
            self, document: Document, labels: Sequence[str], explainer: str
        ) -> list[Evidence]:
            now[0] += 9.5
            return self._evidence(document, labels)

    found = measure_faithfulness(Slow(), [ACT], RemovalPlan(gold=True, explainers=("slow",)))
    assert list(found.losses) == ["own", "slow", "random"]
    assert found.own == "quick"
    assert found.costs == {"own": 2, "slow": 40}
    of_both = {"own": np.array([[0.5, 0.5]]), "slow": np.array([[1.0, 0.0]])}
    better = replace(found, normalised=of_both)
    assert better.best_affordable() == "own"
    assert replace(better, costs={"own": 2, "slow": 9}).best_affordable() == "slow"


def test_an_explainer_that_the_method_does_not_have_is_refused() -> None:
    with pytest.raises(LabelwiseError, match="no explainer 'gradient' here; there are: occlusion"):
        measure_faithfulness(Toy(), [ACT], RemovalPlan(explainers=("gradient",)))


def test_what_cannot_be_tested_is_left_out_or_said() -> None:
    empty = Document("32001R0002", "", (), ("693",))
    silent = Document("32001R0003", "", (Section("article", "Nothing of note."),), ("693",))
    unlabelled = Document("32001R0004", "", ACT.sections)
    found = measure_faithfulness(Toy(), [empty, silent, unlabelled, ACT], RemovalPlan(gold=True))
    assert found.documents == ("32001R0001",)
    with pytest.raises(LabelwiseError, match="no document has both words and a label"):
        measure_faithfulness(Toy(), [empty, silent])
    one = faithfulness_json(found)["evidence"]["own"]["sufficiency"]["aopc"]
    assert np.isnan(one["error"]), "one document has no standard error"


def test_a_standard_error_is_that_of_a_mean() -> None:
    figure = Figure.of(np.array([1.0, 2.0, 3.0, 4.0]))
    assert (figure.mean, figure.error) == pytest.approx((2.5, np.sqrt(5 / 3) / 2))


TEXTS = st.lists(st.text("aé1,./ \n-İ\u0301β", max_size=12), max_size=4)


@given(TEXTS, st.data())
def test_exactly_the_chosen_words_are_removed(texts: list[str], data: st.DataObject) -> None:
    document = Document("1", "", tuple(Section("article", text) for text in texts))
    every = [token.text for text in texts for token in tokenize(text)]
    counted = Words(document)
    assert len(counted) == len(every)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    left = counted.keep(np.array(chosen, dtype=bool))
    rest = [token.text for section in left.sections for token in tokenize(section.text)]
    assert rest == [word for word, kept in zip(every, chosen, strict=True) if kept]
    assert counted.keep(np.ones(len(every), dtype=bool)) == document


def test_a_word_carries_every_span_that_it_is_part_of() -> None:
    counted = Words(ACT)
    start = ACT.text.index("citrus")
    spans = [Span(start, start + 12, 0.5), Span(start, start + 6, 0.25), Span(0, 2, -0.25)]
    weights = dict(zip(words(ACT.text), counted.weights(spans), strict=True))
    assert {word: weight for word, weight in weights.items() if weight} == {
        "on": -0.25, "citrus": 0.75, "fruit": 0.5,
    }  # fmt: skip
    assert counted.covered(spans).sum() == 3
    assert counted.covered([]).sum() == 0
    assert counted.weights([]).tolist() == [0.0] * 14


def test_the_tables_fit_a_terminal_and_name_every_source() -> None:
    found = measure_faithfulness(Toy(kind="attention"), [ACT, ACT], RemovalPlan(gold=True))
    comprehensiveness, sufficiency, compared = faithfulness_tables(found)
    assert comprehensiveness.columns == ["evidence", "1%", "5%", "10%", "20%", "50%", "AOPC"]
    assert [row[0] for row in sufficiency.rows] == ["attention", "occlusion", "random words"]
    assert compared.columns == ["evidence", "comprehensiveness", "sufficiency", "cost"]
    assert compared.rows[-1][-1] == "", "random words cost nothing"
    assert "higher is better" in comprehensiveness.title
    assert "lower is better" in sufficiency.title
    assert comprehensiveness.rows[0][1] == ".400"
    assert "±" in comprehensiveness.rows[0][-1]
    assert signed(-0.25) == "-.250"


def test_the_contributions_of_an_svm_are_far_better_than_random_words(synthetic: Dataset) -> None:
    method = get("svm")(get("svm").Settings(passes=6))
    method.fit(synthetic.train[:300], synthetic.dev[:20], synthetic.label_space)
    found = measure_faithfulness(method, synthetic.test[:15], RemovalPlan(top=2))
    own, random = (found.aopc(source, "comprehensiveness").mean for source in ("own", "random"))
    assert own > random + 0.2
    assert found.difference("own", "random", "sufficiency").mean < -0.2
    against = next(one for one in findings(found) if "random words" in one)
    assert against.count("(better)") == 2
