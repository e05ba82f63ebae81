"""How fast, and at what cost in memory: side by side with peers, in one run each.

A benchmark is a module with ``run(plan) -> result`` and a line in the registry below. It measures
every peer in the same run as ours, on the same data and threads, several times, and gives a result
whose shape :mod:`labelwise.bench.results` describes. The runner adds the machine, the versions and
the command, writes ``results/NAME.json`` and makes the page of tables from all such files.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labelwise.errors import LabelwiseError

Result = dict[str, Any]
"""What a benchmark found; :mod:`labelwise.bench.results` says what is in it."""


@dataclass(frozen=True)
class Plan:
    """What every benchmark is given; each takes from it what it needs.

    ``out`` is the folder with ``results/``, the page, and the peers' environments (``.peers``);
    ``data`` the data set, the synthetic corpus where it is None; ``repeats`` how often each thing
    is measured, the benchmark's own choice where it is None. After ``max_seconds`` a GPU benchmark
    starts nothing new. ``libmultilabel_source`` is a folder that holds the package's source, for a
    machine where it cannot be installed. ``acts`` is how many the benchmark of bulk tagging makes.
    ``keep`` writes what is measured so far, so that a run that is cut off leaves something behind.
    """

    out: Path = Path("benchmarks")
    data: Path | None = None
    repeats: int | None = None
    max_seconds: float = 100.0
    libmultilabel_source: Path | None = None
    acts: int = 1_000_000
    keep: Callable[[Result], object] = lambda result: None


@dataclass(frozen=True)
class Benchmark:
    """What ``labelwise bench --list`` shows of a benchmark, before its module is imported."""

    what: str
    device: Literal["cpu", "gpu"]
    module: str  # below this room
    function: str = "run"  # of that module; it measures

    def load(self) -> Callable[[Plan], Result]:
        module = importlib.import_module(f"{__name__}.{self.module}")
        measure: Callable[[Plan], Result] = getattr(module, self.function)
        return measure


BENCHMARKS = {
    "encoder-cpu": Benchmark(
        "tagging with MINILM-LWAN beside its encoder alone and plain PyTorch", "cpu", "encoder_cpu"
    ),
    "encoder-gpu": Benchmark(
        "training MINILM-LWAN and MPNET-LWAN beside transformers and plain PyTorch",
        "gpu",
        "encoder_gpu",
    ),
    "gru-gpu": Benchmark(
        "a bidirectional GRU, forward and backward, beside cuDNN's and plain steps",
        "gpu",
        "gru_gpu",
    ),
    "inference": Benchmark(
        "tagging with BIGRU-LWAN beside LibMultiLabel's BiGRULWAN", "cpu", "inference"
    ),
    "label-attention-cpu": Benchmark(
        "label-wise attention, forward, over labels, tokens and documents", "cpu", "attention_cpu"
    ),
    "label-attention-gpu": Benchmark(
        "label-wise attention, forward and backward, beside plain PyTorch, torch.compile and "
        "LibMultiLabel",
        "gpu",
        "attention_gpu",
    ),
    "label-parallel": Benchmark(
        "label-wise attention for a million labels, shared by two processes",
        "cpu",
        "attention_cpu",
        "run_shared",
    ),
    "million": Benchmark(
        "tagging a million acts in bulk, killed once, beside Annif's and LibMultiLabel's",
        "cpu",
        "million",
    ),
    "service": Benchmark("the REST service beside Annif's, under load", "cpu", "service"),
    "service-workers": Benchmark(
        "the REST service by 1, 2 and 4 workers beside Annif's, under load",
        "cpu",
        "service",
        "run_workers",
    ),
    "svm": Benchmark("one-vs-rest SVM beside LibMultiLabel's: fit and score", "cpu", "svm"),
    "training-gpu": Benchmark(
        "training BIGRU-LWAN: seconds an epoch, to the first step, to a quality", "gpu", "training"
    ),
}
"""All benchmarks, in alphabetical order."""


def find(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        known = ", ".join(BENCHMARKS)
        raise LabelwiseError(f"there is no benchmark '{name}': choose from {known}")
    return BENCHMARKS[name]
