"""The GRU of scoring on a CPU reads as torch.gru does, alone or among other rows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from labelwise.kernels import eight_bits, stepped_gru
from labelwise.layers import BiGRU
from labelwise.layers.gru import mirrored

needs_instructions = pytest.mark.skipif(
    not eight_bits.available(), reason="this processor has no instructions for bytes (VNNI)"
)


def made(lengths: tuple[int, ...], units: int, width: int = 11) -> tuple[nn.GRU, Tensor, Tensor]:
    torch.manual_seed(0)
    gru = nn.GRU(width, units, batch_first=True, bidirectional=True)
    return gru, torch.randn(len(lengths), max(lengths), width), torch.tensor(lengths)


def stepped(gru: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
    with torch.inference_mode():
        return stepped_gru.bigru(x, lengths, list(gru.parameters()))


@pytest.mark.parametrize("steps", [1, 3, 64])
@pytest.mark.parametrize("lengths", [(1,), (9, 9, 9), (5, 9, 1, 7), (9, 5, 5, 1), (1, 1)], ids=str)
def test_it_reads_as_the_gru_of_training_does(
    lengths: tuple[int, ...], steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stepped_gru, "STEPS", steps)
    gru, x, lengths_ = made(lengths, units=5)
    expected = mirrored(gru.double(), x.double(), lengths_)
    got = stepped(gru, x.double(), lengths_)
    torch.testing.assert_close(got, expected)
    for row, length in zip(got, lengths, strict=True):
        assert not row[length:].any()
    single = stepped(gru.float(), x, lengths_)
    torch.testing.assert_close(single.double(), expected, rtol=1e-5, atol=1e-6)


def test_the_encoder_takes_it_for_scoring_and_not_for_training() -> None:
    torch.manual_seed(0)
    encoder = BiGRU(6, 5, layers=2).double().eval()
    x, lengths = torch.randn(3, 8, 6, dtype=torch.float64), torch.tensor([8, 2, 5])
    trained = encoder(x, lengths)
    assert trained.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(encoder(x, lengths), trained.detach())


@needs_instructions
def test_in_8_bits_it_stays_near_over_a_long_document() -> None:
    gru, x, lengths = made((1500, 40), units=150)
    exact = stepped(gru, x, lengths)
    with eight_bits.eight_bits():
        rough = stepped(gru, x, lengths)
    assert 1e-6 < abs(rough - exact).mean() < 0.003
    assert abs(rough - exact).max() < 0.03
    assert not rough[1, 40:].any()


@needs_instructions
def test_in_8_bits_batch_mates_do_not_matter() -> None:
    lengths = (130, 60, 61, 1, 33)
    gru, x, lengths_ = made(lengths, units=150)
    with eight_bits.eight_bits():
        together = stepped(gru, x, lengths_)
        for at, length in enumerate(lengths):
            alone = stepped(gru, x[at : at + 1, :length], lengths_[at : at + 1])
            torch.testing.assert_close(alone[0], together[at, :length], rtol=0, atol=1e-5)
