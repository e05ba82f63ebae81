"""Every network learns by the loss hbm, which ranks labels with the same broader concept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_cases import tiny_encoder
from network_cases import NAMES, TOPICS, acts, label_space, small
from shared_training import thesaurus

from labelwise.corpus.dataset import Dataset
from labelwise.corpus.labels import LabelSpace
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.experiments.settings import describe_settings, parse_settings
from labelwise.methods import get
from labelwise.methods.minilm_lwan import MinilmLwan
from labelwise.training import loop
from labelwise.training.prepared import prepare, read_prepared, write_prepared
from labelwise.training.prepared_dataset import prepare_in_words

TRAIN, DEV = acts(40), acts(12, seed=1)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", [*NAMES, "ensemble-lwan"])
def test_every_network_can_be_trained_by_hbm(name: str) -> None:
    if name in NAMES:
        method = small(name, loss="hbm", epochs=1)
    else:
        cls = get(name)
        quick = {"units": 6, "z_units": 6, "dim": 10, "epochs": 1, "z_epochs": 1, "device": "cpu"}
        method = cls(cls.Settings(**quick, loss="hbm", min_count=1))
    method.thesaurus = thesaurus()
    method.fit(TRAIN, DEV, label_space(TRAIN))
    scores = method.scores(DEV)
    assert ((scores > 0) & (scores < 1)).all()


def test_it_learns_what_acts_are_about() -> None:
    method = small("bigru-lwan", loss="hbm", epochs=10, learning_rate=0.02)
    method.thesaurus = thesaurus()
    method.fit(TRAIN, DEV, label_space(TRAIN))
    documents = acts(20, seed=9)
    best = np.argsort(-method.scores(documents), axis=1)[:, :2]
    ids = method.label_space.ids
    hits = [
        len({ids[column] for column in row} & set(document.labels))
        for row, document in zip(best, documents, strict=True)
    ]
    assert np.mean(hits) > 1.5


def test_an_encoder_learns_by_hbm_too() -> None:
    quick = {"piece_tokens": 12, "stride": 12, "epochs": 1, "device": "cpu"}
    encoder = str(tiny_encoder("bert"))
    by_loss = []
    for loss in ("bce", "hbm"):
        method = MinilmLwan(MinilmLwan.Settings(encoder=encoder, loss=loss, **quick))
        method.thesaurus = thesaurus()
        method.fit(TRAIN, DEV, label_space(TRAIN))
        by_loss.append(method.scores(DEV))
    assert np.isfinite(by_loss).all()
    assert not np.allclose(*by_loss)


def test_without_broader_links_it_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    method = small("bigru-lwan", loss="hbm")
    method.run_dir = tmp_path / "run"
    for known in (None, Thesaurus.of([Concept("693", "", "citrus fruit")])):
        method.thesaurus = known
        with pytest.raises(LabelwiseError, match="set the loss bce or zlpr"):
            method.fit(TRAIN, DEV, label_space(TRAIN))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["z-cnn-lwan", "z-bigru-lwan"])
def test_an_unseen_sibling_changes_nothing_in_training(name: str) -> None:
    names = {id: name for id, (name, _) in TOPICS.items()}
    counts = {id: 1 for one in TRAIN for id in one.labels}
    learned = []
    for unseen in ({}, {"5255": 0, "9001": 0}):
        method = small(name, epochs=1, loss="hbm")
        method.thesaurus = thesaurus()
        # Their names have words of other labels alone, so that the vocabulary stays as it is.
        space = LabelSpace.from_counts(counts | unseen, names | {"5255": "wine", "9001": "import"})
        method.fit(TRAIN, [], space)
        learned.append(dict(method.network.named_parameters()))
    for part, tensor in learned[0].items():
        assert torch.equal(tensor, learned[1][part]), part


def test_a_training_goes_on_under_the_same_siblings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(folder: Path, known: Thesaurus, resume: bool = False) -> dict[str, torch.Tensor]:
        method = small("bigru-lwan", loss="hbm", epochs=2, dropout=0.3)
        method.thesaurus, method.run_dir, method.resume = known, folder, resume
        method.fit(TRAIN, DEV, label_space(TRAIN))
        return method.network.state_dict()

    whole = trained(tmp_path / "whole", thesaurus())

    def kill_at_seven(self: loop._Training) -> bool:
        if self.state.step == 7:  # in the second epoch
            self._write_checkpoint()
            raise KeyboardInterrupt
        return False

    with monkeypatch.context() as patched:
        patched.setattr(loop._Training, "_out_of_time", kill_at_seven)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "killed", thesaurus())
    other = Thesaurus.of([Concept("1", "", "produce"), Concept("693", "", "fruit", broader=("1",))])
    with pytest.raises(LabelwiseError, match="another training, which differs in siblings"):
        trained(tmp_path / "killed", other, resume=True)
    resumed = trained(tmp_path / "killed", thesaurus(), resume=True)
    for name, tensor in whole.items():
        assert torch.equal(resumed[name], tensor), name


def test_a_corpus_in_numbers_keeps_what_is_broader(tmp_path: Path) -> None:
    space = label_space(TRAIN)
    made = prepare(TRAIN, DEV, space, dim=10, thesaurus=thesaurus().about(space.ids))
    write_prepared(tmp_path, made)
    scores = []
    for one in (made, read_prepared(tmp_path)[0]):
        method = small("cnn-lwan", loss="hbm", epochs=1)
        method.fit_prepared(one)
        scores.append(method.scores_of(one.dev))
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-2)  # vectors in half precision


def test_the_links_of_a_data_set_reach_its_prepared_corpus(
    synthetic: Dataset, tmp_path: Path
) -> None:
    prepare_in_words(synthetic, tmp_path, dim=4)
    kept = read_prepared(tmp_path)[0].thesaurus
    assert kept is not None
    assert synthetic.thesaurus is not None
    for label in synthetic.label_space.ids:
        assert kept[label].broader == synthetic.thesaurus[label].broader


def test_help_and_errors_name_the_losses() -> None:
    settings = get("bigru-lwan").Settings
    rows = {row["name"]: row for row in describe_settings(settings)}
    assert rows["loss"]["takes"] == "bce, zlpr or hbm"
    assert "needs a thesaurus" in rows["loss"]["meaning"]
    assert {"hbm_bias", "hbm_margin"} < rows.keys()
    with pytest.raises(LabelwiseError, match="cannot be 'focal': it takes bce, zlpr or hbm"):
        parse_settings(settings, ["loss=focal"], "bigru-lwan")
