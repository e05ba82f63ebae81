"""Versions of label-wise attention beside each other: all on the same operands, with time, memory,
rate and errors, and two in a training step with very many labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from labelwise.bench import cuda
from labelwise.bench.attention import (
    Inputs,
    Sizes,
    Version,
    blocked,
    compiled,
    labelwise,
    make_inputs,
    outputs_first,
    plain,
    reference,
    relative_errors,
    useful_flops,
    values_and_gradients,
)
from labelwise.bench.curves import OURS, OUTPUTS_FIRST, PLAIN
from labelwise.bench.page import cell
from labelwise.bench.results import spread

COMPILED = "torch.compile of the quicker plain one"
LIBMULTILABEL = "LibMultiLabel"
BLOCKED = "labelwise, blocks of labels"


@dataclass(frozen=True)
class Comparison:
    """How versions are compared: how often each is measured, and where."""

    repeats: int
    device: str
    product: int  # rows of the square matrices whose product gives the card's rate

    def table(
        self, what: str, x: Inputs, peers: Mapping[str, Version], *, compile_too: bool
    ) -> dict[str, Any]:
        """A row for each version; the quicker of the two plain ones is what ratios refer to."""
        right = reference(x)
        rate = cuda.product_rate(x.h.dtype, self.device, self.product)
        rows = [
            self.row(name, version, x, right, rate)
            for name, version in {PLAIN: plain, OUTPUTS_FIRST: outputs_first}.items()
        ]
        quicker = min(rows, key=_seconds)
        version = plain if quicker[""] == PLAIN else outputs_first
        others = {
            **({COMPILED: compiled(version)} if compile_too else {}),
            **peers,
            BLOCKED: blocked,
            OURS: labelwise,
        }
        rows += [self.row(name, version, x, right, rate) for name, version in others.items()]
        return comparison_table(what, rows, quicker[""], rate)

    def row(
        self, name: str, version: Version, x: Inputs, right: list[torch.Tensor], rate: float
    ) -> dict[str, Any]:
        """What one version costs and how exact it is; in words where it could not run."""
        cuda.free(self.device)
        try:
            errors = relative_errors(values_and_gradients(version, x), right)
            step = lambda: values_and_gradients(version, x)
            seconds = cuda.seconds(step, repeats=self.repeats, device=self.device)
            memory = cuda.extra_memory(step, self.device)
        except torch.OutOfMemoryError:
            return {"": name, "seconds": cuda.OUT_OF_MEMORY}
        except Exception as error:
            if version is labelwise:
                raise
            # A peer that cannot run here is a finding, and no reason to lose the others.
            return {"": name, "seconds": f"failed ({type(error).__name__})"}
        flops = useful_flops(x.lengths.tolist(), x.h.shape[2], len(x.queries))
        reached = flops / spread(seconds)["median"]
        return {
            "": name,
            "seconds": spread(seconds),
            "bytes": memory,
            "TFLOP/s": round(reached / 1e12, 1),
            "share of rate": reached / rate,
            **errors,
        }


def comparison_table(
    what: str, rows: list[dict[str, Any]], peer: str, rate: float
) -> dict[str, Any]:
    """The rows with what they mean beside the peer."""
    speed = {"key": "seconds", "name": "times as fast", "as": "times", "peer": peer}
    memory = {"key": "bytes", "name": "of its memory", "as": "share", "peer": peer}
    ours = next(row for row in rows if row[""] == OURS)
    times, share = (cell(column, ours, rows, "") for column in (speed, memory))
    return {
        "what": what,
        "text": f"labelwise is {times.split(' ')[0]} times as fast as {peer} and takes {share} of "
        f"its extra memory. The card's matrix product reaches {rate / 1e12:,.0f} TFLOP/s in this "
        "run.",
        "product rate": rate,
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            speed,
            {"key": "bytes", "name": "extra memory", "as": "bytes"},
            memory,
            "TFLOP/s",
            {"key": "share of rate", "name": "of the product's", "as": "share"},
            {"key": "error of logits", "as": "error"},
            {"key": "error of gradients", "as": "error"},
        ],
        "rows": rows,
    }


def _seconds(row: dict[str, Any]) -> float:
    found = row["seconds"]
    return float(found["median"]) if isinstance(found, dict) else float("inf")


GOLD = 5  # labels of a document


def training_table(what: str, sizes: Sizes, repeats: int, device: str) -> dict[str, Any]:
    """Ours and the plain version, one after the other."""
    rows = [
        {"": name, **training_step(version, sizes, repeats, device)}
        for name, version in {OURS: labelwise, PLAIN: plain}.items()
    ]
    return {
        "what": what,
        "text": "Weights in float32, products in bfloat16 by autocast, binary cross-entropy over "
        "all labels, Adam. Memory is all that the step holds: operands, weights, gradients and "
        "Adam's state.",
        "columns": [
            "",
            {"key": "seconds", "name": "time", "as": "seconds"},
            {"key": "bytes", "name": "memory in all", "as": "bytes"},
        ],
        "rows": rows,
    }


def training_step(version: Version, sizes: Sizes, repeats: int, device: str) -> dict[str, Any]:
    cuda.free(device)
    try:
        x = make_inputs(sizes, device=device)
        adam = torch.optim.Adam([x.queries, x.outputs, x.bias])
        targets = torch.zeros_like(x.grad)
        targets[:, :: max(1, sizes.labels // GOLD)] = 1

        def step() -> None:
            with torch.autocast(device, torch.bfloat16):
                logits = version(x)
            binary_cross_entropy_with_logits(logits.float(), targets).backward()  # type: ignore[no-untyped-call]
            adam.step()
            adam.zero_grad()
            x.h.grad = None

        seconds = cuda.seconds(step, repeats=repeats, device=device)
        return {"seconds": spread(seconds), "bytes": cuda.total_memory(step, device)}
    except torch.OutOfMemoryError:
        return {"seconds": cuda.OUT_OF_MEMORY, "bytes": cuda.OUT_OF_MEMORY}
