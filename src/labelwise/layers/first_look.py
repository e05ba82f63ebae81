"""A first look at all labels, so that only the best of them are attended to in full.

Label-wise attention needs the products of tokens with queries and outputs, H numbers each. Most of
what these products say lies in a few dimensions: with L Lᵀ the tokens' second moments, the singular
vectors V of [queries; outputs] L, cut to the first r, give

    q · h ≈ (q L Vᵣ) · (Vᵣᵀ L⁻¹ h)

which is the best that r numbers can do for tokens like these. What this attention thinks of a label
decides whether it is among the shortlist, no more.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from labelwise.kernels.label_attention import label_attention

LEAST = 1e-4
"""Added to the second moments, as a share of their mean: some directions are all but empty."""


class FirstLook(nn.Module):
    of_tokens: Tensor
    of_labels: Tensor

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.register_buffer("of_tokens", torch.eye(width, rank))
        self.register_buffer("of_labels", torch.eye(width, rank))
        self._kept: tuple[Tensor, Tensor, Tensor] | None = None

    def learn(self, tokens: Tensor, labels: Tensor) -> None:  # (N, H), (labels, H)
        """From the tokens of some documents, and the queries and outputs of all labels."""
        h, of_labels = tokens.double().cpu(), labels.double().cpu()
        moments = h.T @ h / len(h)
        moments += LEAST * moments.diagonal().mean() * torch.eye(len(moments))
        root = torch.linalg.cholesky(moments)  # (H, H)
        directions = torch.linalg.svd(of_labels @ root).Vh[: self.of_tokens.shape[1]].T  # (H, r)
        self.of_labels.copy_(root @ directions)
        self.of_tokens.copy_(torch.linalg.solve(root.T, directions))
        self._kept = None

    def forward(
        self, h: Tensor, lengths: Tensor, labels: tuple[Tensor, Tensor, Tensor], most: int
    ) -> Tensor:
        """The logits of documents h (D, M, H): exact for ``most`` labels, about right elsewhere."""
        queries, outputs, bias = labels
        if self._kept is None or self._kept[0] is not queries:
            with torch.inference_mode(False), torch.no_grad():
                self._kept = queries, queries @ self.of_labels, outputs @ self.of_labels
        _, short_queries, short_outputs = self._kept
        looked = h @ self.of_tokens  # (D, M, r)
        logits = label_attention(looked, lengths, short_queries, short_outputs, bias)
        best = logits.topk(most).indices  # (D, most)
        for row, columns in enumerate(best):
            tokens = h[row : row + 1, : int(lengths[row])]
            own = queries[columns], outputs[columns], bias[columns]
            logits[row, columns] = label_attention(tokens, lengths[row : row + 1], *own)[0]
        return logits
