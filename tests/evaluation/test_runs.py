"""A run comes back from its two files as it was; a damaged or altered one is refused by name."""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from evaluation_cases import label_space, make_run

from labelwise.corpus.dataset import Additions
from labelwise.errors import InputError, LabelwiseError
from labelwise.evaluation.counts import VIEWS
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.runs import (
    DataRecord,
    Run,
    check_comparable,
    current_versions,
    documents_path,
    log_path,
    peak_memory,
    read_runs,
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return make_run("svm", 0, 2.0).write(tmp_path / "results")


def test_a_run_lies_where_its_data_method_and_seed_say(written: Path, tmp_path: Path) -> None:
    assert written == tmp_path / "results" / "acts" / "svm" / "seed-0.json"
    assert sorted(path.name for path in written.parent.iterdir()) == [
        "seed-0.documents.npz",
        "seed-0.json",
        "seed-0.labels.npz",
    ]


def test_the_json_has_every_measure_and_k_by_split_and_group(written: Path) -> None:
    record = json.loads(written.read_text())
    assert record["split"] == ["dev", "test"]
    for split in record["split"]:
        for group in VIEWS:
            figures, chance = record["measures"][split][group], record["chance"][split][group]
            for k in range(1, 11):
                for name in ("P", "R", "RP", "nDCG"):
                    assert 0 <= figures[f"{name}@{k}"] <= 1
                    assert 0 < chance[f"{name}@{k}"] <= 1
            for name in ("micro-F1", "micro-F1 tuned", "macro-F1", "macro-F1 tuned"):
                assert 0 <= figures[name] <= 1
            assert 0 < figures["documents"] <= record["data"]["counts"][split]
    assert record["seconds"] == {"fit": 12.5, "score": 0.75}
    assert record["peak_memory"] == 734_003_200
    assert record["data"]["fingerprint"] == "f00d"


def test_a_run_whose_unseen_labels_all_tie_comes_back(tmp_path: Path) -> None:
    run = make_run("svm", 0, 2.0)
    tied = {name: math.nan for name in run.measures["test"]["zero"] if name[:2] in ("P@", "RP")}
    values = {**run.measures["test"].values}
    values["zero"] = values["zero"] | tied
    changed = replace(run.measures["test"], values=values)
    run = replace(run, measures={**run.measures, "test": changed})
    again = Run.read(run.write(tmp_path / "results"))
    assert math.isnan(again.value("test", "zero", "RP@5"))
    assert again.value("test", "few", "RP@5") == run.value("test", "few", "RP@5")


def test_a_run_comes_back_as_it_was(written: Path) -> None:
    run, again = make_run("svm", 0, 2.0), Run.read(written)
    assert again.to_json() == run.to_json()
    for split in run.splits:
        for group in VIEWS:
            for measure in ("P@1", "R@10", "RP@5", "nDCG@7"):
                values = again.per_document(split, group, measure)
                assert np.array_equal(
                    values, run.per_document(split, group, measure), equal_nan=True
                )
                assert np.nanmean(values) == pytest.approx(run.measures[split][group][measure])
            for measure in ("micro-F1", "micro-F1 tuned"):
                tp, fp, fn = again.f1_counts(split, group, measure).sum(axis=0)
                f1 = 2 * tp / (2 * tp + fp + fn)
                assert f1 == pytest.approx(run.measures[split][group][measure])


def test_writing_the_same_run_twice_gives_the_same_bytes(written: Path, tmp_path: Path) -> None:
    again = make_run("svm", 0, 2.0).write(tmp_path / "again")
    assert again.read_bytes() == written.read_bytes()
    assert documents_path(again).read_bytes() == documents_path(written).read_bytes()


def test_a_group_without_documents_is_null_in_json_and_nan_in_python(tmp_path: Path) -> None:
    space = label_space(3, 3, 2)
    gold = np.eye(4, 8)
    scores = np.random.default_rng(0).random((4, 8), dtype=np.float32)
    run = make_run("svm", 0, 1.0)
    measures = {"test": evaluate(scores, gold, space)}
    counts = {"train": 10, "test": 4}
    run = replace(run, measures=measures, data=replace(run.data, counts=counts))
    path = run.write(tmp_path)
    figures = json.loads(path.read_text())["measures"]["test"]["zero"]
    assert figures["documents"] == 0
    assert figures["RP@5"] is None
    assert np.isnan(Run.read(path).value("test", "zero", "RP@5"))
    assert np.isnan(Run.read(path).value("dev", "all", "RP@5"))


def test_the_per_document_file_is_small(tmp_path: Path) -> None:
    """At most 16 bytes a document: it is committed with the run."""
    random = np.random.default_rng(0)
    space = label_space(200, 700, 100)
    gold = sp.random(2000, 1000, density=5 / 1000, format="csr", random_state=1)
    scores = random.random((2000, 1000), dtype=np.float32) + (gold.toarray() > 0)
    measures = {"test": evaluate(scores, gold, space, threshold=1.0, tuned_threshold=0.998)}
    data = DataRecord("acts", "f00d", {"test": 2000}, space.fingerprint, {})
    path = replace(make_run("svm", 0, 1.0), measures=measures, data=data).write(tmp_path)
    assert documents_path(path).stat().st_size < 16 * 2000
    assert Run.read(path).measures["test"].counts.documents == 2000


def change_json(path: Path, change: Callable[[Any], None]) -> None:
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.pop("method"), r"seed-0\.json, field 'method': the key is missing"),
        (lambda r: r.update(seed="0"), "field 'seed': the value is of type str, expected int"),
        (lambda r: r["data"].pop("fingerprint"), r"field 'data\.fingerprint': the key is missing"),
        (lambda r: r["measures"].pop("test"), r"field 'measures\.test': the key is missing"),
        (lambda r: r["measures"]["dev"].pop("few"), r"field 'measures\.dev\.few': the key"),
        (
            lambda r: r["measures"]["dev"]["all"].pop("micro-F1"),
            r"field 'measures\.dev\.all\.micro-F1': the figure is missing",
        ),
        (
            lambda r: r["measures"]["test"]["all"].update({"RP@5": ".9"}),
            r"field 'measures\.test\.all\.RP@5': '\.9' is not a number",
        ),
        (
            lambda r: r["measures"]["test"]["all"].update({"RP@5": 0.999}),
            r"field 'measures\.test\.all\.RP@5': the figure is 0\.999, but the per-document file",
        ),
        (
            lambda r: r["data"]["counts"].update(test=79),
            r"field 'data\.counts\.test': the run says that test has 79 documents",
        ),
        (lambda r: r["split"].append("train"), r"field 'train\.hits': the array is missing"),
    ],
)
def test_a_run_with_a_fault_is_refused_by_field(
    written: Path, change: Callable[[Any], None], message: str
) -> None:
    change_json(written, change)
    with pytest.raises(InputError, match=message):
        Run.read(written)


def test_files_that_are_no_runs_are_refused_by_name(written: Path) -> None:
    text = written.read_text()
    for content, message in (
        (text[:500].encode(), "seed-0.json, line .*: not JSON"),
        (b"[1, 2]", "a run is a JSON object"),
        (b'{"method": "\xff"}', "JSON in UTF-8"),
    ):
        written.write_bytes(content)
        with pytest.raises(InputError, match=message):
            Run.read(written)
    with pytest.raises(InputError, match="no such run"):
        Run.read(written.with_name("seed-9.json"))


def test_a_missing_truncated_or_foreign_per_document_file_is_refused(written: Path) -> None:
    sidecar = documents_path(written)
    whole = sidecar.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"PK\x03\x04 not an archive"):
        sidecar.write_bytes(content)
        with pytest.raises(InputError, match=r"seed-0\.documents\.npz: the file is damaged"):
            Run.read(written)
    # An array of Python objects would have to be unpickled, which is never done.
    with sidecar.open("wb") as file:
        np.savez(file, **{"dev.hits": np.array([{}], dtype=object)})
    with pytest.raises(InputError, match="damaged"):
        Run.read(written)
    sidecar.unlink()
    with pytest.raises(InputError, match="per-document file of this run is missing"):
        Run.read(written)


@pytest.mark.parametrize("name", ["hits", "gold", "predicted", "true_positives"])
def test_an_array_of_another_shape_is_refused(written: Path, name: str) -> None:
    sidecar = documents_path(written)
    with np.load(sidecar) as stored:
        arrays = {key: stored[key] for key in stored.files}
    for wrong in (arrays[f"test.{name}"][..., :-1], arrays[f"test.{name}"].astype(float)):
        with sidecar.open("wb") as file:
            np.savez(file, **{**arrays, f"test.{name}": wrong})
        with pytest.raises(InputError, match=r"field 'test\.\w+': the array has the shape"):
            Run.read(written)


def test_runs_on_other_data_are_not_compared() -> None:
    ours, theirs = make_run("svm", 0, 2.0), make_run("tree", 0, 1.0)
    check_comparable([ours, theirs], "test")
    for change, message in (
        ({"fingerprint": "beef"}, "their data differs"),
        ({"label_space": "beef"}, "their label space differs"),
        ({"counts": {"test": 3}}, "their number of documents differs"),
    ):
        other = replace(theirs, data=replace(theirs.data, **change))
        with pytest.raises(LabelwiseError, match=f"svm, seed 0 and tree, seed 0 .*{message}"):
            check_comparable([ours, other], "test")
    swapped = replace(theirs, measures={"test": theirs.measures["dev"]})
    with pytest.raises(LabelwiseError, match="one has 80 documents, the other 60"):
        check_comparable([ours, swapped], "test")
    with pytest.raises(LabelwiseError, match="not measured on dev, only on test"):
        check_comparable([ours, swapped], "dev")
    counts = theirs.measures["test"].counts
    shuffled = replace(counts, gold=counts.gold[:, ::-1])
    altered = replace(theirs, measures={"test": replace(theirs.measures["test"], counts=shuffled)})
    with pytest.raises(LabelwiseError, match="gold labels of their documents differ"):
        check_comparable([ours, altered], "test")


def test_all_runs_below_a_folder_are_read(tmp_path: Path) -> None:
    for method, seed in (("svm", 1), ("svm", 0), ("tree", 0)):
        make_run(method, seed, 1.0).write(tmp_path)
    assert [(run.method, run.seed) for run in read_runs(tmp_path)] == [
        ("svm", 0),
        ("svm", 1),
        ("tree", 0),
    ]
    with pytest.raises(InputError, match="no such folder"):
        read_runs(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", "../svm", "a/b", ".hidden"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabelwiseError, match="cannot be a folder's name"):
        make_run(name, 0, 1.0).write(tmp_path)
    assert not list(tmp_path.iterdir())


def test_unknown_groups_and_measures_are_named(written: Path) -> None:
    run = Run.read(written)
    for arguments, message in (
        (("test", "rare", "RP@5"), "no group 'rare'"),
        (("test", "all", "RP@11"), "no measure 'RP@11'"),
        (("test", "all", "MAP@5"), "no measure 'MAP@5'"),
        (("train", "all", "RP@5"), "not measured on train"),
    ):
        with pytest.raises(LabelwiseError, match=message):
            run.per_document(*arguments)
    with pytest.raises(LabelwiseError, match="no F1 called 'macro-F1'"):
        run.f1_counts("test", "all", "macro-F1")


def test_versions_and_memory_are_those_of_this_process() -> None:
    versions = current_versions("no-such-package")
    assert versions["numpy"] == np.__version__
    assert {"labelwise", "python", "scipy", "torch"} <= set(versions)
    assert versions["no-such-package"] == "not installed"
    assert (peak_memory() or 0) > 10_000_000


def test_the_record_of_the_data_is_taken_from_the_data_set() -> None:
    space = label_space(4, 4, 2)
    dataset = SimpleNamespace(
        name="acts",
        fingerprint="f00d",
        counts={"train": 9, "labels": 10},
        label_space=space,
        additions=Additions(thesaurus=Path("eurovoc-2026-07-en.json.xz")),
    )
    assert DataRecord.of(dataset) == DataRecord(
        "acts",
        "f00d",
        {"train": 9, "labels": 10},
        space.fingerprint,
        {"frequent": 4, "few": 4, "zero": 2},
        thesaurus={"name": "eurovoc-2026-07-en", "date": "2026-07"},
    )
    dataset.additions = Additions()
    assert DataRecord.of(dataset).thesaurus is None


def test_a_run_remembers_the_device_it_was_trained_on(tmp_path: Path) -> None:
    path = make_run("han", 0, 1.0, device="NVIDIA H200").write(tmp_path)
    assert Run.read(path).device == "NVIDIA H200"


def test_a_run_that_does_not_say_its_device_is_asked_through_its_log(tmp_path: Path) -> None:
    path = make_run("han", 0, 1.0).write(tmp_path)
    assert Run.read(path).device == ""
    log_path(path).write_text('{"event": "start", "device": "cuda"}\n{"event": "epoch"}\n')
    assert Run.read(path).device == "cuda"
    log_path(path).write_text("half a li")
    assert Run.read(path).device == ""


@pytest.mark.parametrize("after", range(8))
def test_a_run_whose_writing_is_cut_off_is_the_old_one_the_new_one_or_not_there(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Never the figures of one and the counts of the other."""
    replace_file, steps = Path.replace, iter(range(after))
    sync = os.fsync

    def step() -> None:
        if next(steps, None) is None:
            raise KeyboardInterrupt

    def replaced(self: Path, target: Path) -> Path:
        step()
        return replace_file(self, target)

    def synced(descriptor: int) -> None:
        step()
        sync(descriptor)

    old, new = Run.read(written), make_run("svm", 0, 3.0)
    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    with contextlib.suppress(KeyboardInterrupt):
        new.write(tmp_path / "results")
    monkeypatch.undo()
    if written.exists():
        assert Run.read(written).to_json() in (old.to_json(), new.to_json())
    new.write(tmp_path / "results")
    assert Run.read(written).to_json() == new.to_json()
    assert len(list(written.parent.iterdir())) == 3


def test_a_run_that_two_processes_write_is_one_of_theirs(written: Path, tmp_path: Path) -> None:
    runs = [make_run("svm", 0, strength) for strength in (2.0, 3.0)]
    threads = [
        threading.Thread(target=lambda one=one: [one.write(tmp_path / "results") for _ in range(5)])
        for one in runs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Run.read(written).to_json() in [one.to_json() for one in runs]
