"""The losses: what they are by a plain version of each, and what they do to a label."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from training_cases import LABELS, run

from labelwise.errors import LabelwiseError
from labelwise.training.losses import bce, hbm, zlpr
from labelwise.training.recipe import Recipe, settings_of_result

GROUPS = torch.tensor([0, 1, 0, 2, 1, 1, 3, 0, 1])


def plain_hbm(logits: Tensor, target: Tensor, bias: float, margin: float) -> Tensor:
    """The formula, label by label in double precision."""
    total = torch.zeros((), dtype=torch.float64)
    for row, gold in zip(logits.double(), target > 0, strict=True):
        for group in range(int(GROUPS.max()) + 1):
            among = (group == GROUPS).nonzero().ravel().tolist()
            for sort in (True, False):
                x = [-row[at] if sort else row[at] for at in among if bool(gold[at]) == sort]
                if not x:
                    continue
                values = [one.item() for one in x]
                mean = sum(values) / len(x)
                squares = sum((value - mean) ** 2 for value in values)
                b = bias * math.sqrt(squares / max(len(x) - 1, 1))
                wrong = [one for one in x if 1 / (1 + math.exp(-2 * one.item())) > margin]
                total = total + torch.log(
                    1 + sum((torch.exp(one + b) for one in wrong), 0.0 * x[0])
                )
    return total / len(logits)


def case(seed: int, dtype: torch.dtype, scale: float = 3.0) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(seed)
    logits = torch.randn(6, len(GROUPS), generator=source, dtype=torch.float64) * scale
    gold = torch.rand(6, len(GROUPS), generator=source) < 0.4
    gold[0], gold[1] = False, True  # a document without a label, and one with all of them
    return logits.to(dtype).requires_grad_(), gold.to(dtype)


def of(logits: Tensor, target: Tensor, groups: Tensor = GROUPS, **how: float) -> Tensor:
    chosen: dict[str, Any] = {"bias": 1.0, "margin": 0.01, **how}
    return hbm(logits, target, groups, count=int(groups.max()) + 1, **chosen)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.1])
def test_hbm_and_its_gradient_are_those_of_the_plain_formula(
    dtype: torch.dtype, bias: float, margin: float
) -> None:
    near = 1e-10 if dtype == torch.float64 else 1e-5
    for seed in range(5):
        logits, target = case(seed, dtype)
        (slope,) = torch.autograd.grad(of(logits, target, bias=bias, margin=margin), logits)
        twin = logits.detach().double().requires_grad_()
        expected = plain_hbm(twin, target, bias, margin)
        (plain,) = torch.autograd.grad(expected, twin)
        found = of(logits, target, bias=bias, margin=margin)
        torch.testing.assert_close(found.double(), expected, rtol=near, atol=near)
        torch.testing.assert_close(slope.double(), plain, rtol=near, atol=near)


def test_labels_without_siblings_are_judged_as_by_bce_and_all_as_siblings_as_by_zlpr() -> None:
    logits, target = case(0, torch.float64)
    alone, together = torch.arange(len(GROUPS)), torch.zeros_like(GROUPS)
    torch.testing.assert_close(of(logits, target, alone, margin=0.0), bce(logits, target))
    torch.testing.assert_close(
        of(logits, target, together, bias=0.0, margin=0.0), zlpr(logits, target)
    )


def test_the_loss_of_a_batch_is_the_mean_of_those_of_its_documents() -> None:
    """So that processes may share a batch."""
    logits, target = case(1, torch.float64)
    each = [of(a[None], b[None]) for a, b in zip(logits, target, strict=True)]
    torch.testing.assert_close(of(logits, target), torch.stack(each).mean())


def test_a_label_that_is_right_by_the_margin_is_left_alone_and_a_wrong_one_never_is() -> None:
    logits = torch.tensor([[2.4, 2.2, -9.0, -2.4, -2.2, 9.0]], requires_grad=True)
    target = torch.tensor([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]])
    of(logits, target, torch.zeros(6, dtype=torch.int64)).backward()
    assert logits.grad is not None
    assert logits.grad[0, [0, 3]].tolist() == [0.0, 0.0]
    assert (logits.grad[0, [1, 2]] < 0).all()
    assert (logits.grad[0, [4, 5]] > 0).all()


def test_labels_that_lie_far_apart_are_pushed_further() -> None:
    near = torch.tensor([[0.4, 0.5, 0.6]], requires_grad=True)
    far = torch.tensor([[-1.5, 0.5, 2.5]], requires_grad=True)
    group = torch.zeros(3, dtype=torch.int64)

    def gain(logits: Tensor) -> float:
        """The slope of all three with the bias, beside that without it."""
        slopes = [
            float(
                torch.autograd.grad(of(logits, torch.zeros(1, 3), group, bias=bias), logits)[
                    0
                ].sum()
            )
            for bias in (1.0, 0.0)
        ]
        return slopes[0] - slopes[1]

    assert gain(far) > gain(near) > 0


@pytest.mark.parametrize("size", [1.0, 1e2, 1e4])
def test_hbm_is_finite_however_large_the_logits(size: float) -> None:
    logits, target = case(2, torch.float32, scale=size)
    loss = of(logits, target)
    loss.backward()
    assert loss.isfinite()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_a_network_learns_by_hbm_which_word_speaks_for_which_label() -> None:
    siblings = torch.arange(LABELS).numpy() // 3
    quick: dict[str, Any] = {"documents": 400, "epochs": 8, "learning_rate": 0.05}
    assert run(loss="hbm", siblings=siblings, **quick)[1].best_rp5 > 0.9


def test_settings_of_hbm_that_cannot_be_are_named() -> None:
    for given, words in (
        ({"loss": "focal"}, "loss must be bce, zlpr or hbm, not 'focal'"),
        ({"hbm_bias": -1.0}, "hbm_bias must not be negative, but is -1.0"),
        ({"hbm_bias": math.nan}, "hbm_bias must not be negative, but is nan"),
        ({"hbm_margin": 0.5}, "hbm_margin must be from 0 to below 0.5"),
    ):
        with pytest.raises(LabelwiseError, match=words):
            Recipe(**given)  # type: ignore[arg-type]


def test_settings_of_hbm_decide_nothing_under_another_loss() -> None:
    """So that a training begun before they were there goes on."""
    assert "hbm_bias" not in settings_of_result(Recipe(hbm_bias=2.0))
    assert settings_of_result(Recipe(loss="hbm", hbm_bias=2.0))["hbm_bias"] == 2.0
