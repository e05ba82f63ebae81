"""The page of `labelwise examine`: its sentence says what the figures are, flattering or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from labelwise.errors import InputError
from labelwise.evaluation.attention_figure import attention_svg
from labelwise.evaluation.attention_records import (
    AttentionRecord,
    attention_page,
    attention_says,
    attention_table,
    read_attention,
)

ROOT = Path(__file__).parents[2]


def record(**changed: object) -> AttentionRecord:
    pairs = {
        "strongest": np.array([0.2, 0.5, 0.9, 0.4]),
        "correlation": np.array([0.2, 0.4, 0.3, np.nan]),  # a constant attention has none
        "permuted": np.array([0.1, 0.3, 0.5, 0.3]),
        "adversary": np.array([0.6, 0.65, 0.69, 0.1]),
        "uniform": np.array([0.2, 0.4, 0.4, 0.4]),
        "other_divergence": np.array([0.1, 0.2, 0.3, 0.2]),
    }
    one = AttentionRecord(
        "bigru-lwan", 0, "synthetic", "dev", 2, 0.01, precision=0.8, precision_uniform=0.3, **pairs
    )
    return replace(one, **changed)


def test_the_table_has_a_row_a_network_with_medians() -> None:
    table = attention_table([record(), record(method="bigru-att", other_divergence=None)])
    assert table.rows[0] == [
        "bigru-lwan, seed 0, dev", "2", "4", ".300 ± .082", ".300", ".400", ".625", "75%", ".200",
        ".800", ".300",
    ]  # fmt: skip
    assert table.rows[1][8] == "", "without another seed nothing is said of it"


def test_the_sentence_follows_the_figures() -> None:
    said = attention_says(record())
    assert "in partly the same order (τ .300)" in said
    assert "moves a score by .300: it hangs on where it looks" in said
    assert "For 75% of the labels" in said
    assert "one account of the score among several" in said
    assert "RP@5 is .300 in place of .800: it needs its attention" in said
    assert "apart by .200, the adversary by .625: the adversary goes further than chance" in said


def test_the_sentence_is_the_opposite_where_the_figures_are() -> None:
    said = attention_says(
        record(
            correlation=np.full(4, -0.1),
            permuted=np.full(4, 0.02),
            adversary=np.full(4, 0.1),
            precision_uniform=0.79,
        )
    )
    assert "in hardly the same order (τ -.100)" in said
    assert "it hardly hangs on where it looks" in said
    assert "For 0% of the labels" in said
    assert "nothing else than its attention explains the score" in said
    assert "it does as well without its attention" in said
    assert "no further than chance" in said
    assert "seed" not in attention_says(record(other_divergence=None)).partition("**:")[2]


def test_the_figure_is_the_same_for_the_same_records() -> None:
    drawn = attention_svg([record(), record(method="bigru-att", other_divergence=None)])
    assert drawn == attention_svg([record(), record(method="bigru-att", other_divergence=None)])
    assert b"bigru-att, seed 0" in drawn
    assert b"Adversary, same score" in drawn


def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "bigru-lwan" / "attention-seed-0.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"method": "bigru-lwan"}), "utf-8")
    with pytest.raises(InputError, match="not what `labelwise examine` writes"):
        read_attention(tmp_path)


def test_the_committed_pages_are_what_the_committed_records_give() -> None:
    pages = sorted((ROOT / "results").glob("*/attention.md"))
    for page in pages:
        made = attention_page(page.parent)
        assert page.read_text("utf-8") == made, f"run `labelwise examine`: {page} is out of date"
        assert "of the labels an attention that looks elsewhere" in made
