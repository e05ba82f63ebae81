"""ENSEMBLE-LWAN routes the columns by group, and sets the two members on one scale."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
import torch
from network_cases import act, acts, fitted, label_space

from labelwise import bundle
from labelwise.corpus.document import Document
from labelwise.errors import BundleError, LabelwiseError
from labelwise.methods.base import State
from labelwise.methods.ensemble_lwan import EnsembleLwan, best_shift
from labelwise.methods.members import members_state
from labelwise.methods.sparse_rows import named

DOCUMENTS = acts(6, seed=7)


@pytest.fixture(scope="module")
def members() -> tuple:
    torch.set_num_threads(1)
    return fitted("bigru-lwan"), fitted("z-bigru-lwan")


def test_columns_come_from_the_member_of_their_group(members: tuple) -> None:
    lwan, z = members
    ensemble = EnsembleLwan.from_methods([lwan, z])
    scores, space = ensemble.scores(DOCUMENTS), ensemble.label_space
    assert ensemble.shift == 0
    zero = space.groups["zero"]
    assert zero.stop - zero.start == 1
    np.testing.assert_array_equal(scores[:, : zero.start], lwan.scores(DOCUMENTS)[:, : zero.start])
    np.testing.assert_allclose(scores[:, zero], z.scores(DOCUMENTS)[:, zero], rtol=1e-5)


def test_evidence_comes_from_the_member_that_scored(members: tuple) -> None:
    lwan, z = members
    ensemble = EnsembleLwan.from_methods([lwan, z])
    document = act(20, ("693", "2437"))
    seen, unseen = ensemble.evidence(document, ["693", "5255"])
    assert seen == lwan.evidence(document, ["693"])[0]
    assert unseen == z.evidence(document, ["5255"])[0]
    unseen, seen = ensemble.evidence(document, ["5255", "693"], "gradient")
    assert unseen == z.evidence(document, ["5255"], "gradient")[0]
    assert seen == lwan.evidence(document, ["693"], "gradient")[0]
    with pytest.raises(LabelwiseError, match="not a label of this model"):
        ensemble.evidence(document, ["404"])


def test_it_is_built_from_two_saved_bundles_and_saved_as_one(members: tuple, tmp_path) -> None:
    lwan, z = members
    bundle.save(lwan, tmp_path / "lwan")
    bundle.save(z, tmp_path / "z")
    dev = [*acts(10, seed=1), Document("v", "", act(1, ("5255",)).sections, ("5255",))]
    ensemble = EnsembleLwan.from_methods(
        [bundle.load(tmp_path / "lwan"), bundle.load(tmp_path / "z")], dev
    )
    bundle.save(ensemble, tmp_path / "both")
    again = bundle.load(tmp_path / "both")
    assert isinstance(again, EnsembleLwan)
    assert again.shift == ensemble.shift
    np.testing.assert_allclose(again.scores(DOCUMENTS), ensemble.scores(DOCUMENTS), rtol=1e-6)
    wider = again.with_labels({"99": "oranges and lemons"})
    bundle.save(wider, tmp_path / "wider")
    loaded = bundle.load(tmp_path / "wider")
    np.testing.assert_allclose(loaded.scores(DOCUMENTS), wider.scores(DOCUMENTS), rtol=1e-6)
    assert loaded.scores(DOCUMENTS).shape == (6, 6)


def test_one_that_was_saved_with_its_members_by_name_still_loads(members: tuple) -> None:
    """As ensembles were saved before they were saved as blends are; with labels added, too."""
    ensemble = EnsembleLwan.from_methods(members)
    ensemble.shift = 1.5
    for one in (ensemble, ensemble.with_labels({"99": "oranges and lemons"})):
        lwan, z = (part.state() for part in one.parts)
        before = State(
            {**named("lwan", lwan.arrays), **named("z", z.arrays)},
            {
                "shift": one.shift,
                "lwan_labels": one.lwan.label_space.to_json(),
                "settings": {"lwan": asdict(one.lwan.settings), "z": asdict(one.z.settings)},
                "values": {"lwan": lwan.values, "z": z.values},
            },
        )
        again = EnsembleLwan.restore(one.settings, one.label_space, before)
        np.testing.assert_array_equal(again.scores(DOCUMENTS), one.scores(DOCUMENTS))


def test_a_state_with_other_members_is_refused(members: tuple) -> None:
    ensemble = EnsembleLwan.from_methods(members)
    swapped = members_state(members[::-1], ensemble.label_space)
    spoilt = State(swapped.arrays, {**swapped.values, "shift": 0.0})
    with pytest.raises(BundleError, match="not z-bigru-lwan and bigru-lwan"):
        EnsembleLwan.restore(ensemble.settings, ensemble.label_space, spoilt)


def test_other_members_or_other_labels_are_refused(members: tuple) -> None:
    lwan, z = members
    with pytest.raises(LabelwiseError, match="joins a bigru-lwan and a z-bigru-lwan, not z-bigru"):
        EnsembleLwan.from_methods([z, lwan])
    with pytest.raises(LabelwiseError, match="different labels"):
        EnsembleLwan.from_methods([lwan, z.with_labels({"99": "oranges"})])


def test_it_can_be_trained_as_a_whole(tmp_path) -> None:
    settings = EnsembleLwan.Settings(
        dim=8, units=4, z_units=3, epochs=1, z_epochs=2, min_count=1, device="cpu"
    )
    ensemble = EnsembleLwan(settings)
    ensemble.run_dir = tmp_path
    train = acts(20)
    ensemble.fit(train, acts(5, seed=1), label_space(train))
    assert ensemble.lwan.settings.units == 4
    assert ensemble.z.settings.units == 3
    assert ensemble.z.settings.epochs == 2
    assert ensemble.z.settings.learned_vectors == "missing"
    assert ensemble.scores(DOCUMENTS).shape == (6, 5)
    for name in ("bigru-lwan", "z-bigru-lwan"):
        assert (tmp_path / name / "log.jsonl").exists()


def test_the_scale_between_the_groups_is_set_where_the_joint_ranking_is_best() -> None:
    """Five labels are right: seen ones, of a quarter of the documents four and the unseen one."""
    random = np.random.default_rng(0)
    seen = random.uniform(0.1, 0.2, (40, 8)).astype(np.float32)
    right = np.arange(40) < 10
    gold = np.zeros((40, 9), dtype=bool)
    for document in range(40):
        chosen = random.choice(8, 4 if right[document] else 5, replace=False)
        seen[document, chosen] = random.uniform(0.5, 0.6, len(chosen))
        gold[document, chosen] = True
    gold[right, 8] = True
    for offset in (-8.0, 8.0):  # the unseen label's logits are far too low, or far too high
        logits = np.where(right, 1.0, -6.0)[:, None] + offset
        shift = best_shift(seen, logits, gold, 8)
        zero = 1 / (1 + np.exp(-(logits + shift)))
        assert (zero[right] > 0.2).all()
        assert (zero[~right] <= 0.5).all()
    # Where the two already agree nothing is shifted.
    assert best_shift(seen, np.where(right, 1.0, -6.0)[:, None], gold, 8) == 0


def test_the_shift_moves_the_unseen_labels_and_no_others(members: tuple, tmp_path) -> None:
    ensemble = EnsembleLwan.from_methods(members)
    before, zero = ensemble.scores(DOCUMENTS), ensemble.label_space.groups["zero"]
    ensemble.shift = 2.0
    bundle.save(ensemble, tmp_path / "shifted")
    for one in (ensemble, bundle.load(tmp_path / "shifted")):
        after = one.scores(DOCUMENTS)
        np.testing.assert_array_equal(after[:, : zero.start], before[:, : zero.start])
        odds = before[:, zero] / (1 - before[:, zero])
        np.testing.assert_allclose(after[:, zero] / (1 - after[:, zero]), odds * np.e**2, rtol=1e-3)
