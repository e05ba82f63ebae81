"""The weights of a network, from the arrays of a bundle, which may keep them in half precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.errors import BundleError
from labelwise.methods.base import Method
from labelwise.schema import FLOATS, WHOLE, array


def widened(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """The arrays as tensors, fractions in single precision; all numbers are finite."""
    for name, one in arrays.items():
        array(arrays, name, one.shape, FLOATS if one.dtype.kind == "f" else WHOLE + "b")
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
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
        raise BundleError(
            f"these weights are not those of a {method.name} with these settings and "
            f"{len(method.label_space)} labels: {error}"
        ) from error
