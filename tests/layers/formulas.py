"""The formulas of the layers, transcribed to NumPy in float64: slow, plain, one row at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Weights = Mapping[str, Array]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max())
    return e / e.sum()


def gru(x: Array, weights: Weights, end: str) -> Array:
    """One direction over (T, E), from the left: (T, U). Gates in the order reset, update, new."""
    w_ih, w_hh = weights[f"weight_ih_l0{end}"], weights[f"weight_hh_l0{end}"]
    b_ih, b_hh = weights[f"bias_ih_l0{end}"], weights[f"bias_hh_l0{end}"]
    h = np.zeros(w_hh.shape[1])
    outputs = []
    for x_t in x:
        i_r, i_z, i_n = np.split(w_ih @ x_t + b_ih, 3)
        h_r, h_z, h_n = np.split(w_hh @ h + b_hh, 3)
        r, z = sigmoid(i_r + h_r), sigmoid(i_z + h_z)
        n = np.tanh(i_n + r * h_n)
        h = (1 - z) * n + z * h
        outputs.append(h)
    return np.array(outputs)


def bigru(x: Array, weights: Weights, layers: int = 1) -> Array:
    """Both directions over the real tokens (T, E): (T, 2 U)."""
    for layer in range(layers):
        own = under(f"layers.{layer}.", weights)
        x = np.concatenate([gru(x, own, ""), gru(x[::-1], own, "_reverse")[::-1]], 1)
    return x


def cnn(x: Array, weights: Weights, layers: int = 1) -> Array:
    """tanh of a convolution over (T, E), zeros beyond both ends: (T, filters)."""
    for layer in range(layers):
        w, b = weights[f"layers.{layer}.weight"], weights[f"layers.{layer}.bias"]
        kernel = w.shape[2]
        before = (kernel - 1) // 2
        outputs = []
        for t in range(len(x)):
            total = b.copy()
            for k in range(kernel):
                if 0 <= t + k - before < len(x):
                    total += w[:, :, k] @ x[t + k - before]
            outputs.append(np.tanh(total))
        x = np.array(outputs)
    return x


def dilated_cnn(x: Array, weights: Weights) -> Array:
    """W x_t + b over (T, E), then x_t + tanh(a_t) σ(b_t) block by block: (T, filters)."""
    x = x @ weights["project.weight"].T + weights["project.bias"]
    block = 0
    while f"blocks.{block}.convolve.weight" in weights:
        own = under(f"blocks.{block}.convolve.", weights)
        w = own["weight"].reshape(2 * x.shape[1], -1, x.shape[1])  # outputs × words × inputs
        before = (w.shape[1] - 1) // 2
        outputs = []
        for t in range(len(x)):
            total = own["bias"].copy()
            for k in range(w.shape[1]):
                at = t + (k - before) * 2**block
                if 0 <= at < len(x):
                    total += w[:, k] @ x[at]
            a, b = np.split(total, 2)
            outputs.append(x[t] + np.tanh(a) * sigmoid(b))
        x = np.array(outputs)
        block += 1
    return x


def plain_weights(h: Array, weights: Weights) -> Array:
    """softmax of h_t·u: (T,)."""
    return softmax(h @ weights["query"])


def tanh_weights(h: Array, weights: Weights) -> Array:
    """softmax of tanh(W h_t + b)·u: (T,)."""
    hidden = np.tanh(h @ weights["hidden.weight"].T + weights["hidden.bias"])
    return softmax(hidden @ weights["query"])


def label_wise(h: Array, weights: Weights) -> Array:
    """Label by label: its attention, what it read, its unit: (L,)."""
    logits = []
    for u, o, b in zip(weights["queries"], weights["outputs"], weights["bias"], strict=True):
        d = softmax(h @ u) @ h
        logits.append(d @ o + b)
    return np.array(logits)


def descriptor_wise(h: Array, weights: Weights, project: bool = True) -> Array:
    """v_t = tanh(W h_t + b), a = softmax(v_t·u_l), d = Σ a (P h_t), u_l·d + b: (L,)."""
    v = np.tanh(h @ weights["hidden.weight"].T + weights["hidden.bias"])
    p = h @ weights["project.weight"].T if project else h
    return np.array([u @ (softmax(v @ u) @ p) + weights["bias"] for u in weights["vectors"]])


def linear(d: Array, weights: Weights) -> Array:
    return weights["weight"] @ d + weights["bias"]


def under(prefix: str, weights: Weights) -> Weights:
    return {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
