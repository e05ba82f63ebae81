"""An exported encoder scores as its method does: every length, every cut, every label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import KINDS, act_of, encoder, halved
from methods.network_cases import acts
from numpy.typing import NDArray
from onnx import TensorProto, checker
from onnx.reference import ReferenceEvaluator

from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.export.onnx_file import to_onnx, write_onnx
from labelwise.export.parity import Inputs, largest_difference, onnx_inputs, open_onnx
from labelwise.methods import saved_weights
from labelwise.methods.encoder import EncoderMethod

CLOSE = 1e-5
LENGTHS = [0, 1, 2, 9, 10, 11, 12, 19, 20, 21, 60]  # two pieces of ten tokens are read

pytestmark = pytest.mark.parametrize("kind", KINDS)


def exported(method: EncoderMethod, folder: Path, *, int8: bool = False):
    path = folder / f"{method.name}.onnx"
    write_onnx(method, path, int8=int8)
    return open_onnx(path, threads=1)


def wider(inputs: Inputs, columns: int, filling: int) -> dict[str, NDArray[np.int64]]:
    """The same rows, padded with these numbers."""
    tokens = np.pad(inputs["tokens"], ((0, 0), (0, columns)))
    tokens[np.arange(tokens.shape[1]) >= inputs["lengths"][:, None]] = filling
    return {"tokens": tokens, "lengths": inputs["lengths"]}


def test_scores_agree_at_every_length_and_batch_size(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    run = exported(method, tmp_path)
    documents = [act_of(words, 1 + words % 4) for words in LENGTHS]
    expected = method.scores(documents)
    assert np.ptp(expected, axis=0).max() > 0.01  # it does tell the documents apart
    for size in (1, 4, len(documents)):
        for at in range(0, len(documents), size):
            scores = run(onnx_inputs(method, documents[at : at + size]))
            np.testing.assert_allclose(scores, expected[at : at + size], atol=CLOSE)
            assert scores.dtype == np.float32


@pytest.mark.parametrize(("pieces", "tokens", "stride"), [(1, 60, 60), (4, 7, 4), (3, 5, 1)])
def test_documents_are_cut_into_pieces_as_labelwise_cuts_them(
    kind: str, pieces: int, tokens: int, stride: int, tmp_path: Path
) -> None:
    method = encoder(kind, pieces=pieces, piece_tokens=tokens, stride=stride)
    documents = [act_of(words) for words in range(1, 26, 2)] + [act_of(200)]
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


def test_padding_takes_no_part_whatever_stands_there(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    run = exported(method, tmp_path)
    documents = [act_of(words, seed=1) for words in (20, 1, 5, 0, 13)]
    inputs = onnx_inputs(method, documents)
    expected = method.scores(documents)
    for columns, filling in ((0, 7), (1, 0), (30, 7)):
        scores = run(wider(inputs, columns, filling))
        np.testing.assert_allclose(scores, expected, atol=CLOSE)


def test_scores_do_not_depend_on_the_other_documents(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    documents = [act_of(words, seed=2) for words in (3, 20, 1, 14)]
    for int8 in (False, True):
        run = exported(method, tmp_path, int8=int8)
        together = run(onnx_inputs(method, documents))
        for row, document in zip(together, documents, strict=True):
            alone = run(onnx_inputs(method, [document]))[0]
            np.testing.assert_allclose(row, alone, atol=CLOSE)


def test_a_document_of_length_zero_is_one_unknown_word(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    inputs = {"tokens": np.zeros((1, 3), np.int64), "lengths": np.zeros(1, np.int64)}
    scores = exported(method, tmp_path)(inputs)
    np.testing.assert_allclose(scores, method.scores([act_of(0)]), atol=CLOSE)


def test_another_runtime_agrees(kind: str) -> None:
    method = encoder(kind)
    documents = [act_of(words, seed=8) for words in (4, 17)]
    runtime = ReferenceEvaluator(to_onnx(method))
    (scores,) = runtime.run(["scores"], dict(onnx_inputs(method, documents)))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


def test_labels_added_after_training_are_exported_too(kind: str, tmp_path: Path) -> None:
    method = encoder(kind).with_labels({"7001": "wine import", "0001": "vessel"})
    documents = acts(5, seed=4)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    assert scores.shape == (5, 7)
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


def test_unseen_labels_keep_the_scale_they_were_put_on(kind: str, tmp_path: Path) -> None:
    method = encoder(kind).with_labels({"7001": "wine import"})
    documents = acts(5, seed=4)
    before = method.scores(documents)
    method.unseen = UnseenScale(slope=0.5, offset=1.0)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)
    assert np.abs(scores - before).max() > 0.1


def test_eight_bits_change_scores_little(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    documents = [act_of(words, seed=6) for words in LENGTHS]
    scores = exported(method, tmp_path, int8=True)(onnx_inputs(method, documents))
    difference = np.abs(scores - method.scores(documents)).max()
    assert 0 < difference < 0.03
    stored: dict[int, int] = {}
    for one in to_onnx(method, int8=True).graph.initializer:
        stored[one.data_type] = stored.get(one.data_type, 0) + int(np.prod(one.dims))
    assert stored[TensorProto.INT8] > 5 * stored[TensorProto.FLOAT]
    assert TensorProto.UINT8 in stored


def test_a_network_saved_in_half_precision_stays_so_and_loses_nothing(
    kind: str, tmp_path: Path
) -> None:
    half = halved(encoder(kind))
    assert isinstance(half, EncoderMethod)
    documents = acts(5, seed=5)
    scores = exported(half, tmp_path)(onnx_inputs(half, documents))
    np.testing.assert_allclose(scores, half.scores(documents), atol=CLOSE)
    size = sum(
        int(np.prod(one.dims))
        for one in to_onnx(half).graph.initializer
        if one.data_type == TensorProto.FLOAT16
    )
    arrays = half.state().arrays
    assert size >= sum(x.size for name, x in arrays.items() if name.startswith(("words", "enc")))


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
def test_a_network_saved_in_eight_bits_scores_as_it_does(
    kind: str, int8: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_weights, "LARGE", 500)
    few = encoder(kind).in_eight_bits()
    documents = [act_of(words, seed=3) for words in LENGTHS]
    scores = exported(few, tmp_path, int8=int8)(onnx_inputs(few, documents))
    np.testing.assert_allclose(scores, few.scores(documents), atol=0.03 if int8 else CLOSE)


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
def test_the_model_is_valid_and_the_same_each_time(kind: str, int8: bool) -> None:
    method = encoder(kind)
    model = to_onnx(method, int8=int8)
    checker.check_model(model, full_check=True)
    again = to_onnx(method, int8=int8)
    assert model.SerializeToString(deterministic=True) == again.SerializeToString(
        deterministic=True
    )


def test_the_largest_difference_sees_a_file_of_another_network(kind: str, tmp_path: Path) -> None:
    method = encoder(kind)
    path = tmp_path / "model.onnx"
    write_onnx(method, path)
    assert largest_difference(method, path) < CLOSE
    write_onnx(encoder(kind, seed=1), path)
    assert largest_difference(method, path) > 0.01
