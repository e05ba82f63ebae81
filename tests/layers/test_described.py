"""Labels by descriptor and experience: what is kept for scoring never outlives a training step."""

from __future__ import annotations

import torch
from torch.testing import assert_close

from labelwise.layers.described import DescribedLabels


def labels() -> DescribedLabels:
    torch.manual_seed(0)
    return DescribedLabels(torch.randn(5, 4), torch.tensor([-1.0, -2.0, -3.0]), 4, 0.2)


def test_a_step_that_leaves_versions_alone_is_seen_when_scoring_begins_again() -> None:
    one = labels().eval()
    with torch.no_grad():
        before = one()[0]
        one.train()
        # As a fused optimizer on a GPU changes its parameters.
        one.queries.data += 1.0
        after = one.eval()()[0]
    assert_close(after[:3], before[:3] + 1)
    assert_close(after[3:], before[3:])


def test_what_is_kept_stays_while_nothing_changes() -> None:
    one = labels().eval()
    with torch.no_grad():
        kept = one()
        assert one.eval()()[0] is kept[0]
        one.bias += 1  # and goes with what it was made of
        assert_close(one()[2][:3], kept[2][:3] + 1)
