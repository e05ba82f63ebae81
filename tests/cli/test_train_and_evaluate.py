"""From a data set to a bundle, a run, a comparison and a report, all by command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.errors import LabelwiseError
from labelwise.experiments.measured import measure


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def test_training_says_what_it_made(labelwise: Callable, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "em.bundle"
    called = labelwise(
        "train", "exact-match", "--data", corpus, "--out", out, "--seed", 3, "--json"
    )
    assert called.code == 0
    made = called.json
    assert made["method"] == "exact-match"
    assert made["bytes"] > 0
    assert made["data"]["counts"]["train"] == 300
    assert made["seconds"]["fit"] >= 0
    assert "thesaurus" not in made  # megabytes of a large one; it is in the bundle
    assert bundles.load(out).settings.seed == 3
    table = labelwise("train", "exact-match", "--data", corpus, "--out", out)
    assert table.code == 0  # a bundle may be replaced by a new one
    assert "exact-match" in table.out


def test_a_bad_line_stops_a_training_or_is_skipped_and_counted(
    labelwise: Callable, corpus: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(corpus, data)
    with (data / "train.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"celex_id": 7}\n')
    command = ("train", "exact-match", "--data", data, "--out", tmp_path / "em.bundle")
    stopped = labelwise(*command)
    assert stopped.code == 1
    assert "train.jsonl, line 301, field 'celex_id'" in stopped.err
    went_on = labelwise(*command, "--skip-bad", "--json")
    assert went_on.code == 0
    assert went_on.json["data"]["counts"]["train"] == 300
    assert "1 " in went_on.err
    assert "skipped" in went_on.err


def test_training_refuses_a_place_that_holds_something_else_before_it_begins(
    labelwise: Callable, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("mine", "utf-8")
    for out in (tmp_path, tmp_path / "thesis.txt"):
        called = labelwise("train", "exact-match", "--data", corpus, "--out", out)
        assert called.code == 1
        assert str(out) in called.err
    assert (tmp_path / "thesis.txt").read_text("utf-8") == "mine"


def test_training_refuses_a_place_where_nothing_can_be_written_before_it_begins(
    labelwise: Callable, corpus: Path
) -> None:
    called = labelwise("train", "exact-match", "--data", corpus, "--out", "/proc/em.bundle")
    assert called.code == 1
    assert "/proc/em.bundle" in called.err


def test_quiet_leaves_nothing_but_the_result(
    labelwise: Callable, corpus: Path, tmp_path: Path
) -> None:
    call = ("train", "exact-match", "--data", corpus, "--out", tmp_path / "em.bundle")
    assert "Next:" in labelwise(*call).err
    assert labelwise(*call, "--quiet").err == ""
    assert labelwise("-q", *call).err == ""


def test_evaluate_writes_the_run_and_prints_it(
    labelwise: Callable, corpus: Path, bundle: Path, results: Path
) -> None:
    called = labelwise("evaluate", bundle, "--data", corpus, "--results", results, "--json")
    assert called.code == 0
    run = called.json
    path = results / "synthetic" / "svm" / "seed-0.json"
    assert json.loads(path.read_text("utf-8")) == run
    assert run["split"] == ["dev", "test"]
    assert set(run["seconds"]) == {"fit", "score"}
    assert run["peak_memory"] > 1e7
    assert run["threshold"] is not None
    figures = run["measures"]["test"]["all"]
    assert 0.3 < figures["RP@5"] <= 1
    assert figures["micro-F1 tuned"] > 0
    assert run["chance"]["test"]["all"]["RP@5"] < figures["RP@5"]


def test_the_table_of_a_run_fits_80_columns(
    process: Callable, corpus: Path, bundle: Path, tmp_path: Path
) -> None:
    called = process(
        "evaluate", bundle, "--data", corpus, "--split", "test", "--results", tmp_path, COLUMNS="80"
    )
    assert called.code == 0
    assert max(map(len, called.out.splitlines())) <= 80
    assert "zero-among-all" in called.out
    assert "chance" in called.out
    assert "threshold tuned on dev" in called.out
    assert "dev" not in called.out.splitlines()[0]
    assert "wrote" in called.err


def test_compare_gives_p_values(
    labelwise: Callable, corpus: Path, bundle: Path, results: Path, tmp_path: Path
) -> None:
    em = tmp_path / "em.bundle"
    for call in (
        ("train", "exact-match", "--data", corpus, "--out", em),
        ("evaluate", em, "--data", corpus, "--results", results),
        ("evaluate", bundle, "--data", corpus, "--results", results),
    ):
        assert labelwise(*call).code == 0
    made = labelwise("compare", results, "--rounds", 500, "--json").json
    best, other = made["methods"]
    assert (best["method"], other["method"]) == ("svm", "exact-match")
    assert best["measures"]["RP@5"]["p_value"] is None
    assert other["measures"]["RP@5"]["p_value"] < 0.05
    one = results / "synthetic" / "svm" / "seed-0.json"
    table = labelwise("compare", one, results)
    assert table.code == 0
    assert "best" in table.out
    asked = (
        ("--group", "rare", "frequent"),
        ("--measure", "MRR", "RP@5"),
        ("--measure", "documents", "there is no measure 'documents'"),
    )
    for option, value, words in asked:
        wrong = labelwise("compare", one, option, value)
        assert (wrong.code, wrong.out) == (1, "")
        assert words in wrong.err


def test_report_turns_runs_into_pages(
    labelwise: Callable, corpus: Path, bundle: Path, results: Path, tmp_path: Path
) -> None:
    assert labelwise("evaluate", bundle, "--data", corpus, "--results", results).code == 0
    readme = tmp_path / "README.md"
    readme.write_text("# x\n<!-- results:begin -->\n<!-- results:end -->\n", "utf-8")
    called = labelwise("report", results, "--readme", readme)
    assert called.code == 0
    assert "svm" in called.out
    assert max(map(len, called.out.splitlines())) <= 80
    assert "svm" in (results / "synthetic" / "README.md").read_text("utf-8")
    assert (results / "synthetic" / "curves.svg").is_file()
    assert "| svm |" in readme.read_text("utf-8")
    assert str(readme) in labelwise("report", results, "--readme", readme, "--json").json["written"]


def test_labels_that_the_model_never_heard_of_are_an_error_and_not_a_better_score(
    labelwise: Callable, corpus: Path, bundle: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for split in ("train", "dev", "test"):
        lines = (corpus / f"{split}.jsonl").read_text("utf-8").splitlines()[:5]
        acts = [json.loads(line) for line in lines]
        acts[0]["concepts"].append("999999")
        (other / f"{split}.jsonl").write_text("\n".join(map(json.dumps, acts)), "utf-8")
    called = labelwise("evaluate", bundle, "--data", other, "--results", tmp_path / "r")
    assert called.code == 1
    assert "other labels or label counts than the data set other" in called.err
    with pytest.raises(LabelwiseError, match=r"999999.*measure the model on a file with --on"):
        measure(bundles.load(bundle), open_dataset(other), card={})


def test_on_another_data_set_chance_is_that_of_the_labels_of_the_model(
    corpus: Path, bundle: Path, tmp_path: Path
) -> None:
    """The other has five training documents: its labels fall into groups of other sizes."""
    other = tmp_path / "other"
    other.mkdir()
    for split in ("train", "dev", "test"):
        lines = (corpus / f"{split}.jsonl").read_text("utf-8").splitlines()[:5]
        (other / f"{split}.jsonl").write_text("\n".join(lines), "utf-8")
    run = measure(bundles.load(bundle), open_dataset(other), card={})
    space = bundles.load(bundle).label_space
    groups = {group: part.stop - part.start for group, part in space.groups.items()}
    assert (run.data.groups, run.data.label_space) == (groups, space.fingerprint)
    low, high = run.chance_interval("test", "few", "RP@5")
    assert low <= run.chance("test", "few", "RP@5") <= high


def test_a_tampered_bundle_is_refused(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy.bundle"
    shutil.copytree(bundle, copy)
    largest = max((f for f in copy.rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    called = labelwise("tag", act, "--bundle", copy)
    assert called.code == 1
    assert called.err.count("\n") == 1
    assert "Traceback" not in called.err
