"""ENSEMBLE-LWAN's shift: chosen on dev, for what was never seen, kept for labels added later."""

from __future__ import annotations

import numpy as np
import pytest
from network_cases import TOPICS, acts, small

from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.methods.ensemble_lwan import SHIFTS, EnsembleLwan

DOCUMENTS = acts(6, seed=7)
UNSEEN = {"5255": "vessel", "81": "port", "82": "trawler", "83": "ship"}
"""More labels than the five that RP@5 looks at, so that the scale decides which are among them."""


def wide_space(train: list[Document]) -> LabelSpace:
    names = {id: name for id, (name, _) in TOPICS.items()} | UNSEEN
    return LabelSpace.from_documents(train, [Document("o", "", (), tuple(UNSEEN))], names)


@pytest.fixture(scope="module")
def wide() -> tuple:
    """Two members that know four labels by training and four by name alone."""
    train = acts(60)
    methods = small("bigru-lwan"), small("z-bigru-lwan")
    for method in methods:
        method.fit(train, acts(12, seed=1), wide_space(train))
    return methods


DEV = [Document(one.id, "", one.sections, tuple(UNSEEN)) for one in acts(12, seed=2)]
"""Acts that carry unseen labels alone, which the members score below those seen."""


def rp5(members: tuple, seen: int) -> dict[float, float]:
    """RP@5 of the joint ranking of ``DEV``, with the odds of unseen labels times e to a shift."""
    of_seen, of_all = (one.scores(DEV).astype(float) for one in members)
    odds = of_all[:, seen:] / (1 - of_all[:, seen:])
    figures = {}
    for shift in SHIFTS:
        moved = odds * np.exp(shift)
        p = np.concatenate([of_seen[:, :seen], moved / (1 + moved)], axis=1)
        best = np.argsort(-p, axis=1, kind="stable")[:, :5]
        figures[float(shift)] = float((best >= seen).mean(1).mean()) * 5 / len(UNSEEN)
    return figures


def test_the_shift_that_ranks_dev_best_is_chosen_and_of_several_the_one_closest_to_zero(
    wide: tuple,
) -> None:
    ensemble = EnsembleLwan.from_methods(wide, DEV)
    figures = rp5(wide, ensemble.label_space.groups["zero"].start)
    best = max(figures.values())
    assert figures[0.0] < best
    assert ensemble.shift == min((s for s, one in figures.items() if one == best), key=abs)
    assert EnsembleLwan.from_methods(wide).shift == 0  # without dev documents
    ensemble.shift = 0.0
    ensemble.choose([one.scores(DEV) for one in wide], ensemble.label_space.gold(DEV))
    assert figures[ensemble.shift] == best


def test_trained_as_a_whole_it_chooses_its_shift_too() -> None:
    quick = {"dim": 8, "units": 4, "z_units": 3, "epochs": 1, "z_epochs": 1, "min_count": 1}
    ensemble = EnsembleLwan(EnsembleLwan.Settings(**quick, device="cpu"))
    train = acts(20)
    ensemble.fit(train, DEV, wide_space(train))
    assert ensemble.shift == EnsembleLwan.from_methods(ensemble.parts, DEV).shift != 0


def test_labels_added_later_are_shifted_like_all_that_were_never_seen(wide: tuple) -> None:
    plain, shifted = EnsembleLwan.from_methods(wide), EnsembleLwan.from_methods(wide, DEV)
    extra = {"99": "oranges and lemons"}
    wider = shifted.with_labels(extra)
    assert wider.shift == shifted.shift
    before, after = plain.with_labels(extra).scores(DOCUMENTS), wider.scores(DOCUMENTS)
    space = wider.label_space
    unseen = [space.index[id] for id in (*UNSEEN, "99")]
    odds = before[:, unseen] / (1 - before[:, unseen]) * np.exp(shifted.shift)
    np.testing.assert_allclose(after[:, unseen] / (1 - after[:, unseen]), odds, rtol=1e-3)
    kept = [space.index[id] for id in shifted.label_space.ids]
    np.testing.assert_allclose(after[:, kept], shifted.scores(DOCUMENTS), rtol=1e-5)
