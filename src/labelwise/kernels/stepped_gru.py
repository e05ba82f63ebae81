"""A bidirectional GRU for scoring on a CPU: both directions step by step, and no padding.

torch.gru reads one direction after the other, and every row to the end of the longest. Here the
rows that are still being read are always the first ones, a few operations make a step of both
directions, and the products with words, which need no recurrence, are made for many steps at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from labelwise.kernels import eight_bits
from labelwise.kernels.cores import on_cores

STEPS = 64
"""Steps whose products with words are made at once: enough for a large product, few enough that
it is still in the cache when a step needs its part."""


def bigru(x: Tensor, lengths: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """x (rows, tokens, width) to (rows, tokens, 2 units), zero at padding; without gradients.

    ``weights`` are those of torch.nn.GRU, in its order: of the words, recurrent, and the biases of
    both, first from the left, then from the right. It all happens on one core.
    """
    (y,) = on_cores(lambda _: _read(x, lengths, weights), range(1))
    return y


def _read(x: Tensor, lengths: Tensor, weights: Sequence[Tensor]) -> Tensor:
    of_words, of_states, word_bias, state_bias = (
        torch.stack(pair) for pair in zip(weights[:4], weights[4:], strict=True)
    )  # (2, 3 units, width), (2, 3 units, units), (2, 3 units) twice
    of_word = _products(of_words, word_bias[:, None])
    of_state = _products(of_states, state_bias[:, None], within_one=True)
    rows, tokens, width = x.shape
    units = of_states.shape[2]
    order = lengths.argsort(descending=True, stable=True)
    reading = torch.arange(tokens)[:, None] < lengths[order]  # (tokens, rows), the longest first
    step, place = reading.nonzero(as_tuple=True)  # of each of the N real tokens
    row = order[place]
    # Where the word stands that a step reads from the left, and the one that it reads from the
    # right.
    places = row * tokens + torch.stack([step, lengths[row] - 1 - step])  # (2, N)
    words = x.reshape(-1, width)[places]  # (2, N, width)
    states = x.new_empty((2, len(row), units))
    state = x.new_zeros((2, rows, units))
    active = reading.sum(1).tolist()  # rows that a step still reads
    at = 0
    for first in range(0, tokens, STEPS):
        steps = active[first : first + STEPS]
        gates = of_word(words[:, at : at + sum(steps)])  # (2, …, 3 units)
        for n, gate in zip(steps, torch.split(gates, steps, 1), strict=True):
            state = state[:, :n]
            state = _step(gate, of_state(state), state, out=states[:, at : at + n])
            at += n
    y = x.new_zeros((rows * tokens, 2, units))
    for direction in range(2):
        y[:, direction].index_copy_(0, places[direction], states[direction])
    return y.view(rows, tokens, 2 * units)


def _step(of_word: Tensor, of_state: Tensor, state: Tensor, out: Tensor) -> Tensor:
    """The next state (2, n, units), from what word and state say to each gate (2, n, 3 units)."""
    units = state.shape[2]
    both = of_state[:, :, : 2 * units].add_(of_word[:, :, : 2 * units]).sigmoid_()
    reset, update = both[:, :, :units], both[:, :, units:]
    new = torch.addcmul(of_word[:, :, 2 * units :], reset, of_state[:, :, 2 * units :])
    # tanh x = 2 σ(2x) − 1: on a CPU PyTorch's σ takes a quarter of the time of its tanh.
    new = new.mul_(2).sigmoid_().mul_(2).sub_(1)
    return torch.lerp(new, state, update, out=out)


def _products(weight: Tensor, bias: Tensor, within_one: bool = False) -> Callable[[Tensor], Tensor]:
    """What maps x (2, n, width) to W x + b in both directions, (2, n, 3 units).

    A state is always ``within_one``, so that its scale need not be looked for.
    """
    if not eight_bits.asked_for(weight):
        weight = weight.mT.contiguous()
        return lambda x: torch.baddbmm(bias, x, weight)
    (forth, back), scale = eight_bits.rounded(weight)
    scale = scale.mT.contiguous()  # (2, 1, 3 units)

    def product(x: Tensor) -> Tensor:
        small, x_scale = _within_one(x) if within_one else eight_bits.rounded(x)
        both = [eight_bits.product(small[0], forth), eight_bits.product(small[1], back)]
        return torch.addcmul(bias, torch.stack(both) * x_scale, scale)

    return product


def _within_one(x: Tensor) -> tuple[Tensor, float]:
    return (x * 127).round_().to(torch.int8), 1 / 127
