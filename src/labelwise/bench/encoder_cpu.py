"""Tagging an act with MINILM-LWAN on a CPU beside what its encoder alone costs, in one process.

The peers are the encoder's own forward pass in 8 bits (PyTorch's dynamic quantisation of the BERT
of ``transformers``), which scores nothing, and the whole network in plain PyTorch and float32. Both
get the pieces of the act already cut, a row at a time and so without padding, and have random
weights, which changes nothing of their speed; ours starts from the text. Where a trained bundle
lies in ``bundles``, beside the results, its rankings are held against each other on dev.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from labelwise import bundle as bundles
from labelwise.bench.encoder_peer import plain_attention, transformers_model, transformers_version
from labelwise.bench.facts import data_facts, data_folder
from labelwise.bench.inference import WORDS, of_length, some
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import threads
from labelwise.bench.results import spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.ranking import ranked
from labelwise.export.parity import in_float32
from labelwise.layers.encoder_files import find_encoder, read_shape, read_tokenizer, read_weights
from labelwise.methods.base import Scores
from labelwise.methods.encoder import EncoderNetwork
from labelwise.methods.minilm_lwan import MinilmLwan

BEST, ALL, IN_FULL = "labelwise, the best labels", "labelwise, all labels", "labelwise, float32"
ALONE, PLAIN = "MiniLM alone, 8 bits, no labels", "plain PyTorch, float32"

REPEATS = 5
FIRST = 10  # labels of a document that are to stay the same


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much is measured; a test takes less."""

    calls: int = 10
    ranked: int = 300  # dev documents
    labels: int = 4_271  # where there is no trained bundle


def run(plan: Plan) -> Result:
    return benchmark(plan, Sizes(), MinilmLwan.Settings().encoder)


def benchmark(plan: Plan, sizes: Sizes, encoder: str) -> Result:
    repeats = plan.repeats or REPEATS
    with tempfile.TemporaryDirectory() as work:
        data = open_dataset(data_folder(plan, Path(work)))
        digest, method = model(plan, data, sizes, encoder)
        act = of_length(data.test, WORDS)
        found = taking_turns(calls(method, act, sizes.calls), repeats)
        ranking = rankings(method, some(data.dev, sizes.ranked)) if digest else []
        facts, of_dev = data_facts(data), min(sizes.ranked, len(data.dev))
    pieces = len(method.vocabulary.numbers([act.text])[0])
    result: Result = {
        "what": "Tagging with MINILM-LWAN on a CPU",
        "data": facts,
        "bundle": digest,
        "settings": dataclasses.asdict(sizes),
        "threads": threads(),
        "repeats": repeats,
        "versions": transformers_version(),
        "tables": [
            {
                "what": f"One act of {len(act.text.split())} words, the model loaded",
                "text": f"{pieces:,} pieces, of which {method.settings.max_tokens:,} are read at "
                f"most, {len(method.label_space):,} labels; {sizes.calls} calls in a row, "
                f"{repeats} times in turns. Ours starts from the text, the others from its pieces. "
                f"{BEST!r} is what `labelwise tag` asks for.",
                "columns": [
                    "",
                    {"key": "seconds", "name": "a document", "as": "seconds"},
                    {"key": "seconds", "name": "to MiniLM alone", "as": "ratio", "peer": ALONE},
                    {
                        "key": "seconds",
                        "name": "times as fast as plain PyTorch",
                        "as": "times",
                        "peer": PLAIN,
                    },
                ],
                "rows": [{"": name, "seconds": spread(one)} for name, one in found.items()],
            }
        ],
    }
    if ranking:
        result["tables"].append(
            {
                "what": f"What is lost, on {of_dev:,} dev documents",
                "columns": [
                    "",
                    {"key": "RP@5", "as": "figure"},
                    {"key": "the same", "name": f"the same first {FIRST}", "as": "share"},
                ],
                "rows": ranking,
            }
        )
    return result


def model(plan: Plan, data: Dataset, sizes: Sizes, encoder: str) -> tuple[str | None, MinilmLwan]:
    """The first trained bundle for these labels in ``bundles``, beside the results, and its digest;
    else the encoder as training would begin with it, with made-up labels up to so many."""
    for path in sorted((plan.out.parent / "bundles").glob("*/bundle.json")):
        told = bundles.describe(path.parent)
        if told["method"] == MinilmLwan.name:
            method = bundles.load(path.parent)
            if method.label_space.fingerprint == data.label_space.fingerprint:
                assert isinstance(method, MinilmLwan)
                method.settings = dataclasses.replace(method.settings, device="cpu")
                return str(told["digest"]), method
    folder = find_encoder(encoder)
    shape, space = read_shape(folder), data.label_space
    made_up = {f"made-up-{n}": f"label {n}" for n in range(sizes.labels - len(space))}
    most = shape.positions - 2
    settings = MinilmLwan.Settings(device="cpu", piece_tokens=min(510, most), stride=min(510, most))
    method = MinilmLwan(settings)
    method._label_space, method.vocabulary = space.with_labels(made_up), read_tokenizer(folder)
    labels = len(method.label_space)
    method.network = EncoderNetwork(
        method._material_of(shape, labels, torch.zeros(labels)), settings
    )
    method.network.load_state_dict(method.network.state_dict() | read_weights(folder))
    with torch.no_grad():
        for learned in (method.network.labels.queries, method.network.labels.outputs):
            learned.normal_(generator=torch.Generator().manual_seed(0))
    method.network.eval()
    return None, method


def calls(method: MinilmLwan, act: Document, count: int) -> dict[str, Callable[[], float]]:
    """Seconds of a call, by who is called; each is called before, so that all is warm."""
    torch.set_num_threads(threads())
    shape = method.network.encoder.shape
    whole = transformers_model(shape).eval()
    rows = pieces_of(method, act)
    exact = in_float32(method)
    with torch.no_grad():
        labels = method.network.labels()
    with warnings.catch_warnings():  # of what may come after it
        warnings.simplefilter("ignore")
        small = torch.ao.quantization.quantize_dynamic(whole, {nn.Linear}, dtype=torch.qint8)  # type: ignore[no-untyped-call]

    def plain() -> Tensor:
        h = torch.cat([whole(row).last_hidden_state[:, 1:-1] for row in rows], dim=1)
        there = torch.ones(h.shape[:2], dtype=torch.bool)
        return plain_attention(h, there, *labels).sigmoid()

    def best() -> Any:
        method.network.forget()  # each call is another act to it
        return method.best_scores([act])

    asked: dict[str, Callable[[], Any]] = {
        BEST: best,
        ALL: lambda: method.scores([act]),
        IN_FULL: lambda: exact.scores([act]),
        ALONE: lambda: [small(row) for row in rows],
        PLAIN: plain,
    }

    def seconds(call: Callable[[], Any]) -> float:
        with torch.inference_mode():
            call()
            started = time.perf_counter()
            for _ in range(count):
                call()
        return (time.perf_counter() - started) / count

    return {name: lambda call=call: seconds(call) for name, call in asked.items()}  # type: ignore[misc]


def pieces_of(method: MinilmLwan, act: Document) -> list[Tensor]:
    """The rows of the act, (1, T) each, with the pieces that open and close them."""
    numbered, pieces = method._number([act]), method.vocabulary
    return [
        torch.tensor([[pieces.first, *numbered.tokens[start : start + length], pieces.last]])
        for start, length in zip(numbered.starts, numbered.lengths, strict=True)
    ]


def rankings(method: MinilmLwan, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """RP@5 of each way to score, and how often its first labels are those of float32."""
    gold = method.label_space.gold(documents)
    exact = in_float32(method).scores(documents)
    ways = {BEST: method.best_scores(documents), ALL: method.scores(documents), IN_FULL: exact}
    return [
        {
            "": name,
            "RP@5": evaluate(scores, gold, method.label_space).values["all"]["RP@5"],
            "the same": float((_first(scores) == _first(exact)).all(1).mean()),
        }
        for name, scores in ways.items()
    ]


def _first(scores: Scores) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The columns of the highest scores of each document, in any order: (D, FIRST)."""
    return np.sort(ranked(scores)[:, :FIRST], axis=1)
