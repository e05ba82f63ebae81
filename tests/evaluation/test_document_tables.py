"""By year, without near-copies, and on files: what the report says of the documents themselves."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evaluation_cases import make_run

from labelwise.errors import InputError
from labelwise.evaluation.beginning_tables import beginning_sections
from labelwise.evaluation.bootstrap import f1_interval, interval, mean_and_interval
from labelwise.evaluation.comparison import over_documents
from labelwise.evaluation.document_records import (
    DocumentRecords,
    MeasuredDocument,
    read_documents,
)
from labelwise.evaluation.file_tables import (
    file_table,
    file_year_sections,
    file_year_table,
    without_a_row,
)
from labelwise.evaluation.interval_tables import interval_table
from labelwise.evaluation.near_copy_tables import near_copy_sections, near_copy_table
from labelwise.evaluation.report import document_sections, report, updated_readme
from labelwise.evaluation.runs import Run
from labelwise.evaluation.tables import number, signed, with_interval
from labelwise.evaluation.year_figure import FEWEST
from labelwise.evaluation.year_tables import (
    OverTime,
    both_splits_table,
    over_time,
    year_sections,
    year_table,
)

RUNS = [make_run("svm", 0, 2.5), *(make_run("bigru-lwan", seed, 2.0) for seed in range(2))]


def records(data: str, dev: list[str], test: list[str], copies: int = 0) -> DocumentRecords:
    """Documents of which the first test documents are near-copies."""
    return DocumentRecords(
        data,
        "f00d",
        0.5,
        {
            "dev": [MeasuredDocument(id) for id in dev],
            "test": [
                MeasuredDocument(id, "32001R0001", 0.75) if at < copies else MeasuredDocument(id)
                for at, id in enumerate(test)
            ],
        },
    )


def ids(year: int, count: int) -> list[str]:
    return [f"3{year}R{number:04}" for number in range(count)]


def random_split(results: Path) -> list[Run]:
    """Runs on acts of all years; 31 of the 80 test documents are of 2013, 9 of 2014."""
    test = [*ids(2001, 40), *ids(2013, 31), *ids(2014, 9)]
    records("acts", ids(1999, 60), test, copies=20).write(results)
    for run in RUNS:
        run.write(results)
    return RUNS


def test_every_method_has_its_interval_over_the_documents() -> None:
    table = interval_table(RUNS, "test")
    assert [row[0] for row in table.rows] == ["svm", "bigru-lwan"]
    for row, runs in zip(table.rows, (RUNS[:1], RUNS[1:]), strict=True):
        ranked = mean_and_interval(over_documents(runs, "test", "few", "nDCG@5"))
        assert row[table.columns.index("few nDCG@5")] == with_interval(*ranked)
        tuned = "micro-F1 tuned"
        ends = f1_interval(runs[0].f1_counts("test", "all", tuned))
        f1 = with_interval(runs[0].value("test", "all", tuned), *ends)
        assert row[table.columns.index("all micro-F1 tuned")] == f1


def by_year(results: Path) -> list[Run]:
    """Runs on the same data set split by year, with dev of 2012 and test of 2013 and 2014."""
    records("acts-by-year", ids(2012, 60), [*ids(2013, 60), *ids(2014, 20)]).write(results)
    data = replace(RUNS[0].data, name="acts-by-year")
    runs = [make_run("svm", 0, 1.5, data=data), make_run("lexical", 0, 1.0, data=data)]
    for run in runs:
        run.write(results)
    return runs


def test_documents_are_written_a_line_each_and_read_again(tmp_path: Path) -> None:
    made = records("acts", ids(1999, 60), ids(2001, 80), copies=2)
    path = made.write(tmp_path)
    assert read_documents(path.parent, RUNS) == made
    assert made.copies("test").sum() == 2
    assert set(made.years("dev")) == {1999}
    lines = path.read_text("utf-8").splitlines()
    assert '  ["32001R0001", "32001R0001", 0.75],' in lines
    assert '  ["32001R0002"],' in lines
    assert read_documents(tmp_path, RUNS) is None


def test_documents_of_other_data_or_a_damaged_file_are_named(tmp_path: Path) -> None:
    path = records("acts", [], ids(2001, 80)).write(tmp_path)
    other = [replace(RUNS[0], data=replace(RUNS[0].data, fingerprint="beef"))]
    with pytest.raises(InputError, match=r"documents\.json: the file is that of other documents"):
        read_documents(path.parent, other)
    path.write_text(json.dumps({"data": "acts"}))
    with pytest.raises(InputError, match=r"damaged: `labelwise data near-copies` writes it anew"):
        read_documents(path.parent, RUNS)


def test_without_near_copies_the_figures_are_those_of_the_documents_that_remain() -> None:
    made = records("acts", [], ids(2001, 80), copies=30)
    table = near_copy_table(RUNS, made.copies("test"), "test")
    assert [row[0] for row in table.rows] == ["svm", "bigru-lwan"]
    values = RUNS[0].per_document("test", "all", "RP@5")
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    assert shown["all RP@5"].startswith(f"{number(float(np.nanmean(values[30:])))} [")
    assert shown["all RP@5 of near-copies"] == number(float(np.nanmean(values[:30])))
    assert shown["all RP@5 of both"] == number(RUNS[0].value("test", "all", "RP@5"))
    said = near_copy_sections(RUNS, made, "test")
    assert "Of 80 test documents 30 are near-copies" in said[1]
    assert "a share of 0.5 or more stands in both" in said[1]
    assert "**50 remain**" in said[1]
    assert near_copy_sections(RUNS, None, "test") == []


def test_each_year_has_its_documents_and_dev_years_are_said_to_be_so(tmp_path: Path) -> None:
    random_split(tmp_path)
    runs = by_year(tmp_path)
    found = over_time(tmp_path / "acts-by-year", runs)
    assert found is not None
    table = year_table(found, ["svm", "lexical"])
    assert table.columns == ["method", "2012, dev", "2013", "2014", "all test years"]
    assert table.rows[0] == ["documents", "60", "60", "20", "80"]
    of_2013 = runs[0].per_document("test", "all", "RP@5")[:60]
    assert table.rows[1][2].startswith(f"{number(float(np.nanmean(of_2013)))} [")
    assert table.rows[1][4].startswith(number(runs[0].value("test", "all", "RP@5")))


def test_that_settings_were_chosen_on_documents_of_the_test_years_is_said(tmp_path: Path) -> None:
    """They are those of the random split, whose dev documents are of all years."""
    random_split(tmp_path)
    runs, folder = by_year(tmp_path), tmp_path / "acts-by-year"
    told = "on its dev documents, 5 of which are test documents here"
    assert told not in "\n".join(year_sections(over_time(folder, runs), runs))
    dev = [*ids(1999, 55), *ids(2013, 60)[-5:]]
    records("acts", dev, [*ids(2001, 40), *ids(2013, 40)]).write(tmp_path)
    assert told in "\n".join(year_sections(over_time(folder, runs), runs))


def test_of_several_dev_years_none_is_a_test_year() -> None:
    years = np.array([2011, 2012, 2012, 2013, 2014])
    found = OverTime(years, frozenset({2011, 2012}), {}, {}, np.zeros(5, dtype=np.bool_))
    shown = {name: of.tolist() for name, of in found.shown()}
    assert list(shown) == ["2011, dev", "2012, dev", "2013", "2014", "all test years"]
    assert shown["all test years"] == [False, False, False, True, True]


def test_runs_without_dev_have_no_years_and_no_random_split_is_needed(tmp_path: Path) -> None:
    runs = by_year(tmp_path)
    found = over_time(tmp_path / "acts-by-year", runs)
    assert found is not None
    assert not found.random
    alone = [replace(run, measures={"test": run.measures["test"]}) for run in runs]
    assert over_time(tmp_path / "acts-by-year", alone) is None


def test_both_splits_are_held_against_each_other_on_the_same_documents(tmp_path: Path) -> None:
    theirs, ours = random_split(tmp_path)[0], by_year(tmp_path)[0]
    found = over_time(tmp_path / "acts-by-year", by_year(tmp_path))
    assert found is not None
    table = both_splits_table(found, ["svm", "lexical"])
    assert [row[0] for row in table.rows] == ["documents", "svm, by year", "svm, random"]
    assert table.rows[0][1:] == ["0", "31", "9", "40"]
    of_random = theirs.per_document("test", "all", "RP@5")[40:71]
    of_ours = ours.per_document("test", "all", "RP@5")[:31]
    assert table.rows[1][2].startswith(number(float(np.nanmean(of_ours))))
    assert table.rows[2][2].startswith(number(float(np.nanmean(of_random))))
    assert table.rows[2][1] == "–"  # no document of the dev year is one of theirs


def test_the_report_draws_the_years_and_stays_silent_where_no_ids_are_known(
    tmp_path: Path,
) -> None:
    random_split(tmp_path)
    runs = by_year(tmp_path)
    assert tmp_path / "acts-by-year" / "years.svg" in report(tmp_path)
    drawn = (tmp_path / "acts-by-year" / "years.svg").read_text("utf-8")
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert ">svm, by year<" in drawn
    assert ">svm, random split<" in drawn
    assert ">lexical, random split<" not in drawn  # it was not measured there
    assert FEWEST > 20  # so that 2014, with 20 documents, is no point of a line
    page = (tmp_path / "acts-by-year" / "README.md").read_text("utf-8")
    assert "## By year" in page
    assert "](years.svg)" in page
    assert "## Without near-copies" in page
    beside = (tmp_path / "acts" / "README.md").read_text("utf-8")
    assert "**60 remain**" in beside
    assert "## By year" not in beside
    (tmp_path / "acts" / "documents.json").unlink()
    alone = "\n".join(document_sections(tmp_path / "acts-by-year", runs))
    assert "The same documents under both splits" not in alone
    (tmp_path / "acts-by-year" / "documents.json").unlink()
    assert document_sections(tmp_path / "acts-by-year", runs) == []


def on_file(method: str, skill: float) -> Run:
    run = make_run(method, 0, skill)
    counts = {"test": 80, "unknown labels": 3, "unknown gold": 5}
    return replace(run, data=replace(run.data, trained_on="eurlex57k", counts=counts))


def test_models_on_a_file_have_intervals_and_the_documents_they_leave_bare(tmp_path: Path) -> None:
    runs = [on_file("svm@eurlex57k", 2.5), on_file("lexical@eurlex57k", 1.0)]
    table = file_table(runs, "test")
    assert [row[0] for row in table.rows] == ["svm@eurlex57k", "lexical@eurlex57k", "chance"]
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    for measure in ("RP@5", "nDCG@5"):
        value = number(runs[0].value("test", "all", measure))
        assert shown[measure].startswith(f"{value} [")
    assert shown["micro-F1"].startswith(number(runs[0].value("test", "all", "micro-F1 tuned")))
    predicted = runs[0].measures["test"].counts.predicted[1].sum(axis=0)
    assert shown["without a label"] == str(int((predicted == 0).sum()))
    assert shown["gold it does not know"] == "5"
    for run in runs:
        run.write(tmp_path)
    assert not (tmp_path / "acts" / "labels.csv").exists()  # each has labels of its own
    report(tmp_path)
    assert table.markdown().rstrip() in (tmp_path / "acts" / "README.md").read_text("utf-8")
    readme = updated_readme("<!-- results:begin --><!-- results:end -->", tmp_path)
    assert table.markdown() in readme


def test_models_on_a_file_are_shown_by_year_where_ids_say_it(tmp_path: Path) -> None:
    runs = [on_file("svm@eurlex57k", 2.5), on_file("lexical@eurlex57k", 1.0)]
    ids = [f"3{2016 + at % 3}R{at:04d}" for at in range(79)] + ["an act"]
    measured = [MeasuredDocument(id) for id in ids]
    data = runs[0].data
    records = DocumentRecords(data.name, data.fingerprint, None, {"test": measured})
    table = file_year_table(runs, records.years("test"), "test")
    assert [row[:2] for row in table.rows] == [
        ["not known", "1"], ["2016", "27"], ["2017", "26"], ["2018", "26"],
    ]  # fmt: skip
    figures = over_documents([runs[0]], "test", "all", "RP@5")[0:79:3]
    assert table.rows[1][2].startswith(f"{number(figures.mean())} [")
    for run in runs:
        run.write(tmp_path)
    records.write(tmp_path)
    report(tmp_path)
    page = (tmp_path / "acts" / "README.md").read_text("utf-8")
    assert "## By year" in page
    assert table.markdown().rstrip() in page
    assert "near-copies" not in page  # nobody looked for them
    assert file_year_sections(runs, replace(records, splits={"test": measured[-1:]}), "test") == []


def test_whole_documents_stand_beside_their_first_words_by_length(tmp_path: Path) -> None:
    whole = [on_file("svm@eurlex57k", 2.5), on_file("lexical@eurlex57k", 1.0)]
    cut = replace(on_file("svm@eurlex57k", 1.0), data=whole[0].data.cut(1000))
    measured = [MeasuredDocument(f"3{2016}R{at:04d}") for at in range(80)]
    words = {"test": [900] * 60 + [5000] * 19 + [70_000]}
    data = cut.data
    for run in (*whole, cut):
        run.write(tmp_path)
    DocumentRecords(data.name, data.fingerprint, None, {"test": measured}, words).write(tmp_path)
    (heading, table) = beginning_sections(tmp_path / "acts", whole, "test")
    assert heading == "## Whole acts beside their first 1,000 words"
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| svm@")]
    assert [(row[1], row[2]) for row in rows] == [
        ("any number", "80"), ("under 5,000", "60"),
        ("5,000 to 10,000", "19"), ("50,000 and more", "1"),
    ]  # fmt: skip
    assert "lexical" not in table  # its beginnings were not measured
    ours, theirs = (over_documents([run], "test", "all", "RP@5") for run in (whole[0], cut))
    gain = np.nanmean((ours - theirs)[:60])
    assert rows[1][3:5] == [number(np.nanmean(ours[:60])), number(np.nanmean(theirs[:60]))]
    assert rows[1][5].startswith(f"{signed(gain)} [{signed(interval((ours - theirs)[:60])[0])}")
    report(tmp_path)
    assert table in (tmp_path / "acts" / "README.md").read_text("utf-8")
    readme = updated_readme("<!-- results:begin --><!-- results:end -->", tmp_path)
    assert "first-1000-words" not in readme  # a view of the file, like one that hides labels
    others = [replace(one, data=replace(one.data, fingerprint="beef")) for one in whole]
    with pytest.raises(InputError, match="those of other documents"):
        beginning_sections(tmp_path / "acts", others, "test")


def test_methods_that_were_not_measured_on_a_file_are_named(tmp_path: Path) -> None:
    on_acts = on_file("svm@eurlex57k", 2.5)
    on_acts.write(tmp_path)
    for method in ("svm", "han"):
        run = make_run(method, 0, 1.0)
        replace(run, data=replace(run.data, name="eurlex57k")).write(tmp_path)
    (said,) = without_a_row(tmp_path / "acts", [on_acts])
    assert said == "Measured on their own data and not on this file: han@eurlex57k."
    assert said in document_sections(tmp_path / "acts", [on_acts])
    assert without_a_row(tmp_path / "acts", [on_acts, on_file("han@eurlex57k", 1.0)]) == []


def test_the_interval_of_f1_holds_it_and_narrows_with_more_documents() -> None:
    counts = make_run("svm", 0, 2.5).f1_counts("test", "all")
    low, high = f1_interval(counts)
    hits, wrong, missed = counts.sum(axis=0)
    assert low < 2 * hits / (2 * hits + wrong + missed) < high
    more_low, more_high = f1_interval(np.tile(counts, (9, 1)))
    assert more_high - more_low == pytest.approx((high - low) / 3, rel=0.2)


def test_the_mean_stands_with_the_interval_of_the_same_documents() -> None:
    values = np.array([0.2, np.nan, 0.6, 1.0])
    assert mean_and_interval(values) == (pytest.approx(0.6), *interval([0.2, 0.6, 1.0]))
    assert np.isnan(mean_and_interval(np.array([np.nan]))).all()
