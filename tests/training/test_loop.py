"""The one training loop: it learns, it stops, and when something is wrong it says what."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from training_cases import LABELS, TinyNetwork, examples, run

from labelwise.errors import LabelwiseError
from labelwise.layers import Embedding
from labelwise.layers.embedding import Learned
from labelwise.training import loop
from labelwise.training.batches import Batch, Gatherer
from labelwise.training.device import memory_errors
from labelwise.training.loop import train
from labelwise.training.predict import predict
from labelwise.training.recipe import Recipe


def test_it_learns_which_word_speaks_for_which_label() -> None:
    _, end = run(documents=400, epochs=8, learning_rate=0.05)
    assert end.best_rp5 > 0.9


def test_an_epoch_is_not_chosen_by_labels_that_no_training_document_has() -> None:
    data, dev = examples(10), examples(20, seed=1)
    seen = data.gold.toarray()
    seen[:, 6:] = 0
    few = replace(data, gold=sp.csr_matrix(seen))

    class Eager(TinyNetwork):
        def forward(self, batch: Batch) -> torch.Tensor:
            logits = super().forward(batch)
            return torch.cat([logits[:, :6], logits[:, 6:] + 100], 1)

    def of(network: TinyNetwork) -> tuple[float, float]:
        recipe = Recipe(device="cpu")
        training = loop._Training(network, few, dev, recipe=recipe, name="", run=None, identity={})
        return training._dev_scores()

    assert of(Eager()) == of(TinyNetwork())
    assert of(Eager())[0] > 0


def test_a_dev_document_without_a_label_takes_no_part_in_what_dev_says() -> None:
    data, dev = examples(10), examples(20, seed=1)
    gold = dev.gold.toarray()

    def of(gold: np.ndarray) -> tuple[float, float]:
        some, recipe = replace(dev, gold=sp.csr_matrix(gold)), Recipe(device="cpu")
        training = loop._Training(
            TinyNetwork(), data, some, recipe=recipe, name="", run=None, identity={}
        )
        return training._dev_scores()

    each = [of(gold * (np.arange(20) == at)[:, None]) for at in range(20)]
    assert of(gold) == pytest.approx(np.mean(each, axis=0))
    assert np.isnan(of(gold * 0)).all()


def test_the_same_seed_gives_the_same_weights_and_leaves_the_generator_alone() -> None:
    torch.manual_seed(42)
    expected = torch.rand(3)
    torch.manual_seed(42)
    first, _ = run(epochs=2)
    torch.manual_seed(42)
    second, _ = run(epochs=2)
    other, _ = run(epochs=2, seed=1)
    for name, tensor in first.state_dict().items():
        assert torch.equal(second.state_dict()[name], tensor)
    assert not torch.equal(other.state_dict()["words.weight"], first.state_dict()["words.weight"])
    network = TinyNetwork()
    torch.manual_seed(42)
    train(network, examples(16), examples(8), Recipe(device="cpu", epochs=1))
    assert torch.equal(torch.rand(3), expected)


def test_the_loss_is_cross_entropy_summed_over_labels_and_averaged_over_documents() -> None:
    data, network = examples(10), TinyNetwork().eval()
    training = loop._Training(
        network, data, examples(5), recipe=Recipe(device="cpu"), name="", run=None, identity={}
    )
    batch = Gatherer(data, torch.device("cpu"))(range(10))
    logits = network(batch)
    target = torch.from_numpy(data.gold[batch.documents].toarray()).float()
    expected = binary_cross_entropy_with_logits(logits, target, reduction="none").sum(1).mean()
    torch.testing.assert_close(training._loss(logits, batch), expected)
    # A network that scores only some labels in training is asked about those alone.
    fewer = binary_cross_entropy_with_logits(logits[:, :4], target[:, :4], reduction="none")
    torch.testing.assert_close(training._loss(logits[:, :4], batch), fewer.sum(1).mean())
    huge = training._loss(logits * 1e6, batch)
    assert torch.isfinite(huge)


def test_the_best_weights_on_dev_are_kept_and_patience_ends_the_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = iter([(0.2, 0.2), (0.5, 0.1), (0.5, 0.3), (0.4, 0.9), (0.5, 0.3), (0.9, 0.9)])
    seen: list[dict[str, torch.Tensor]] = []

    def pretend(self: loop._Training) -> tuple[float, float]:
        seen.append({k: v.clone() for k, v in self.network.state_dict().items()})
        return next(figures)

    monkeypatch.setattr(loop._Training, "_dev_scores", pretend)
    network, end = run(epochs=9, patience=2)
    assert (end.epoch, end.best_epoch) == (5, 2)
    assert (end.best_rp5, end.best_ndcg5) == (0.5, 0.3)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, seen[2][name])


def test_dev_figures_are_those_of_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    from labelwise.corpus.labels import LabelSpace
    from labelwise.evaluation.measures import evaluate

    network, end = run(epochs=2)
    dev = examples(40, seed=1)
    device = torch.device("cpu")
    scores = predict(network, Gatherer(dev, device), Recipe(device="cpu"), LABELS)
    space = LabelSpace.from_counts({f"{n:02d}": 1 for n in range(LABELS)})
    measures = evaluate(scores, dev.gold, space)
    assert measures["all"]["RP@5"] == pytest.approx(end.best_rp5)
    assert measures["all"]["nDCG@5"] == pytest.approx(end.best_ndcg5)


def test_with_averaging_the_mean_of_the_last_weights_is_kept_and_training_goes_on_from_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before: list[dict[str, torch.Tensor]] = []
    after: list[dict[str, torch.Tensor]] = []
    step = loop._Training._step

    def watched(self: loop._Training, documents: Sequence[int], batches: int) -> None:
        before.append({k: v.clone() for k, v in self.network.state_dict().items()})
        step(self, documents, batches)
        after.append({k: v.clone() for k, v in self.network.state_dict().items()})

    monkeypatch.setattr(loop._Training, "_step", watched)
    run(epochs=2, averaging=0.8)
    for one, following in zip(after, before[1:], strict=False):
        assert all(torch.equal(one[name], following[name]) for name in one)
    before.clear()
    after.clear()
    network, _ = run(epochs=1, averaging=0.8)
    average = after[0]
    for at, weights in enumerate(after[1:], start=1):
        kept = min(0.8, at / (at + 10))
        average = {name: kept * average[name] + (1 - kept) * weights[name] for name in weights}
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(tensor, average[name])
    assert not torch.equal(network.words.weight, after[-1]["words.weight"])


def test_without_dev_documents_the_last_weights_are_kept() -> None:
    network = TinyNetwork()
    before = network.words.weight.detach().clone()
    nothing = replace(examples(1), gold=sp.csr_matrix((1, LABELS)))
    end = train(network, examples(40), nothing, Recipe(device="cpu", epochs=5, patience=1))
    assert (end.epoch, end.best_epoch) == (5, 4)
    assert not torch.equal(network.words.weight, before)


def test_the_log_has_a_line_an_epoch(tmp_path: Path) -> None:
    _, end = run(tmp_path, epochs=3)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["start", "epoch", "epoch", "epoch", "end"]
    assert lines[0]["documents"] == 120
    assert lines[0]["batch"] == 8
    assert lines[0]["training"]["documents"] == 120
    assert lines[1]["loss"] > lines[3]["loss"] > 0
    assert max(line["dev_rp5"] for line in lines[1:4]) == end.best_rp5


def test_scores_come_back_in_the_order_of_the_documents() -> None:
    network, _ = run(epochs=1)
    data = examples(30)
    gather = Gatherer(data, torch.device("cpu"))
    small, large = Recipe(batch=3, device="cpu"), Recipe(device="cpu")
    scores = predict(network, gather, small, LABELS)
    np.testing.assert_allclose(scores, predict(network, gather, large, LABELS), rtol=1e-5)
    with torch.no_grad():
        alone = network.eval()(gather([17])).sigmoid()[0]
    np.testing.assert_allclose(scores[17], alone, rtol=1e-5)


class Broken(TinyNetwork):
    """Gives NaN for a batch that holds document 5."""

    def forward(self, batch: Batch) -> torch.Tensor:
        logits = super().forward(batch)
        return logits * float("nan") if self.training and 5 in batch.documents else logits


def test_a_loss_that_is_no_number_names_the_documents(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match=r"loss became nan in epoch 1.*32001R0005") as caught:
        train(Broken(), examples(40), examples(5), Recipe(device="cpu"))
    assert "lower learning_rate" in str(caught.value)
    assert str(caught.value).count("32001R") <= 8


def test_out_of_memory_says_what_to_lower() -> None:
    batch = Gatherer(examples(6), torch.device("cpu"))(range(6))
    gpu = r"the GPU ran out of memory with 6 documents.*lower batch_tokens"
    with pytest.raises(LabelwiseError, match=gpu), memory_errors(batch):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
    with (
        pytest.raises(LabelwiseError, match="this machine ran out of memory"),
        memory_errors(batch),
    ):
        torch.empty(1 << 60, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), memory_errors(batch):
        torch.ones(2, 3) @ torch.ones(2, 3)


def test_training_ends_in_the_seconds_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    looks = itertools.count()  # a clock that a busy machine does not change: each look takes 5 ms
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: next(looks) * 0.005))
    monkeypatch.setattr(
        loop._Training,
        "_epoch",
        _remember_rates(loop._Training._epoch, rates),
    )
    _, end = run(epochs=10_000, patience=10_000, max_seconds=1.5, documents=60)
    assert end.finished
    assert 1.0 < end.seconds < 4.0
    assert rates[-1] < 0.2 * max(rates), "the learning rate falls with the time that is left"


def _remember_rates(epoch, rates: list[float]):
    def wrapped(self: loop._Training) -> None:
        epoch(self)
        rates.append(self.optimizer.param_groups[0]["lr"])

    return wrapped


def test_the_learning_rate_warms_up_and_falls_to_zero() -> None:
    recipe = Recipe(learning_rate=0.004, warmup=100)
    rates = [recipe.learning_rate_at(s, s / 2000, 2000) for s in range(2001)]
    assert rates[0] == pytest.approx(0.004 / 101)
    assert max(rates) == pytest.approx(0.004, rel=0.06)
    assert int(np.argmax(rates)) == 100
    assert rates[2000] == 0
    assert (np.diff(rates[101:]) < 0).all()
    # A short training warms up in a tenth of its steps.
    assert recipe.learning_rate_at(5, 0, 50) == pytest.approx(0.004)


def test_gradients_are_clipped() -> None:
    class Steep(TinyNetwork):
        def forward(self, batch: Batch) -> torch.Tensor:
            return super().forward(batch) * 1e4

    network = Steep()
    train(network, examples(20), examples(5), Recipe(device="cpu", epochs=1, clip=0.5))
    norm = torch.sqrt(sum(p.grad.square().sum() for p in network.parameters()))
    assert float(norm) <= 0.5 + 1e-4


def test_only_what_may_be_learned_is_learned() -> None:
    network = TinyNetwork()
    network.words.weight.requires_grad_(False)
    before = network.words.weight.clone()
    train(network, examples(20), examples(5), Recipe(device="cpu", epochs=1))
    assert torch.equal(network.words.weight, before)
    assert isinstance(network.decoder, nn.Linear)
    assert not torch.equal(network.decoder.bias, torch.full((LABELS,), -2.0))


class WithVectors(TinyNetwork):
    """Of its word vectors those of words 2 to 21 are pre-trained."""

    def __init__(self, learned: Learned = "missing") -> None:
        super().__init__()
        found = torch.zeros(40, dtype=torch.bool)
        found[2:22] = True
        self.words = Embedding(torch.randn(40, 8), found, learned)


def test_rows_that_are_frozen_do_not_decay() -> None:
    network = WithVectors()
    before = network.words.weight.detach().clone()
    recipe = Recipe(device="cpu", epochs=2, weight_decay=0.5)
    train(network, examples(40), examples(5), recipe)
    assert torch.equal(network.words.weight[2:22], before[2:22])
    unknown = network.words.weight[1].norm() / before[1].norm()  # met nowhere, and not frozen
    assert 0.9 < unknown < 0.995


def test_rows_that_are_learned_decay_as_adamw_has_it() -> None:
    recipe = Recipe(device="cpu", weight_decay=0.5, warmup=0, clip=1e9)
    network = WithVectors("all").eval()
    data = examples(10)
    training = loop._Training(
        network, data, examples(5), recipe=recipe, name="", run=None, identity={}
    )
    plain = WithVectors("all").eval()
    plain.load_state_dict(network.state_dict())
    adamw = torch.optim.AdamW(plain.parameters(), lr=recipe.learning_rate, weight_decay=0.5)
    batch = training.gather(range(10))
    for _ in range(3):
        for one, optimizer in ((network, training.optimizer), (plain, adamw)):
            optimizer.zero_grad()
            training._loss(one(batch), batch).backward()
        training._decay_rows()
        training.optimizer.step()
        adamw.step()
    torch.testing.assert_close(network.words.weight, plain.words.weight)
    torch.testing.assert_close(network.decoder.weight, plain.decoder.weight)
