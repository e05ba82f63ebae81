"""The report is written from the runs alone, the same each time; the committed one is current."""

from __future__ import annotations

import builtins
import csv
import hashlib
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from evaluation_cases import make_run
from test_published import EURLEX57K

from labelwise import shipped
from labelwise.errors import InputError, MissingExtraError
from labelwise.evaluation.comparison import over_seeds
from labelwise.evaluation.difference_tables import difference_table
from labelwise.evaluation.faithfulness_records import faithfulness_table
from labelwise.evaluation.figures import curves_svg
from labelwise.evaluation.notes import note_sections
from labelwise.evaluation.report import (
    BEGIN,
    END,
    document_sections,
    report,
    report_markdown,
    runs_by_data,
    update_readme,
    updated_readme,
)
from labelwise.evaluation.runs import Run
from labelwise.evaluation.short_tables import LEGEND, short_file_table, short_table
from labelwise.evaluation.tables import macro_table, number, results_table
from labelwise.evaluation.trial_records import Trial, trial_sections
from labelwise.evaluation.unseen_tables import hidden_views
from labelwise.evaluation.year_figure import years_svg
from labelwise.evaluation.year_tables import over_time

ROOT = Path(__file__).parents[2]
RUNS = [
    make_run("svm", 0, 2.5),
    make_run("exact-match", 0, 0.2),
    *(make_run("bigru-lwan", seed, 2.0) for seed in range(3)),
]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for run in RUNS:
        run.write(tmp_path / "results")
    return tmp_path / "results"


def test_the_report_stands_beside_the_runs(results: Path) -> None:
    names = ("README.md", "curves.svg", "labels.csv")
    assert report(results) == [results / "acts" / name for name in names]
    page = (results / "acts" / "README.md").read_text(encoding="utf-8")
    assert results_table(RUNS).markdown() in page
    assert "| svm | " in page
    assert "| best |" in page
    assert "Data fingerprint `f00d`" in page
    assert "300 train, 60 dev, 80 test" in page
    assert "Time and memory" not in page  # these runs were not made on a GPU
    assert macro_table(RUNS).markdown() in page
    assert "[labels.csv](labels.csv)" in page
    assert '"features": "tf-idf"' in page
    assert "labelwise evaluate svm\nlabelwise report" in page
    assert "![P@K, R@K and RP@K over K = 1 to 10, test split](curves.svg)" in page
    assert "Chalkidis" not in page  # these are other data


def test_the_folder_of_one_data_set_can_be_reported_alone(results: Path) -> None:
    make_run("svm", 0, 1.0, data=replace(RUNS[0].data, name="others")).write(results)
    assert {path.parent.name for path in report(results / "acts")} == {"acts"}
    assert {path.parent.name for path in report(results)} == {"acts", "others"}


def test_on_eurlex57k_the_quoted_rows_are_explained() -> None:
    page = report_markdown([replace(run, data=EURLEX57K) for run in RUNS])
    assert "*published: BIGRU-LWAN*" in page
    assert "Chalkidis et al. 2019" in page
    assert "LibMultiLabel: SVM (LibMultiLabel 0.10" in page


def test_time_and_memory_are_those_of_gpus_alone_and_name_them() -> None:
    runs = [
        replace(RUNS[0], device="cpu"),
        RUNS[1],
        replace(RUNS[2], device="NVIDIA H200", peak_memory=11_420_000_000),
    ]
    page = report_markdown(runs)
    assert "| bigru-lwan, seed 0 | NVIDIA H200 | 12.5 | 0.8 | 11.42 |" in page
    assert "| svm, seed 0 |" not in page


def test_the_time_of_one_seed_counts_every_training_once() -> None:
    def on_gpu(method: str, seed: int, minutes: float) -> Run:
        made = make_run(method, seed, 2.0)
        return replace(made, device="NVIDIA H200", seconds={"fit": 60 * minutes})

    page = report_markdown(
        [
            on_gpu("bigru-lwan", 0, 3),
            on_gpu("bigru-lwan", 1, 50),
            on_gpu("z-bigru-lwan", 0, 4),
            # What is joined says so itself: its time is that of its members over again.
            replace(
                on_gpu("ensemble-lwan", 0, 7), members={"bigru-lwan-0": "", "z-bigru-lwan-0": ""}
            ),
        ]
    )
    assert "One seed of each of these 2 methods took 7 minutes" in page
    assert "| ensemble-lwan, seed 0 | NVIDIA H200 |" not in page


def test_what_was_tried_on_dev_stands_in_the_report(results: Path) -> None:
    made = {"seed": 0, "data": "abc", "device": "cpu", "versions": {"labelwise": "0.1.0"}}
    chance = RUNS[0].chance_interval("dev", "zero", "RP@5")[1]  # which is no skill
    figures = {"RP@5": 0.7, "nDCG@5": 0.72, "micro-F1": 0.6, "few RP@5": 0.5, "zero RP@5": chance}
    settings = {"batch": 64, "dropout": 0.1}
    trials = [
        Trial(0, "svm", {**settings, "kernel": 5}, "pruned", 0.6, [0.5, 0.6]),
        Trial(1, "svm", settings, "complete", 0.7, [0.5, 0.6, 0.7], figures, made),
    ]
    file = next(results.glob("*/svm")) / "trials.jsonl"
    file.write_text("".join(f"{one.line()}\n" for one in trials))
    report(results)
    page = (file.parents[1] / "README.md").read_text()
    assert "**svm**. In all: batch 64, dropout 0.1. Made with seed 0, data `abc`, cpu" in page
    rows = [line for line in page.splitlines() if line.startswith(("| 0 (", "| 1 |"))]
    assert rows == [
        f"| 1 | .700 | .720 | .600 | .500 | {number(chance)}° | 3 | default |",
        "| 0 (pruned) | .600 | – | – | – | – | 2 | 5 |",
    ]

    file.write_text("")  # as where none has ended yet
    report(results)
    assert "What was tried on dev" not in (file.parents[1] / "README.md").read_text()

    file.write_text('{"trial": 0}\n')
    with pytest.raises(InputError, match=r"trials\.jsonl, line 1: this is not a trial"):
        report(results)


def test_a_note_beside_the_runs_of_a_method_stands_on_the_page(results: Path) -> None:
    (results / "acts" / "svm" / "NOTE.md").write_text("The test split was looked at once.\n")
    report(results)
    page = (results / "acts" / "README.md").read_text(encoding="utf-8")
    heading = "## To be known of these figures"
    assert f"{heading}\n\n**svm**: The test split was looked at once.\n\n" in page
    assert heading not in report_markdown(RUNS)


def test_each_label_has_a_line_with_the_f1_of_every_method(results: Path) -> None:
    report(results)
    report(results)  # the table is read and written again
    rows = list(csv.DictReader((results / "acts" / "labels.csv").open(encoding="utf-8")))
    assert list(rows[0]) == [
        *("label", "descriptor", "group", "training documents", "test documents"),
        *("bigru-lwan F1", "exact-match F1", "svm F1"),
    ]
    assert len(rows) == 45
    assert (rows[0]["label"], rows[0]["group"], rows[0]["training documents"]) == (
        *("00000", "frequent"),
        "80",
    )
    assert (
        sum(int(row["test documents"]) for row in rows)
        == RUNS[0].measures["test"].counts.gold.sum()
    )
    of_svm = [float(row["svm F1"]) for row in rows if row["svm F1"]]
    macro = RUNS[0].value("test", "all", "macro-F1 tuned")
    assert sum(of_svm) / len(of_svm) == pytest.approx(macro, abs=1e-4)
    seeds = [of.measures["test"].labels for of in RUNS if of.method == "bigru-lwan"]
    means = np.mean([of.f1[-1] for of in seeds if of is not None], axis=0)
    for row, mean in zip(rows, means, strict=True):
        assert row["bigru-lwan F1"] == ("" if np.isnan(mean) else f"{mean:.4f}")


def test_the_table_of_labels_follows_a_data_set_that_has_changed(results: Path) -> None:
    """It kept the names and counts of before, and the F1 of others stood beside them."""
    report(results)
    table, named = results / "acts" / "labels.csv", RUNS[0].measures["test"].labels
    assert named is not None
    assert named.space is not None
    before = table.read_bytes()
    RUNS[0].write(results)
    assert table.read_bytes() == before  # nothing has changed
    counts = {label.id: label.count + 1 for label in named.space.labels if label.count}
    of_now = {
        split: replace(of, labels=replace(of.labels, space=named.space.recounted(counts)))
        for split, of in RUNS[0].measures.items()
        if of.labels is not None
    }
    replace(RUNS[0], measures=of_now).write(results)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert {row["label"]: int(row["training documents"]) for row in rows} == {
        label.id: counts.get(label.id, 0) for label in named.space.labels
    }


@pytest.mark.parametrize("kind", ["faithfulness", "crowding"])
def test_what_was_found_on_other_documents_does_not_stand_beside_these_runs(
    results: Path, kind: str
) -> None:
    data = {"fingerprint": "beef", "name": "acts"}
    if kind == "faithfulness":
        record = {"method": "svm", "seed": 0, "split": "dev", "documents": [], "labels": 0}
        record |= {"evidence": {}}
    else:
        figures = {"RP@5": 0.7, "nDCG@5": 0.7}
        rule = {"by_weight": {"100": figures}, "held_out": figures, "p_value": 0.5}
        record = {"method": "svm", "documents": 9, "plain": figures}
        record |= {whose: {"documents": 0.0} for whose in ("gold", "model")}
        record |= {"rules": {"same": rule, "together": rule}}
        record |= {"right": dict.fromkeys(("both", "first", "second", "none"), 0)}
    file = results / "acts" / "svm" / f"{kind}-seed-0.json"
    file.write_text(json.dumps(record | {"data": data}), "utf-8")
    with pytest.raises(InputError, match="of other documents than those of the runs beside it"):
        report(results)
    file.write_text(json.dumps(record | {"data": data | {"fingerprint": "f00d"}}), "utf-8")
    report(results)


def test_without_counts_of_labels_there_is_no_table_of_them(results: Path) -> None:
    for file in results.rglob("*.labels.npz"):
        file.unlink()
    assert [path.name for path in report(results)] == ["README.md", "curves.svg"]
    assert "labels.csv" not in (results / "acts" / "README.md").read_text(encoding="utf-8")


def test_a_damaged_file_of_labels_is_named(results: Path) -> None:
    (results / "acts" / "svm" / "seed-0.labels.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"seed-0\.labels\.npz: the file is damaged"):
        report(results)


def test_on_eurlex57k_the_report_says_by_how_much_a_row_is_ahead_or_short() -> None:
    runs = [replace(run, data=EURLEX57K) for run in RUNS]
    table = difference_table(runs)
    assert [tuple(row[:2]) for row in table.rows] == [
        ("svm", "LibMultiLabel: SVM"),
        ("bigru-lwan", "published: BIGRU-LWAN"),
        ("bigru-lwan", "LibMultiLabel: BiGRU-LWAN"),
        ("exact-match", "published: Exact Match"),
    ]
    assert table.rows[2][-1] == ""  # nobody said how it does on zero-shot labels
    ours = over_seeds([run for run in runs if run.method == "bigru-lwan"], "test", "all", "RP@5")
    cell = dict(zip(table.columns, table.rows[1], strict=True))["all RP@5"]
    assert cell.split()[0] == f"{ours.mean - 0.766:+.3f}".replace("0.", ".")
    assert cell.endswith("▼") == (ours.mean < 0.766)
    assert "configs/eurlex57k" in report_markdown(runs)
    assert "Beside the rows of others" in report_markdown(runs)
    assert "Beside the rows of others" not in report_markdown(RUNS)


def test_what_is_no_better_than_chance_is_neither_ahead_nor_short() -> None:
    def beside(method: str, zero: float) -> str:
        run = replace(make_run(method, 0, 2.0), data=EURLEX57K)
        figures = run.measures["test"]
        values = {**figures.values, "zero": {**figures["zero"], "RP@5": zero}}
        run = replace(run, measures={**run.measures, "test": replace(figures, values=values)})
        table = difference_table([run])
        return dict(zip(table.columns, table.rows[0], strict=True))["zero RP@5"]

    low, high = replace(RUNS[0], data=EURLEX57K).chance_interval("test", "zero", "RP@5")
    assert low < 0.029 < high  # the published BIGRU-LWAN, which does not know these labels
    assert beside("bigru-lwan", 0.04) == "°"
    assert beside("bigru-lwan", float("nan")) == "°"  # labels that all tie
    assert beside("bigru-lwan", 0.929) == "+.900"  # to know something where others know nothing
    assert beside("z-bigru-lwan", 0.038) == "-.400 ▼"  # and the other way round
    assert beside("z-bigru-lwan", float("nan")) == "–"


def test_a_method_is_held_against_another_of_ours_and_against_what_was_aimed_at() -> None:
    names = {"dcnn-lwan": 1.5, "bigru-lwan": 2.0, "blend": 2.5}
    runs = [make_run(name, 0, skill, data=EURLEX57K) for name, skill in names.items()]
    rows = {tuple(row[:2]): row[2:] for row in difference_table(runs).rows}
    ours, theirs = (run.value("test", "all", "RP@5") for run in runs[:2])
    cell = rows["dcnn-lwan", "our bigru-lwan, which it aims at"][0]
    assert cell == f"-{number(theirs - ours)} ▼"
    aimed = rows["blend", "what was aimed at"][0]
    assert aimed.startswith("-" if runs[2].value("test", "all", "RP@5") < 0.84 else "+")
    assert not difference_table(runs[:1]).rows  # without the other one


def test_the_readme_has_one_row_a_method_with_the_best_that_is_quoted_for_it() -> None:
    runs = [replace(run, data=EURLEX57K) for run in (*RUNS, make_run("svm-placed", 0, 2.4))]
    table = short_table(runs, "test")
    assert [row[0] for row in table.rows] == [
        *("svm", "bigru-lwan", "exact-match"),  # svm-placed is a variant
        *("ACL 2019: BERT-base", "LibMultiLabel: BERT-LWAN", "EMNLP 2020: BERT-LWAN"),
        "chance",
    ]
    documents = int(runs[0].measures["test"]["zero"]["documents"])
    assert table.columns[1:3] == ["all RP@5 (80 documents)", "quoted"]
    assert table.columns[5:] == [f"zero RP@5 ({documents} documents)", "quoted"]
    lwan = table.rows[1]
    assert lwan[2] == "*.778*"  # LibMultiLabel's, above the paper's .766
    assert lwan[6] == "*.029°*"
    assert lwan[5].endswith("]")
    assert table.rows[5][1:5] == ["", ".803", "", ".699"]
    elsewhere = short_table(RUNS, "test")
    assert "quoted" not in elsewhere.columns
    assert [row[0] for row in elsewhere.rows][-1] == "chance"


def test_the_readme_shows_models_on_a_file_down_to_the_last_that_ships() -> None:
    def on_file(method: str, skill: float) -> Run:
        run = make_run("svm", 0, skill)
        counts = run.data.counts | {"unknown gold": 0}
        return replace(run, method=method, data=replace(run.data, trained_on="laws", counts=counts))

    named = {"blend@laws": 3.0, f"{shipped.NAME}@laws": 2.5, "svm@laws": 2.0, "tree@laws": 1.0}
    runs = [on_file(name, skill) for name, skill in named.items()]
    first = on_file(f"{shipped.NAME}@acts", 1.5)
    table = short_file_table([*runs, first], "test")
    assert [row[0] for row in table.rows] == [*list(named)[:3], first.method, "chance"]
    assert table.notes[-1] == "1 more models are behind these."
    whole = short_file_table([run for run in runs if shipped.NAME not in run.method], "test")
    assert [row[0] for row in whole.rows] == ["blend@laws", "svm@laws", "tree@laws", "chance"]


def test_a_single_method_has_no_table_of_p_values() -> None:
    assert "Is the difference chance?" not in report_markdown(RUNS[:1])
    assert "Is the difference chance?" in report_markdown(RUNS[:2])


def test_runs_measured_on_dev_alone_are_reported_on_dev() -> None:
    runs = [replace(run, measures={"dev": run.measures["dev"]}) for run in RUNS]
    page = report_markdown(runs)
    assert "**acts**, dev split." in page
    assert f"| svm | {number(RUNS[0].value('dev', 'all', 'RP@5'))}" in page


def test_the_same_runs_give_the_same_files_in_another_process(results: Path) -> None:
    written = report(results)
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in written]
    script = "import sys; from labelwise.evaluation.report import report; report(sys.argv[1])"
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", script, str(results)], env=environment, check=True)
    assert [hashlib.sha256(path.read_bytes()).hexdigest() for path in written] == digests


def test_the_figure_shows_the_three_best_methods_and_the_published_curves() -> None:
    runs = [*RUNS, make_run("logistic", 0, 1.5), make_run(shipped.NAME, 0, 2.5)]
    ours = curves_svg(runs)
    assert ET.fromstring(ours).tag.endswith("svg")
    text = ours.decode()
    for shown in ("svm", "bigru-lwan", "logistic", "P@K", "RP@K"):
        assert f">{shown}<" in text
    assert ">exact-match<" not in text
    assert f">{shipped.NAME}<" not in text  # the svm in less room
    assert "published" not in text
    assert "date" not in text
    eurlex = curves_svg([replace(run, data=EURLEX57K) for run in runs]).decode()
    for row in ("BIGRU-ATT", "HAN", "BIGRU-LWAN"):
        assert f">{row}, published<" in eurlex


def test_without_matplotlib_the_extra_is_named_and_nothing_is_written(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_import = builtins.__import__

    def without_matplotlib(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(MissingExtraError, match=r"labelwise\[plots\]"):
        report(results)
    assert not (results / "acts" / "README.md").exists()


def test_macro_f1_over_every_label_counts_the_absent_ones_as_nothing() -> None:
    run = make_run("svm", 0, 2.5)
    labels = run.measures["test"].labels
    assert labels is not None
    labels.gold[:3] = labels.predicted[:, :3] = labels.true_positives[:, :3] = 0
    of_label = labels.f1[-1]
    table = macro_table([run])
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    assert shown["all, absent as 0"] == number(float(of_label[3:].sum() / len(of_label)))
    quoted = macro_table([replace(run, data=EURLEX57K)]).rows[-1]
    assert quoted[:2] == ["AAAI 2023: HiDEC + HBM", ".288"]


def test_the_table_is_put_between_the_markers_of_a_readme(results: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# labelwise\n\n{BEGIN}\nold\n{END}\n\nKnown limits.\n", encoding="utf-8")
    update_readme(readme, results)
    first = readme.read_text(encoding="utf-8")
    assert first.startswith(f"# labelwise\n\n{BEGIN}\n\n**acts**, test split.")
    assert first.endswith(f"{END}\n\nKnown limits.\n")
    assert "old" not in first
    assert short_table(RUNS, "test").markdown() in first
    assert first.count(LEGEND) == 1
    assert "frequent RP@5" not in first  # the wide table stands in results/
    assert "[results/acts](results/acts/README.md)" in first
    update_readme(readme, results)
    assert readme.read_text(encoding="utf-8") == first


@pytest.mark.parametrize("text", ["", f"{BEGIN}", f"{END} {BEGIN}", f"{BEGIN} {BEGIN} {END}"])
def test_a_readme_without_its_markers_is_named(results: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"README\.md: the table of results needs the lines"):
        updated_readme(text, results)


def test_a_folder_without_runs_says_who_writes_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there are no runs .* `labelwise evaluate` writes them"):
        report(tmp_path)


def committed() -> Path:
    folder = ROOT / "results"
    if not list(folder.rglob("seed-*.json")):
        pytest.skip("no run is committed below results/ yet")
    return folder


@pytest.fixture(scope="module")
def committed_runs() -> dict[Path, list[Run]]:
    return runs_by_data(committed())


def test_the_committed_report_is_what_the_committed_runs_give(
    committed_runs: dict[Path, list[Run]],
) -> None:
    for folder, runs in committed_runs.items():
        page = (folder / "README.md").read_text(encoding="utf-8")
        has_labels = (folder / "labels.csv").is_file()
        beside = faithfulness_table(folder), trial_sections(folder, runs), hidden_views(folder)
        beside = *beside, document_sections(folder, runs)
        made = report_markdown(runs, *beside, notes=note_sections(folder), has_labels=has_labels)
        assert page == made, f"run `labelwise report`: {folder} is out of date"


def test_the_committed_figure_is_what_the_committed_runs_give(
    committed_runs: dict[Path, list[Run]],
) -> None:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    if f"matplotlib=={mpl.__version__}" not in pins:
        pytest.skip(f"matplotlib {mpl.__version__} may draw otherwise than the pinned one")
    for folder, runs in committed_runs.items():
        split = "test" if all("test" in run.measures for run in runs) else "dev"
        drawn = {"curves.svg": curves_svg(runs, split)}
        if years := over_time(folder, runs):
            drawn["years.svg"] = years_svg(years, runs)
        for name, content in drawn.items():
            assert (folder / name).read_bytes() == content, f"{folder / name} is out of date"


def test_the_readme_shows_the_committed_runs() -> None:
    results = committed()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert updated_readme(text, results) == text, "run `labelwise report --readme README.md`"
