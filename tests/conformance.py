"""What every method must do. A new method is tested the moment it is registered.

``tests/methods/test_conformance.py`` runs each ``check_*`` function here over the registry.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundle_cases import contents, rewrite, wrong_arrays, wrong_values
from encoder_cases import frequent_words, tiny_encoder

from labelwise import bundle, methods
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import GROUPS
from labelwise.corpus.thesaurus import Concept, Thesaurus
from labelwise.errors import BundleError, LabelwiseError
from labelwise.evaluation.calibration import Calibration, Curve
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.methods import Method
from labelwise.methods.base import (
    PretrainedSettings,
    Resumable,
    Rounding,
    Sharding,
    Twinning,
    VectorSettings,
    Widening,
)
from labelwise.training.recipe import Recipe

SMALL_NETWORK: dict[str, Any] = {
    "dim": 24,
    "dropout": 0.0,
    "epochs": 3,
    "learning_rate": 0.02,
    "max_tokens": 80,
    "device": "cpu",
}

RECURRENT: dict[str, Any] = {**SMALL_NETWORK, "units": 12, "max_tokens": 48}

SMALL_ENCODER: dict[str, Any] = {
    "piece_tokens": 60,
    "stride": 60,
    "dropout": 0.0,
    "epochs": 3,
    "learning_rate": 0.02,
    "encoder_rate": 0.003,
    "device": "cpu",
}

QUICK: dict[str, dict[str, Any]] = {
    "bigru-att": RECURRENT,
    "bigru-lwan": RECURRENT,
    "blend": {"members": ("svm", "exact-match")},
    "cnn-lwan": {**SMALL_NETWORK, "filters": 24, "kernel": 3},
    "dcnn-lwan": {**SMALL_NETWORK, "filters": 24, "blocks": 2},
    "ensemble-lwan": {**RECURRENT, "z_units": 12, "z_epochs": 3},
    "han": {**SMALL_NETWORK, "units": 12},
    "logistic": {"longest_ngram": 2, "min_count": 3},
    "lw-han": {**SMALL_NETWORK, "units": 12},
    "max-hss": {**SMALL_NETWORK, "units": 12},
    "minilm-lwan": SMALL_ENCODER,
    "mpnet-lwan": SMALL_ENCODER,
    "svm": {"passes": 6, "min_run_count": 3},
    "tree": {"trees": 1, "explained_words": 20},
    "z-bigru-lwan": RECURRENT,
    "z-cnn-lwan": {**SMALL_NETWORK, "filters": 24, "kernel": 3},
}
"""Settings that make a method quick enough to be trained in every test run."""

ODD_DOCUMENTS = (
    Document("empty", "", ()),
    Document("one-word", "", (Section("article", "Oranges"),)),
    Document("unknown-words", "", (Section("article", "Zzyzx qwrtplk, vbnmxz!"),)),
    Document("greek", "", (Section("article", "Κανονισμός για την εισαγωγή εσπεριδοειδών."),)),
    Document("punctuation", "", (Section("recitals", "... --- ;;;"), Section("article", "§"))),
    Document("long", "", tuple(Section("article", "import of fruit " * 2_500) for _ in range(7))),
)
"""From nothing at all to 50,000 words."""


def fitted(name: str, data: Dataset, every: int = 2) -> Method:
    """A method trained on a small data set with quick settings; a network on a part of it."""
    cls = methods.get(name)
    settings = dict(QUICK.get(name, {}))
    if issubclass(cls.Settings, PretrainedSettings):
        words = frequent_words(section.text for act in data.train for section in act.sections)
        kind = "mpnet" if name == "mpnet-lwan" else "bert"
        settings["encoder"] = str(tiny_encoder(kind, words))
    method = cls(cls.Settings(**settings))
    # Half of the documents are enough for what is checked, and networks take their time.
    train = data.train[::every] if cls.is_network() else data.train
    method.fit(train, data.dev[: 80 // every], data.label_space)
    return method


def check_scores_are_documents_by_labels(method: Method, data: Dataset) -> None:
    scores = method.scores(data.test)
    assert scores.shape == (len(data.test), len(data.label_space))
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert method.scores([]).shape == (0, len(data.label_space))


def check_columns_follow_the_label_order(method: Method, data: Dataset) -> None:
    """On training documents, gold labels score higher than the rest on average."""
    documents = data.train[:60]
    scores, gold = method.scores(documents), data.label_space.gold(documents).toarray() > 0
    seen = data.label_space.counts > 0
    assert scores[:, seen][gold[:, seen]].mean() > 2 * scores[:, seen][~gold[:, seen]].mean()


def check_same_seed_gives_the_same_scores(method: Method, data: Dataset) -> None:
    if not method.deterministic:
        assert method.__class__.__doc__ is not None
        assert "seed" in method.__class__.__doc__, "say why the seed does not settle the scores"
        return
    once, again = (fitted(method.name, data, every=20) for _ in range(2))
    np.testing.assert_array_equal(once.scores(data.test[:24]), again.scores(data.test[:24]))
    assert once.threshold == again.threshold


OTHER = """
import sys, numpy as np
from labelwise import bundle
from labelwise.corpus.document import Document, Section
text = 'Regulation on the import of citrus fruit from third countries'
act = Document('1', '', (Section('header', text), Section('article', 'Fish quotas.')))
for line in sys.stdin:
    model, scores = line.rstrip().split('\\t')
    method = bundle.load(model)
    np.save(scores, method.scores([act]))
    print(method.label_space.fingerprint, method.threshold, flush=True)
"""


@functools.cache
def other_process() -> subprocess.Popen[str]:
    """One that scores with the bundles that it is told; it ends when this process does."""
    return subprocess.Popen(
        [sys.executable, "-c", OTHER],
        env={**os.environ, "PYTHONHASHSEED": "4711", "LABELWISE_DATA": ""},
        cwd=tempfile.gettempdir(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def check_bundle_works_in_a_new_process(method: Method, data: Dataset, folder: Path) -> None:
    """Saved here, loaded by another process with another hash seed and no corpus: same scores."""
    bundle.save(method, folder / "model")
    text = "Regulation on the import of citrus fruit from third countries"
    act = Document("1", "", (Section("header", text), Section("article", "Fish quotas.")))
    other = other_process()
    assert other.stdin
    assert other.stdout
    print(folder / "model", folder / "scores.npy", sep="\t", file=other.stdin, flush=True)
    answer = other.stdout.readline()
    assert answer, "the other process has ended; its error stands above"
    expected = method.scores([act])
    np.testing.assert_allclose(np.load(folder / "scores.npy"), expected, rtol=1e-5, atol=1e-6)
    fingerprint, threshold = answer.split()
    assert fingerprint == data.label_space.fingerprint
    assert float(threshold) == method.threshold
    loaded = bundle.load(folder / "model")
    assert loaded.settings == method.settings
    assert loaded.label_space == method.label_space
    top = _top_label(method, data.test[0])
    assert loaded.evidence(data.test[0], [top])[0].label == top


def check_batch_mates_do_not_matter(method: Method, data: Dataset) -> None:
    documents: Sequence[Document] = [*data.test[:5], ODD_DOCUMENTS[-1], data.test[5]]
    together = method.scores(documents)
    alone = np.concatenate([method.scores([document]) for document in documents])
    backwards = method.scores(documents[::-1])[::-1]
    np.testing.assert_array_equal(together, alone, "the last bit decides the last printed digit")
    np.testing.assert_array_equal(together, backwards)
    best = np.argsort(-alone, axis=1, kind="stable")[:, :10]
    for found in (method.best_scores(documents), method.best_scores(documents[:1])):
        columns = best[: len(found)]
        np.testing.assert_array_equal(
            np.take_along_axis(found, columns, 1),
            np.take_along_axis(alone[: len(found)], columns, 1),
            "as tagging shows them, in a file or alone",
        )


def check_odd_documents_are_scored(method: Method, data: Dataset) -> None:
    scores = method.scores(ODD_DOCUMENTS)
    assert scores.shape == (len(ODD_DOCUMENTS), len(data.label_space))
    assert np.isfinite(scores).all()
    for document in ODD_DOCUMENTS[:-1]:
        for evidence in method.evidence(document, data.label_space.ids[:2]):
            _check_spans(document, evidence)


def check_of_no_label_there_is_no_evidence(method: Method, data: Dataset) -> None:
    """As where a text of marks alone is explained: a network stumbled over it."""
    for explainer in (None, *method.explainers):
        assert method.evidence(data.test[0], [], explainer) == []


def check_evidence_points_into_the_text(method: Method, data: Dataset) -> None:
    for document in data.test[:4]:
        scores = method.scores([document])[0]
        labels = [data.label_space.ids[column] for column in np.argsort(-scores)[:3]]
        evidence = method.evidence(document, labels)
        assert [one.label for one in evidence] == labels
        for one in evidence:
            _check_spans(document, one)
        assert evidence[0].spans or not scores.max(), "some words should speak for the top label"


def check_every_explainer_points_into_the_text(method: Method, data: Dataset) -> None:
    document = data.test[0]
    assert method.explainer in (method.explainers or ("",))
    for explainer in method.explainers:
        (one,) = method.evidence(document, [_top_label(method, document)], explainer)
        _check_spans(document, one)
        assert one.spans, explainer


def _check_spans(document: Document, evidence: methods.Evidence) -> None:
    weights = np.array([span.weight for span in evidence.spans])
    assert np.isfinite(weights).all()
    for span in evidence.spans:
        assert 0 <= span.start < span.end <= len(document.text)
        assert document.text[span.start : span.end].strip()
    if evidence.kind == "contribution":
        assert np.abs(weights).sum() <= 1 + 1e-6
    elif len(weights):
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1, abs=1e-4)


def check_scores_can_be_put_on_another_scale(method: Method, data: Dataset, folder: Path) -> None:
    """Those of zero-shot labels, and then all by group; a bundle keeps the scale, and so does a
    model with more labels."""
    documents, zero = data.test[:5], method.label_space.groups["zero"]
    plain, scale = method.scores(documents), UnseenScale(slope=0.5, offset=1.0)
    curves = {group: Curve("platt", (0.5, -at)) for at, group in enumerate(GROUPS)}
    method.unseen, method.calibration = scale, Calibration(curves)
    try:
        scaled = method.scores(documents)
        bundle.save(method, folder / "placed")
        wider: Any = None
        if hasattr(method, "with_labels"):
            wider = method.with_labels({"new": method.label_space.labels[0].descriptor})
    finally:
        method.unseen = method.calibration = None
    placed = np.concatenate([plain[:, : zero.start], scale(plain[:, zero])], axis=1)
    expected = Calibration(curves)(placed, method.label_space.groups)
    np.testing.assert_allclose(scaled, expected, rtol=1e-6)
    again = bundle.load(folder / "placed").scores(documents)
    np.testing.assert_allclose(again, scaled, rtol=1e-5, atol=1e-6)
    if wider is not None:
        there = [wider.label_space.index[id] for id in method.label_space.ids]
        found = wider.scores(documents)[:, there]
        np.testing.assert_allclose(found, again, rtol=1e-4, atol=1e-5)


def check_wrong_use_is_a_plain_error(method: Method, data: Dataset) -> None:
    with pytest.raises(LabelwiseError, match="not a label of this model"):
        method.evidence(data.test[0], ["no-such-label"])
    fresh = type(method)()
    with pytest.raises(LabelwiseError, match="not fitted"):
        fresh.scores(data.test[:1])
    with pytest.raises(LabelwiseError, match="no training documents"):
        fresh.fit([], [], data.label_space)


def check_settings_are_one_flat_dataclass(method: Method, data: Dataset) -> None:
    settings = method.Settings()
    assert dataclasses.is_dataclass(settings)
    assert isinstance(settings.seed, int)
    assert type(method)(settings).settings is settings
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        assert value is None or isinstance(value, bool | int | float | str | tuple), field.name


def check_what_is_read_may_be_less_than_in_training(method: Method, data: Dataset) -> None:
    some = data.test[:4]
    trained, scores = method.settings, method.scores(some)
    try:
        for name in method.readings:
            value = getattr(trained, name)
            other = (value // 2 or 1) if type(value) is int else 0.5
            method.settings = dataclasses.replace(trained, **{name: other})
            less = method.scores(some)
            assert less.shape == scores.shape, name
            assert np.isfinite(less).all(), name
    finally:
        method.settings = trained
    np.testing.assert_array_equal(method.scores(some), scores)


def check_what_a_method_says_of_itself_holds(method: Method, data: Dataset, folder: Path) -> None:
    settings = method.settings
    assert type(settings) is method.Settings
    assert method.is_network() == (method.reads != "documents") == isinstance(settings, Recipe)
    assert method.recipe is (settings if method.is_network() else None)
    assert (method.reads == "words") == isinstance(settings, VectorSettings)
    assert (method.reads == "pieces") == isinstance(settings, PretrainedSettings)
    if method.is_network():
        assert isinstance(method, Resumable)
        assert method.max_tokens is not None

    some = data.test[:4]
    scores = method.scores(some)
    bundle.save(method, folder / "half", half=True)
    _, arrays, _ = contents(folder / "half")
    wide = any(array.dtype == np.float32 for array in arrays.values())
    assert not (method.half_precision and wide)
    loaded = bundle.load(folder / "half").scores(some)
    np.testing.assert_allclose(loaded, scores, atol=0.01 if method.half_precision else 1e-6)
    if isinstance(method, Rounding):
        np.testing.assert_allclose(method.in_eight_bits().scores(some), scores, atol=0.1)
    if isinstance(method, Widening):
        extra, others = {"7001": "imports of fruit"}, ("fishing vessels", "a quota")
        wider = method.with_labels(extra)
        plain, new = wider.scores(some), wider.label_space.index["7001"]
        assert plain.shape == (4, len(data.label_space) + 1)
        for id in ("7001", "7002"):  # what a thesaurus says of another label changes nothing
            concepts = [Concept(id, "", "imports", others, ("1",)), Concept("1", "", "trade")]
            known = method.with_labels(extra, Thesaurus.of(concepts)).scores(some)
            same = np.arange(plain.shape[1]) != (new if id in extra else -1)
            np.testing.assert_array_equal(known[:, same], plain[:, same])
            assert np.isfinite(known).all()
    if isinstance(method, Twinning):
        twin = type(method).like(method.parts, method)
        np.testing.assert_array_equal(twin.scores(some), scores)
        assert twin.threshold == method.threshold
    if isinstance(method, Sharding):
        whole = type(method).from_shards([method], data.dev).scores(some)  # chances fitted anew
        np.testing.assert_array_equal(whole.argmax(axis=1), scores.argmax(axis=1))


def _top_label(method: Method, document: Document) -> str:
    return method.label_space.ids[int(method.scores([document])[0].argmax())]


def check_what_cannot_have_been_saved_is_refused(
    method: Method, data: Dataset, folder: Path
) -> None:
    """Checksums that fit do not make a model: parts may be missing, or of another kind or shape."""
    bundle.save(method, folder / "model")
    manifest, arrays, values = contents(folder / "model")
    for what, wrong in wrong_arrays(arrays):
        if not what.startswith("file."):  # the trees of omikuji, which reads them itself
            rewrite(folder / "model", manifest, wrong)
            assert_refused(folder / "model", what)
    for what, spoilt in wrong_values(values):
        rewrite(folder / "model", manifest, values=spoilt)
        assert_refused(folder / "model", what)


def assert_refused(folder: Path, what: str) -> None:
    try:
        bundle.load(folder)
    except BundleError:
        return
    pytest.fail(f"a bundle with {what} was loaded")


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
