"""Each network is what PAPER says, and padding, batch mates and order never matter."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from network_cases import BY_SECTION, NAMES, TOPICS, acts, fitted, label_space, small
from network_references import REFERENCES, Sections
from torch.nn.functional import pad

from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.methods.network import Material, Network
from labelwise.text.flat_tokens import FlatTokens
from labelwise.training.batches import Gatherer
from labelwise.training.numbered import Numbered, number

LABELS, WORDS, WIDTH = 9, 30, 5


def random_network(name: str, **settings: object) -> Network:
    """A network in float64 whose every weight is random."""
    torch.manual_seed(3)
    method = small(name, **settings)
    material = Material(
        vectors=torch.randn(WORDS, WIDTH),
        found=torch.ones(WORDS, dtype=torch.bool),
        prior=torch.randn(LABELS),
        descriptors=torch.randn(LABELS, WIDTH),
        seen=LABELS - 2,
    )
    network = method.network_type(material, method.settings).double().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.7)
        network.words.weight[0] = 0
    return network


def random_documents(name: str) -> tuple[list[Sections], Numbered]:
    """Documents of one to five sections of one to nine words, and one of a single word."""
    random = np.random.default_rng(5)
    documents: list[Sections] = [
        [
            random.integers(1, WORDS, random.integers(1, 10)).tolist()
            for _ in range(random.integers(1, 6))
        ]
        for _ in range(9)
    ]
    documents.append([[7]])
    tokens = np.array([w for d in documents for s in d for w in s], dtype=np.int32)
    section_lengths = [len(s) for d in documents for s in d]
    section_starts = np.concatenate([[0], np.cumsum(section_lengths)])
    document_starts = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    reading = small(name).reading
    return documents, number(FlatTokens(tokens, section_starts, document_starts), reading)


def logits_of(network: Network, rows: Numbered, chosen: list[int]) -> np.ndarray:
    batch = Gatherer(rows, torch.device("cpu"))(chosen)
    with torch.no_grad():
        logits = network(batch).numpy()
    return logits[[batch.documents.index(document) for document in chosen]]


@pytest.mark.parametrize("name", NAMES)
def test_the_network_agrees_with_its_plain_version(name: str) -> None:
    network = random_network(name)
    documents, rows = random_documents(name)
    weights = {key: x.numpy() for key, x in network.state_dict().items()}
    expected = np.array([REFERENCES[name](document, weights) for document in documents])
    got = logits_of(network, rows, list(range(len(documents))))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_batch_mates_order_and_padding_do_not_matter(name: str) -> None:
    network = random_network(name)
    _, rows = random_documents(name)
    everyone = list(range(len(rows)))
    together = logits_of(network, rows, everyone)
    alone = np.concatenate([logits_of(network, rows, [document]) for document in everyone])
    backwards = logits_of(network, rows, everyone[::-1])[::-1]
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(backwards, together, rtol=1e-9, atol=1e-10)
    batch = Gatherer(rows, torch.device("cpu"))(everyone)
    wider = dataclasses.replace(batch, tokens=pad(batch.tokens, (0, 7)))
    with torch.no_grad():
        torch.testing.assert_close(network(wider), network(batch))


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_of_the_loss_is_the_numerical_one(name: str) -> None:
    network = random_network(name)
    _, rows = random_documents(name)
    batch = Gatherer(rows, torch.device("cpu"))([0, 1, 9])

    def loss() -> torch.Tensor:
        return network(batch).sigmoid().square().sum()

    loss().backward()
    for key, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        assert parameter.grad is not None, key
        at = np.unravel_index(int(parameter.grad.abs().argmax()), parameter.shape)
        analytic, step = parameter.grad[at].item(), 1e-5
        with torch.no_grad():
            parameter[at] += step
            above = float(loss())
            parameter[at] -= 2 * step
            below = float(loss())
            parameter[at] += step
        assert analytic == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-9), key


@pytest.mark.parametrize("name", NAMES)
def test_dividing_by_the_length_is_an_option(name: str) -> None:
    plain, scaled = random_network(name), random_network(name, scale_by_length=True)
    scaled.load_state_dict(plain.state_dict())
    _, rows = random_documents(name)
    assert not np.allclose(logits_of(plain, rows, [0, 1]), logits_of(scaled, rows, [0, 1]))
    # A document of one word has a length of one, and nothing to divide by.
    np.testing.assert_allclose(logits_of(plain, rows, [9]), logits_of(scaled, rows, [9]))


@pytest.mark.parametrize("name", NAMES)
def test_a_trained_method_scores_a_document_the_same_in_any_company(name: str) -> None:
    method = fitted(name)
    documents = [
        *acts(6, seed=2),
        Document("empty", "", ()),
        Document("x", "", acts(1)[0].sections),
    ]
    together = method.scores(documents)
    alone = np.concatenate([method.scores([document]) for document in documents])
    np.testing.assert_allclose(alone, together, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(method.scores(documents[::-1])[::-1], together, rtol=1e-5, atol=1e-7)
    assert together.dtype == np.float32
    assert ((together > 0) & (together < 1)).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_document_scores_like_one_unknown_word(name: str) -> None:
    method = fitted(name)
    nothing = Document("a", "", (Section("header", ""), Section("article", " \n ")))
    unknown = Document("b", "", (Section("article", "Zzyzx"),))
    none = Document("c", "", ())
    scores = method.scores([nothing, unknown, none])
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5)
    np.testing.assert_allclose(scores[0], scores[2], rtol=1e-5)
    assert method.evidence(nothing, ["693"])[0].spans == ()


@pytest.mark.parametrize("name", BY_SECTION)
def test_an_empty_section_is_no_section(name: str) -> None:
    method = fitted(name)
    whole = acts(1, seed=4)[0]
    gaps = Document("gaps", "", (Section("header", ""), *whole.sections, Section("article", "\n")))
    np.testing.assert_allclose(method.scores([gaps]), method.scores([whole]), rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_model_and_another_seed_another(name: str) -> None:
    train = acts(30)
    space = label_space(train)

    def scores(seed: int) -> np.ndarray:
        method = small(name, epochs=1, seed=seed, word_dropout=0.1)
        method.fit(train, acts(6, seed=1), space)
        return method.scores(train[:5])

    np.testing.assert_array_equal(scores(0), scores(0))
    assert not np.allclose(scores(0), scores(1))


@pytest.mark.parametrize("name", NAMES)
def test_state_brings_the_method_back(name: str) -> None:
    method = fitted(name)
    state = method.state()
    again = type(method).restore(method.settings, method.label_space, state)
    documents = acts(5, seed=3)
    np.testing.assert_array_equal(again.scores(documents), method.scores(documents))
    half = {
        k: a.astype(np.float16) if a.dtype == np.float32 else a for k, a in state.arrays.items()
    }
    rough = type(method).restore(
        method.settings, method.label_space, dataclasses.replace(state, arrays=half)
    )
    np.testing.assert_allclose(rough.scores(documents), method.scores(documents), atol=0.01)


def test_part_of_the_documents_of_a_label_space_can_be_trained_on() -> None:
    train = acts(60)
    method = small("cnn-lwan", epochs=1)
    method.fit(train[:10], [], label_space(train))
    assert np.isfinite(method.scores(train[:3])).all()


def test_the_state_of_another_network_is_refused_in_words() -> None:
    method = fitted("bigru-lwan")
    wider = dataclasses.replace(method.settings, units=7)
    with pytest.raises(
        LabelwiseError, match="not those of a bigru-lwan with these settings"
    ) as told:
        type(method).restore(wider, method.label_space, method.state())
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("seed", -1),
        ("units", 0),
        ("layers", 1.5),
        ("dropout", 1.0),
        ("word_dropout", -0.1),
        ("max_tokens", 0),
        ("epochs", 0),
        ("learning_rate", 0.0),
        ("learned_vectors", "some"),
        ("precision", "int8"),
    ],
)
def test_a_setting_that_cannot_be_is_named(setting: str, value: object) -> None:
    with pytest.raises(LabelwiseError, match=setting):
        small("bigru-lwan", **{setting: value})


def test_a_device_that_is_not_there_is_named_in_training_and_replaced_in_scoring() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    train = acts(12)
    with pytest.raises(LabelwiseError, match="device 'cuda' cannot be used here"):
        small("cnn-lwan", device="cuda").fit(train, [], label_space(train))
    method = fitted("cnn-lwan")
    elsewhere = dataclasses.replace(method.settings, device="cuda")
    loaded = type(method).restore(elsewhere, method.label_space, method.state())
    np.testing.assert_allclose(loaded.scores(train), method.scores(train), rtol=1e-5)


def test_vectors_from_a_file_are_used_and_missing_words_keep_rows_of_their_own(
    tmp_path: Path,
) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("citrus 1 2 3\nfruit 4 5 6\nport 7 8 9\n", encoding="utf-8")
    train = acts(20)
    strange = Document("s", "", (), ("404",))
    names = {id: name for id, (name, _) in TOPICS.items()} | {"404": "zzyzx"}
    space = LabelSpace.from_documents(train, [strange], names)
    method = small("z-cnn-lwan", vectors=str(file), epochs=1)
    with pytest.warns(UserWarning, match=r"1 labels have a descriptor without a known.*zzyzx"):
        method.fit(train, [], space)
    rows, index = method.network.words.weight.detach(), method.vocabulary.index
    assert rows.shape[1] == 3
    assert rows[index["citrus"]].tolist() == [1, 2, 3]
    vectors = method.network.descriptors.vectors
    assert vectors[space.index["693"]].tolist() == [2.5, 3.5, 4.5]
    # "import" has no vector of its own, but documents have the word: it stays what it was drawn as.
    assert torch.equal(vectors[space.index["1309"]], rows[index["import"]])
    assert float(rows[index["import"]].norm()) > 0.5
    assert "tariff" in method.vocabulary
    assert not method.known[index["tariff"]]
    assert not vectors[space.index["404"]].any()


def test_a_checkpoint_is_not_gone_on_with_on_other_documents_or_chosen_by_others(
    tmp_path: Path,
) -> None:
    train, dev = acts(20), acts(6, seed=1)
    first, second, *rest = train
    swapped = [  # so that the labels are as frequent as they were
        dataclasses.replace(first, labels=second.labels),
        dataclasses.replace(second, labels=first.labels),
        *rest,
    ]

    def fit(train: list[Document], dev: list[Document], *, resume: bool = True) -> None:
        method = small("cnn-lwan", epochs=1)
        method.run_dir, method.resume = tmp_path, resume
        method.fit(train, dev, label_space(train))

    fit(train, dev, resume=False)
    fit(train, dev)
    with pytest.raises(LabelwiseError, match="which differs in training documents: train with"):
        fit(swapped, dev)
    with pytest.raises(LabelwiseError, match="which differs in dev documents: train with"):
        fit(train, dev[::-1])
