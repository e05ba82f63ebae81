"""The whole table by one command: killed in the middle, called again, never done twice.

The networks are tiny and hardly trained: what is tested is the way, not how good they are.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_cases import frequent_words, tiny_encoder
from worker_cases import PoolHere

from labelwise import bundle as bundles
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.measures import evaluate_topk
from labelwise.evaluation.runs import DataRecord, Run
from labelwise.experiments import corpora, staleness, trainings
from labelwise.experiments.join import join
from labelwise.methods import REGISTRY, get
from labelwise.text.tokenized import tokenize_corpus
from labelwise.text.vectors import read_vectors
from labelwise.training.prepared import make_split, prepare, write_prepared
from labelwise.training.vector_rows import write_vector_rows
from labelwise.tuning import jobs

CNN = ("epochs=3", "max_tokens=60", "filters=8", "kernel=3")
RNN = ("epochs=3", "max_tokens=60", "units=8", "z_units=8")


def sets(settings: tuple[str, ...]) -> list[str]:
    return [word for one in settings for word in ("--set", one)]


CHECKPOINTS = """
import sys
from labelwise.training import loop
loop.CHECKPOINT_SECONDS = 0.0
from labelwise.experiments.worker import main
main()
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reproduce") / "acts"
    make_dataset(folder, train=80, dev=16, test=16)
    return folder


@pytest.fixture
def here(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with settings for one method."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    (tmp_path / "configs" / "acts").mkdir(parents=True)
    (tmp_path / "configs" / "acts" / "cnn-lwan.toml").write_text(
        'vectors = "vectors.txt"\ndropout = 0.1\n'
    )
    return tmp_path


def start(*arguments: object) -> subprocess.Popen[bytes]:
    code = "from labelwise.cli import main; main()"
    command = [sys.executable, "-c", code, "reproduce", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(20_000):  # the machine may be busy
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"


def children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(one) for one in found.read_text().split()]


def stamps(folder: Path) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("seed-*.json")}


def test_killed_in_the_middle_it_goes_on_and_ends_with_the_report(
    labelwise: Callable[..., Any], here: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--data", data, "-m", "exact-match,cnn-lwan", "--seeds", 2, "--jobs", 2, *sets(CNN))
    first = start(*asked)
    run, job = here / "results/acts/exact-match/seed-0.json", here / "bundles/cnn-lwan-0.job.json"
    wait_until(run.exists)
    wait_until(job.exists)
    workers = children(first.pid)
    kill(first)
    wait_until(lambda: not any(map(alive, workers)))  # each sees that it is alone, once it runs
    assert not (here / "results/acts/cnn-lwan/seed-0.json").exists()

    # A worker killed after some steps, as on a machine that was switched off.
    command = [sys.executable, "-c", CHECKPOINTS, str(job), str(os.getpid())]
    worker = subprocess.Popen(command)
    checkpoint = Path(json.loads(job.read_text())["run_dir"]) / "checkpoint.safetensors"
    wait_until(checkpoint.exists)
    kill(worker)
    log = (checkpoint.parent / "log.jsonl").read_text().splitlines()

    before = stamps(here)
    monkeypatch.setattr(jobs, "Pool", PoolHere)
    said = labelwise("reproduce", *asked)
    assert said.code == 0, said.err
    assert "exact-match, seed 0: finished before" in said.err
    assert "cnn-lwan, seed 1: started" in said.err
    assert "exact-match, seed 1" not in said.err  # nothing in it depends on a seed
    resumed = (here / "results/acts/cnn-lwan/seed-0.log.jsonl").read_text().splitlines()
    assert resumed[0] == log[0]  # the start, with what the first training wrote
    assert [json.loads(line)["event"] for line in resumed] == [
        *("start", "epoch", "epoch", "epoch", "end")
    ]
    assert not checkpoint.exists()
    after = stamps(here)
    assert {file: after[file] for file in before} == before
    assert len(after) == 3

    page = (here / "results/acts/README.md").read_text("utf-8")
    assert "Mean ± standard deviation over seeds: cnn-lwan 2, exact-match 1." in page
    assert "labelwise reproduce --set epochs=3" in page
    assert str(here) not in page
    assert (here / "results/acts/curves.svg").exists()
    header = (here / "results/acts/labels.csv").read_text("utf-8").splitlines()[0]
    assert header.endswith("test documents,cnn-lwan F1,exact-match F1")

    again = labelwise("reproduce", *asked)
    assert again.code == 0
    assert again.err.count("finished before") == 3
    assert stamps(here) == after


@pytest.mark.usefixtures("workers_here")
def test_other_settings_are_other_results_and_the_file_of_settings_counts(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    asked = ("--data", data, "-m", "cnn-lwan", "--seeds", 1, "--jobs", 2, "--no-report")
    assert labelwise("reproduce", *asked, *sets(CNN)).code == 0
    run = Run.read(here / "results/acts/cnn-lwan/seed-0.json")
    assert run.settings["dropout"] == 0.1
    assert run.settings["vectors"] == "vectors.txt"  # the name, not where it lay
    assert (run.device, run.command) == (
        "cpu",
        "labelwise reproduce" + "".join(f" --set {one}" for one in CNN),
    )
    assert not (here / "results/acts/README.md").exists()

    # What the run was made of can be used elsewhere.
    dataset = open_dataset(data)
    model = bundles.load(here / "bundles/cnn-lwan-0.bundle")
    places = bundles.thesaurus(here / "bundles/cnn-lwan-0.bundle")
    assert dataset.thesaurus is not None
    assert places == dataset.thesaurus.around(dataset.label_space.ids)
    with np.load(here / "bundles/cnn-lwan-0.scores.npz") as kept:
        columns, odds = kept["test.columns"], kept["test.log_odds"]
    scores = 1 / (1 + np.exp(-odds.astype(np.float32)))
    found = np.take_along_axis(model.scores(dataset.test), columns, axis=1)
    np.testing.assert_allclose(found, scores, atol=0.01)  # the bundle has half precision
    gold = dataset.label_space.gold(dataset.test)
    again = evaluate_topk(columns, scores, gold, dataset.label_space)
    # Half precision ties labels that are all but equal.
    assert again["all"]["RP@5"] == pytest.approx(run.value("test", "all", "RP@5"), abs=0.01)

    assert "finished before" in labelwise("reproduce", *asked, *sets(CNN), "--max-seconds", 99).err
    (here / "configs/acts/cnn-lwan.toml").write_text("dropout = 0.2\n")
    said = labelwise("reproduce", *asked, *sets(CNN))
    assert "cnn-lwan, seed 0: started" in said.err
    assert Run.read(here / "results/acts/cnn-lwan/seed-0.json").settings["dropout"] == 0.2


def test_the_runs_that_are_kept_say_themselves_what_they_were_joined_from() -> None:
    """By which the report tells what is joined from what is trained."""
    for file in sorted(Path(__file__).parents[2].glob("results/*/*/seed-*.json")):
        record = json.loads(file.read_text("utf-8"))
        if record["method"] in REGISTRY:
            members = {name.rpartition("-")[0] for name in record.get("members", {})}
            assert bool(members) == bool(get(record["method"]).joined_from), file
            assert members <= set(get(record["method"]).joined_from), file


@pytest.mark.usefixtures("workers_here")
def test_what_cannot_rank_unseen_labels_has_no_ranked_figure_of_them(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    asked = ("--data", data, "--seeds", 1, "--no-report")
    said = labelwise("reproduce", *asked, "-m", "svm,lexical")
    assert said.code == 0, said.err
    for method, ranks in (("svm", False), ("lexical", True)):
        figures = json.loads((here / f"results/acts/{method}/seed-0.json").read_text())["measures"]
        for split in ("dev", "test"):
            assert figures[split]["zero"]["documents"] > 0
            for name in ("P@1", "R@10", "RP@5", "nDCG@5"):
                assert (figures[split]["zero"][name] is not None) == ranks


@pytest.mark.usefixtures("workers_here")
def test_from_numbers_alone_networks_are_trained_and_joined(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    prepared, rows = prepare_folder(open_dataset(data), here / "prepared")
    asked = ("--prepared", prepared, "--seeds", 1, "--jobs", 2, "--no-report")
    joined = (*asked, "-m", "ensemble-lwan", *sets(RNN))
    said = labelwise("reproduce", *joined)
    assert said.code == 0, said.err
    by_method = {file.parent.name: Run.read(file) for file in here.rglob("seed-0.json")}
    assert set(by_method) == {"bigru-lwan", "z-bigru-lwan", "ensemble-lwan"}
    ensemble, lwan = by_method["ensemble-lwan"], by_method["bigru-lwan"]
    assert ensemble.value("test", "few", "RP@5") == lwan.value("test", "few", "RP@5")
    z = by_method["z-bigru-lwan"].value("test", "zero", "RP@5")
    np.testing.assert_equal(ensemble.value("test", "zero", "RP@5"), z)
    assert ensemble.data.fingerprint == open_dataset(data).fingerprint
    assert lwan.settings["vectors"] == "vectors.txt"
    assert bundles.load(here / "bundles/ensemble-lwan-0.bundle").name == "ensemble-lwan"

    # The ensemble is made again from the bundles alone, and a member only where its bundle is gone.
    (here / "results/acts/ensemble-lwan/seed-0.json").unlink()
    (here / "bundles/z-bigru-lwan-0.bundle/bundle.json").unlink()
    said = labelwise("reproduce", *joined)
    assert "\nbigru-lwan, seed 0: finished before" in f"\n{said.err}"
    assert "z-bigru-lwan, seed 0: started" in said.err
    assert "ensemble-lwan, seed 0: started" in said.err

    # Other vectors for the same numbers, by name.
    (here / "configs/acts/cnn-lwan.toml").write_text('vectors = "vectors.txt+own.txt"\n')
    of_cnn = (*asked, "-m", "cnn-lwan", *sets(CNN))
    said = labelwise("reproduce", *of_cnn)
    assert said.code == 1
    assert "cnn-lwan asks for vectors=vectors.txt+own.txt, but the prepared corpus has" in said.err
    said = labelwise("reproduce", *of_cnn, "--vectors", rows)
    assert said.code == 0, said.err
    run = Run.read(here / "results/acts/cnn-lwan/seed-0.json")
    assert (run.settings["vectors"], run.settings["dim"]) == ("vectors.txt+own.txt", 53)
    model: Any = bundles.load(here / "bundles/cnn-lwan-0.bundle")
    assert model.network.words.weight.shape[1] == 53


@pytest.mark.usefixtures("workers_here")
def test_a_blend_is_made_from_several_corpora_in_numbers_and_members_from_elsewhere(
    labelwise: Callable[..., Any], here: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine that has a GPU and little else: nothing is read but numbers and bundles."""
    known = open_dataset(data)
    words = frequent_words(section.text for act in known.train for section in act.sections)
    encoders = {"minilm": tiny_encoder("bert", words), "mpnet": tiny_encoder("mpnet", words)}
    (here / "encoders").mkdir()
    monkeypatch.setenv("LABELWISE_ENCODERS", str(here / "encoders"))
    in_numbers: list[Any] = []
    for name, folder in encoders.items():
        (here / "encoders" / name).symlink_to(folder)
        (here / f"configs/acts/{name}-lwan.toml").write_text(
            f'encoder = "{name}"\npiece_tokens = 20\nstride = 20\nepochs = 1\n'
        )
        asked = ("--data", data, "--encoder", here / "encoders" / name, "--most", 40)
        assert labelwise("prepare", *asked, "--out", here / f"in-{name}").code == 0
        in_numbers += ["--prepared", here / f"in-{name}"]
    (here / "configs/acts/svm.toml").write_text("min_count = 2\n")
    blend = (*in_numbers, "-m", "blend", "--seeds", "1-1", "--no-report")
    said = labelwise("reproduce", *blend)
    assert said.code == 1
    assert "lexical, seed 0, is trained on documents, and bundles/lexical-0.bundle is not" in (
        said.err
    )

    elsewhere = ("--data", data, "-m", "svm,lexical", "--no-report", "--out", here / "elsewhere")
    assert labelwise("reproduce", *elsewhere).code == 0
    said = labelwise("reproduce", *blend)
    assert said.code == 0, said.err
    made = {file.parent.name: Run.read(file) for file in (here / "results").rglob("seed-*.json")}
    assert {name: run.seed for name, run in made.items()} == {
        "minilm-lwan": 1, "mpnet-lwan": 1, "blend": 1,
    }  # fmt: skip
    members = {"svm-0", "lexical-0", "minilm-lwan-1", "mpnet-lwan-1"}
    assert set(made["blend"].members) == members
    assert made["blend"].data.fingerprint == known.fingerprint
    paths = [here / f"bundles/{name}.bundle" for name in made["blend"].members]
    join("blend", paths, data=data, out=here / "again.bundle", results=here / "again")
    (again,) = map(Run.read, (here / "again").rglob("seed-*.json"))
    for figure in ("RP@5", "nDCG@10", "micro-F1 tuned"):
        for split in ("dev", "test"):
            found = made["blend"].value(split, "all", figure)
            assert found == pytest.approx(again.value(split, "all", figure))

    # Without the scores that were kept of it, a member would have to read.
    (here / "bundles/svm-0.scores.npz").unlink()
    (here / "results/acts/blend/seed-1.json").unlink()
    said = labelwise("reproduce", *blend)
    assert "svm reads documents, and not a prepared corpus: give the documents, or the" in said.err


def test_of_several_corpora_in_numbers_each_is_of_a_kind_of_its_own(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    made, _ = prepare_folder(open_dataset(data), here / "one")
    shutil.copytree(made, here / "other")
    said = labelwise("reproduce", "--prepared", made, "--prepared", here / "other")
    assert f"{made} and {here / 'other'} are both prepared in words: give one" in said.err
    record = json.loads((here / "other/data.json").read_text())
    record["data"]["fingerprint"] = "another"
    (here / "other/data.json").write_text(json.dumps(record))
    said = labelwise("reproduce", "--prepared", made, "--prepared", here / "other")
    assert f"{here / 'other'} was prepared from other documents than those of {made}" in said.err


@pytest.mark.parametrize("given", ["0", "", "many", "-1", "4-3", "1.5", "2,3", "1-", "²"])
def test_seeds_are_how_many_or_from_which_to_which(
    labelwise: Callable[..., Any], data: Path, given: str
) -> None:
    said = labelwise("reproduce", "--data", data, f"--seeds={given}")
    assert said.code == 2
    assert f"--seeds is how many, as 5, or which, as 3-4, not '{given}'" in said.err


BARE = """
import sys
MISSING = {"numba", "omikuji", "rdflib", "ahocorasick", "optuna", "fastapi", "uvicorn",
           "sqlalchemy", "psutil"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in MISSING:
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
"""
"""What a machine with a GPU may lack (and pydantic, but for typer, which may want it)."""


def test_networks_are_trained_where_nothing_but_the_core_is_installed(
    here: Path, data: Path
) -> None:
    prepared, _ = prepare_folder(open_dataset(data), here / "prepared")
    (here / "site").mkdir()
    (here / "site" / "sitecustomize.py").write_text(BARE)  # for the workers too
    path = os.pathsep.join([str(here / "site"), str(Path(trainings.__file__).parents[2])])
    command = [sys.executable, "-m", "labelwise", "reproduce", "--prepared", prepared]
    asked = [*command, "-m", "z-cnn-lwan", "--seeds", "1", "--jobs", "2", "--no-report", *sets(CNN)]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert Run.read(here / "results/acts/z-cnn-lwan/seed-0.json").device == "cpu"


def prepare_folder(dataset: Dataset, folder: Path) -> tuple[Path, Path]:
    """The corpus in numbers, and three more numbers for each word's vector."""
    file = Path(dataset.paths["train"]).parent / "vectors.txt"
    made = prepare(dataset.train, dataset.dev, dataset.label_space, vectors=file, min_count=2)
    corpus = tokenize_corpus(dataset.test)
    write_prepared(
        folder, made, make_split(dataset.test, corpus, made.vocabulary, dataset.label_space)
    )
    record = {
        "data": asdict(DataRecord.of(dataset)),
        "settings": {"dim": 50, "min_count": 2, "vectors": "vectors.txt"},
    }
    (folder / "data.json").write_text(json.dumps(record))
    known = read_vectors(file)
    own = type(known)(known.words, known.matrix[:, :3])
    rows = folder.parent / "rows.npz"
    write_vector_rows(rows, own, made.vocabulary, name="vectors.txt+own.txt", beside=True)
    return folder, rows


@pytest.mark.usefixtures("workers_here")
def test_what_fails_is_named_and_the_others_go_on(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    (here / "configs/acts/bigru-lwan.toml").write_text("device = 'cuda:7'\n")
    asked = ("--data", data, "--seeds", 1, *sets(RNN), "-m", "ensemble-lwan,exact-match")
    said = labelwise("reproduce", *asked, "--jobs", 2)
    assert said.code == 1
    assert "bigru-lwan, seed 0: failed (labelwise: the device 'cuda:7' cannot be used" in said.err
    assert "ensemble-lwan, seed 0: left out, for a member failed" in said.err
    assert "2 of 4 trainings failed (bigru-lwan-0, ensemble-lwan-0)" in said.err
    assert (here / "results/acts/exact-match/seed-0.json").exists()
    assert "| exact-match |" in (here / "results/acts/README.md").read_text("utf-8")


@pytest.mark.usefixtures("workers_here")
def test_without_dev_documents_nothing_can_be_chosen(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    shutil.copytree(data, here / "acts")
    (here / "acts" / "dev.jsonl").unlink()
    said = labelwise("reproduce", "--data", here / "acts", "-m", "exact-match", "--seeds", 1)
    assert said.code == 1
    assert "exact-match, seed 0: failed (labelwise: the data set acts has no dev" in said.err
    assert "1 of 1 trainings failed (exact-match-0): their logs are in bundles" in said.err


def test_it_ends_in_time_and_says_how_to_go_on(
    labelwise: Callable[..., Any], here: Path, data: Path
) -> None:
    asked = ("--data", data, "--seeds", 3, *sets(CNN), "-m", "cnn-lwan", "--stop-after", 0.5)
    said = labelwise("reproduce", *asked)
    assert said.code == 0
    assert "stopped with 3 of 3 trainings to go: call the same command again" in said.err
    assert not (here / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "--data (or LABELWISE_DATA) or --prepared is needed"),
        (("--data", "DATA", "-m", "bert"), 1, "no method is called 'bert'"),
        (("--data", "DATA", "-m", "svm", "--set", "unit=3"), 1, "has a setting 'unit'"),
        (("--data", "DATA", "--vectors", "rows.npz"), 2, "--vectors goes with --prepared"),
        (("--prepared", "none"), 1, "none: this is not a prepared corpus"),
        (("--data", "DATA", "--seeds", "0"), 2, "--seeds"),
    ],
)
def test_a_wrong_call_is_explained(
    labelwise: Callable[..., Any],
    here: Path,
    data: Path,
    arguments: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    said = labelwise("reproduce", *(data if word == "DATA" else word for word in arguments))
    assert said.code == code
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_vectors_are_learned_or_joined_where_settings_ask_for_them(
    here: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    config = here / "configs/acts/han.toml"
    config.write_text('vectors = "vectors.txt+skipgram-4.txt.xz"\n')
    corpus = corpora.open_corpus(data, (), ())
    folders = trainings.Folders(here / "results", here / "bundles")
    (one,) = trainings.trainings(["han"], range(1), corpus, here / "configs", ())
    job = trainings.job_of(one, corpus, folders, "")
    assert "learning skipgram-4.txt.xz" in capsys.readouterr().err
    file = dict(setting.split("=") for setting in job.settings)["vectors"]
    kept = here / "bundles/vectors" / corpus.fingerprint
    assert Path(file) == kept / "vectors.txt+skipgram-4.txt.xz"
    assert read_vectors(file).dim == 54
    trainings.job_of(one, corpus, folders, "")
    assert capsys.readouterr().err == ""  # they are kept


def test_vectors_learned_from_other_documents_are_not_taken(
    here: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two data sets share a folder of bundles, and the second was trained with the vectors of the
    first without a word."""
    pytest.importorskip("numba")
    (here / "others").mkdir()
    make_dataset(here / "others", seed=7, train=40, dev=8, test=8)
    folders = trainings.Folders(here / "results", here / "bundles")
    files = []
    for folder in (data, here / "others"):
        corpus = corpora.open_corpus(folder, (), ())
        given = ["vectors=skipgram-4.txt.xz"]
        (one,) = trainings.trainings(["han"], range(1), corpus, here / "configs", given)
        job = trainings.job_of(one, corpus, folders, "")
        assert "learning skipgram-4.txt.xz" in capsys.readouterr().err
        files.append(dict(setting.split("=") for setting in job.settings)["vectors"])
    first, second = map(read_vectors, files)
    assert first.words != second.words


def test_the_checkpoint_of_other_documents_is_not_in_the_way(here: Path, data: Path) -> None:
    """A training was killed, and then its data changed, or another data set was asked for: the
    checkpoint did not fit, and `reproduce` has no way to train without resuming."""
    (here / "others").mkdir()
    make_dataset(here / "others", seed=7, train=40, dev=8, test=8)
    folders = trainings.Folders(here / "results", here / "bundles")
    kept = set()
    for folder in (data, here / "others"):
        corpus = corpora.open_corpus(folder, (), ())
        (one,) = trainings.trainings(["han"], range(1), corpus, here / "none", ())
        kept |= {trainings.job_of(one, corpus, folders, "").run_dir for _ in range(2)}
    assert len(kept) == 2


def test_what_is_joined_from_networks_has_as_many_seeds_as_they_have(
    here: Path, data: Path
) -> None:
    """Of a method that is none the same run serves all seeds."""
    corpus = corpora.open_corpus(data, (), ())
    names = trainings.method_names(["blend"], corpus)
    made = {
        one.name: one for one in trainings.trainings(names, range(2), corpus, here / "none", ())
    }
    assert {"svm-0", "lexical-0", "minilm-lwan-0", "minilm-lwan-1", "blend-1"} <= set(made)
    assert not {"svm-1", "lexical-1"} & set(made)
    assert made["blend-1"].members == ("svm-0", "minilm-lwan-1", "mpnet-lwan-1", "lexical-0")


def test_a_setting_that_an_older_run_does_not_know_had_its_default(here: Path, data: Path) -> None:
    corpus = corpora.open_corpus(data, (), ())
    (one,) = trainings.trainings(["han"], range(1), corpus, here / "configs", ())
    older = {k: v for k, v in asdict(one.settings).items() if k not in ("clip", "max_sections")}
    cls = type(one.settings)
    assert trainings.compared(older, cls) == one.compared
    assert trainings.compared({**older, "clip": 1.0}, cls) != one.compared
    assert trainings.compared({**older, "vectors": "/a/glove.txt", "dim": 7}, cls) == (
        trainings.compared({**older, "vectors": "glove.txt"}, cls)
    )


def test_a_run_that_the_clock_cut_short_is_finished_only_for_as_short_a_time(
    here: Path, data: Path
) -> None:
    corpus = corpora.open_corpus(data, (), ())
    folders = trainings.Folders(here / "results", here / "bundles")

    def left(*given: str) -> list[str]:
        made = trainings.trainings(["han"], range(1), corpus, here / "configs", given)
        return list(staleness.unfinished({one.name: one for one in made}, corpus, folders))

    (one,) = trainings.trainings(["han"], range(1), corpus, here / "configs", ["max_seconds=400"])
    file = here / "results/acts/han/seed-0.json"
    file.parent.mkdir(parents=True)
    record = {"data": {"fingerprint": corpus.fingerprint}, "settings": asdict(one.settings)}
    file.write_text(json.dumps(record))
    log = file.with_suffix(".log.jsonl")
    log.write_text('{"event": "start"}\n{"event": "end", "epoch": 4, "best_epoch": 3}\n')
    assert left("max_seconds=400") == left("max_seconds=300") == []
    assert left() == left("max_seconds=500") == ["han-0"]
    log.write_text('{"event": "end", "epoch": 10, "best_epoch": 9}\n')
    assert left() == []
    log.write_text('{"event": "end", "epoch": 4, "best_epoch": 1}\n')  # dev had stopped rising
    assert left() == []
