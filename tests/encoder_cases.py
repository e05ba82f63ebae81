"""Tiny encoders with random weights, as folders: BERT and MPNet in all but size."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import save_file

WORDS = [
    "the",
    "of",
    "and",
    "council",
    "regulation",
    "import",
    "imports",
    "citrus",
    "fruit",
    "fishing",
    "quota",
    "wine",
    "vessel",
]

CONFIG = {
    "vocab_size": 0,
    "hidden_size": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def tiny_encoder(kind: str, words: Iterable[str] = WORDS, *, seed: int = 0) -> Path:
    """The folder of an encoder that knows these words, and letters besides."""
    return _written(kind, tuple(dict.fromkeys(words)), seed)


def frequent_words(texts: Iterable[str], most: int = 600) -> list[str]:
    counts = Counter(word for text in texts for word in re.findall(r"\w+", text.lower()))
    return [word for word, _ in counts.most_common(most)]


@cache
def _written(kind: str, words: tuple[str, ...], seed: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"tiny-{kind}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tokenizer = _tokenizer(kind, words)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    config = {**CONFIG, "model_type": kind, "vocab_size": len(tokenizer["model"]["vocab"])}
    if kind == "mpnet":
        config |= {
            "max_position_embeddings": 66,
            "pad_token_id": 1,
            "relative_attention_num_buckets": 32,
        }
    (folder / "config.json").write_text(json.dumps(config))
    generator = torch.Generator().manual_seed(seed)
    save_file(dict(_weights(kind, config, generator)), folder / "model.safetensors")
    return folder


def _tokenizer(kind: str, words: tuple[str, ...]) -> dict:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:()'/-§"
    mark = (
        ["<s>", "<pad>", "</s>", "<unk>", "[UNK]"]
        if kind == "mpnet"
        else ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    )
    first, last = ("<s>", "</s>") if kind == "mpnet" else ("[CLS]", "[SEP]")
    known = [*mark, *letters, *(f"##{letter}" for letter in letters), *words]
    vocab = {piece: number for number, piece in enumerate(dict.fromkeys(known))}

    def special(token: str) -> dict:
        return {"id": token, "ids": [vocab[token]], "tokens": [token]}

    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocab[token], "content": token, "single_word": False, "lstrip": False}
            | {"rstrip": False, "normalized": False, "special": True}
            for token in mark
        ],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "strip_accents": None}
        | {"handle_chinese_chars": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": first, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": last, "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 0}},
            ],
            "special_tokens": {first: special(first), last: special(last)},
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    }


def _weights(
    kind: str, config: dict, generator: torch.Generator
) -> Iterable[tuple[str, torch.Tensor]]:
    def drawn(*shape: int, near: float = 0.0) -> torch.Tensor:
        return near + 0.1 * torch.randn(shape, generator=generator)

    width, inner = config["hidden_size"], config["intermediate_size"]
    yield "embeddings.word_embeddings.weight", drawn(config["vocab_size"], width)
    yield "embeddings.position_embeddings.weight", drawn(config["max_position_embeddings"], width)
    if kind == "bert":
        yield "embeddings.token_type_embeddings.weight", drawn(2, width)
    else:
        yield "encoder.relative_attention_bias.weight", drawn(32, config["num_attention_heads"])
    bert = ("self.query", "self.key", "self.value", "output.dense")
    names = bert if kind == "bert" else tuple(f"attn.{one}" for one in "qkvo")
    own = [f"attention.{name}" for name in names]
    norm = "attention.output.LayerNorm" if kind == "bert" else "attention.LayerNorm"
    norms = ["embeddings.LayerNorm"]
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        shapes = dict.fromkeys(own, (width, width))
        shapes |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
        for name, shape in shapes.items():
            yield f"{at}{name}.weight", drawn(*shape)
            yield f"{at}{name}.bias", drawn(shape[0])
        norms += [at + norm, f"{at}output.LayerNorm"]
    for name in norms:
        yield f"{name}.weight", drawn(width, near=1.0)
        yield f"{name}.bias", drawn(width)
