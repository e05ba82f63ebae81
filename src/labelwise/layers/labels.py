"""What belongs to a label: its linear unit and, label-wise, its query."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labelwise.evaluation.odds import log_odds


def prior_logits(counts: NDArray[np.int64], documents: int) -> Tensor:
    """The logit of each label's share of the training documents, smoothed for those with none.

    Biases start here: a network that has learned nothing else yet predicts how common each label
    is. From zero, thousands of biases would first have to sink for thousands of steps.
    """
    share = (counts + 0.5) / (documents + 1)
    return torch.from_numpy(log_odds(share)).float()


class LabelUnits(nn.Linear):
    """One linear unit a label: logit_l = d·o_l + b_l, for a document or a section."""

    def __init__(self, width: int, prior: Tensor) -> None:  # prior (L,)
        super().__init__(width, len(prior))
        nn.init.xavier_uniform_(self.weight)
        with torch.no_grad():
            self.bias.copy_(prior)

    def forward(self, d: Tensor) -> Tensor:  # (S or D, H) to (S or D, L)
        # Outside autocast: logits in bfloat16 would tie by the hundred.
        with torch.autocast(d.device.type, enabled=False):
            return super().forward(d.to(self.weight.dtype))


class LabelWise(nn.Module):
    """The queries u_l, outputs o_l and biases b_l of label-wise attention, in the order in which
    ``kernels.label_attention`` takes them."""

    def __init__(self, width: int, prior: Tensor) -> None:  # prior (L,)
        super().__init__()
        self.queries = nn.Parameter(nn.init.xavier_uniform_(torch.empty(len(prior), width)))
        self.outputs = nn.Parameter(nn.init.xavier_uniform_(torch.empty(len(prior), width)))
        self.bias = nn.Parameter(prior.clone())

    def forward(self) -> tuple[Tensor, Tensor, Tensor]:  # (L, H), (L, H), (L,)
        return self.queries, self.outputs, self.bias
