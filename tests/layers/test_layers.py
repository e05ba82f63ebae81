"""Each layer computes its formula, has the right gradient, and does not see padding."""

from __future__ import annotations

import formulas
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from labelwise.layers import (
    CNN,
    BiGRU,
    Descriptors,
    DilatedCNN,
    Embedding,
    LabelUnits,
    LabelWise,
    SelfAttention,
    SequenceDropout,
    TanhAttention,
    is_highest,
    max_over_sections,
    pad_sections,
    prior_logits,
)
from labelwise.layers.dropout import Share, drop_words, sharing
from labelwise.layers.gru import mirrored, padded
from labelwise.text.vocabulary import PADDING, UNKNOWN

LENGTHS = torch.tensor([6, 1, 4, 3])


def rows(width: int = 5) -> Tensor:
    """Four rows of at most six tokens; what stands at padding must not matter."""
    return torch.randn(4, 6, width, dtype=torch.float64)


def weights_of(layer: nn.Module) -> dict[str, np.ndarray]:
    return {name: x.detach().double().numpy() for name, x in layer.state_dict().items()}


def real(x: Tensor) -> list[np.ndarray]:
    return [row[:length].detach().numpy() for row, length in zip(x, LENGTHS.tolist(), strict=True)]


@pytest.mark.parametrize("layers", [1, 2])
def test_bigru_reads_the_real_tokens_in_both_directions(layers: int) -> None:
    encoder = BiGRU(5, 3, layers).double().eval()
    x = rows()
    h = encoder(x, LENGTHS)
    assert h.shape == (4, 6, 6)
    for got, row in zip(real(h), real(x), strict=True):
        np.testing.assert_allclose(got, formulas.bigru(row, weights_of(encoder), layers))
    for row, length in zip(h, LENGTHS.tolist(), strict=True):
        assert not row[length:].any()


def test_bigru_padded_as_on_a_gpu_and_mirrored_as_on_a_cpu_are_the_same() -> None:
    gru = nn.GRU(5, 3, batch_first=True, bidirectional=True).double()
    x = rows()
    for lengths in (LENGTHS, LENGTHS.sort(descending=True).values, torch.tensor([6, 6, 6, 6])):
        torch.testing.assert_close(padded(gru, x, lengths), mirrored(gru, x, lengths))
        gradients = [
            torch.autograd.grad(read(gru, x, lengths).pow(3).sum(), list(gru.parameters()))
            for read in (padded, mirrored)
        ]
        torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("kernel", [1, 4, 5])
@pytest.mark.parametrize("layers", [1, 2])
def test_cnn_sees_its_neighbours_and_zeros_beyond_the_ends(kernel: int, layers: int) -> None:
    encoder = CNN(5, 3, kernel, layers).double().eval()
    x = rows()
    h = encoder(x, LENGTHS)
    assert h.shape == (4, 6, 3)
    for got, row in zip(real(h), real(x), strict=True):
        np.testing.assert_allclose(got, formulas.cnn(row, weights_of(encoder), layers))


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_dilated_cnn_sees_words_ever_further_apart_and_zeros_beyond_the_ends(
    kernel: int, blocks: int
) -> None:
    encoder = DilatedCNN(5, 3, kernel, blocks).double().eval()
    x = rows()
    h = encoder(x, LENGTHS)
    assert h.shape == (4, 6, 3)
    for got, row in zip(real(h), real(x), strict=True):
        np.testing.assert_allclose(got, formulas.dilated_cnn(row, weights_of(encoder)))


def test_four_blocks_of_three_words_see_fifteen_words_to_either_side() -> None:
    encoder = DilatedCNN(2, 4, 3, 4).double().eval()
    x = torch.randn(1, 60, 2, dtype=torch.float64, requires_grad=True)
    encoder(x, torch.tensor([60]))[0, 30].sum().backward()
    assert x.grad is not None
    seen = x.grad[0].abs().sum(1).nonzero().flatten().tolist()
    assert seen == list(range(15, 46))


@pytest.mark.parametrize(
    ("kind", "formula"),
    [(SelfAttention, formulas.plain_weights), (TanhAttention, formulas.tanh_weights)],
)
def test_self_attention_weighs_the_real_tokens(kind: type[SelfAttention], formula) -> None:
    attention = kind(5).double()
    x = rows()
    sums, weights = attention(x, LENGTHS), attention.weights(x, LENGTHS)
    for d, a, row in zip(sums, real(weights), real(x), strict=True):
        expected = formula(row, weights_of(attention))
        np.testing.assert_allclose(a, expected)
        np.testing.assert_allclose(d.detach(), expected @ row)
    np.testing.assert_allclose(weights.sum(1).detach(), np.ones(4))


LAYERS = {
    "BiGRU": lambda: BiGRU(3, 2),
    "CNN": lambda: CNN(3, 2, 3),
    "DilatedCNN": lambda: DilatedCNN(3, 2, 3, 2),
    "SelfAttention": lambda: SelfAttention(3),
    "TanhAttention": lambda: TanhAttention(3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_the_numerical_ones(name: str) -> None:
    layer = LAYERS[name]().double().eval()
    names = [name for name, _ in layer.named_parameters()]
    lengths = torch.tensor([3, 1])
    x = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)

    def run(x: Tensor, *parameters: Tensor) -> Tensor:
        replaced = dict(zip(names, parameters, strict=True))
        out: Tensor = torch.func.functional_call(layer, replaced, (x, lengths))
        return out

    if name == "BiGRU":  # its two readings take the parameters themselves, not their stand-ins
        gru = layer.layers[0]
        assert torch.autograd.gradcheck(lambda x: mirrored(gru, x, lengths), (x,))
        out = mirrored(gru, x, lengths)
        out.pow(2).sum().backward()
        for parameter in gru.parameters():
            assert parameter.grad is not None
            at = tuple(0 for _ in parameter.shape)
            analytic, step = parameter.grad[at].item(), 1e-6
            with torch.no_grad():
                parameter[at] += step
                above = mirrored(gru, x, lengths).pow(2).sum()
                parameter[at] -= 2 * step
                below = mirrored(gru, x, lengths).pow(2).sum()
                parameter[at] += step
            assert analytic == pytest.approx(float(above - below) / (2 * step), rel=1e-5, abs=1e-8)
        return
    parameters = tuple(p.detach().clone().requires_grad_() for p in layer.parameters())
    assert torch.autograd.gradcheck(run, (x, *parameters))


@pytest.mark.parametrize("name", LAYERS)
def test_what_stands_at_padding_and_more_of_it_changes_nothing(name: str) -> None:
    layer = LAYERS[name]().double().eval()
    x = rows(3)
    noise = x.clone()
    for row, length in zip(noise, LENGTHS.tolist(), strict=True):
        row[length:] = 1e3
    wider = torch.cat([noise, torch.full((4, 2, 3), -1e3, dtype=torch.float64)], 1)
    plain, padded = layer(x, LENGTHS), layer(wider, LENGTHS)
    torch.testing.assert_close(padded[:, :6] if plain.dim() == 3 else padded, plain)
    for at, length in enumerate(LENGTHS.tolist()):
        alone = layer(x[at : at + 1, :length], LENGTHS[at : at + 1])[0]
        torch.testing.assert_close(alone, plain[at, :length] if plain.dim() == 3 else plain[at])


def test_label_units_are_a_linear_unit_each_and_start_at_the_prior() -> None:
    prior = torch.tensor([-1.0, -4.0, -7.0])
    units = LabelUnits(5, prior)
    assert torch.equal(units.bias.detach(), prior)
    d = torch.randn(2, 5, dtype=torch.float64)
    got = units.double()(d)
    for row, expected in zip(got, d, strict=True):
        np.testing.assert_allclose(
            row.detach(), formulas.linear(expected.numpy(), weights_of(units))
        )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert units.float()(d.bfloat16()).dtype == torch.float32


def test_the_prior_of_a_label_is_its_share_of_the_training_documents() -> None:
    prior = prior_logits(np.array([500, 50, 0]), 1_000)
    np.testing.assert_allclose(prior.sigmoid(), [0.5, 0.05, 0.0005], rtol=0.01)


def test_label_wise_parts_come_in_the_order_of_the_operator() -> None:
    labels = LabelWise(5, torch.zeros(3))
    queries, outputs, bias = labels()
    assert queries is labels.queries
    assert outputs is labels.outputs
    assert bias is labels.bias


def test_descriptors_are_saved_but_never_learned() -> None:
    layer = Descriptors(6, torch.randn(3, 4), prior=-2.0)
    assert "vectors" in layer.state_dict()
    assert "vectors" not in dict(layer.named_parameters())
    v, p = layer(torch.randn(2, 5, 6))
    assert v.shape == p.shape == (2, 5, 4)
    assert float(v.detach().abs().max()) <= 1
    h = torch.randn(2, 5, 6)
    assert Descriptors(6, torch.randn(3, 6), prior=0.0, project=False)(h)[1] is h


def test_embedding_learns_all_words_the_missing_ones_or_none() -> None:
    vectors = torch.randn(5, 4)
    found = torch.tensor([False, False, True, True, False])
    changed = {"all": [1, 2, 3, 4], "missing": [1, 4], "none": []}
    for learned, rows_changed in changed.items():
        embedding = Embedding(vectors, found, learned)
        before = embedding.weight.detach().clone()
        assert not before[PADDING].any()
        if embedding.weight.requires_grad:
            optimizer = torch.optim.AdamW(embedding.parameters(), lr=0.1, weight_decay=0.0)
            for _ in range(2):
                optimizer.zero_grad()
                embedding(torch.tensor([[0, 1, 2, 3, 4]])).pow(2).sum().backward()
                optimizer.step()
        moved = (embedding.weight.detach() != before).any(1).nonzero().flatten().tolist()
        assert moved == rows_changed, learned


def test_word_dropout_never_touches_padding_and_is_off_when_scoring() -> None:
    tokens = torch.tensor([[5, 6, 7, 0, 0]]).repeat(200, 1)
    dropped = drop_words(tokens, 0.5)
    assert (dropped[:, 3:] == PADDING).all()
    share = float((dropped[:, :3] == UNKNOWN).double().mean())
    assert 0.4 < share < 0.6
    assert ((dropped == tokens) | (dropped == UNKNOWN)).all()
    embedding = Embedding(torch.randn(8, 4), torch.ones(8, dtype=torch.bool), word_dropout=0.9)
    assert torch.equal(embedding.eval()(tokens[:1]), embedding(tokens[:1]))


def test_dropout_drops_a_channel_at_every_token_and_keeps_the_mean() -> None:
    dropout = SequenceDropout(0.25)
    x = torch.ones(50, 6, 40)
    y = dropout(x)
    assert torch.equal(y, y[:, :1].expand_as(y))
    assert float(y.mean()) == pytest.approx(1, abs=0.05)
    assert y.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert dropout.eval()(x) is x


def test_plain_dropout_drops_number_by_number_but_sections_by_channel() -> None:
    x = torch.ones(50, 6, 40)
    for by_document in (False, True):
        dropout = SequenceDropout(0.25, by_document)
        dropout.plain = True
        y = dropout(x)
        assert torch.equal(y, y[:, :1].expand_as(y)) is by_document
        assert float(y.mean()) == pytest.approx(1, abs=0.05)
        assert y.unique().tolist() == pytest.approx([0, 1 / 0.75])
        assert dropout.eval()(x) is x


def test_plain_dropout_of_a_share_is_that_of_the_whole_batch() -> None:
    lengths, rows = torch.tensor([6, 5, 4, 2]), torch.tensor([1, 3])
    share = Share(lengths, rows, documents=4, own=rows)
    dropout = SequenceDropout(0.5)
    dropout.plain = True
    torch.manual_seed(3)
    with sharing(Share(lengths, torch.arange(4), documents=4, own=torch.arange(4))):
        whole = dropout(torch.ones(4, 6, 8))
    torch.manual_seed(3)
    with sharing(share):
        part = dropout(torch.ones(2, 5, 8))
    assert torch.equal(part, whole[rows, :5])


def test_sections_are_put_at_their_place_whatever_their_order() -> None:
    sections = torch.arange(1.0, 5.0)[:, None]
    owner, position = torch.tensor([1, 0, 1, 1]), torch.tensor([2, 0, 0, 1])
    padded = pad_sections(sections, owner, position, documents=2, longest=3)
    assert padded[:, :, 0].tolist() == [[2, 0, 0], [3, 4, 1]]


def test_max_over_sections_sees_the_document_s_own_sections_alone() -> None:
    logits = torch.tensor([[-3.0, 2], [-9, 9], [-1, -5]], dtype=torch.float64, requires_grad=True)
    owner = torch.tensor([0, 1, 0])
    highest = max_over_sections(logits, owner, 2)
    assert highest.tolist() == [[-1, 2], [-9, 9]]  # all below zero: no padding took part
    assert torch.autograd.gradcheck(lambda x: max_over_sections(x, owner, 2), (logits,))
    assert is_highest(logits[[0, 2]]).tolist() == [[0, 1], [1, 0]]
    assert is_highest(torch.ones(3, 1)).tolist() == [[1], [0], [0]]
