"""Methods with a pretrained encoder: pieces, labels seen and unseen, evidence, and all settings."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from encoder_cases import tiny_encoder
from network_cases import FILLER, KINDS, WORDS, act, acts, fitted, label_space, small_encoder

from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.methods import encoder, saved_weights
from labelwise.methods.encoder import EncoderMethod, EncoderSettings, label_names, whole_words
from labelwise.methods.minilm_lwan import MinilmLwan
from labelwise.methods.spans import Span, Spans
from labelwise.training.checkpoint import read_checkpoint
from labelwise.training.loop import RunFolder
from labelwise.training.prepared import prepare


def trained(method: EncoderMethod, **known: Any) -> EncoderMethod:
    torch.set_num_threads(1)
    train = acts(60)
    for name, value in known.items():
        setattr(method, name, value)
    method.fit(train, acts(12, seed=1), label_space(train))
    return method


def long_act(words: int) -> Document:
    text = " ".join(["wine", "vineyard", *FILLER] * (words // 11 + 1))
    return Document("long", "", (Section("article", text),))


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_beyond_the_last_piece_is_not_read_on(kind: str) -> None:
    method = fitted(kind)  # two pieces of twenty tokens
    short, longer = method.scores([long_act(40), long_act(400)])
    np.testing.assert_allclose(short, longer, rtol=1e-5)
    (evidence,) = method.evidence(long_act(400), ["3173"])
    assert len(evidence.spans) == 40


def test_pieces_are_read_apart_and_overlap_where_the_stride_is_shorter() -> None:
    method = small_encoder(pieces=3, piece_tokens=4, stride=3)
    method.vocabulary = fitted("bert").vocabulary
    rows = method._number([long_act(11), Document("empty", "", ())])
    tokens = [
        rows.tokens[s : s + n].tolist() for s, n in zip(rows.starts, rows.lengths, strict=True)
    ]
    assert [len(row) for row in tokens] == [4, 4, 4, 1]
    assert tokens[0][3] == tokens[1][0]
    assert tokens[1][3] == tokens[2][0]
    assert tokens[3] == [method.vocabulary.unknown]


def test_what_is_read_twice_is_one_place_of_evidence() -> None:
    method = trained(small_encoder(pieces=3, piece_tokens=6, stride=4))
    (evidence,) = method.evidence(long_act(30), ["3173"])
    places = [(span.start, span.end) for span in evidence.spans]
    assert len(set(places)) == len(places) == 14
    assert sum(span.weight for span in evidence.spans) == pytest.approx(1)


def test_the_pieces_of_a_word_are_one_word_of_evidence() -> None:
    method = fitted("bert")
    document = Document("1", "", (Section("article", "Grapevines, wine"),))
    pieces = method.vocabulary.places(document.text)
    (evidence,) = method.evidence(document, ["3173"])
    assert len(pieces) > 3
    words = [document.text[span.start : span.end] for span in evidence.spans]
    assert words == ["Grapevines", ",", "wine"]
    assert whole_words([], "") == []
    assert whole_words([Spans.of([])], "") == [()]


def test_whole_words_are_those_of_a_plain_walk_over_the_pieces() -> None:
    """Read twice, in any order, and for two labels at once."""
    text = "Grapevines, wine 12kg – of Åland's ﬁsh"
    pick = random.Random(0)
    borders = sorted({0, len(text), *pick.sample(range(len(text)), 20)})
    pieces = [(a, b) for a, b in pairwise(borders) if not text[a:b].isspace()]
    places = pieces * 2
    pick.shuffle(places)
    labels = [Spans.of([Span(a, b, pick.random()) for a, b in places]) for _ in range(2)]
    for one, found in zip(labels, whole_words(labels, text), strict=True):
        words: list[Span] = []
        for a, b in pieces:
            weight = sum(span.weight for span in one if (span.start, span.end) == (a, b))
            if words and words[-1].end == a and text[a - 1 : a + 1].isalnum():
                words[-1] = Span(words[-1].start, b, words[-1].weight + weight)
            else:
                words.append(Span(a, b, weight))
        assert [(s.start, s.end) for s in found] == [(s.start, s.end) for s in words]
        np.testing.assert_allclose(found.weights, [s.weight for s in words])


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_can_be_added_after_training(kind: str) -> None:
    method = fitted(kind)
    wider = method.with_labels({"99": "oranges and lemons", "11": "vessel trawler"})
    old, new = method.label_space, wider.label_space
    documents = acts(5, seed=6)
    before, after = method.scores(documents), wider.scores(documents)
    np.testing.assert_allclose(after[:, [new.index[id] for id in old.ids]], before, rtol=1e-5)
    (evidence,) = wider.evidence(documents[0], ["99"])
    assert sum(span.weight for span in evidence.spans) == pytest.approx(1)


def test_a_document_that_is_scored_and_explained_is_cut_into_pieces_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = deepcopy(fitted("bert"))
    plain, cut = method.vocabulary._tokenizer, []

    class Tokenizer:
        def encode_batch(self, texts: list[str], **options: Any) -> Any:
            cut.extend(texts)
            return plain.encode_batch(texts, **options)

    monkeypatch.setitem(vars(method.vocabulary), "_tokenizer", Tokenizer())
    (document,) = acts(1, seed=9)
    method.scores([document])
    method.evidence(document, ["3173", "693"])
    assert sorted(cut) == sorted({section.text for section in document.sections})


def test_a_document_that_is_scored_and_explained_is_encoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method = deepcopy(fitted("bert"))
    monkeypatch.setattr(method.network, "shortlist", 1)  # so that a first look is taken
    reads: list[int] = []
    encode = type(method.network).encode

    def counted(network: Any, batch: Any) -> Any:
        reads.append(len(batch))
        return encode(network, batch)

    monkeypatch.setattr(type(method.network), "encode", counted)
    one, other = acts(2, seed=8)
    alone = method.evidence(one, ["3173"])
    assert reads == [1]
    scores = method.best_scores([one])
    assert method.evidence(one, ["3173"]) == alone
    assert reads == [1]
    method.best_scores([other])
    np.testing.assert_array_equal(method.best_scores([one]), scores)
    assert reads == [1] * 3
    with torch.no_grad():
        method.network.words.weight *= 2
    assert method.evidence(one, ["3173"]) != alone
    assert len(reads) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_in_eight_bits_a_model_takes_half_the_room_and_scores_as_before(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_weights, "LARGE", 500)
    method, documents = fitted(kind), acts(8, seed=6)
    few = method.in_eight_bits()
    bundle.save(method, tmp_path / "large", card={})
    bundle.save(few, tmp_path / "few", card={})
    arrays = [sum(one.nbytes for one in of.state().arrays.values()) for of in (method, few)]
    assert arrays[1] < 0.75 * arrays[0]
    before, after = method.scores(documents), few.scores(documents)
    assert not np.array_equal(before, after)
    np.testing.assert_allclose(np.log(after), np.log(before), atol=0.1)
    loaded = bundle.load(tmp_path / "few")
    np.testing.assert_array_equal(loaded.scores(documents), after)
    bundle.save(loaded, tmp_path / "again", card={})  # and is rounded once, not again
    assert loaded.is_small
    np.testing.assert_array_equal(bundle.load(tmp_path / "again").scores(documents), after)
    wider = loaded.with_labels({"99": "oranges and lemons"})
    old, new = loaded.label_space, wider.label_space
    columns = [new.index[id] for id in old.ids]
    np.testing.assert_allclose(wider.scores(documents)[:, columns], after, rtol=1e-4)
    assert wider.is_small


def test_rows_in_eight_bits_need_what_they_are_multiplied_with() -> None:
    arrays = saved_weights.in_bytes({"w": torch.randn(400, 300), "b": torch.randn(400)})
    assert {name: one.dtype for name, one in arrays.items()} == {
        "w": np.int8, "w/scale": np.float32, "b": np.float16,
    }  # fmt: skip
    for wrong in (arrays["w/scale"][:9], arrays["w/scale"] * np.nan):
        with pytest.raises(BundleError, match="w/scale"):
            saved_weights.widened(arrays | {"w/scale": wrong})
    with pytest.raises(KeyError):
        saved_weights.widened({"w/scale": arrays["w/scale"]})


def test_an_added_label_is_about_where_its_twin_that_was_there_before_is() -> None:
    """The bridge leads from the trained encoder's embedding of a name to that of the untrained."""
    method = fitted("bert")
    twin = method.with_labels({"7": "vessel"})
    labels, index = twin.network.labels.descriptors, twin.label_space.index
    assert torch.cosine_similarity(labels[index["7"]], labels[index["5255"]], dim=0) > 0.9


def test_unseen_labels_have_no_learned_part_and_are_no_negatives() -> None:
    method = fitted("bert")
    assert method.label_space.ids[-1] == "5255"
    labels = method.network.labels
    assert len(labels.descriptors) == len(method.label_space)
    assert len(labels.queries) == len(labels.bias) == len(method.label_space) - 1
    labels.train()
    assert len(labels()[0]) == len(method.label_space) - 1
    method.network.eval()


def test_as_many_labels_as_the_settings_say_do_without_their_learned_part() -> None:
    assert fitted("bert").network.labels.dropout == MinilmLwan.Settings().label_dropout == 0.2
    assert trained(small_encoder(epochs=1, label_dropout=0.5)).network.labels.dropout == 0.5


def test_the_names_of_a_label_all_count() -> None:
    thesaurus = Thesaurus.of(
        [
            Concept("1", "", "produce"),
            Concept("693", "", "citrus fruit", ("oranges", "lemons"), broader=("1",)),
        ]
    )
    space = label_space(acts(60))
    names = label_names(space, thesaurus)[space.index["693"]]
    assert names == [
        ("citrus fruit", "own"),
        ("oranges", "other"),
        ("lemons", "other"),
        ("produce", "broader"),
    ]
    plain, known = (
        trained(small_encoder(epochs=1, learning_rate=1e-30, encoder_rate=1e-30), thesaurus=one)
        for one in (None, thesaurus)
    )
    own, others = (one.network.labels.descriptors for one in (plain, known))
    at = space.index["693"]
    moved = 1 - torch.cosine_similarity(own, others)
    assert moved[at] == moved.max() > 1e-3


CITRUS = ("citrus fruit", ("oranges", "lemons"))
PRODUCE = Thesaurus.of(
    [Concept("1", "", "produce"), *(Concept(id, "", *CITRUS, ("1",)) for id in ("693", "7"))]
)
"""A label of the acts and a new one, which have the same names."""


def test_a_label_added_with_a_thesaurus_is_its_twin_that_was_trained_but_for_the_bridge() -> None:
    """As the encoder is what it was before, no bridge is needed."""
    still = {"learning_rate": 1e-30, "encoder_rate": 1e-30}
    method = trained(small_encoder(epochs=1, **still), thesaurus=PRODUCE)
    with torch.no_grad():
        method.network.bridge.copy_(torch.eye(len(method.network.bridge)))

    def twins(thesaurus: Thesaurus | None) -> torch.Tensor:
        wider = method.with_labels({"7": "citrus fruit"}, thesaurus)
        labels, index = wider.network.labels.descriptors, wider.label_space.index
        return labels[[index["7"], index["693"]]]

    added, there = twins(PRODUCE)
    np.testing.assert_allclose(added, there, atol=0.005)
    alone, there = twins(None)
    assert (alone - there).abs().max() > 0.05


def test_of_a_label_added_with_a_thesaurus_each_name_counts_through_the_bridge() -> None:
    method = fitted("bert")
    names = ["citrus fruit", "oranges", "lemons", "produce"]
    embedded = method._embedded(method.network, names)
    bridge, centre = method.network.bridge, method.network.centre
    own, *others, broader = (
        torch.nn.functional.normalize(embedded[name] @ bridge, dim=0) for name in names
    )
    mixed = own + 0.3 * sum(others) / 2 + 0.4 * broader
    expected = torch.nn.functional.normalize(mixed, dim=0) - centre
    wider = method.with_labels({"7": "citrus fruit"}, PRODUCE)
    added = wider.network.labels.descriptors[wider.label_space.index["7"]]
    np.testing.assert_allclose(added, torch.nn.functional.normalize(expected, dim=0), atol=0.001)


def test_frozen_layers_stay_and_the_rest_learns() -> None:
    untrained = trained(small_encoder(epochs=1, learning_rate=1e-30, encoder_rate=1e-30))
    before = untrained.network.state_dict()
    method = trained(small_encoder(epochs=1, frozen_layers=1))
    after = method.network.state_dict()
    for name in ("words.weight", "encoder.positions", "encoder.layers.0.read.weight"):
        assert torch.equal(before[name], after[name]), name
    for name in ("encoder.layers.1.read.weight", "labels.queries", "labels.project_query"):
        assert not torch.equal(before[name], after[name]), name
    features = trained(small_encoder(epochs=1, frozen_layers=2)).network.state_dict()
    for name, value in before.items():
        if name.startswith(("words.", "encoder.")):
            assert torch.equal(value, features[name]), name


def test_lower_layers_learn_at_a_lower_rate() -> None:
    network = trained(small_encoder(epochs=1, layer_decay=0.5)).network
    shares = network.learning_shares
    assert shares["encoder.layers.1."] == pytest.approx(0.1)  # 0.002 beside 0.02
    assert shares["encoder.layers.0."] == pytest.approx(0.05)
    assert shares["words."] == pytest.approx(0.025)


@pytest.mark.parametrize("loss", ["bce", "zlpr"])
def test_it_learns_what_acts_are_about(loss: str) -> None:
    method = trained(small_encoder(epochs=12, loss=loss, averaging=0.5))
    documents = acts(20, seed=9)
    scores = method.scores(documents)
    best = np.argsort(-scores[:, :4], axis=1)[:, :2]  # without the unseen one
    hits = [
        len({method.label_space.ids[column] for column in row} & set(document.labels))
        for row, document in zip(best, documents, strict=True)
    ]
    assert np.mean(hits) > 1.5


def test_the_best_labels_are_found_without_attending_to_all(monkeypatch: Any) -> None:
    method = fitted("mpnet")
    documents = [*acts(4, seed=5), long_act(60)]
    exact = method.scores(documents)
    monkeypatch.setattr(method.network, "shortlist", 2)
    found = method.best_scores(documents)
    best = np.argsort(-exact, axis=1)[:, :2]
    np.testing.assert_allclose(
        np.take_along_axis(found, best, 1), np.take_along_axis(exact, best, 1), rtol=1e-4
    )
    assert method.best_scores([]).shape == (0, 5)


def test_where_bytes_are_multiplied_quickly_all_labels_are_attended_to(monkeypatch: Any) -> None:
    method = deepcopy(fitted("bert"))
    documents = acts(3, seed=5)
    exact = method.scores(documents)
    monkeypatch.setattr(method.network, "shortlist", 1)
    monkeypatch.setattr(method.network.look, "forward", None)  # may not be asked
    monkeypatch.setattr(encoder, "products_in_8_bits", lambda weight: True)
    np.testing.assert_array_equal(method.best_scores(documents), exact)


def test_one_label_in_eight_is_attended_to_in_full_at_least(monkeypatch: Any) -> None:
    method = deepcopy(fitted("bert"))
    asked: list[int] = []
    look = method.network.look.forward

    def counted(h: Any, lengths: Any, labels: Any, most: int) -> Any:
        asked.append(most)
        return look(h, lengths, labels, most)

    monkeypatch.setattr(method.network.look, "forward", counted)
    monkeypatch.setattr(method.network, "shortlist", 1)
    monkeypatch.setattr(encoder, "products_in_8_bits", lambda weight: False)
    monkeypatch.setattr(encoder, "SHORTLISTED", 3)
    method.best_scores(acts(1, seed=5))
    monkeypatch.setattr(encoder, "SHORTLISTED", 2)  # five labels, two of which are asked for
    method.best_scores(acts(1, seed=6))
    assert asked == [1, 2]


def test_killed_it_ends_with_the_weights_of_one_never_killed(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "import test_encoder as cases\n"
        "from labelwise.training import loop\n"
        "loop.CHECKPOINT_SECONDS = 0.0\n"
        "encoder, folder, resume = sys.argv[1:]\n"
        "method = cases.small_encoder(encoder=encoder, averaging=0.9, epochs=3)\n"
        "cases.trained(method, run_dir=Path(folder), resume=resume == 'resume')\n"
    )
    folder, encoder = tmp_path / "killed", str(tiny_encoder("bert", WORDS))
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    training = subprocess.Popen(
        [sys.executable, "-c", script, encoder, str(folder), "new"],
        env={**os.environ, "PYTHONPATH": path},
    )
    file = RunFolder(folder).checkpoint
    for _ in range(12_000):
        if file.exists() and read_checkpoint(file)[1]["progress"]["step"] >= 4:
            break
        assert training.poll() is None
        time.sleep(0.01)
    training.send_signal(signal.SIGKILL)
    training.communicate()
    stood = read_checkpoint(file)[1]["progress"]
    assert not stood["finished"]
    settings: dict[str, Any] = {"encoder": encoder, "averaging": 0.9, "epochs": 3}
    resumed = trained(small_encoder(**settings), run_dir=folder, resume=True)
    whole = trained(small_encoder(**settings))
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(resumed.network.state_dict()[name], tensor), name


def test_a_bundle_needs_no_encoder_and_refuses_weights_that_are_not_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = fitted("mpnet")
    bundle.save(method, tmp_path / "model")
    monkeypatch.setenv("LABELWISE_ENCODERS", str(tmp_path / "nowhere"))
    loaded = bundle.load(tmp_path / "model")
    assert loaded.settings.encoder == Path(method.settings.encoder).name
    np.testing.assert_array_equal(loaded.scores(acts(3)), method.scores(acts(3)))
    state = method.state()
    arrays = {name: array for name, array in state.arrays.items() if name != "encoder.positions"}
    with pytest.raises(BundleError, match="not those of a minilm-lwan"):
        MinilmLwan.restore(method.settings, method.label_space, type(state)(arrays, state.values))


def test_wrong_settings_are_sentences() -> None:
    with pytest.raises(LabelwiseError, match="stride must be at most piece_tokens"):
        EncoderSettings(piece_tokens=20, stride=30)
    with pytest.raises(LabelwiseError, match="label_dropout must be from 0 to below 1"):
        EncoderSettings(label_dropout=1.0)
    with pytest.raises(LabelwiseError, match="encoder_rate must be above zero"):
        EncoderSettings(encoder_rate=0.0)
    with pytest.raises(LabelwiseError, match="reads rows of 64 tokens"):
        trained(small_encoder(piece_tokens=63, stride=63))
    with pytest.raises(LabelwiseError, match="there is no encoder 'no-such-encoder'"):
        trained(small_encoder(encoder="no-such-encoder"))


def test_a_corpus_prepared_in_words_is_refused() -> None:
    train = acts(8)
    prepared = prepare(train, acts(2, seed=1), label_space(train), dim=4)
    with pytest.raises(LabelwiseError, match="prepared in words"):
        small_encoder().fit_prepared(prepared)


def test_an_act_keeps_its_offsets_whatever_its_letters() -> None:
    method = fitted("bert")
    document = Document("1", "", (Section("header", "Åland — ﬁsh"), act(3).sections[0]))
    (evidence,) = method.evidence(document, ["693"])
    assert {document.text[span.start : span.end] for span in evidence.spans} >= {"Åland", "—"}


def test_a_bundle_has_half_precision_and_loses_nothing_by_it(tmp_path: Path) -> None:
    method = fitted("bert")
    assert {array.dtype for array in method.state().arrays.values()} == {np.dtype(np.float16)}
    bundle.save(method, tmp_path / "model")
    documents = acts(4, seed=2)
    loaded = bundle.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.scores(documents), method.scores(documents))


def test_what_is_kept_of_the_labels_follows_their_weights() -> None:
    labels = deepcopy(fitted("bert").network.labels).eval()
    with torch.no_grad():
        before = labels()
        assert labels()[0] is before[0], "made once"
        labels.load_state_dict({k: 2 * v for k, v in labels.state_dict().items()})
        assert not torch.equal(labels()[0], before[0])
        labels.bias += 1
        torch.testing.assert_close(labels()[2][:4], 2 * before[2][:4] + 1)
