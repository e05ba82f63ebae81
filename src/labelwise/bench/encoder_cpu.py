"""Tagging with MINILM-LWAN on a CPU beside what its encoder alone costs, in one process.

The network is a trained bundle in ``bundles``, beside the results, or the encoder of the model that
ships; and that model itself is measured too, with evidence. The peers are the encoder's own forward
pass in 8 bits (PyTorch's dynamic quantisation of the BERT of ``transformers``), which scores
nothing, and the whole network in plain PyTorch and float32. Both get the pieces of the act already
cut, a row at a time and so without padding, and have random weights, which changes nothing of their
speed; ours starts from the text.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from labelwise import bundle as bundles
from labelwise import model as front
from labelwise import shipped
from labelwise.bench import Plan, Result
from labelwise.bench.encoder_gpu import plain_attention, transformers_model, transformers_version
from labelwise.bench.inference import WORDS, of_length, some, trained_bundle
from labelwise.bench.processes import run_apart, threads
from labelwise.bench.results import data_facts, data_folder, spread, taking_turns
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.ranking import ranked
from labelwise.export.parity import in_float32
from labelwise.methods.base import Method, Scores
from labelwise.methods.minilm_lwan import MinilmLwan

BEST, LOOKED_AT = "labelwise, the best labels", "labelwise, after a first look"
ALL, IN_FULL = "labelwise, all labels", "labelwise, float32"
SHIPPED, EXPLAINED = f"{shipped.NAME}, tagged", f"{shipped.NAME}, tagged with evidence"
ALONE, PLAIN = "MiniLM alone, 8 bits, no labels", "plain PyTorch, float32"

REPEATS = 5
FIRST = 10  # labels of a document that are to stay the same
SHORTLISTS = (100, 200, 300, 500, 1_000)
SHORTLIST = 1_000  # about what a model of as many labels as the one that ships takes


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much is measured; a test takes less."""

    calls: int = 10
    documents: int = 40  # test documents in a row
    ranked: int = 600  # dev documents
    shortlists: tuple[int, ...] = SHORTLISTS


Call = Callable[[], Any]


def run(plan: Plan) -> Result:
    return benchmark(plan, Sizes())


def benchmark(plan: Plan, sizes: Sizes) -> Result:
    repeats = plan.repeats or REPEATS
    torch.set_num_threads(threads())
    with tempfile.TemporaryDirectory() as work:
        data = open_dataset(data_folder(plan, Path(work)))
        digest, method = model(plan, data)
        act, many = of_length(data.test, WORDS), some(data.test, sizes.documents)
        dev = some(data.dev, sizes.ranked)
        alone = taking_turns(timed(of_one(method, act), sizes.calls), repeats)
        in_a_row = taking_turns(timed(of_many(method, many), 1), repeats)
        loading = taking_turns(
            {name: lambda name=name: run_apart(load, name) for name in shipped.NAMES},  # type: ignore[misc]
            repeats,
        )
        ranking = rankings(method, dev, sizes.shortlists)
        facts = data_facts(data)
    pieces = len(method.vocabulary.numbers([act.text])[0])
    times_as_fast = {
        "key": "seconds",
        "name": "times as fast as plain PyTorch",
        "as": "times",
        "peer": PLAIN,
    }
    return {
        "what": "Tagging with MINILM-LWAN on a CPU",
        "data": facts,
        "bundle": digest,
        "settings": {**dataclasses.asdict(sizes), "look": method.settings.look},
        "threads": threads(),
        "repeats": repeats,
        "versions": transformers_version(),
        "tables": [
            {
                "what": f"One act of {len(act.text.split())} words, the model loaded",
                "text": f"{pieces:,} pieces, of which {method.settings.max_tokens:,} are read at "
                f"most, {len(method.label_space):,} labels; {sizes.calls} calls in a row, "
                f"{repeats} times in turns. Ours starts from the text, the others from its pieces. "
                f"{BEST!r} is what `labelwise tag` asks for: all labels, where the processor "
                f"multiplies bytes, and else {SHORTLIST:,} after a first look. {SHIPPED!r} is all "
                "that `labelwise.load().tag` does, by all members of the blend, and evidence is "
                "that of five labels.",
                "columns": [
                    "",
                    {"key": "seconds", "name": "a document", "as": "seconds"},
                    {"key": "seconds", "name": "to MiniLM alone", "as": "ratio", "peer": ALONE},
                    times_as_fast,
                ],
                "rows": [{"": name, "seconds": spread(one)} for name, one in alone.items()],
            },
            {
                "what": f"{len(many)} acts in a row",
                "text": "As long as they are in the test split: "
                f"{np.mean([len(one.text.split()) for one in many]):,.0f} words on average.",
                "columns": ["", times_as_fast],
                "rows": [{"": name, "seconds": spread(one)} for name, one in in_a_row.items()],
            },
            {
                "what": "Loading the models that ship",
                "text": "In a process of its own, Python's own modules and PyTorch imported.",
                "columns": ["", {"key": "seconds", "name": "time", "as": "seconds"}],
                "rows": [{"": name, "seconds": spread(one)} for name, one in loading.items()],
            },
            {
                "what": f"What is lost, on {len(dev):,} dev documents",
                "text": "RP@5 is that of the labels that the model knows. "
                f"The same first {FIRST}: the share of documents whose {FIRST} best labels "
                "are those that all labels in 8 bits, or in float32, would give.",
                "columns": [
                    "",
                    {"key": "RP@5", "as": "figure"},
                    {"key": ALL, "name": f"the same first {FIRST} as all labels", "as": "share"},
                    {"key": IN_FULL, "name": f"the same first {FIRST} as float32", "as": "share"},
                ],
                "rows": ranking,
            },
        ],
    }


def model(plan: Plan, data: Dataset) -> tuple[str, MinilmLwan]:
    """A trained bundle, or the encoder of the model that ships; and the digest of its bundle."""
    found = trained_bundle(plan, data, MinilmLwan)
    path = found[0] if found else shipped.path()
    method = found[1] if found else _encoder_of(bundles.load(path))
    method.settings = dataclasses.replace(method.settings, device="cpu")
    return str(bundles.describe(path)["digest"]), method


def _encoder_of(method: Method) -> MinilmLwan:
    return next(one for one in method.parts if isinstance(one, MinilmLwan))


def of_one(method: MinilmLwan, act: Document) -> dict[str, Call]:
    """What is asked of one act, by who is asked."""
    ships = front.load(shipped.NAME)
    member = _encoder_of(ships.method)
    exact = in_float32(method)
    small, whole = peers(method)
    rows = pieces_of(method, act)

    def as_another(encoder: MinilmLwan, call: Call) -> Call:
        def asked() -> Any:
            encoder.network.forget()  # each call is another act to it
            return call()

        return asked

    return {
        SHIPPED: as_another(member, lambda: ships.tag(act)),
        EXPLAINED: as_another(member, lambda: ships.tag(act, evidence=True)),
        BEST: as_another(method, lambda: method.best_scores([act])),
        LOOKED_AT: as_another(method, lambda: looked_at(method, act, SHORTLIST)),
        ALL: lambda: method.scores([act]),
        IN_FULL: lambda: exact.scores([act]),
        ALONE: lambda: [small(row) for row in rows],
        PLAIN: lambda: whole(rows),
    }


def of_many(method: MinilmLwan, acts: Sequence[Document]) -> dict[str, Call]:
    """What is asked of many acts."""
    _, whole = peers(method)
    cut = [pieces_of(method, act) for act in acts]
    return {
        BEST: lambda: method.best_scores(acts),
        ALL: lambda: method.scores(acts),
        PLAIN: lambda: [whole(rows) for rows in cut],
    }


def peers(method: MinilmLwan) -> tuple[nn.Module, Callable[[Sequence[Tensor]], Tensor]]:
    """The encoder alone in 8 bits, and the network in plain PyTorch."""
    encoder = transformers_model(method.network.encoder.shape).eval()
    with torch.no_grad():
        labels = method.network.labels()
    with warnings.catch_warnings():  # of what may come after it
        warnings.simplefilter("ignore")
        small = torch.ao.quantization.quantize_dynamic(encoder, {nn.Linear}, dtype=torch.qint8)  # type: ignore[no-untyped-call]

    def plain(rows: Sequence[Tensor]) -> Tensor:
        h = torch.cat([encoder(row).last_hidden_state[:, 1:-1] for row in rows], dim=1)
        there = torch.ones(h.shape[:2], dtype=torch.bool)
        return plain_attention(h, there, *labels).sigmoid()

    return small, plain


def timed(asked: Mapping[str, Call], count: int) -> dict[str, Callable[[], float]]:
    """Seconds of a call, by who is called; each is called before, so that all is warm."""

    def seconds(call: Call) -> float:
        with torch.inference_mode():
            call()
            started = time.perf_counter()
            for _ in range(count):
                call()
        return (time.perf_counter() - started) / count

    return {name: lambda call=call: seconds(call) for name, call in asked.items()}  # type: ignore[misc]


def load(name: str) -> float:
    """Seconds of loading a model that ships."""
    started = time.perf_counter()
    front.load(name)
    return time.perf_counter() - started


def pieces_of(method: MinilmLwan, act: Document) -> list[Tensor]:
    """The rows of the act, (1, T) each, with the pieces that open and close them."""
    numbered, pieces = method._number([act]), method.vocabulary
    return [
        torch.tensor([[pieces.first, *numbered.tokens[start : start + length], pieces.last]])
        for start, length in zip(numbered.starts, numbered.lengths, strict=True)
    ]


def rankings(
    method: MinilmLwan, documents: Sequence[Document], shortlists: Sequence[int]
) -> list[dict[str, Any]]:
    """RP@5 of each way to score, and how often its first labels are those of other ways."""
    space = method.label_space
    gold = space.known_gold(documents)
    exact, in_bytes = in_float32(method).scores(documents), method.scores(documents)
    short = shortlisted(method, documents, shortlists)
    ways = {IN_FULL: exact, ALL: in_bytes}
    ways |= {f"a shortlist of {most:,}": scores for most, scores in short.items()}
    return [
        {
            "": name,
            "RP@5": evaluate(scores, gold, space).values["all"]["RP@5"] if gold.nnz else None,
            ALL: float((_first(scores) == _first(in_bytes)).all(1).mean()),
            IN_FULL: float((_first(scores) == _first(exact)).all(1).mean()),
        }
        for name, scores in ways.items()
    ]


def shortlisted(
    method: MinilmLwan, documents: Sequence[Document], shortlists: Sequence[int]
) -> dict[int, Scores]:
    """The scores where so many labels are attended to in full."""
    found: dict[int, list[Scores]] = {most: [] for most in shortlists}
    for document in documents:  # is encoded once for all shortlists
        for most in shortlists:
            found[most].append(looked_at(method, document, most))
    return {most: np.concatenate(scores) for most, scores in found.items()}


def looked_at(method: MinilmLwan, document: Document, most: int) -> Scores:
    """The scores after a first look, whatever the processor can do."""
    return method._predict(method._number([document]), partial(method.network.looked_at, most=most))


def _first(scores: Scores) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The columns of the highest scores of each document, in any order: (D, FIRST)."""
    return np.sort(ranked(scores)[:, :FIRST], axis=1)
