"""Pretrained encoders: where they are found, and what their files say.

An encoder is a folder with ``config.json``, ``model.safetensors`` and ``tokenizer.json``, as the
Hugging Face Hub has them. BERT and MPNet are known; nothing in the folder is ever executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from labelwise.errors import InputError, LabelwiseError
from labelwise.text.pieces import Pieces

FILES = ("config.json", "model.safetensors", "tokenizer.json")

FOLDERS = "LABELWISE_ENCODERS"
"""The variable that names a folder of encoders."""


@dataclass(frozen=True)
class EncoderShape:
    """What a transformer encoder is built from."""

    kind: Literal["bert", "mpnet"]
    rows: int
    """Word pieces that it knows."""
    width: int
    heads: int
    layers: int
    inner: int
    """The width inside of a layer's second half."""
    positions: int
    """The longest row it can read, with the tokens that open and close it."""
    epsilon: float
    buckets: int = 0
    """Distances between two tokens that MPNet tells apart; BERT does not look at them."""


def find_encoder(name: str) -> Path:
    """The folder of an encoder, by its path, or by its name among the folders that are known.

    These are that of ``LABELWISE_ENCODERS`` and ``encoders`` here. A name that stands in none of
    them is asked of the Hugging Face Hub, where its package is installed.
    """
    if not name:
        raise LabelwiseError("the setting 'encoder' names no encoder: a folder, or a name")
    path = Path(name)
    known = [Path(os.environ[FOLDERS])] if os.environ.get(FOLDERS) else []
    candidates = [path, *(folder / path.name for folder in (*known, Path("encoders")))]
    for folder in candidates:
        if folder.is_dir():
            for file in FILES:
                if not (folder / file).is_file():
                    raise InputError(f"this encoder has no {file}", file=folder)
            return folder
    return _from_the_hub(name)


def _from_the_hub(name: str) -> Path:
    missing = (
        f"there is no encoder '{name}': give its folder, or put it into the folder that "
        f"{FOLDERS} names"
    )
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise LabelwiseError(
            f"{missing}; to fetch it from the Hugging Face Hub, pip install 'labelwise[encoder]'"
        ) from None
    try:
        # Another hub than the public one, as its own programs are told.
        hub = os.environ.get("HF_ENDPOINT")
        return Path(snapshot_download(name, allow_patterns=list(FILES), endpoint=hub))
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise LabelwiseError(f"{missing}; the Hugging Face Hub did not give it: {reason}") from None


def read_tokenizer(folder: Path) -> Pieces:
    return Pieces.of(_json(folder / "tokenizer.json"))


def read_shape(folder: Path) -> EncoderShape:
    """What ``config.json`` says, or why such an encoder cannot be used."""
    file = folder / "config.json"
    config = _json(file)
    kind = config.get("model_type")
    if kind not in ("bert", "mpnet"):
        raise InputError(f"encoders of type {kind!r} are not known, only bert and mpnet", file=file)
    wanted = {"hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise InputError(f"{name} is {config[name]!r}; only {value!r} is known", file=file)
    try:
        return EncoderShape(
            kind=kind,
            rows=int(config["vocab_size"]),
            width=int(config["hidden_size"]),
            heads=int(config["num_attention_heads"]),
            layers=int(config["num_hidden_layers"]),
            inner=int(config["intermediate_size"]),
            positions=int(config["max_position_embeddings"]) - _first_position(kind, config),
            epsilon=float(config["layer_norm_eps"]),
            buckets=int(config["relative_attention_num_buckets"]) if kind == "mpnet" else 0,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"a field is missing or wrong: {error}", file=file) from error


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights under the names of ``layers.transformer``, in float32."""
    shape, config = read_shape(folder), _json(folder / "config.json")
    file = folder / "model.safetensors"
    try:
        stored = load_file(file)
    except (OSError, SafetensorError) as error:
        raise InputError(f"these weights cannot be read: {error}", file=file) from error
    prefix = f"{shape.kind}."
    stored = {name.removeprefix(prefix): tensor.float() for name, tensor in stored.items()}
    try:
        return dict(_renamed(stored, shape, _first_position(shape.kind, config)))
    except KeyError as error:
        raise InputError(f"there is no {error} among these weights", file=file) from error


def _first_position(kind: str, config: Mapping[str, Any]) -> int:
    """The row of the first position: MPNet counts on from its padding."""
    return int(config.get("pad_token_id", 1)) + 1 if kind == "mpnet" else 0


_BERT = {
    "queries": "attention.self.query",
    "keys": "attention.self.key",
    "values": "attention.self.value",
    "together": "attention.output.dense",
    "norm_between": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
_MPNET = _BERT | {
    "queries": "attention.attn.q",
    "keys": "attention.attn.k",
    "values": "attention.attn.v",
    "together": "attention.attn.o",
    "norm_between": "attention.LayerNorm",
}


def _renamed(
    stored: Mapping[str, Tensor], shape: EncoderShape, first: int
) -> Iterator[tuple[str, Tensor]]:
    yield "words.weight", stored["embeddings.word_embeddings.weight"]
    positions = stored["embeddings.position_embeddings.weight"][first:]
    if shape.kind == "bert":  # every token is of the first type, so its vector is added here
        positions = positions + stored["embeddings.token_type_embeddings.weight"][0]
    yield "encoder.positions", positions
    for what in ("weight", "bias"):
        yield f"encoder.norm.{what}", stored[f"embeddings.LayerNorm.{what}"]
    if shape.kind == "mpnet":
        yield "encoder.distances", stored["encoder.relative_attention_bias.weight"]
    names = _BERT if shape.kind == "bert" else _MPNET
    for layer in range(shape.layers):
        there, here = f"encoder.layer.{layer}.", f"encoder.layers.{layer}."
        for what in ("weight", "bias"):
            parts = [stored[f"{there}{names[one]}.{what}"] for one in ("queries", "keys", "values")]
            yield f"{here}read.{what}", torch.cat(parts)
            for own in ("together", "norm_between", "widen", "narrow", "norm"):
                yield f"{here}{own}.{what}", stored[f"{there}{names[own]}.{what}"]


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"this file of an encoder cannot be read: {error}", file=file) from error
