"""Labels by descriptor and experience: experience is left out at times in training, never in
scoring, and what is kept for scoring does not outlive a training step."""

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


def test_at_a_step_about_a_fifth_of_the_labels_do_without_their_learned_part() -> None:
    torch.manual_seed(0)
    seen = 4000
    one = DescribedLabels(torch.randn(seen + 9, 4), torch.randn(seen), 4, 0.2)
    with torch.no_grad():
        one.queries += 1.0
        one.outputs += 2.0
        described = [one.descriptors[:seen] @ p.T for p in (one.project_query, one.project_output)]
        steps = [one.train()() for _ in range(3)]
        scored = one.eval()()
    left = []
    for q, o, bias in steps:
        kept = (q - described[0]).round().mean(1)
        assert set(kept.tolist()) == {0.0, 1.0}
        assert_close(q, described[0] + kept[:, None])
        assert_close(o, described[1] + 2 * kept[:, None])  # those of a label go together
        assert_close(bias, one.bias)
        left.append(kept == 0)
        assert abs(left[-1].float().mean() - 0.2) < 0.03
    both = left[0] & left[1]
    assert abs(both.float().mean() - 0.04) < 0.015, "another fifth at every step"
    assert_close(scored[0][:seen], described[0] + 1)
    assert_close(scored[1][:seen], described[1] + 2)
