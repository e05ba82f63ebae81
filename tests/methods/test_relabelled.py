"""A trained method under a newer thesaurus: whatever it is, it keeps what it has learned."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import acts, fitted, label_space

from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import GROUPS
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.methods import Method
from labelwise.methods.base import Widening
from labelwise.methods.blend import Blend
from labelwise.methods.exact_match import ExactMatch
from labelwise.methods.relabelled import relabel
from labelwise.methods.svm import SVM, SVMSettings

DOCUMENTS = acts(6, seed=7)

TODAY = Thesaurus.of(
    [
        Concept("693", "", "citrus", replaced_by=("700",)),
        Concept("1309", "", "import", replaced_by=("700",)),  # two become one
        Concept("700", "", "trade in citrus fruit"),
        Concept("2437", "", "catch quota"),
        Concept("5255", "", "fishing vessel"),
        Concept("9001", "", "quota of fruit"),
        Concept("100142", "", "04 POLITICS"),
    ]
)
"""3173 is not in it any more; 9001 is new; a domain is no label."""

KINDS = ("svm", "bigru-lwan", "z-bigru-lwan", "exact-match", "blend")
WIDENING = ("z-bigru-lwan", "exact-match", "blend")


@pytest.fixture(scope="module")
def methods() -> dict[str, Method]:
    """A linear model, a network, one that knows descriptors, the descriptors' search, a blend."""
    torch.set_num_threads(1)
    train, dev = acts(60), acts(20, seed=1)
    svm, exact = SVM(SVMSettings(passes=4, min_count=1)), ExactMatch()
    for method in (svm, exact):
        method.fit(train, dev, label_space(train))
    found: list[Method] = [svm, fitted("bigru-lwan"), fitted("z-bigru-lwan"), exact]
    return {one.name: one for one in found} | {"blend": Blend.from_methods(found, dev)}


def column(method: Method, id: str) -> np.ndarray:
    return method.scores(DOCUMENTS)[:, method.label_space.index[id]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_that_remains_keeps_its_scores_under_its_new_name(
    methods: dict[str, Method], kind: str
) -> None:
    new, changes = relabel(methods[kind], TODAY)
    for id in ("2437", "5255"):
        np.testing.assert_array_equal(column(new, id), column(methods[kind], id))
    names = {label.id: label.descriptor for label in new.label_space.labels}
    assert names["2437"] == "catch quota"
    before = methods[kind].label_space.labels[methods[kind].label_space.index["2437"]].descriptor
    assert changes.labels.renamed["2437"] == (before, "catch quota")
    assert (new.name, new.settings) == (kind, methods[kind].settings)
    assert new.threshold == methods[kind].threshold


@pytest.mark.parametrize("kind", KINDS)
def test_the_higher_score_of_two_labels_passes_to_the_one_that_took_their_place(
    methods: dict[str, Method], kind: str
) -> None:
    new, changes = relabel(methods[kind], TODAY)
    higher = np.maximum(column(methods[kind], "693"), column(methods[kind], "1309"))
    np.testing.assert_array_equal(column(new, "700"), higher)
    assert changes.labels.replaced == {"693": ("700",), "1309": ("700",)}
    counts = {label.id: label.count for label in methods[kind].label_space.labels}
    successor = new.label_space.labels[new.label_space.index["700"]]
    assert successor.count == max(counts["693"], counts["1309"])


def test_a_label_that_became_two_passes_its_score_to_both(methods: dict[str, Method]) -> None:
    split = Thesaurus.of(
        [
            Concept("693", "", "citrus", replaced_by=("694", "695")),
            *(Concept(id, "", f"name of {id}") for id in ("694", "695", "1309", "2437")),
        ]
    )
    new, changes = relabel(methods["svm"], split)
    for id in ("694", "695"):
        np.testing.assert_array_equal(column(new, id), column(methods["svm"], "693"))
    assert changes.labels.dropped == ("3173", "5255")


def test_a_successor_that_was_a_label_already_has_the_higher_score(
    methods: dict[str, Method],
) -> None:
    joined = Thesaurus.of(
        [Concept("693", "", "citrus", replaced_by=("1309",)), Concept("1309", "", "import")]
    )
    new, _ = relabel(methods["svm"], joined)
    higher = np.maximum(column(methods["svm"], "693"), column(methods["svm"], "1309"))
    np.testing.assert_array_equal(column(new, "1309"), higher)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_are_no_longer_used_are_not_suggested(
    methods: dict[str, Method], kind: str
) -> None:
    new, changes = relabel(methods[kind], TODAY)
    assert not {"693", "1309", "3173", "100142"} & set(new.label_space.ids)
    assert changes.labels.dropped == ("3173",)
    with pytest.raises(LabelwiseError, match="3173 is not a label of this model"):
        new.evidence(DOCUMENTS[0], ["3173"])


@pytest.mark.parametrize("kind", KINDS)
def test_new_concepts_are_scored_from_their_descriptors_where_the_method_can(
    methods: dict[str, Method], kind: str
) -> None:
    new, changes = relabel(methods[kind], TODAY)
    method = methods[kind]
    if kind in WIDENING:
        assert isinstance(method, Widening)
        wider = method.with_labels({"9001": "quota of fruit"})
        np.testing.assert_array_equal(column(new, "9001"), column(wider, "9001"))
        assert changes.added == ("9001",)
    else:
        assert "9001" not in new.label_space.index
        (note,) = changes.notes
        assert note.startswith("1 concepts of the thesaurus are new to the model")
        assert f"{kind} knows labels by their training documents alone" in note


def test_alternative_names_of_new_concepts_count_where_they_did_in_training() -> None:
    method = fitted("bert")
    new, _ = relabel(method, TODAY)
    concepts = [one for id, one in TODAY.concepts.items() if id != "9001"]
    named = Concept("9001", "", "quota of fruit", ("vineyard wine",))
    known, changes = relabel(method, Thesaurus.of([*concepts, named], successors=TODAY.successors))
    assert changes.added == ("9001",)
    document = Document("wine", "", (Section("article", "wine of the vineyard"),))
    index = known.label_space.index
    others = [index[id] for id in index if id != "9001"]
    before, after = new.scores([document])[0], known.scores([document])[0]
    assert after[index["9001"]] > before[index["9001"]]
    np.testing.assert_array_equal(after[others], before[others])


def test_concepts_whose_words_the_model_does_not_know_are_counted(
    methods: dict[str, Method],
) -> None:
    strange = [
        Concept("9002", "", "zzyzx"),
        Concept("9003", "", "qwrt"),
        Concept("9004", "", "citrus zzyzx"),
    ]
    wider = Thesaurus.of([*TODAY.concepts.values(), *strange], successors=TODAY.successors)
    new, changes = relabel(methods["z-bigru-lwan"], wider)
    assert set(changes.added) == {"9001", "9004"}
    assert not {"9002", "9003"} & set(new.label_space.ids)
    assert "2 new concepts are left out: the model knows no word of their names" in changes.notes
    assert any(note.startswith("1 new concepts are scored without") for note in changes.notes)


def test_a_blend_without_a_member_that_knows_words_says_so(methods: dict[str, Method]) -> None:
    blend = Blend.from_methods([methods["svm"], methods["bigru-lwan"]], acts(20, seed=1))
    new, changes = relabel(blend, TODAY)
    assert set(new.label_space.ids) == {"700", "2437", "5255"}
    assert "knows labels by their descriptors" in changes.notes[0]


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_that_of_the_label_whose_score_counts(
    methods: dict[str, Method], kind: str
) -> None:
    method = methods[kind]
    new, _ = relabel(method, TODAY)
    scores, index = method.scores(DOCUMENTS), method.label_space.index
    for row, document in enumerate(DOCUMENTS):
        first = scores[row, index["693"]] >= scores[row, index["1309"]]
        found = new.evidence(document, ["700", "2437"])
        old = method.evidence(document, ["693" if first else "1309", "2437"])
        assert [one.label for one in found] == ["700", "2437"]
        assert [(one.kind, one.spans) for one in found] == [(one.kind, one.spans) for one in old]


def test_the_explainers_of_a_network_work_as_before(methods: dict[str, Method]) -> None:
    method = methods["bigru-lwan"]
    new, _ = relabel(method, TODAY)
    assert new.explainers == method.explainers
    for explainer in method.explainers:
        found = new.evidence(DOCUMENTS[0], ["2437"], explainer)
        assert found == method.evidence(DOCUMENTS[0], ["2437"], explainer)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_and_comes_back(methods: dict[str, Method], kind: str, tmp_path) -> None:
    new, _ = relabel(methods[kind], TODAY)
    bundle.save(new, tmp_path / "new")
    again = bundle.load(tmp_path / "new")
    assert again.label_space.fingerprint == new.label_space.fingerprint
    np.testing.assert_array_equal(again.scores(DOCUMENTS), new.scores(DOCUMENTS))
    assert again.evidence(DOCUMENTS[0], ["700"]) == new.evidence(DOCUMENTS[0], ["700"])
    assert isinstance(again, Widening) == (kind in WIDENING)
    assert bundle.describe(tmp_path / "new")["method"] == kind


def test_it_can_be_relabelled_again(methods: dict[str, Method], tmp_path) -> None:
    new, _ = relabel(methods["svm"], TODAY)
    later = Thesaurus.of(
        [Concept("700", "", "citrus", replaced_by=("701",)), Concept("701", "", "citrus trade")]
    )
    newer, changes = relabel(new, later)
    assert changes.labels.replaced == {"700": ("701",)}
    bundle.save(newer, tmp_path / "newer")
    again = bundle.load(tmp_path / "newer")
    np.testing.assert_array_equal(column(again, "701"), column(new, "700"))


def test_relabelled_models_can_be_blended(methods: dict[str, Method], tmp_path) -> None:
    new = [relabel(methods[name], TODAY)[0] for name in ("svm", "bigru-lwan")]
    blend = Blend.from_methods(new)
    bundle.save(blend, tmp_path / "blend")
    again = bundle.load(tmp_path / "blend")
    np.testing.assert_array_equal(again.scores(DOCUMENTS), blend.scores(DOCUMENTS))


def test_more_labels_can_be_added_later_even_one_that_was_dropped(
    methods: dict[str, Method],
) -> None:
    new, _ = relabel(methods["z-bigru-lwan"], TODAY)
    assert isinstance(new, Widening)
    wider = new.with_labels({"99": "oranges and lemons", "3173": "back again"})
    np.testing.assert_array_equal(column(wider, "3173"), column(methods["z-bigru-lwan"], "3173"))
    np.testing.assert_array_equal(column(wider, "700"), column(new, "700"))
    assert "99" in wider.label_space.index


def test_the_scale_of_unseen_labels_is_kept(methods: dict[str, Method], tmp_path) -> None:
    method = methods["z-bigru-lwan"]
    method.unseen = UnseenScale(0.5, -1.0)
    try:
        new, _ = relabel(method, TODAY)
        bundle.save(new, tmp_path / "new")
        again = bundle.load(tmp_path / "new")
        np.testing.assert_array_equal(column(again, "5255"), column(method, "5255"))
        np.testing.assert_array_equal(column(again, "9001"), column(new, "9001"))
    finally:
        method.unseen = None


def test_a_calibration_is_kept_and_applied_once(methods: dict[str, Method], tmp_path) -> None:
    method = methods["z-bigru-lwan"]
    method.calibration = Calibration({group: Curve("platt", (0.5, -1.0)) for group in GROUPS})
    try:
        new, _ = relabel(method, TODAY)
        bundle.save(new, tmp_path / "new")
        again = bundle.load(tmp_path / "new")
        calibrated = column(method, "5255")
        np.testing.assert_allclose(column(again, "5255"), calibrated, rtol=1e-5)
        method.calibration = None
        assert not np.allclose(column(method, "5255"), calibrated)
    finally:
        method.calibration = None


def test_another_thesaurus_is_refused(methods: dict[str, Method]) -> None:
    other = Thesaurus.of([Concept("p1265", "", "cats")])
    with pytest.raises(LabelwiseError, match="none of the 5 labels of this model is a concept"):
        relabel(methods["svm"], other)
