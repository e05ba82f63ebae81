"""Label-wise attention as others write it, and as we do; all take the same operands."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from labelwise.bench.attention_inputs import Inputs
from labelwise.errors import InputError
from labelwise.kernels.blocked import blocked_logits
from labelwise.kernels.label_attention import label_attention

Version = Callable[[Inputs], Tensor]
"""The logits (documents, labels) of the operands, differentiable."""

MODULES = "nn/networks/modules.py"
"""Where LibMultiLabel has its label-wise attention."""


def plain(x: Inputs) -> Tensor:
    """As the paper writes it: what each label read, (documents, labels, width), then its output."""
    return plain_logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def plain_logits(
    h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    read = plain_weights(h, lengths, queries) @ h  # (documents, labels, width)
    return (read * outputs).sum(-1) + bias


def outputs_first(x: Inputs) -> Tensor:
    """The output of every token first, (documents, labels, tokens), then their weighted sum."""
    return outputs_first_logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def outputs_first_logits(
    h: Tensor, lengths: Tensor, queries: Tensor, outputs: Tensor, bias: Tensor
) -> Tensor:
    said = outputs @ h.transpose(1, 2)  # (documents, labels, tokens)
    return (plain_weights(h, lengths, queries) * said).sum(-1) + bias


def plain_weights(h: Tensor, lengths: Tensor, queries: Tensor) -> Tensor:
    """The attention, (documents, labels, tokens), zero at padding."""
    padding = torch.arange(h.shape[1], device=h.device) >= lengths[:, None]
    scores = queries @ h.transpose(1, 2)
    return scores.masked_fill(padding[:, None], float("-inf")).softmax(-1)


def compiled(version: Version) -> Version:
    """A plain version through torch.compile, for the very shapes that it is called with."""
    logits = torch.compile(
        plain_logits if version is plain else outputs_first_logits, dynamic=False
    )
    return lambda x: logits(x.h, x.device_lengths, x.queries, x.outputs, x.bias)


def blocked(x: Inputs) -> Tensor:
    """Ours in plain PyTorch, a block of labels at a time: the operator where Triton is not."""
    return blocked_logits(x.h, x.h, x.device_lengths, x.queries, x.outputs) + x.bias


def labelwise(x: Inputs) -> Tensor:
    """Ours, as the methods call it."""
    return label_attention(x.h, x.lengths, x.queries, x.outputs, x.bias)


def libmultilabel(source: Path) -> Version:
    """LibMultiLabel's modules, which attend to padding as well, from its source alone."""
    modules = libmultilabel_modules(source)

    def logits(x: Inputs) -> Tensor:
        labels, width = x.queries.shape
        with torch.device("meta"):  # no memory for weights that are replaced at once
            attention = modules.LabelwiseAttention(width, labels)
            output = modules.LabelwiseLinearOutput(width, labels)
        attention.attention.weight = x.queries
        output.output.weight, output.output.bias = x.outputs, x.bias
        found: Tensor = output(attention(x.h)[0])
        return found

    return logits


def libmultilabel_name(source: Path) -> str:
    """Which source it is, by its checksum: a copied file does not say its version."""
    checksum = hashlib.sha256(_modules_file(source).read_bytes()).hexdigest()
    return f"libmultilabel, {MODULES} (sha256 {checksum[:12]})"


def libmultilabel_modules(source: Path) -> Any:
    """The one file with its attention, loaded without the package, whose imports are many.

    ``source`` is the file itself or any folder above it: the package, a checkout, site-packages, or
    an environment.
    """
    file = _modules_file(source)
    spec = importlib.util.spec_from_file_location("libmultilabel_modules", file)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python module", file=file)
    modules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(modules)
    return modules


def _modules_file(source: Path) -> Path:
    if source.is_file():
        return source
    places = (MODULES, f"libmultilabel/{MODULES}", f"lib/*/site-packages/libmultilabel/{MODULES}")
    found = [path for place in places for path in sorted(source.glob(place))]
    if not found:
        raise InputError(
            f"LibMultiLabel's {MODULES} is not below this folder: name the folder of its package",
            file=source,
        )
    return found[0]
