"""Z- methods: labels are their descriptors, and more of them may come after training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from network_cases import TOPICS, ZERO_SHOT, act, acts, fitted, label_space, small

from labelwise import bundle
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.text.vocabulary import Vocabulary


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_descriptor_and_word_vectors_stay_frozen(name: str) -> None:
    train = acts(40)
    method = small(name)
    method.fit(train, acts(6, seed=1), label_space(train))
    untrained = small(name, epochs=1, learning_rate=1e-30)
    untrained.fit(train, acts(6, seed=1), label_space(train))
    before, after = untrained.network.state_dict(), method.network.state_dict()
    assert torch.equal(before["descriptors.vectors"], after["descriptors.vectors"])
    known = torch.from_numpy(method.known)
    assert torch.equal(before["words.weight"][known], after["words.weight"][known])
    assert not torch.equal(
        before["descriptors.project.weight"], after["descriptors.project.weight"]
    )


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_a_descriptor_is_the_mean_of_its_words(name: str) -> None:
    method = fitted(name)
    words = method.network.words.weight.detach()
    quota, fishing = (words[method.vocabulary.index[w]] for w in ("quota", "fishing"))
    vector = method.network.descriptors.vectors[method.label_space.index["2437"]]
    torch.testing.assert_close(vector, (quota + fishing) / 2)


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_a_label_can_be_added_after_training(name: str) -> None:
    method = fitted(name)
    wider = method.with_labels({"99": "oranges and lemons", "11": "vessel trawler"})
    old, new = method.label_space, wider.label_space
    assert set(new.ids) == {*old.ids, "99", "11"}
    assert new.labels[new.index["99"]].descriptor == "oranges and lemons"
    assert new.labels[new.index["99"]].group == "zero"
    documents = acts(5, seed=6)
    before, after = method.scores(documents), wider.scores(documents)
    np.testing.assert_allclose(after[:, [new.index[id] for id in old.ids]], before, rtol=1e-5)
    # The very same descriptor under another id scores the very same.
    twin = method.with_labels({"7": "citrus fruit"})
    scores = twin.scores(documents)
    np.testing.assert_allclose(
        scores[:, twin.label_space.index["7"]], scores[:, twin.label_space.index["693"]]
    )
    (evidence,) = wider.evidence(documents[0], ["99"])
    assert sum(span.weight for span in evidence.spans) == pytest.approx(1)
    assert method.label_space is old, "the method itself is as before"


def test_a_label_is_added_even_to_a_saved_model_and_saved_again(tmp_path) -> None:
    method = fitted("z-cnn-lwan")
    bundle.save(method, tmp_path / "a")
    wider = bundle.load(tmp_path / "a").with_labels({"99": "oranges and lemons"})
    bundle.save(wider, tmp_path / "b")
    again = bundle.load(tmp_path / "b")
    document = act(3)
    assert "99" in again.label_space.index
    np.testing.assert_allclose(again.scores([document]), wider.scores([document]), rtol=1e-6)


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_a_descriptor_of_unknown_words_or_a_known_id_says_so(name: str) -> None:
    method = fitted(name)
    with pytest.raises(LabelwiseError, match="knows no word of its descriptor 'zzyzx qwrt'"):
        method.with_labels({"99": "zzyzx qwrt"})
    with pytest.raises(LabelwiseError, match="693 is already a label"):
        method.with_labels({"693": "oranges"})


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_words_of_a_descriptor_that_are_unknown_are_named(name: str) -> None:
    method = fitted(name)
    with pytest.warns(UserWarning, match="label 99 is scored without .*: zzyzx, qwrt$"):
        wider = method.with_labels({"99": "citrus zzyzx (qwrt) fruit"})
    scores = wider.scores([act(4)])[0]
    index = wider.label_space.index
    assert scores[index["99"]] == pytest.approx(scores[index["693"]]), "only what is known counts"


def test_as_published_without_projection_the_widths_must_agree() -> None:
    train = acts(20)
    with pytest.raises(LabelwiseError, match=r"encoded tokens \(12 wide\).*vectors \(10\)"):
        small("z-bigru-lwan", project=False).fit(train, [], label_space(train))
    plain = small("z-bigru-lwan", project=False, units=5)
    plain.fit(train, [], label_space(train))
    assert np.isfinite(plain.scores(train[:2])).all()
    assert "descriptors.project.weight" not in plain.network.state_dict()


def test_zero_shot_labels_are_no_negatives_in_training_unless_asked_for() -> None:
    assert fitted("z-cnn-lwan").network.seen == 4
    train = acts(20)
    told = small("z-cnn-lwan", learn_zero=True, epochs=1)
    told.fit(train, [], label_space(train))
    assert told.network.seen == 5


def test_a_label_that_no_training_document_has_changes_nothing_in_training() -> None:
    train = acts(20)
    names = {id: name for id, (name, _) in TOPICS.items()}
    counts = {id: 1 for one in train for id in one.labels}
    learned = []
    for unseen in ({}, {"5255": 0, "9001": 0}):
        method = small("z-cnn-lwan", epochs=1)
        # Their names have words of other labels alone, so that the vocabulary stays as it is.
        space = LabelSpace.from_counts(counts | unseen, names | {"5255": "wine", "9001": "import"})
        method.fit(train, [], space)
        learned.append(dict(method.network.named_parameters()))
    for name, tensor in learned[0].items():
        assert torch.equal(tensor, learned[1][name]), name


def test_without_a_vector_file_all_vectors_are_left_alone_at_length_one_a_number() -> None:
    method = small("z-cnn-lwan")
    vectors = 0.01 * torch.randn(7, 50, generator=torch.Generator().manual_seed(0))
    made, known = method._frozen(vectors, np.zeros(7, dtype=bool))
    assert known.tolist() == [False, False, True, True, True, True, True]
    torch.testing.assert_close(made.std(), torch.tensor(1.0))
    torch.testing.assert_close(made / made[0, 0], vectors / vectors[0, 0])


def test_words_of_descriptors_without_a_vector_get_one_as_long_as_the_others() -> None:
    method = small("z-cnn-lwan")
    method._label_space = LabelSpace.from_counts({"693": 60}, {"693": "citrus fruit"})
    rows = ("<padding>", "<unknown>", "wine", "import", "citrus", "fruit", "shall")
    method.vocabulary = Vocabulary(rows, (0, *range(len(rows) - 1, 0, -1)))
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(len(rows), 50, generator=random)
    vectors[4:] *= 0.01
    found = np.array([False, False, True, True, False, False, False])
    made, known = method._frozen(vectors, found)
    assert known.tolist() == [False, False, True, True, True, True, False]
    torch.testing.assert_close(made[4:6].std(), made[2:4].std())
    assert torch.equal(made[[2, 3, 6]], vectors[[2, 3, 6]])
