"""What ``labelwise examine`` wrote beside the runs, as a page: table, figure, and what they say.

Files are ``<data>/<method>/attention-seed-<n>.json``. How it is measured is written in
``labelwise.evidence.examination``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelwise.errors import InputError
from labelwise.evaluation.faithfulness_records import EXPLAINED as FAITHFULNESS
from labelwise.evaluation.faithfulness_records import faithfulness_table
from labelwise.evaluation.tables import Table, number

FURTHEST = math.log(2)
"""The divergence of two attentions without a word in common."""

FAR = FURTHEST / 2
"""From here on two attentions look at different words, by and large."""

PAGE, FIGURE = "attention.md", "attention.svg"

EXPLAINED = (
    "τ is Kendall's correlation of attention and |gradient × input| over the words (mean ± "
    "standard deviation). Shuffled: how far the score of a label moves when its attention is "
    "shuffled over the words. Equal weights: how far when every word has the same. Adversary: the "
    "divergence (Jensen-Shannon, .693 at most) of the attention furthest from the network's own "
    "that moves the score by less than {epsilon:g}; `far` the share of labels where it passes "
    "{far:.3f}. Other seed: the divergence of the attention of the same network trained from "
    "another seed. Medians, unless they are said to be something else. RP@5 is of these documents, "
    "with the network's own attention and with equal weights."
)

SOURCES = (
    "After Jain and Wallace, *Attention is not Explanation* (2019), and Wiegreffe and Pinter, "
    "*Attention is not not Explanation* (2019). A network with equal weights is read so, not "
    "trained so; the adversary that Wiegreffe and Pinter train is left out, since it is one more "
    "training of each network."
)


@dataclass(frozen=True, eq=False)
class AttentionRecord:
    """One network; of each pair of a document and a label, (pairs,) each."""

    method: str
    seed: int
    data: str
    split: str
    documents: int
    epsilon: float
    precision: float
    precision_uniform: float
    strongest: NDArray[np.float64]
    correlation: NDArray[np.float64]
    permuted: NDArray[np.float64]
    adversary: NDArray[np.float64]
    uniform: NDArray[np.float64]
    other_divergence: NDArray[np.float64] | None

    @classmethod
    def read(cls, path: Path) -> AttentionRecord:
        try:
            found = json.loads(path.read_bytes())
            pairs = found["pairs"]
            figures = {
                name: np.array([pair[name] for pair in pairs], dtype=np.float64)
                for name in ("strongest", "correlation", "permuted", "adversary", "uniform")
            }
            other = [pair["other_divergence"] for pair in pairs]
            return cls(
                method=found["method"],
                seed=found["seed"],
                data=found["data"]["name"],
                split=found["split"],
                documents=len({pair["document"] for pair in pairs}),
                epsilon=found["plan"]["epsilon"],
                precision=found["precision"],
                precision_uniform=found["precision_uniform"],
                **figures,
                other_divergence=None if None in other else np.array(other),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"this is not what `labelwise examine` writes ({error!r}): run it again, or remove "
                "the file",
                file=path,
            ) from error

    @property
    def name(self) -> str:
        return f"{self.method}, seed {self.seed}"

    @property
    def far(self) -> float:
        """The share of labels with an adversary that looks elsewhere."""
        return float((self.adversary > FAR).mean())


def read_attention(folder: Path) -> list[AttentionRecord]:
    """The records in one data set's folder."""
    return [AttentionRecord.read(path) for path in sorted(folder.glob("*/attention-seed-*.json"))]


def attention_table(records: Sequence[AttentionRecord]) -> Table:
    """A row a network."""
    columns = [
        *("network", "documents", "labels", "τ", "shuffled", "equal weights"),
        *("adversary", "far", "other seed", "RP@5", "RP@5 equal weights"),
    ]
    table = Table(columns)
    for one in records:
        other = one.other_divergence
        known = one.correlation[~np.isnan(one.correlation)]
        table.add(
            [
                f"{one.name}, {one.split}",
                f"{one.documents:,}",
                f"{len(one.strongest):,}",
                f"{_signed(float(known.mean()))} ± {number(float(known.std()))}",
                *(_median(figures) for figures in (one.permuted, one.uniform, one.adversary)),
                f"{one.far:.0%}",
                "" if other is None else _median(other),
                number(one.precision),
                number(one.precision_uniform),
            ]
        )
    return table


def attention_says(one: AttentionRecord) -> str:
    """What was found, in words, flattering or not."""
    tau = float(np.nanmean(one.correlation))
    alike = "much" if tau >= 0.6 else "partly" if tau >= 0.3 else "hardly"
    moved = float(np.median(one.permuted))
    hangs = "hangs on where it looks" if moved >= 0.1 else "hardly hangs on where it looks"
    several = (
        "attention is one account of the score among several"
        if one.far >= 0.5
        else "for most labels nothing else than its attention explains the score"
    )
    lost = one.precision - one.precision_uniform
    needs = "it needs its attention" if lost > 0.02 else "it does as well without its attention"
    sentences = [
        f"**{one.name}**: attention and gradients put the words in {alike} the same "
        f"order (τ {_signed(tau)}).",
        f"Shuffled, attention moves a score by {number(moved)}: it {hangs}.",
        f"For {one.far:.0%} of the labels an attention that looks elsewhere gives the same score: "
        f"{several}.",
        f"With equal weights RP@5 is {number(one.precision_uniform)} in place of "
        f"{number(one.precision)}: {needs}.",
    ]
    if one.other_divergence is not None:
        seeds, found = float(np.median(one.other_divergence)), float(np.median(one.adversary))
        further = "further than chance does" if found > seeds else "no further than chance does"
        sentences.append(
            f"From another seed it attends apart by {number(seeds)}, the adversary by "
            f"{number(found)}: the adversary goes {further}."
        )
    return " ".join(sentences)


def attention_page(folder: Path) -> str:
    """The page of one data set's folder, in Markdown; the figure stands beside it."""
    records = read_attention(folder)
    sections = [
        f"# Is attention an explanation? Networks on {records[0].data}",
        "Written by `labelwise examine` from the JSON files beside it; do not edit it.",
        attention_table(records).markdown().rstrip(),
        f"![Agreement with gradients, attention shuffled, the adversary]({FIGURE})",
        *(attention_says(one) for one in records),
        EXPLAINED.format(epsilon=records[0].epsilon, far=FAR),
        SOURCES,
    ]
    faithfulness = faithfulness_table(folder)
    if faithfulness is not None:
        sections += ["## Is the evidence true?", faithfulness.markdown().rstrip(), FAITHFULNESS]
    return "\n\n".join(sections) + "\n"


def _median(figures: NDArray[np.float64]) -> str:
    return number(float(np.median(figures)))


def _signed(value: float) -> str:
    return ("-" if value < 0 else "") + number(abs(value))
