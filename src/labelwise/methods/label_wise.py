"""What CNN-, DCNN- and BIGRU-LWAN share: all that comes behind the encoder of words.

document encoder   label-wise attention: label l has its own query u_l
document decoder   one linear unit a label
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import linear

from labelwise.kernels.label_attention import attention_weights, label_attention
from labelwise.layers import LabelWise
from labelwise.methods.attending import AttendingNetwork
from labelwise.training.batches import Batch


class LabelWiseNetwork(AttendingNetwork):
    """Label-wise attention and its linear units; a subclass adds the word encoder."""

    labels: LabelWise

    def encode(self, batch: Batch) -> Tensor:
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        h = self.encode(batch)  # (D, T, H)
        values = self.scaled(h, batch.lengths)
        return label_attention(h, batch.cpu_lengths, *self.labels(), values=values)  # (D, L)

    def weighed(self, batch: Batch, columns: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encode(batch)
        values = self.scaled(h, batch.lengths)
        return (
            attention_weights(h, batch.lengths, self.labels.queries[columns]),
            linear(values, self.labels.outputs[columns], self.labels.bias[columns]),
        )
