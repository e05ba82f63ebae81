"""Tables show our figures, the published ones beneath, and mark what is no better than chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluation_cases import label_space, make_run
from rich.console import Console
from test_published import EURLEX57K

from labelwise.errors import LabelwiseError
from labelwise.evaluation.bootstrap import interval
from labelwise.evaluation.comparison import compare
from labelwise.evaluation.counts import Counts
from labelwise.evaluation.measures import evaluate, evaluate_topk
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import (
    COLUMNS,
    Table,
    bracket,
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
    """The cells of a row by column, whose heading may end with the documents of a small group."""
    (row,) = (row for row in table.rows if row[0] == first)
    names = [column.partition(" (")[0] for column in table.columns]
    return dict(zip(names, row, strict=True))


def test_one_row_a_method_best_first_with_the_chance_level_last() -> None:
    table = results_table(RUNS)
    assert [row[0] for row in table.rows] == ["svm", "bigru-lwan", "exact-match", "chance"]
    svm = cells(table, "svm")
    for group, measure in COLUMNS:
        shown = number(RUNS[0].value("test", group, measure))
        if "@" in measure:  # all groups are small here
            shown += bracket(interval(RUNS[0].per_document("test", group, measure)))
        assert svm[f"{group} {measure}"] == shown
    chance = cells(table, "chance")
    low, high = RUNS[0].chance_interval("test", "zero", "RP@5")
    level = number(RUNS[0].chance("test", "zero", "RP@5"))
    assert chance["zero RP@5"] == f"{level} [{number(low)}, {number(high)}]"
    assert chance["all micro-F1"] == "–"


def test_several_seeds_show_as_mean_and_deviation() -> None:
    values = [run.value("test", "all", "RP@5") for run in RUNS[2:]]
    shown = cells(results_table(RUNS), "bigru-lwan")["all RP@5"]
    spread = f"{number(np.mean(values))} ± {number(np.std(values, ddof=1))}"
    documents = np.mean([run.per_document("test", "all", "RP@5") for run in RUNS[2:]], axis=0)
    assert shown == spread + bracket(interval(documents))
    assert any("seeds: bigru-lwan 3, exact-match 1, svm 1" in n for n in results_table(RUNS).notes)
    assert not any("over seeds" in note for note in results_table(RUNS[:2]).notes)


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
        ends = bracket(interval(run.per_document("test", "zero", "RP@5")))
        assert zero["RP@5"] == number(values["zero"]["RP@5"]) + mark + ends
        assert zero["chance RP@5"].endswith(f"[{number(low)}, {number(high)}]")
        assert table.notes[0].startswith("° no better than chance")


def test_a_figure_that_prints_like_chance_counts_as_chance() -> None:
    run = RUNS[1]
    level = round(run.chance_interval("test", "few", "RP@5")[1], 3)
    figures = run.measures["test"]
    above = {**figures.values, "few": {**figures["few"], "RP@5": level + 0.0004}}
    run = replace(run, measures={"test": replace(figures, values=above)})
    shown = cells(results_table([run]), "exact-match")["few RP@5"]
    assert shown.startswith(f"{number(level)}° [")


def test_markdown_has_one_line_a_row_and_quoted_rows_in_italics() -> None:
    lines = results_table(RUNS).markdown().splitlines()
    assert lines[0].startswith("| method | all RP@5 (80 documents) | all nDCG@5 (80 documents) |")
    assert {line.count("|") for line in lines[:6]} == {len(COLUMNS) + 2}
    assert lines[2].startswith("| svm | .")
    assert lines[5].startswith("| *chance* | *.")
    assert lines[7].startswith("° no better than chance")


@pytest.mark.parametrize("width", [60, 80, 120, 320])
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
    assert (blocks == 1) == (width == 320)


def test_the_table_of_groups_shows_documents_kept_and_chance() -> None:
    measures = RUNS[0].measures["test"]
    table = group_table(RUNS[0], "test", "svm on acts, test")
    assert [row[0] for row in table.rows] == ["all", "frequent", "few", "zero", "zero-among-all"]
    zero = cells(table, "zero")
    assert zero["documents"] == str(measures["zero"]["documents"])
    assert zero["chance RP@5"].startswith(number(measures.chance["zero"]["RP@5"]))
    assert zero["macro-F1 tuned"] == number(measures["zero"]["macro-F1 tuned"])
    assert rendered(table, 100)[0] == "svm on acts, test"


def test_a_small_group_shows_its_documents_and_an_interval_and_a_large_one_neither() -> None:
    few = [int(RUNS[0].measures["test"][group]["documents"]) for group in ("all", "zero")]
    assert 10 < few[1] < few[0] == 80
    table = results_table(RUNS)
    assert f"zero RP@5 ({few[1]} documents)" in table.columns
    assert "all micro-F1" in table.columns  # which counts all documents, whatever the group
    assert any("fewer than 500 documents" in note for note in table.notes)
    svm = cells(table, "svm")
    assert svm["zero nDCG@5"].endswith("]")
    assert "[" not in svm["all micro-F1"]

    large = [_repeated(run, 20) for run in RUNS[:1]]
    table = results_table(large)
    assert table.columns[1] == "all RP@5"
    assert cells(table, "svm")["all RP@5"] == number(RUNS[0].value("test", "all", "RP@5"))
    assert cells(group_table(large[0], "test"), "zero")["RP@5"].count("[") == 0
    assert cells(group_table(RUNS[0], "test"), "zero")["nDCG@5"].count("[") == 1


def _repeated(run: Run, times: int) -> Run:
    """The same figures of so many times the documents."""
    measures = run.measures["test"]
    arrays = {
        name: np.concatenate([of] * times, axis=-1)
        for name, of in vars(measures.counts).items()
        if isinstance(of, np.ndarray)
    }
    values = {
        group: {**of, "documents": of["documents"] * times} for group, of in measures.values.items()
    }
    return replace(
        run, measures={"test": replace(measures, values=values, counts=Counts(**arrays))}
    )


def test_models_with_groups_of_their_own_have_chance_levels_of_their_own() -> None:
    def on_file(method: str, groups: tuple[int, int, int]) -> Run:
        run = make_run(method, 0, 2.0)
        space = label_space(*groups)
        gold = np.eye(45, dtype=np.int8)
        measures = {"test": evaluate(np.eye(45, dtype=np.float32), gold, space)}
        sizes = dict(zip(("frequent", "few", "zero"), groups, strict=True))
        data = replace(run.data, trained_on=method, groups=sizes, label_space=space.fingerprint)
        return replace(run, method=f"svm@{method}", measures=measures, data=data)

    table = results_table([on_file("acts", (12, 25, 8)), on_file("laws", (12, 13, 20))])
    assert "zero RP@5 (8 to 20 documents)" in table.columns
    assert cells(table, "chance")["zero RP@5"] == ".250 to .625"
    assert cells(table, "chance")["all RP@5"].startswith(".111 [")


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
