"""Labels that are known by their descriptors and, where they were seen in training, by experience.

q_l = P e_l + u_l and o_l = R e_l + w_l: e_l is what a pretrained encoder makes of the label's name,
and never changes; P and R are learned for all labels together; u_l and w_l are learned for a label
that training documents carry. In training these are left out for some labels at every step, so that
the part of the descriptor learns to do without them, which it has to for labels never seen.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class DescribedLabels(nn.Module):
    """Queries, outputs and biases, in the order in which ``kernels.label_attention`` takes them.

    The labels seen in training come first.
    """

    descriptors: Tensor
    unseen_bias: Tensor

    def __init__(
        self,
        descriptors: Tensor,  # (L, E)
        prior: Tensor,  # (seen,) the logits of the seen labels' shares of the documents
        width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        seen, own = len(prior), descriptors.shape[1]
        self.dropout = dropout
        self.register_buffer("descriptors", descriptors)
        self.project_query = nn.Parameter(_start(width, own))
        self.project_output = nn.Parameter(_start(width, own))
        self.queries = nn.Parameter(torch.zeros(seen, width))
        self.outputs = nn.Parameter(torch.zeros(seen, width))
        self.bias = nn.Parameter(prior.clone())
        # That of a label that is rare, for one that was not seen at all.
        rare = prior.sort().values[: max(1, seen // 2)]
        self.register_buffer("unseen_bias", rare.mean() if seen else torch.tensor(0.0))
        self._kept: tuple[Tensor, Tensor, Tensor] | None = None
        self._kept_of: tuple[tuple[int, int], ...] = ()

    def train(self, mode: bool = True) -> DescribedLabels:
        """Forget what was kept: an optimizer on a GPU changes tensors and not their versions."""
        if mode != self.training:
            self._kept = None
        return super().train(mode)

    def forward(self) -> tuple[Tensor, Tensor, Tensor]:
        """Of the seen labels in training, (seen, H) twice and (seen,); else of all of them."""
        if self.training:
            e = self.descriptors[: len(self.bias)]
            kept = torch.rand(len(e), 1, device=e.device) >= self.dropout
            q = torch.addcmul(linear(e, self.project_query), self.queries, kept.to(e.dtype))
            o = torch.addcmul(linear(e, self.project_output), self.outputs, kept.to(e.dtype))
            return q, o, self.bias
        if torch.is_grad_enabled():
            return self._all()
        made_of = (*self.parameters(), *self.buffers())
        stamp = tuple((tensor.data_ptr(), tensor._version) for tensor in made_of)
        if self._kept is None or self._kept_of != stamp:
            self._kept_of = stamp
            with torch.inference_mode(False), torch.no_grad():  # what is kept may be kept in 8 bits
                self._kept = self._all()
        return self._kept

    def _all(self) -> tuple[Tensor, Tensor, Tensor]:
        with torch.autocast(self.bias.device.type, enabled=False):
            unseen = len(self.descriptors) - len(self.bias)
            fill = (0, 0, 0, unseen)
            q = linear(self.descriptors, self.project_query) + nn.functional.pad(self.queries, fill)
            o = linear(self.descriptors, self.project_output)
            o = o + nn.functional.pad(self.outputs, fill)
            return q, o, torch.cat([self.bias, self.unseen_bias.expand(unseen)])


def _start(width: int, own: int) -> Tensor:
    """What the encoder makes of a name and of a text is alike where they mean the same: to begin
    with, a label looks for tokens like its name."""
    return (
        torch.eye(width, own) if width == own else nn.init.xavier_uniform_(torch.empty(width, own))
    )
