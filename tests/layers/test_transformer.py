"""The encoders read as those of ``transformers`` do, and a row as if it were alone."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_cases import tiny_encoder
from torch import Tensor

from labelwise.errors import LabelwiseError
from labelwise.layers.encoder_files import (
    find_encoder,
    read_shape,
    read_tokenizer,
    read_weights,
)
from labelwise.layers.transformer import PackedRows, Transformer

TEXTS = (
    "Council Regulation on the import of citrus fruit",
    "wine",
    "Fishing quota: the vessel, and the imports of (fruit) and wine of the Council",
)


def encoded(folder: Path, texts: tuple[str, ...]) -> list[Tensor]:
    """What our encoder makes of each text, all of them packed together."""
    pieces, shape, weights = read_tokenizer(folder), read_shape(folder), read_weights(folder)
    encoder = Transformer(shape).eval()
    own = {k.removeprefix("encoder."): v for k, v in weights.items() if k.startswith("encoder.")}
    encoder.load_state_dict(own)
    numbers = pieces.numbers(texts)
    lengths = np.array([len(one) for one in numbers])
    tokens = torch.zeros(len(numbers), int(lengths.max()), dtype=torch.int64)
    for row, one in enumerate(numbers):
        tokens[row, : len(one)] = torch.from_numpy(one)
    each = np.arange(len(texts))
    packed = PackedRows.of(lengths, each, 0 * each, len(texts), torch.device("cpu"))
    words = weights["words.weight"]
    x = packed.pack(words[tokens], words[pieces.first], words[pieces.last])
    with torch.inference_mode():
        h = encoder(x, packed.places, packed.rows)
    return list(h.split((lengths + 2).tolist()))


def theirs(folder: Path, text: str) -> Tensor:
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).float().eval()
    numbers = read_tokenizer(folder)._tokenizer.encode(text).ids
    with torch.inference_mode():
        found: Tensor = model(torch.tensor([numbers])).last_hidden_state[0]
    return found


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_a_tiny_encoder_reads_as_that_of_transformers_does(kind: str) -> None:
    folder = tiny_encoder(kind)
    for text, own in zip(TEXTS, encoded(folder, TEXTS), strict=True):
        torch.testing.assert_close(own, theirs(folder, text), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "all-mpnet-base-v2"])
def test_a_real_encoder_reads_as_that_of_transformers_does(name: str) -> None:
    folder = Path(os.environ.get("LABELWISE_ENCODERS", "encoders")) / name
    if not folder.is_dir():
        pytest.skip(f"needs the encoder {name} in the folder that LABELWISE_ENCODERS names")
    long = " ".join(TEXTS * 15)  # beyond the distances that MPNet tells apart
    for text, own in zip((*TEXTS, long), encoded(folder, (*TEXTS, long)), strict=True):
        torch.testing.assert_close(own, theirs(folder, text), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_company_and_order_do_not_matter(kind: str) -> None:
    folder = tiny_encoder(kind)
    together = encoded(folder, TEXTS)
    for text, own in zip(TEXTS, together, strict=True):
        torch.testing.assert_close(encoded(folder, (text,))[0], own)
    for own, turned in zip(together, reversed(encoded(folder, TEXTS[::-1])), strict=True):
        torch.testing.assert_close(own, turned)


def test_tokens_of_documents_are_found_again_in_their_order() -> None:
    # Three documents of 2, 1 and 2 rows; rows come by falling length, as batches have them.
    lengths = np.array([5, 4, 3, 2, 1])
    owner, position = np.array([0, 2, 1, 0, 2]), np.array([0, 0, 0, 1, 1])
    packed = PackedRows.of(lengths, owner, position, 3, torch.device("cpu"))
    x = torch.zeros(5, 5, 1)
    for row in range(5):
        for token in range(int(lengths[row])):
            x[row, token] = 100 * owner[row] + 10 * position[row] + token + 1
    h = packed.pack(x, torch.tensor([-1.0]), torch.tensor([-2.0]))
    assert h[:, 0].tolist()[:7] == [-1, 1, 2, 3, 4, 5, -2]
    by_document = packed.by_document(h)[:, :, 0].tolist()
    assert by_document == [
        [1, 2, 3, 4, 5, 11, 12],
        [101, 102, 103, 0, 0, 0, 0],
        [201, 202, 203, 204, 211, 0, 0],
    ]
    assert packed.lengths.tolist() == [7, 3, 5]
    torch.testing.assert_close(packed.by_row(packed.by_document(h)), x)


def test_gradients_go_back_where_the_vectors_came_from() -> None:
    lengths = np.array([3, 2])
    packed = PackedRows.of(lengths, np.array([0, 0]), np.array([0, 1]), 1, torch.device("cpu"))
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    around = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)

    def read(x: Tensor, around: Tensor) -> Tensor:
        h = packed.pack(x, around[0], around[1])
        return packed.by_document(h.cumsum(0))

    assert torch.autograd.gradcheck(read, (x, around))


def test_what_is_no_encoder_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match=r"has no config\.json"):
        find_encoder(str(tmp_path))
    folder = tiny_encoder("bert")
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    config = (folder / "config.json").read_text()
    (tmp_path / "config.json").write_text(config.replace('"bert"', '"gpt2"'))
    with pytest.raises(LabelwiseError, match="only bert and mpnet"):
        read_shape(tmp_path)
    (tmp_path / "config.json").write_text(config.replace('"gelu"', '"relu"'))
    with pytest.raises(LabelwiseError, match="hidden_act is 'relu'"):
        read_shape(tmp_path)
    (tmp_path / "config.json").write_text(config)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(LabelwiseError, match="cannot be read"):
        read_weights(tmp_path)
