"""The weights of a network as the arrays of a bundle, which keeps them in half precision or, where
they are rows of many numbers, in 8 bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.errors import BundleError
from labelwise.kernels.eight_bits import rounded
from labelwise.methods.base import Method
from labelwise.schema import FLOATS, WHOLE, array

SCALE = "/scale"
"""What the name of an array ends in that says what the rows of another, in 8 bits, stand for."""

LARGE = 100_000
"""Matrices of fewer numbers stay in half precision: they cost little."""


def halved(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Tensors as arrays in half precision."""
    return {name: x.half().cpu().numpy() for name, x in tensors.items()}


def in_bytes(tensors: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Large matrices in 8 bits, row by row, and what each row is to be multiplied with; the rest in
    half precision."""
    arrays = halved({name: x for name, x in tensors.items() if not _is_large(x)})
    for name, x in tensors.items():
        if _is_large(x):
            whole, scale = rounded(x.float().cpu())
            arrays |= {name: whole.numpy(), name + SCALE: scale.numpy()}
    return arrays


def _is_large(x: Tensor) -> bool:
    return x.ndim == 2 and x.is_floating_point() and x.numel() >= LARGE


def widened(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """The arrays as tensors, fractions in single precision; all numbers are finite."""
    for name, one in arrays.items():
        shape = (len(arrays[name.removesuffix(SCALE)]), 1) if name.endswith(SCALE) else one.shape
        array(arrays, name, shape, FLOATS if one.dtype.kind == "f" else WHOLE + "b")
    tensors = {
        name: torch.from_numpy(np.array(one))
        for name, one in arrays.items()
        if not name.endswith(SCALE)
    }
    for name, one in arrays.items():
        if name.endswith(SCALE):
            of = name.removesuffix(SCALE)
            tensors[of] = tensors[of] * torch.from_numpy(np.array(one))
    return {k: v.float() if v.is_floating_point() else v for k, v in tensors.items()}


def load_weights(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Give a network all of its weights, each of the kind and the shape that it has there."""
    for name, own in network.state_dict().items():
        if name in tensors and own.is_floating_point() != tensors[name].is_floating_point():
            raise BundleError(f"the weights '{name}' are of {tensors[name].dtype}, not {own.dtype}")
    network.load_state_dict(tensors)
    network.eval()


@contextmanager
def as_weights_of(method: Method) -> Iterator[None]:
    """Within it, weights that do not fit the method are an error that says so."""
    try:
        yield
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        told = " ".join(str(error).split())  # PyTorch tells it in a paragraph
        raise BundleError(
            f"these weights are not those of a {method.name} with these settings and "
            f"{len(method.label_space)} labels: {told}"
        ) from error
