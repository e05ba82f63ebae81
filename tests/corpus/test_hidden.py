"""Labels hidden from training become unseen ones: in train they are gone, in dev and test gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.hidden import Hiding, hide
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError

QUARTER = Hiding(0.25)


def test_a_quarter_of_the_training_labels_is_hidden_and_the_same_ones_each_time(
    synthetic: Dataset,
) -> None:
    space = synthetic.label_space
    seen = {label.id for label in space.labels if label.count}
    hidden = QUARTER.labels(space)
    assert len(hidden) == round(0.25 * len(seen))
    assert hidden < seen
    shuffled = LabelSpace(tuple(reversed(space.labels)))
    assert QUARTER.labels(shuffled) == hidden
    assert Hiding(0.25, draw=1).labels(space) != hidden
    assert len(Hiding(7).labels(space)) == 7


def test_training_documents_lose_the_hidden_labels_and_nothing_else(synthetic: Dataset) -> None:
    view = hide(synthetic, QUARTER)
    assert len(view.train) == len(synthetic.train)
    for cut, whole in zip(view.train, synthetic.train, strict=True):
        assert cut.labels == tuple(label for label in whole.labels if label not in view.hidden)
        assert (cut.id, cut.text) == (whole.id, whole.text)
    assert view.dev == synthetic.dev
    assert view.test == synthetic.test


def test_training_documents_with_a_hidden_label_may_be_left_out(synthetic: Dataset) -> None:
    view = hide(synthetic, Hiding(5, drop=True))
    kept = [one for one in synthetic.train if view.hidden.isdisjoint(one.labels)]
    assert 0 < len(kept) < len(synthetic.train)
    assert list(view.train) == kept
    assert view.counts["train"] == len(kept)


@pytest.mark.parametrize("drop", [False, True])
def test_the_label_space_keeps_every_label_and_counts_the_hidden_ones_zero(
    synthetic: Dataset, drop: bool
) -> None:
    whole, view = synthetic.label_space, hide(synthetic, Hiding(5, drop=drop))
    space = view.label_space
    assert set(space.ids) == set(whole.ids)
    zero = {label.id for label in space.labels[space.groups["zero"]]}
    really = {label.id for label in whole.labels[whole.groups["zero"]]}
    assert view.hidden <= zero
    assert really <= zero
    if not drop:
        assert zero == view.hidden | really
        assert not view.hidden & really
    assert {label.descriptor for label in space.labels} == {one.descriptor for one in whole.labels}
    space.gold(view.test)  # every gold label has a column


def test_a_view_has_a_name_and_a_fingerprint_of_its_own(synthetic: Dataset) -> None:
    hidings = [QUARTER, Hiding(0.25, draw=1), Hiding(972), Hiding(972, drop=True)]
    views = [hide(synthetic, one) for one in hidings]
    assert [view.name.removeprefix(synthetic.name) for view in views] == [
        "-hidden-0.25-draw-0",
        "-hidden-0.25-draw-1",
        "-hidden-972-draw-0",
        "-hidden-972-draw-0-dropped",
    ]
    assert len({synthetic.fingerprint, *(view.fingerprint for view in views)}) == 5


@pytest.mark.parametrize("amount", [0, -3, 1.5])
def test_what_is_neither_a_share_nor_a_number_is_refused(amount: float) -> None:
    with pytest.raises(LabelwiseError, match="by their share of the training labels"):
        Hiding(amount)


def test_not_all_labels_can_be_hidden(synthetic: Dataset) -> None:
    with pytest.raises(LabelwiseError, match="at least one has to be hidden, and one to be seen"):
        Hiding(10_000).labels(synthetic.label_space)


@pytest.mark.slow
def test_hiding_972_labels_of_eurlex57k_gives_the_sizes_of_semsup_xc(real_data: Path) -> None:
    """3,136 labels seen, 1,057 unseen; labels of dev alone, which it does not count, come on top"""
    whole = open_dataset(real_data)
    view = hide(whole, Hiding(972))
    assert int((view.label_space.counts > 0).sum()) == 3_136
    of_dev = {label for one in whole.dev for label in one.labels}
    of_others = {label for one in (*whole.train, *whole.test) for label in one.labels}
    unseen = {label.id for label in view.label_space.labels if not label.count}
    assert len(unseen - (of_dev - of_others)) == 1_057
    assert len(unseen) == 1_135
