"""More training documents and labelled files on the command line: kept apart, nothing hidden."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise import bundle as bundles
from labelwise import load
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.runs import Run
from labelwise.evaluation.trial_records import read_trials
from labelwise.experiments import compact
from labelwise.methods.blend import Blend


@pytest.fixture(scope="module")
def newlaw(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Titles of other acts; one of them is an act of the test split."""
    folder = tmp_path_factory.mktemp("more") / "newlaw"
    folder.mkdir()
    acts = [json.loads(line) for line in (corpus / "dev.jsonl").read_text("utf-8").splitlines()]
    titles = [
        {"celex_id": f"new-{n}", "title": one["header"], "concepts": one["concepts"]}
        for n, one in enumerate(acts[:40])
    ]
    test = json.loads((corpus / "test.jsonl").read_text("utf-8").splitlines()[0])
    titles.append({"celex_id": test["celex_id"], "title": "A title", "concepts": []})
    (folder / "train-titles.jsonl").write_text("\n".join(map(json.dumps, titles)), "utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(
    corpus: Path, newlaw: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A model of more data, and the options that it was trained with."""
    from labelwise.cli import main

    out = tmp_path_factory.mktemp("bundles") / "more.bundle"
    options = ["--data", str(corpus), "--more", str(newlaw / "train-titles.jsonl")]
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "train", "exact-match", *options, "--out", str(out), "--json"])
    assert ended.value.code == 0
    return out, options


def test_train_names_what_it_left_out_and_the_data_it_made(
    labelwise: Callable[..., Any], corpus: Path, newlaw: Path, tmp_path: Path
) -> None:
    file, out = newlaw / "train-titles.jsonl", tmp_path / "m.bundle"
    options = ("--data", corpus, "--more", file, "--every-concept", "--out", out, "--json")
    done = labelwise("train", "exact-match", *options)
    assert done.code == 0
    assert f"left out 1 document of {file}, whose id is in test already" in done.err
    test = json.loads((corpus / "test.jsonl").read_text("utf-8").splitlines()[0])
    left_out = {"file": str(file), "kept": "test", "ids": [test["celex_id"]]}
    assert done.json["repeated"] == [left_out]
    assert "repeated" not in bundles.describe(out)["card"]
    data = done.json["data"]
    assert data["name"] == "synthetic+newlaw+every-concept"
    assert data["counts"]["train"] == 340
    concepts = json.loads((corpus / "descriptors.json").read_text("utf-8"))
    assert data["counts"]["labels"] == len(concepts)


def test_the_json_of_train_and_prepare_has_all_that_was_left_out_file_by_file(
    labelwise: Callable[..., Any], tmp_path: Path
) -> None:
    """The note names ten of each file."""
    data, again, once = tmp_path / "acts", tmp_path / "again.jsonl", tmp_path / "once.jsonl"
    make_dataset(data, train=30, dev=8, test=8)
    lines = {
        split: (data / f"{split}.jsonl").read_text("utf-8").splitlines()
        for split in ("train", "dev")
    }
    again.write_text("\n".join([*lines["train"][:12], *lines["dev"][:2]]), "utf-8")
    once.write_text(lines["dev"][3], "utf-8")
    ids = {split: [json.loads(line)["celex_id"] for line in lines[split]] for split in lines}
    expected = [
        {"file": str(again), "kept": "train", "ids": ids["train"][:12]},
        {"file": str(again), "kept": "dev", "ids": ids["dev"][:2]},
        {"file": str(once), "kept": "dev", "ids": [ids["dev"][3]]},
    ]
    given = ("--data", data, "--more", again, "--more", once, "--json")
    for command in (
        ("train", "exact-match", *given, "--out", tmp_path / "m"),
        ("train", "exact-match", *given, "--out", tmp_path / "hidden", "--hide", 0.25),
        ("prepare", *given, "--out", tmp_path / "prepared"),
    ):
        done = labelwise(*command)
        assert done.code == 0, done.err
        assert "and 2 more" in done.err
        assert done.json["repeated"] == expected
    alone = labelwise("train", "exact-match", "--data", data, "--out", tmp_path / "m", "--json")
    assert alone.json["repeated"] == []


def test_a_bundle_says_the_date_of_its_thesaurus_whatever_it_becomes(
    labelwise: Callable[..., Any],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compact, "timed", lambda *_: {})  # how fast it is matters elsewhere
    dated = tmp_path / "words-2026-07.json"
    dated.write_bytes((corpus / "descriptors.json").read_bytes())
    given = ("--data", corpus, "--thesaurus", dated)
    a, b, both, small = (tmp_path / name for name in ("a", "b", "both", "small"))
    for done in (
        labelwise("train", "svm", *given, "--out", a, "--set", "passes=2"),
        labelwise("train", "exact-match", *given, "--out", b),
        labelwise("join", "blend", a, b, *given, "--out", both),
        labelwise(
            "compact", a, *given, "--out", small, "--prune", "0.01", "--json", "--results", tmp_path
        ),
    ):
        assert done.code == 0, done.err
    for bundle in (a, b, both, small):
        told = bundles.describe(bundle)["card"]["data"]["thesaurus"]
        assert told == {"name": "words-2026-07", "date": "2026-07"}, bundle
        assert load(bundle).thesaurus_date == "2026-07"
    said = labelwise("card", both, "--results", tmp_path).out
    assert "Its labels are concepts of the thesaurus words-2026-07 (2026-07)." in said


def test_a_model_of_more_data_is_measured_in_a_folder_of_its_own_or_not_at_all(
    labelwise: Callable[..., Any],
    corpus: Path,
    bundle: Path,
    trained: tuple[Path, list[str]],
    tmp_path: Path,
) -> None:
    model, options = trained
    done = labelwise("evaluate", model, *options, "--results", tmp_path, "--json")
    assert done.code == 0
    assert (tmp_path / "synthetic+newlaw" / "exact-match" / "seed-0.json").is_file()
    for one, given in ((model, ("--data", corpus)), (bundle, options)):
        refused = labelwise("evaluate", one, *given, "--results", tmp_path)
        assert refused.code != 0
        assert "give the same --more" in refused.err
    assert not (tmp_path / "synthetic").exists()


@pytest.mark.usefixtures("workers_here")
def test_reproduce_takes_more_data_with_the_settings_of_the_data_alone(
    labelwise: Callable[..., Any], trained: tuple[Path, list[str]], tmp_path: Path
) -> None:
    _, options = trained
    configs = tmp_path / "configs" / "synthetic"
    configs.mkdir(parents=True)
    (configs / "exact-match.toml").write_text("# tried\nseed = 0\n", "utf-8")
    places = ("--out", tmp_path / "results", "--bundles", tmp_path / "bundles")
    done = labelwise(
        "reproduce", *options, *places, "--configs", tmp_path / "configs", "-m", "exact-match"
    )
    assert done.code == 0, done.err
    (path,) = (tmp_path / "results").rglob("seed-0.json")
    run = Run.read(path)
    assert path.parent.parent.name == run.data.name == "synthetic+newlaw"
    assert "--more newlaw/train-titles.jsonl" in run.command
    assert (tmp_path / "bundles" / "synthetic+newlaw" / "exact-match-0.bundle").is_dir()
    assert "finished before" in labelwise("reproduce", *options, *places, "-m", "exact-match").err


@pytest.mark.usefixtures("workers_here")
def test_a_prepared_corpus_has_what_it_was_prepared_with(
    labelwise: Callable[..., Any],
    trained: tuple[Path, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    _, options = trained
    prepared = tmp_path / "prepared"
    done = labelwise("prepare", *options, "--every-concept", "--out", prepared)
    assert done.code == 0, done.err
    assert "left out 1 document" in done.err
    made = json.loads((prepared / "data.json").read_text("utf-8"))["data"]
    assert made["name"] == "synthetic+newlaw+every-concept"
    assert made["counts"]["train"] == 340
    places = ("--out", tmp_path / "results", "--bundles", tmp_path / "bundles", "--no-report")
    quick = ("epochs=1", "filters=8", "blocks=2", "max_tokens=20", "device=cpu")
    given = [word for one in quick for word in ("--set", one)]
    alone = ("reproduce", "--prepared", prepared, "-m", "dcnn-lwan", "--seeds", 1)
    assert labelwise(*alone, *places, *given).code == 0
    (path,) = (tmp_path / "results").rglob("seed-0.json")
    assert path.parent.parent.name == "synthetic+newlaw+every-concept"


def labelled(path: Path, acts: list[dict[str, Any]], unknown: int) -> Path:
    """Acts with their gold labels, the first so many with one more that nobody knows."""
    records = [
        {**one, "concepts": [*one["concepts"], "new-1"] if n < unknown else one["concepts"]}
        for n, one in enumerate(acts)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


def test_a_file_is_measured_as_the_split_that_holds_the_same_documents(
    labelwise: Callable[..., Any],
    corpus: Path,
    bundle: Path,
    acts: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    file = labelled(tmp_path / "acts.jsonl", acts, unknown=0)
    on = labelwise("evaluate", bundle, "--on", file, "--results", tmp_path, "--json").json
    split = labelwise("evaluate", bundle, "--data", corpus, "--results", tmp_path, "--json").json
    assert on["data"]["counts"] == {"test": 60, "unknown labels": 0, "unknown gold": 0}
    assert on["data"]["trained_on"] == "synthetic"
    written = json.loads((tmp_path / on["data"]["name"] / "documents.json").read_text("utf-8"))
    assert [id for (id,) in written["test"]] == [one["celex_id"] for one in acts]
    for group, figures in split["measures"]["test"].items():
        assert on["measures"]["test"][group] == pytest.approx(figures), group
    said = labelwise("evaluate", bundle, "--on", file, "--results", tmp_path).out
    assert f"threshold of the model: {on['threshold']:.4f}" in said
    assert "threshold tuned on dev" not in said


def test_the_first_words_of_documents_are_a_data_set_of_their_own(
    labelwise: Callable[..., Any], bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = labelled(tmp_path / "law" / "dev.jsonl", acts, unknown=0)
    asked = ("evaluate", bundle, "--on", file, "--results", tmp_path)
    whole = labelwise(*asked, "--json").json
    cut = labelwise(*asked, "--first-words", 40, "--json").json
    assert cut["data"]["name"] == "law-dev-first-40-words"
    assert cut["data"]["beginning"]["fingerprint"] == whole["data"]["fingerprint"]
    assert cut["measures"]["dev"]["all"]["RP@5"] != whole["measures"]["dev"]["all"]["RP@5"]
    runs = [tmp_path / one["data"]["name"] / "svm@synthetic/seed-0.json" for one in (whole, cut)]
    assert "their data differs" in labelwise("compare", *runs, "--split", "dev").err
    assert (
        "--first-words goes with --on"
        in labelwise("evaluate", bundle, "--data", file.parent, "--first-words", 40).err
    )


def test_zones_are_read_otherwise_without_a_training_and_what_comes_of_it_is_kept(
    labelwise: Callable[..., Any],
    bundle: Path,
    acts: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = labelled(tmp_path / "law" / "dev.jsonl", acts, unknown=0)
    asked = ("evaluate", bundle, "--on", file, "--results", tmp_path)
    tried = ("--try", "articles_weight=0,annexes_weight=0", "--try", "zone_words=10")
    made = labelwise(*asked, *tried, "--json").json
    trials = read_trials(tmp_path / "law-dev" / "svm@synthetic" / "trials.jsonl")
    assert [one.settings["articles_weight"] for one in trials] == [1, 0, 1]
    assert [one.settings["zone_words"] for one in trials] == [0, 0, 10]
    first, *others = (one.value for one in trials)
    assert first == made["measures"]["dev"]["all"]["RP@5"]
    assert len({first, *others}) > 1
    assert labelwise("report", tmp_path).code == 0
    assert "articles_weight" in (tmp_path / "law-dev" / "README.md").read_text("utf-8")
    # What cannot be tried is told before anything is measured.
    monkeypatch.setattr("labelwise.experiments.evaluate.measure_file", None)
    refused = [labelwise(*asked, "--try", one).err for one in ("C=2", "zones=1")]
    assert "'C' needs a training" in refused[0]
    assert "there is no setting 'zones'" in refused[1]
    test = labelled(tmp_path / "law" / "test.jsonl", acts, unknown=0)
    on_test = labelwise("evaluate", bundle, "--on", test, "--results", tmp_path, *tried)
    assert "settings are chosen on dev" in on_test.err
    assert "--try goes with --on" in labelwise("evaluate", bundle, "--data", file, *tried).err


def test_bad_records_are_skipped_however_the_others_are_read(
    labelwise: Callable[..., Any], bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = labelled(tmp_path / "law" / "dev.jsonl", acts, unknown=0)
    asked = ("evaluate", bundle, "--on", file, "--results", tmp_path, "--try", "zone_words=10")
    trials = tmp_path / "law-dev" / "svm@synthetic" / "trials.jsonl"
    assert labelwise(*asked).code == 0
    before = [one.value for one in read_trials(trials)]
    with file.open("a") as opened:
        opened.write('\n{"celex_id": \n')
    assert labelwise(*asked).code == 1
    called = labelwise(*asked, "--skip-bad")
    assert called.code == 0, called.err
    assert called.err.count("skipped 1 ") == 1
    assert [one.value for one in read_trials(trials)] == before


def test_what_is_made_of_others_reads_otherwise_as_they_do(
    labelwise: Callable[..., Any], bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = labelled(tmp_path / "law" / "dev.jsonl", acts, unknown=0)
    blend = Blend.from_methods([bundles.load(bundle), bundles.load(bundle)])
    bundles.save(blend, tmp_path / "blend.bundle", card=bundles.describe(bundle)["card"])
    on = ("--on", file, "--results", tmp_path)
    asked = ("evaluate", tmp_path / "blend.bundle", *on)
    assert labelwise(*asked, "--try", "zone_words=10").code == 0
    assert labelwise("evaluate", bundle, *on, "--try", "zone_words=10").code == 0
    of_blend, of_one = (
        read_trials(tmp_path / "law-dev" / f"{name}@synthetic" / "trials.jsonl")
        for name in ("blend", "svm")
    )
    assert [one.settings["1/svm.zone_words"] for one in of_blend] == [0, 10]
    assert [one.settings["2/svm.zone_words"] for one in of_blend] == [0, 10]
    # Twice the same member ranks as it does alone.
    assert [one.value for one in of_blend] == [one.value for one in of_one]
    assert of_one[0].value != of_one[1].value
    refused = [labelwise(*asked, "--try", one).err for one in ("C=2", "pieces=4", "zone_words=x")]
    assert "'C' needs a training" in refused[0]
    assert "there is no setting 'pieces'; what is read can be tried without: header" in refused[1]
    assert "the setting 'zone_words' of svm cannot be 'x'" in refused[2]


def test_labels_that_a_model_does_not_know_are_missed(
    labelwise: Callable[..., Any], bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    known = labelled(tmp_path / "new" / "test.jsonl", acts, unknown=0)
    some = labelled(tmp_path / "newer" / "test.jsonl", acts, unknown=25)
    for file in (known, some):
        assert labelwise("evaluate", bundle, "--on", file, "--results", tmp_path).code == 0
    before, after = (
        Run.read(tmp_path / name / "svm@synthetic" / "seed-0.json")
        for name in ("new-test", "newer-test")
    )
    assert after.data.counts == {"test": 60, "unknown labels": 1, "unknown gold": 25}
    assert after.data.groups["zero"] == before.data.groups["zero"] + 1
    counts = [run.f1_counts("test", "all").sum(axis=0) for run in (before, after)]
    np.testing.assert_array_equal(counts[1] - counts[0], [0, 0, 25])
    # The same hits, over one gold label more.
    hits = [run.measures["test"].counts.hits[0] for run in (before, after)]
    np.testing.assert_array_equal(*hits)
    recall = [run.per_document("test", "all", "R@5") for run in (before, after)]
    gold = before.measures["test"].counts.gold_labels("all")
    np.testing.assert_allclose(recall[1][:25], (recall[0] * gold / (gold + 1))[:25])
    assert after.value("test", "all", "nDCG@5") < before.value("test", "all", "nDCG@5")
    assert after.value("test", "all", "macro-F1") < before.value("test", "all", "macro-F1")


def test_models_with_other_labels_are_compared_on_a_file_over_all_labels(
    labelwise: Callable[..., Any],
    bundle: Path,
    trained: tuple[Path, list[str]],
    acts: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    file = labelled(tmp_path / "law" / "dev.jsonl", acts, unknown=3)
    for model in (bundle, trained[0]):
        done = labelwise("evaluate", model, "--on", file, "--results", tmp_path)
        assert "labels that the model does not know: 1, gold 3 times, each missed" in done.out
    folder = tmp_path / "law-dev"
    assert sorted(one.name for one in folder.iterdir() if one.is_dir()) == [
        "exact-match@synthetic+newlaw",
        "svm@synthetic",
    ]
    made = labelwise("compare", folder, "--split", "dev", "--json", "--rounds", 50)
    assert made.code == 0, made.err
    assert made.json["methods"][0]["method"] == "svm@synthetic"
    refused = labelwise("compare", folder, "--split", "dev", "--group", "few")
    assert "gold labels of their documents differ" in refused.err
    assert labelwise("report", tmp_path).code == 0
    assert "each model" in (folder / "README.md").read_text("utf-8")


def test_gold_labels_that_were_replaced_are_looked_for_under_today_s_ids(
    labelwise: Callable[..., Any], bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    space = bundles.load(bundle).label_space
    old = [{**one, "concepts": [f"old-{label}" for label in one["concepts"]]} for one in acts]
    file = tmp_path / "old.jsonl"
    file.write_text("\n".join(map(json.dumps, old)), "utf-8")
    thesaurus = tmp_path / "today.json"
    concepts = [{"id": one.id, "label": one.descriptor} for one in space.labels]
    concepts += [{"id": f"old-{id}", "label": "?", "replaced_by": [id]} for id in space.ids]
    thesaurus.write_text(json.dumps(concepts), "utf-8")
    places = ("--on", file, "--results", tmp_path, "--json")
    assert labelwise("evaluate", bundle, *places).json["measures"]["test"]["all"]["RP@5"] == 0
    found = labelwise("evaluate", bundle, *places, "--thesaurus", thesaurus).json
    assert found["data"]["counts"]["unknown labels"] == 0
    assert found["measures"]["test"]["all"]["RP@5"] > 0.3


def test_what_does_not_go_together_is_said(
    labelwise: Callable[..., Any],
    bundle: Path,
    act: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    assert "--on is needed" in labelwise("evaluate", bundle).err
    assert (
        "--on measures on one file"
        in labelwise("evaluate", bundle, "--on", act, "--split", "dev").err
    )
    text = tmp_path / "act.txt"
    text.write_text("Oranges may be imported.", "utf-8")
    assert "has a gold label to measure against" in labelwise("evaluate", bundle, "--on", text).err
    prepared = ("reproduce", "--prepared", tmp_path, "--more", act)
    assert "--more and its like go with --data" in labelwise(*prepared).err
