"""Logistic Regression: one model a label on tf-idf of the most frequent 1- to 5-grams."""

from __future__ import annotations

from dataclasses import dataclass

from labelwise.methods.linear import LinearMethod, LinearSettings


@dataclass(frozen=True)
class LogisticSettings(LinearSettings):
    """Settings of logistic regression; the defaults were chosen on the dev split of EURLEX57K."""

    longest_ngram: int = 5
    min_count: int = 5
    max_columns: int = 60_000
    C: float = 4.0
    passes: int = 8
    prune: float = 0.02


class Logistic(LinearMethod):
    """The same dual coordinate descent as the SVM with the logistic loss.

    Chosen because it shares the SVM's loop and fits all labels of EURLEX57K in minutes; a joint
    gradient method would have to touch the weights of all labels for every batch. Other solvers
    were not compared at this size.
    """

    name = "logistic"
    Settings = LogisticSettings
    settings: LogisticSettings
    loss = "logistic"
