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
from typing import Literal

from labelwise.bench.plan import Plan, Result
from labelwise.errors import LabelwiseError


@dataclass(frozen=True)
class Benchmark:
    """What ``labelwise bench --list`` shows of a benchmark, before its module is imported."""

    what: str
    device: Literal["cpu", "gpu"]
    module: str  # below this room; its run(plan) measures

    def load(self) -> Callable[[Plan], Result]:
        run: Callable[[Plan], Result] = importlib.import_module(f"{__name__}.{self.module}").run
        return run


BENCHMARKS = {
    "encoder-cpu": Benchmark(
        "tagging with MINILM-LWAN beside its encoder alone and plain PyTorch", "cpu", "encoder_cpu"
    ),
    "encoder-gpu": Benchmark(
        "training MINILM-LWAN and MPNET-LWAN beside transformers and plain PyTorch",
        "gpu",
        "encoder_gpu",
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
        "label_parallel",
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
        "service_workers",
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


__all__ = ["BENCHMARKS", "Benchmark", "Plan", "Result", "find"]
