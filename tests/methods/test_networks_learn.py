"""On the synthetic corpus the networks learn: seen labels from examples, unseen from words."""

from __future__ import annotations

from pathlib import Path

import pytest
from network_cases import NAMES, method_class

from labelwise import methods
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.measures import Measures, evaluate

SETTINGS = {"epochs": 3, "learning_rate": 0.015, "dropout": 0.1, "max_tokens": 100, "device": "cpu"}
CNN, BIGRU = {"filters": 64}, {"units": 24}


@pytest.fixture(scope="module")
def acts(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Enough acts that some labels are frequent."""
    folder = tmp_path_factory.mktemp("acts")
    make_dataset(folder, seed=0, train=1000, dev=100, test=200)
    return open_dataset(folder)


def measured(name: str, data: Dataset, **settings: object) -> Measures:
    cls = methods.get(name)
    method = cls(cls.Settings(**settings))
    method.fit(data.train, data.dev, data.label_space)
    gold = data.label_space.gold(data.test)
    return evaluate(method.scores(data.test), gold, data.label_space)


def vectors_of(data: Dataset) -> str:
    return str(Path(data.paths["train"]).parent / "vectors.txt")


def test_bigru_lwan_is_far_ahead_of_exact_match_on_frequent_labels(acts: Dataset) -> None:
    network = measured("bigru-lwan", acts, **SETTINGS, **BIGRU, vectors=vectors_of(acts))
    words = measured("exact-match", acts)
    assert network["frequent"]["RP@5"] > words["frequent"]["RP@5"] + 0.2
    assert network["few"]["RP@5"] > words["few"]["RP@5"]


@pytest.mark.parametrize(("name", "width"), [("z-cnn-lwan", CNN), ("z-bigru-lwan", BIGRU)])
def test_z_methods_find_labels_that_no_training_act_carries(
    name: str, width: dict[str, int], acts: Dataset
) -> None:
    network = measured(name, acts, **SETTINGS, **width, vectors=vectors_of(acts))
    assert network["zero"]["RP@5"] > 3 * network.chance["zero"]["RP@5"]
    assert network["zero"]["nDCG@5"] > 3 * network.chance["zero"]["nDCG@5"]


@pytest.mark.parametrize("name", NAMES)
def test_every_network_trains_an_epoch_on_the_synthetic_corpus(
    name: str, synthetic: Dataset
) -> None:
    width = {"filters": 16} if "cnn" in name else {"units": 8}
    cls = method_class(name)
    method = cls(cls.Settings(epochs=1, max_tokens=60, dim=16, device="cpu", **width))
    method.fit(synthetic.train[:100], synthetic.dev[:20], synthetic.label_space)
    scores = method.scores(synthetic.test)
    assert scores.shape == (len(synthetic.test), len(synthetic.label_space))
