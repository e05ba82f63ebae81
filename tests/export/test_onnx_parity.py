"""An exported network scores as its method does, at every length, in every batch, padded or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import MAX_TOKENS, act_of, halved, network
from methods.network_cases import BY_SECTION, LABEL_WISE, NAMES, ZERO_SHOT, acts
from numpy.typing import NDArray
from onnx import TensorProto, checker
from onnx.reference import ReferenceEvaluator

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.evaluation.unseen_scale import UnseenScale
from labelwise.export import label_wise
from labelwise.export.onnx_file import to_onnx, write_onnx
from labelwise.export.parity import (
    Inputs,
    in_float32,
    largest_difference,
    onnx_inputs,
    open_onnx,
)
from labelwise.methods.base_network import BaseNetworkMethod

CLOSE = 1e-5
LENGTHS = range(MAX_TOKENS + 4)  # an empty one, and some that are too long, too


def exported(method: BaseNetworkMethod, folder: Path, *, int8: bool = False):
    path = folder / f"{method.name}.onnx"
    write_onnx(method, path, int8=int8)
    return open_onnx(path, threads=1)


def wider(inputs: Inputs, columns: int, filling: int) -> dict[str, NDArray[np.int64]]:
    """The same rows, padded with these numbers."""
    given = dict(inputs)
    given["tokens"] = np.pad(given["tokens"], ((0, 0), (0, columns)), constant_values=filling)
    beyond = np.arange(given["tokens"].shape[1]) >= given["lengths"][:, None]
    given["tokens"][beyond] = filling
    return given


@pytest.mark.parametrize("name", NAMES)
def test_scores_agree_at_every_length_and_batch_size(name: str, tmp_path: Path) -> None:
    method = network(name)
    run = exported(method, tmp_path)
    documents = [act_of(words, 1 + words % 4) for words in LENGTHS]
    expected = method.scores(documents)
    assert np.ptp(expected, axis=0).max() > 0.01  # it does tell the documents apart
    for size in (1, 2, 7, len(documents)):
        for at in range(0, len(documents), size):
            scores = run(onnx_inputs(method, documents[at : at + size]))
            np.testing.assert_allclose(scores, expected[at : at + size], atol=CLOSE)
            assert scores.dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_padding_takes_no_part_whatever_stands_there(name: str, tmp_path: Path) -> None:
    method = network(name)
    run = exported(method, tmp_path)
    documents = [act_of(words, 1 + words % 3, seed=1) for words in (12, 1, 5, 2, 9, 12, 3)]
    inputs = onnx_inputs(method, documents)
    assert (inputs["tokens"] == 0).any()  # padded to the longest already
    expected = method.scores(documents)
    for columns, filling in ((1, 0), (30, 0), (30, 5)):
        scores = run(wider(inputs, columns, filling))
        np.testing.assert_allclose(scores, expected, atol=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_another_runtime_agrees_on_a_document_without_padding(name: str) -> None:
    # The reference evaluator of the onnx package reads every row of a GRU to the longest one's end.
    method = network(name)
    documents = [act_of(4, seed=8)]
    runtime = ReferenceEvaluator(to_onnx(method))
    (scores,) = runtime.run(["scores"], dict(onnx_inputs(method, documents)))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_scores_do_not_depend_on_the_other_documents(name: str, tmp_path: Path) -> None:
    method = network(name)
    for int8 in (False, True):
        run = exported(method, tmp_path, int8=int8)
        documents = [act_of(words, 1 + words % 3, seed=2) for words in (3, 12, 1, 7)]
        together = run(onnx_inputs(method, documents))
        for row, document in zip(together, documents, strict=True):
            alone = run(onnx_inputs(method, [document]))[0]
            np.testing.assert_allclose(row, alone, atol=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_length_zero_is_one_unknown_word(name: str, tmp_path: Path) -> None:
    method = network(name)
    run = exported(method, tmp_path)
    inputs = {"tokens": np.zeros((1, 3), np.int64), "lengths": np.zeros(1, np.int64)}
    if name in BY_SECTION:
        inputs["counts"] = np.ones(1, np.int64)
    np.testing.assert_allclose(run(inputs), method.scores([act_of(0)]), atol=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_settings_that_change_the_network_are_followed(name: str, tmp_path: Path) -> None:
    shape = {"kernel": 4} if "cnn" in name else {}
    depth = {"blocks": 3} if name == "dcnn-lwan" else {"layers": 2}
    method = network(name, scale_by_length=True, **depth, **shape)
    documents = acts(9, seed=3)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


@pytest.mark.parametrize(("name", "width"), [("z-bigru-lwan", "units"), ("z-cnn-lwan", "filters")])
def test_descriptors_without_a_projection_are_followed(
    name: str, width: str, tmp_path: Path
) -> None:
    method = network(name, project=False, dim=12, **{width: 6 if width == "units" else 12})
    documents = acts(9, seed=3)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


@pytest.mark.parametrize("name", LABEL_WISE)
@pytest.mark.parametrize("block", [1, 2, 4])
def test_labels_in_several_blocks_come_out_in_order(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_wise, "BLOCK", block)  # of five labels: some blocks are not full
    method = network(name)
    documents = acts(5, seed=4)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_labels_added_after_training_are_exported_too(name: str, tmp_path: Path) -> None:
    method = network(name).with_labels({"7001": "wine import"})
    documents = acts(5, seed=4)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    assert scores.shape == (5, 6)
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_unseen_labels_keep_their_place_in_the_list(name: str, tmp_path: Path) -> None:
    method = network(name).with_labels({"7001": "wine import"})
    plain = method.scores(acts(5, seed=4))
    method.unseen = UnseenScale(slope=0.4, offset=2.0)
    documents = acts(5, seed=4)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, method.scores(documents), atol=CLOSE)
    assert (scores[:, 4:] > plain[:, 4:] + 0.01).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_network_saved_in_half_precision_stays_so_and_loses_nothing(
    name: str, tmp_path: Path
) -> None:
    whole, half = network(name), halved(network(name))
    documents = acts(5, seed=5)
    scores = exported(half, tmp_path)(onnx_inputs(half, documents))
    np.testing.assert_allclose(scores, half.scores(documents), atol=CLOSE)

    def weights(method: BaseNetworkMethod) -> dict[int, int]:
        sizes: dict[int, int] = {}
        for one in to_onnx(method).graph.initializer:
            sizes[one.data_type] = sizes.get(one.data_type, 0) + int(np.prod(one.dims))
        return sizes

    parameters = sum(x.size for name, x in whole.state().arrays.items() if name != "known")
    assert weights(half)[TensorProto.FLOAT16] >= parameters
    assert weights(whole)[TensorProto.FLOAT] > 0.9 * parameters  # zeros fit into any precision


@pytest.mark.parametrize("name", NAMES)
def test_eight_bits_change_scores_little(name: str, tmp_path: Path) -> None:
    method = network(name)
    documents = [act_of(words, 1 + words % 4, seed=6) for words in LENGTHS]
    scores = exported(method, tmp_path, int8=True)(onnx_inputs(method, documents))
    difference = np.abs(scores - method.scores(documents)).max()
    assert 0 < difference < 0.02
    types = {one.data_type for one in to_onnx(method, int8=True).graph.initializer}
    assert TensorProto.INT8 in types
    assert (TensorProto.UINT8 in types) == (name in LABEL_WISE)


@pytest.mark.parametrize("int8", [False, True], ids=["float32", "int8"])
@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_valid_and_the_same_each_time(name: str, int8: bool) -> None:
    model = to_onnx(network(name), int8=int8)
    checker.check_model(model, full_check=True)
    again = to_onnx(network(name), int8=int8)
    assert model.SerializeToString(deterministic=True) == again.SerializeToString(
        deterministic=True
    )


def test_the_largest_difference_sees_a_file_of_another_network(tmp_path: Path) -> None:
    method = network("bigru-lwan")
    path = tmp_path / "model.onnx"
    write_onnx(method, path)
    assert largest_difference(method, path) < CLOSE
    write_onnx(network("bigru-lwan", seed=1), path)
    assert largest_difference(method, path) > 0.01


def test_the_difference_is_that_to_float32_whatever_the_method_chooses(tmp_path: Path) -> None:
    # bfloat16 is a choice that every machine can make; in 8 bits only some score by themselves.
    method = network("bigru-lwan", precision="bfloat16")
    documents = acts(7, seed=9)
    exact = in_float32(method)
    assert method.settings.precision == "bfloat16"
    assert np.abs(exact.scores(documents) - method.scores(documents)).max() > CLOSE
    path = tmp_path / "model.onnx"
    write_onnx(method, path)
    assert largest_difference(method, path) < CLOSE


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("bundle", ["bigru-lwan-0.bundle", "z-bigru-lwan-0.bundle"])
def test_a_network_trained_on_eurlex57k_scores_the_same_when_exported(
    bundle: str, real_data: Path, tmp_path: Path
) -> None:
    folder = Path(__file__).parents[2] / "bundles" / bundle
    if not folder.is_dir():
        pytest.skip(f"needs a bundle trained on EURLEX57K: {folder}")
    method = bundles.load(folder)
    assert isinstance(method, BaseNetworkMethod)
    documents = open_dataset(real_data / "eurlex57k").dev[::600]
    documents = [*documents, replace(documents[0], sections=()), documents[0]]
    expected = in_float32(method).scores(documents)
    scores = exported(method, tmp_path)(onnx_inputs(method, documents))
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    small = exported(method, tmp_path, int8=True)(onnx_inputs(method, documents))
    assert np.abs(small - expected).mean() < 1e-4
    assert largest_difference(method, tmp_path / f"{method.name}.onnx") < 0.05
