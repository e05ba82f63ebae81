"""Figures on unseen labels say what they rest on, and stand beside those of hidden labels."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from evaluation_cases import make_run, worked_example

from labelwise.corpus.hidden import Hiding
from labelwise.evaluation import bootstrap
from labelwise.evaluation.counts import SEEN
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.report import report, updated_readme
from labelwise.evaluation.runs import DataRecord, Run
from labelwise.evaluation.tables import number
from labelwise.evaluation.unseen_tables import (
    harmonic_mean,
    hidden_table,
    hidden_views,
    settings_apart,
    unseen_sections,
    unseen_table,
)

SKILLED = make_run("z-bigru-lwan", 0, 2.5)


def hidden_run(method: str, draw: int, skill: float, amount: float = 0.25) -> Run:
    run, hiding = make_run(method, draw, skill), Hiding(amount, draw)
    data = replace(
        run.data,
        name=hiding.name("acts"),
        groups={"frequent": 12, "few": 23, "zero": 10},
        hidden={**asdict(hiding), "data": "acts", "fingerprint": "f00d"},
    )
    return replace(run, data=data, seed=0)


def test_gold_labels_seen_in_training_are_counted_in_the_list_of_all() -> None:
    """In the worked example the top 5 of D2 are 0, 1, 3, 4, 5: three of its five seen gold ones"""
    made = worked_example()
    counts = evaluate(made.scores, made.gold, made.space).counts
    expected = [3 / 3, 0 / 1, 3 / 5, 1 / 1]  # D0 to D3; D4 has no gold label
    np.testing.assert_allclose(counts.per_document(SEEN, "R@5")[:4], expected)
    assert np.isnan(counts.per_document(SEEN, "R@5")[4])
    hits = [counts.per_document(view, "P@5")[2] for view in ("all", SEEN, "zero-among-all")]
    assert hits[0] == pytest.approx(hits[1] + hits[2])


def test_the_harmonic_mean_is_low_where_one_side_is() -> None:
    assert harmonic_mean(0.9, 0.9) == pytest.approx(0.9)
    assert harmonic_mean(0.9, 0.01) < 0.02
    assert harmonic_mean(0.0, 0.0) == 0.0


def test_dev_stands_beside_test_with_intervals_and_the_number_of_documents() -> None:
    table = unseen_table([SKILLED])
    assert table.columns[1:3] == ["zero RP@5 dev", "zero RP@5 test"]
    value = SKILLED.value("test", "zero", "RP@5")
    cell = table.rows[0][2]
    assert cell.startswith(f"{value:.3f}".removeprefix("0") + " [")
    documents = [int(SKILLED.value(split, "zero", "documents")) for split in ("dev", "test")]
    assert f"{documents[0]} dev and {documents[1]} test documents" in table.notes[0]
    assert table.rows[-1][0] == "chance"


def test_seeds_of_a_method_share_one_row_whose_interval_is_that_of_their_mean() -> None:
    seeds = [make_run("z-bigru-lwan", seed, 2.5) for seed in range(3)]
    table = unseen_table(seeds)
    assert [row[0] for row in table.rows] == ["z-bigru-lwan", "chance"]
    mean = np.mean([run.value("test", "zero", "RP@5") for run in seeds])
    assert table.rows[0][2].startswith(f"{mean:.3f}".removeprefix("0"))


def test_methods_without_skill_are_named_and_left_out() -> None:
    table = unseen_table([SKILLED, make_run("svm", 0, 0.0)])
    assert [row[0] for row in table.rows] == ["z-bigru-lwan", "chance"]
    assert table.notes[1].endswith("reaches down to chance: svm.")


def test_draws_of_hidden_labels_are_averaged_and_the_seen_labels_stand_beside_them() -> None:
    draws = [
        [hidden_run("z-bigru-lwan", draw, 2.5), hidden_run("svm", draw, 1.0)] for draw in (0, 1)
    ]
    table = hidden_table(draws)
    assert [row[:2] for row in table.rows] == [["z-bigru-lwan", "2"], ["svm", "2"], ["chance", ""]]
    assert "seen R@10" in table.columns
    assert all("±" in cell for cell in table.rows[0][2:])
    one = hidden_table(draws[:1])
    assert "[" in one.rows[0][table.columns.index("zero R@10")]
    assert "[" not in one.rows[0][table.columns.index("all RP@5")]


def test_hidden_labels_that_are_ranked_no_better_than_by_chance_are_marked() -> None:
    blind, tied = hidden_run("svm", 0, 0.0), hidden_run("tree", 0, 0.0)
    blind = replace(blind, data=replace(blind.data, groups=SKILLED.data.groups))
    figures = tied.measures["test"]
    nothing = dict.fromkeys(figures["zero"], float("nan")) | {"documents": 40}
    values = {**figures.values, "zero": nothing}
    tied = replace(tied, measures={"test": replace(figures, values=values)})
    table = hidden_table([[hidden_run("z-bigru-lwan", 0, 2.5), blind, tied]])
    shown = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert "°" not in shown["z-bigru-lwan"]["zero RP@5"]
    assert "° [" in shown["svm"]["zero RP@5"]
    assert shown["tree"]["zero RP@5"] == "–"  # though its counts would give a figure
    low, high = hidden_run("svm", 0, 0.0).chance_interval("test", "zero", "RP@5")
    assert shown["chance"]["zero RP@5"].endswith(f"[{number(low)}, {number(high)}]")
    over = hidden_table([[blind], [blind]])
    assert "° ± .000" in over.rows[0][over.columns.index("zero RP@5")]


def test_draws_that_were_not_trained_alike_are_named() -> None:
    draws = [
        [hidden_run("z-bigru-lwan", draw, 2.5), hidden_run("svm", draw, 1.0)] for draw in (0, 1)
    ]
    assert settings_apart(draws, [SKILLED]) == ""
    draws[0][0].settings["epochs"], draws[1][0].settings["epochs"] = 10, 4
    said = settings_apart(draws, [make_run("svm", 0, 1.0)])
    assert said.endswith(": z-bigru-lwan, epochs 10 / 4.")
    draws[0][0].settings["epochs"] = 4
    whole = make_run("z-bigru-lwan", 0, 2.5)
    whole.settings["epochs"] = 10
    said = settings_apart(draws, [whole])
    assert said.endswith(": z-bigru-lwan, epochs 4 (10 where none is hidden).")


def test_semsup_xc_is_quoted_beside_a_view_of_its_sizes_alone() -> None:
    run = hidden_run("z-bigru-lwan", 0, 2.5, amount=972)
    counts = {"train": 45_000, "dev": 6_000, "test": 6_000}
    groups = {"frequent": 571, "few": 2_565, "zero": 1_135}
    hidden = {**asdict(Hiding(972)), "data": "eurlex57k", "fingerprint": "f00d"}
    data = DataRecord("eurlex57k-hidden-972-draw-0", "f00d", counts, "beef", groups, hidden)
    table = hidden_table([[replace(run, data=data)]])
    quoted = next(row for row in table.rows if row[0] == "arXiv 2023: SemSup-XC")
    shown = dict(zip(table.columns, quoted, strict=True))
    assert shown["zero P@1"] == ".493"
    assert shown["all R@10"] == ".629"
    assert shown["seen R@10"] == ""
    assert any("another draw" in note for note in table.notes)
    ours = bootstrap.mean(run.per_document("test", "zero", "P@1"))
    how = f"{number(0.493 - ours)} short ▼" if ours < 0.493 else f"{number(ours - 0.493)} ahead"
    assert any(f"zero P@1 {how} (z-bigru-lwan)" in note for note in table.notes)
    blind = hidden_run("svm", 0, 0.0, amount=972)
    rows = hidden_table([[replace(run, data=data), replace(blind, data=data)]]).rows
    marked = {row[0]: "▼" in row[table.columns.index("all P@1")] for row in rows}
    values = [bootstrap.mean(one.per_document("test", "all", "P@1")) for one in (run, blind)]
    assert [marked["z-bigru-lwan"], marked["svm"]] == [value < 0.870 for value in values]
    assert marked["svm"]
    assert not any("▼" in row[table.columns.index("seen R@10")] for row in rows)
    others = hidden_table([[replace(run, data=replace(data, groups=groups | {"few": 9}))]])
    assert not any("SemSup" in row[0] for row in others.rows)


def test_the_page_of_a_data_set_shows_its_views_and_the_readme_no_table_for_each(
    tmp_path: Path,
) -> None:
    results = tmp_path / "results"
    SKILLED.write(results)
    for draw in (0, 1):
        hidden_run("z-bigru-lwan", draw, 2.5).write(results)
    assert {path.parent.name for path in report(results)} == {
        *("acts", "acts-hidden-0.25-draw-0", "acts-hidden-0.25-draw-1"),
    }
    page = (results / "acts/README.md").read_text("utf-8")
    sections = unseen_sections([SKILLED], hidden_views(results / "acts"))
    assert len(sections) == 5
    assert all(one in page for one in sections)
    assert "2 of the labels are hidden at random" in page
    assert "35 labels are seen and 10 unseen, 8 of which really never were" in page
    assert "](../acts-hidden-0.25-draw-1/README.md)" in page
    readme = updated_readme("<!-- results:begin --><!-- results:end -->", results)
    assert readme.count("Data fingerprint") == 1
    assert "](results/acts/README.md)" in readme


def test_a_run_says_of_which_data_set_it_hides_labels_and_old_runs_hide_none(
    tmp_path: Path,
) -> None:
    run = hidden_run("svm", 1, 1.0)
    assert Run.read(run.write(tmp_path)).data == run.data
    path = SKILLED.write(tmp_path)
    path.write_text(path.read_text().replace(',\n  "hidden": null', ""))
    assert "hidden" not in path.read_text()
    assert Run.read(path).data.hidden is None
