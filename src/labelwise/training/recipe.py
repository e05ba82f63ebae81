"""How a network is trained: the settings that all of them share."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, get_args

from labelwise.errors import LabelwiseError

Precision = Literal["auto", "float32", "bfloat16"]
Loss = Literal["bce", "zlpr", "hbm"]


@dataclass(frozen=True)
class Recipe:
    """The training settings. The defaults follow one good recipe on EURLEX57K, unsearched."""

    seed: int = 0
    batch: int = 256
    """Documents a batch. A recurrence costs a GPU the same for 256 as for 16, and the larger batch
    also did better. Fewer are taken where the corpus would give less than 100 batches an epoch:
    what is learned from a small corpus is learned by the number of steps."""
    batch_tokens: int = 320_000
    """Tokens a batch, padding included: what bounds the memory."""
    learning_rate: float = 4e-3
    """Four times the published one: with a warm-up and a linear fall it did better on EURLEX57K at
    a batch of 256, and much better on small corpora with small batches too."""
    warmup: int = 100
    """Steps until the learning rate is reached, at most a tenth of the training. Without it Adam's
    first steps, whose variances are guesses, undo the word vectors."""
    epochs: int = 11
    """Over which the learning rate falls to zero, linearly."""
    patience: int = 3
    """Epochs without a better dev RP@5 after which training stops."""
    weight_decay: float = 0.0
    """Of AdamW. Word vectors that are frozen do not decay."""
    beta2: float = 0.999
    """Of AdamW: how long it remembers the size of gradients. Transformers want less, .98."""
    averaging: float = 0.0
    """With 0.999, say, what is scored and kept is a running average of the weights, of about the
    last 1,000 steps; 0: the weights themselves. A rate that falls to zero averages as well."""
    loss: Loss = "bce"
    """``bce`` is binary cross-entropy over all labels. ``zlpr`` ranks the gold labels above zero
    and the others below it, all of a document together, however many they are; ``hbm`` does so
    among labels with the same broader concept, and so needs a thesaurus that says which."""
    hbm_bias: float = 1.0
    """Of ``hbm``, as published: how much further, in standard deviations of their logits, labels
    are pushed that lie far apart."""
    hbm_margin: float = 0.01
    """Of ``hbm``, as published for EURLEX57K: a label is left alone where the sigmoid of twice its
    logit, or of its negative for a gold label, is at most this; 0: never."""
    clip: float = 5.0
    """The largest norm of the gradient of the loss (summed over labels, averaged over documents):
    seldom reached, it keeps one odd batch from throwing the training off."""
    max_seconds: float | None = None
    """Training ends within this time, its learning rate falling to zero by then: for a leased
    machine. The result then depends on the speed of the machine."""
    device: str = "auto"
    """``auto`` is a CUDA device where there is one; else as PyTorch names devices."""
    precision: Precision = "auto"
    """``auto`` is bfloat16 (autocast) on CUDA and float32 on a CPU, where scoring makes the large
    products in 8 bits if the processor has instructions for it: that keeps the ranking."""

    def __post_init__(self) -> None:
        """Say at once which setting cannot be, rather than failing deep in a training."""
        at_least = {
            "seed": 0,
            "batch": 1,
            "batch_tokens": 1,
            "warmup": 0,
            "epochs": 1,
            "patience": 1,
        }
        for name, lowest in at_least.items():
            value = getattr(self, name)
            if not isinstance(value, int) or value < lowest:
                raise LabelwiseError(f"{name} must be a whole number from {lowest}, not {value!r}")
        for name in ("beta2", "averaging"):
            if not 0 <= getattr(self, name) < 1:
                raise LabelwiseError(f"{name} must be from 0 to below 1, not {getattr(self, name)}")
        if self.loss not in get_args(Loss):
            raise LabelwiseError(f"loss must be bce, zlpr or hbm, not {self.loss!r}")
        if not 0 <= self.hbm_bias < math.inf:
            raise LabelwiseError(f"hbm_bias must not be negative, but is {self.hbm_bias!r}")
        if not 0 <= self.hbm_margin < 0.5:
            raise LabelwiseError(
                f"hbm_margin must be from 0 to below 0.5, where a label would be left alone on the "
                f"wrong side, not {self.hbm_margin!r}"
            )
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise LabelwiseError(f"{name} must be above zero, not {getattr(self, name)!r}")
        if not self.weight_decay >= 0:
            raise LabelwiseError(f"weight_decay must not be negative, but is {self.weight_decay!r}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise LabelwiseError(f"max_seconds must be above zero, not {self.max_seconds!r}")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise LabelwiseError(
                f"precision must be auto, float32 or bfloat16, not {self.precision!r}"
            )

    def batch_for(self, documents: int) -> int:
        """Documents a batch, for a corpus of this size.

        >>> Recipe().batch_for(45_000), Recipe().batch_for(1_500), Recipe().batch_for(40)
        (256, 15, 8)
        """
        return min(self.batch, max(8, documents // 100))

    def learning_rate_at(self, step: int, progress: float, steps: int) -> float:
        """The learning rate of a step, when this share of the training lies behind it.

        ``steps`` is about how many there will be.
        """
        warmup = min(self.warmup, steps // 10)
        warm = min(1.0, (step + 1) / (warmup + 1))
        return self.learning_rate * warm * max(0.0, 1.0 - progress)


NOT_OF_THE_RESULT = ("device", "precision", "max_seconds")
"""Settings that may change between a training and its resumption."""

OF_HBM = ("hbm_bias", "hbm_margin")
"""Settings that decide nothing under another loss."""


def settings_of_result(recipe: Recipe) -> dict[str, object]:
    """The settings that decide the weights; a checkpoint is resumed only under equal ones."""
    others = NOT_OF_THE_RESULT if recipe.loss == "hbm" else (*NOT_OF_THE_RESULT, *OF_HBM)
    return {
        field.name: getattr(recipe, field.name)
        for field in fields(recipe)
        if field.name not in others
    }
