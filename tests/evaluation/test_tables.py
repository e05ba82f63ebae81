"""Tables show our figures, the published ones beneath, and mark what is no better than chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import label_space, make_run
from rich.console import Console
from test_published import EURLEX57K

from labelwise.errors import LabelwiseError
from labelwise.evaluation.comparison import compare
from labelwise.evaluation.measures import evaluate, evaluate_topk
from labelwise.evaluation.tables import (
    COLUMNS,
    Table,
    comparison_table,
    group_table,
    number,
    p_value,
    results_table,
)

RUNS = [
    make_run("svm", 0, 2.5),
    make_run("exact-match", 0, 0.2),
    *(make_run("bigru-lwan", seed, 2.0) for seed in range(3)),
]


def rendered(table: Table, width: int) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def cells(table: Table, first: str) -> dict[str, str]:
    (row,) = (row for row in table.rows if row[0] == first)
    return dict(zip(table.columns, row, strict=True))


def test_one_row_a_method_best_first_with_the_chance_level_last() -> None:
    table = results_table(RUNS)
    assert [row[0] for row in table.rows] == ["svm", "bigru-lwan", "exact-match", "chance"]
    svm = cells(table, "svm")
    for group, measure in COLUMNS:
        assert svm[f"{group} {measure}"] == number(RUNS[0].value("test", group, measure))
    chance = cells(table, "chance")
    low, high = RUNS[0].chance_interval("test", "zero", "RP@5")
    level = number(RUNS[0].chance("test", "zero", "RP@5"))
    assert chance["zero RP@5"] == f"{level} [{number(low)}, {number(high)}]"
    assert chance["all micro-F1"] == "–"


def test_several_seeds_show_as_mean_and_deviation() -> None:
    values = [run.value("test", "all", "RP@5") for run in RUNS[2:]]
    shown = cells(results_table(RUNS), "bigru-lwan")["all RP@5"]
    assert shown == f"{number(np.mean(values))} ± {number(np.std(values, ddof=1))}"
    assert any("seeds: bigru-lwan 3, exact-match 1, svm 1" in n for n in results_table(RUNS).notes)
    assert not any("seeds" in note for note in results_table(RUNS[:2]).notes)


def test_published_rows_stand_beneath_their_methods_on_eurlex57k_test_only() -> None:
    runs = [replace(run, data=EURLEX57K) for run in RUNS]
    table = results_table(runs)
    assert [row[0] for row in table.rows] == [
        "svm",
        "LibMultiLabel: SVM",
        "bigru-lwan",
        "published: BIGRU-LWAN",
        "LibMultiLabel: BiGRU-LWAN",
        "exact-match",
        "published: Exact Match",
        "ACL 2019: BERT-base",
        "LibMultiLabel: BERT-LWAN",
        "EMNLP 2020: BERT-LWAN",
        "AAAI 2023: HiDEC + HBM",
        "European Parliament: eurovoc_en",
        "chance",
    ]
    assert [row[0] for row, faint in zip(table.rows, table.faint, strict=True) if not faint] == [
        "svm",
        "bigru-lwan",
        "exact-match",
    ]
    peer = cells(table, "LibMultiLabel: SVM")
    assert (peer["all RP@5"], peer["all micro-F1"], peer["all micro-F1 tuned"]) == (
        ".806",
        "",
        ".745",
    )
    for other in (results_table(RUNS), results_table(runs, "dev")):
        assert [row[0] for row in other.rows][1] == "bigru-lwan"


def test_what_is_at_or_below_chance_is_marked_with_a_legend() -> None:
    space = label_space(5, 5, 20)
    gold = np.zeros((10, 30))
    gold[:, 29] = gold[:, 0] = 1
    scores = np.tile(np.linspace(1, 0, 30, dtype=np.float32), (10, 1))
    blind = make_run("logistic", 0, 1.0, measures={"test": evaluate(scores, gold, space)})
    table = results_table([blind])
    shown = cells(table, "logistic")
    assert shown["zero RP@5"] == ".000°"
    assert shown["all RP@5"] == ".500"
    assert shown["frequent nDCG@5"] == "1.000"
    assert shown["few RP@5"] == "–"  # no document has a few-shot label
    assert any(note.startswith("° no better than chance") for note in table.notes)


def test_in_the_table_of_groups_too_chance_is_an_interval() -> None:
    run = RUNS[1]
    low, high = run.chance_interval("test", "zero", "RP@5")
    assert low < run.chance("test", "zero", "RP@5") < high - 0.002
    figures = run.measures["test"]
    within = {**figures.values, "zero": {**figures["zero"], "RP@5": high - 0.001}}
    beyond = {**figures.values, "zero": {**figures["zero"], "RP@5": high + 0.001}}
    for values, mark in ((within, "°"), (beyond, "")):
        table = group_table(
            replace(run, measures={"test": replace(figures, values=values)}), "test"
        )
        zero = cells(table, "zero")
        assert zero["RP@5"] == number(values["zero"]["RP@5"]) + mark
        assert zero["chance RP@5"].endswith(f"[{number(low)}, {number(high)}]")
        assert table.notes[0].startswith("° no better than chance")


def test_a_figure_that_prints_like_chance_counts_as_chance() -> None:
    run = RUNS[1]
    level = round(run.chance_interval("test", "few", "RP@5")[1], 3)
    figures = run.measures["test"]
    above = {**figures.values, "few": {**figures["few"], "RP@5": level + 0.0004}}
    run = replace(run, measures={"test": replace(figures, values=above)})
    assert cells(results_table([run]), "exact-match")["few RP@5"] == f"{number(level)}°"


def test_markdown_has_one_line_a_row_and_quoted_rows_in_italics() -> None:
    lines = results_table(RUNS).markdown().splitlines()
    assert lines[0].startswith("| method | all RP@5 | all nDCG@5 | all micro-F1 |")
    assert {line.count("|") for line in lines[:6]} == {len(COLUMNS) + 2}
    assert lines[2].startswith("| svm | .")
    assert lines[5].startswith("| *chance* | *.")
    assert lines[7].startswith("° no better than chance")


@pytest.mark.parametrize("width", [60, 80, 120, 250])
def test_no_figure_is_cut_off_at_a_narrow_terminal(width: int) -> None:
    table = results_table([replace(run, data=EURLEX57K) for run in RUNS])
    lines = rendered(table, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    for row in table.rows:
        for cell in row:
            assert cell in text
    blocks = sum(line.startswith("method") for line in lines)
    assert (blocks == 1) == (width == 250)


def test_the_table_of_groups_shows_documents_kept_and_chance() -> None:
    measures = RUNS[0].measures["test"]
    table = group_table(RUNS[0], "test", "svm on acts, test")
    assert [row[0] for row in table.rows] == ["all", "frequent", "few", "zero", "zero-among-all"]
    zero = cells(table, "zero")
    assert zero["documents"] == str(measures["zero"]["documents"])
    assert zero["chance RP@5"].startswith(number(measures.chance["zero"]["RP@5"]))
    assert zero["macro-F1 tuned"] == number(measures["zero"]["macro-F1 tuned"])
    assert rendered(table, 100)[0] == "svm on acts, test"


def test_the_table_of_p_values_names_the_best() -> None:
    table = comparison_table(compare(RUNS, rounds=999))
    assert cells(table, "svm")["p RP@5"] == "best"
    assert cells(table, "exact-match")["p RP@5"] in {".001", "< .001"}
    assert "999 rounds" in table.notes[0]


def test_lists_too_short_are_named_beneath_the_table() -> None:
    run = make_run("tree", 0, 1.0)
    space = label_space(12, 25, 8)
    ranked = np.tile(np.arange(10), (80, 1))
    gold = np.zeros((80, 45))
    gold[:, 20] = 1
    cut = evaluate_topk(ranked, np.linspace(1, 0, 800).reshape(80, 10), gold, space)
    table = results_table([replace(run, measures={"test": cut})])
    assert "Lists too short to be exact in every group: tree." in table.notes


def test_numbers_print_as_the_field_prints_them() -> None:
    assert [number(v) for v in (0.80649, 0.0, 1.0, -0.25, float("nan"))] == [
        ".806",
        ".000",
        "1.000",
        "-0.250",
        "–",
    ]
    assert [p_value(p) for p in (0.00049, 0.001, 0.0496, 1.0)] == [
        "< .001",
        ".001",
        ".050",
        "1.000",
    ]


def test_runs_on_other_data_do_not_share_a_table() -> None:
    other = replace(RUNS[1], data=replace(RUNS[1].data, fingerprint="beef"))
    with pytest.raises(LabelwiseError, match="cannot be compared"):
        results_table([RUNS[0], other])
