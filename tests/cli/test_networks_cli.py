"""Networks by command: trained, killed and resumed, tagging, explaining, with labels added later.

They are tiny and hardly trained: what is tested is the way, not how good they are.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from encoder_cases import tiny_encoder

from labelwise import bundle as bundles
from labelwise.cli import main
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.tables import number
from labelwise.experiments.run_folder import logs_of
from labelwise.experiments.settings import parse_settings
from labelwise.methods import REGISTRY, get
from labelwise.methods.base import Settings
from labelwise.methods.network import NetworkSettings
from labelwise.training.checkpoint import read_checkpoint
from labelwise.training.loop import RunFolder

NETWORKS = [name for name in REGISTRY if issubclass(get(name).Settings, NetworkSettings)]

RNN = ("dim=16", "units=8", "epochs=2", "max_tokens=24")
CNN = ("dim=16", "filters=16", "kernel=3", "epochs=2", "max_tokens=80")


def sets(*assignments: str) -> list[str]:
    return [word for one in assignments for word in ("--set", one)]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def acts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set that a network reads in a moment."""
    folder = tmp_path_factory.mktemp("networks") / "synthetic"
    make_dataset(folder, train=80, dev=16, test=16)
    return folder


def trained(method: str, data: Path, out: Path, *settings: str) -> Path:
    torch.set_num_threads(1)
    with pytest.raises(SystemExit) as ended:
        main(["-q", "train", method, "--data", str(data), "--out", str(out), *sets(*settings)])
    assert ended.value.code == 0
    return out


@pytest.fixture(scope="session")
def lwan(acts_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained("bigru-lwan", acts_folder, tmp_path_factory.mktemp("b") / "lwan.bundle", *RNN)


@pytest.fixture(scope="session")
def z(acts_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained("z-cnn-lwan", acts_folder, tmp_path_factory.mktemp("b") / "z.bundle", *CNN)


@pytest.fixture(scope="session")
def minilm(acts_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network whose encoder knows a few words, and all others by their letters."""
    tiny = ("epochs=1", "piece_tokens=30", "stride=30", f"encoder={tiny_encoder('bert')}")
    out = tmp_path_factory.mktemp("b") / "minilm.bundle"
    return trained("minilm-lwan", acts_folder, out, *tiny, "device=cpu")


@pytest.fixture
def one(acts_folder: Path, tmp_path: Path) -> Path:
    """The first test act as a file."""
    path = tmp_path / "act.json"
    path.write_text((acts_folder / "test.jsonl").read_text("utf-8").splitlines()[0], "utf-8")
    return path


# Joining


def test_two_saved_networks_are_joined_into_an_ensemble(
    labelwise: Callable, acts_folder: Path, lwan: Path, z: Path, tmp_path: Path
) -> None:
    unseen = trained("z-bigru-lwan", acts_folder, tmp_path / "zb.bundle", *RNN)
    out = tmp_path / "both.bundle"
    called = labelwise(
        "join", "ensemble-lwan", lwan, unseen, "--data", acts_folder, "--out", out, "--json"
    )
    assert called.code == 0
    assert json.loads(called.out)["method"] == "ensemble-lwan"
    test = open_dataset(acts_folder).test
    both, seen = bundles.load(out), bundles.load(lwan)
    zero = both.label_space.groups["zero"]
    assert (both.scores(test)[:, : zero.start] == seen.scores(test)[:, : zero.start]).all()
    refused = labelwise(
        "join", "ensemble-lwan", lwan, z, "--data", acts_folder, "--out", tmp_path / "no.bundle"
    )
    assert refused.code == 1
    assert "joins a bigru-lwan and a z-bigru-lwan, not bigru-lwan and z-cnn-lwan" in refused.err


# Training


def test_training_leaves_a_log_and_no_checkpoint(
    labelwise: Callable, acts_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cnn.bundle"
    called = labelwise("train", "cnn-lwan", "--data", acts_folder, "--out", out, *sets(*CNN))
    assert called.code == 0
    log = tmp_path / "cnn.bundle.run" / "log.jsonl"
    assert f"The log of the training: {log}" in called.err
    events = [json.loads(line)["event"] for line in log.read_text("utf-8").splitlines()]
    assert events == ["start", "epoch", "epoch", "end"]
    assert [path.name for path in log.parent.iterdir()] == ["log.jsonl"]
    assert bundles.load(out).name == "cnn-lwan"


def test_the_folder_of_the_run_can_be_chosen(
    labelwise: Callable, acts_folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "runs" / "first"
    others = elsewhere / "bigru-lwan" / "checkpoint.safetensors"
    others.parent.mkdir(parents=True)
    others.write_bytes(b"of another training")
    called = labelwise(
        "train", "cnn-lwan", "--data", acts_folder, "--out", tmp_path / "cnn.bundle",
        "--run-dir", elsewhere, "--json", *sets(*CNN),
    )  # fmt: skip
    assert called.json["logs"] == [str(elsewhere / "log.jsonl")]
    assert others.read_bytes() == b"of another training"
    assert not (tmp_path / "cnn.bundle.run").exists()


def start_training(data: Path, out: Path, *settings: str) -> subprocess.Popen[bytes]:
    script = (
        "from labelwise.training import loop\n"
        "loop.CHECKPOINT_SECONDS = 0.0  # a checkpoint after every step\n"
        "from labelwise.cli import main\n"
        "main()\n"
    )
    call = ["train", "cnn-lwan", "--data", str(data), "--out", str(out), *sets(*settings)]
    return subprocess.Popen(
        [sys.executable, "-c", script, *call],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "7"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_killed_and_resumed_it_ends_with_the_weights_of_one_never_killed(
    labelwise: Callable, acts_folder: Path, tmp_path: Path
) -> None:
    settings = ("dim=16", "filters=8", "kernel=3", "max_tokens=60", "epochs=12", "patience=12")
    killed, whole = tmp_path / "killed.bundle", tmp_path / "whole.bundle"
    run = RunFolder(tmp_path / "killed.bundle.run")
    training = start_training(acts_folder, killed, *settings)
    while training.poll() is None and not (
        run.checkpoint.exists() and read_checkpoint(run.checkpoint)[1]["progress"]["step"] > 12
    ):  # in the second epoch, of ten steps each
        time.sleep(0.01)
    training.send_signal(signal.SIGKILL)
    _, errors = training.communicate()
    assert training.returncode == -signal.SIGKILL, errors.decode()
    assert not killed.exists()
    assert run.log.read_text("utf-8").count('"end"') == 0

    call = ("train", "cnn-lwan", "--data", acts_folder, *sets(*settings), "--out")
    assert labelwise(*call, whole).code == 0
    other = labelwise(*call, killed, "--resume", "--set", "learning_rate=0.1")
    assert other.code == 1
    assert "belongs to another training, which differs in learning_rate" in other.err
    resumed = labelwise(*call, killed, "--resume")
    assert (resumed.code, "no checkpoint" in resumed.err) == (0, False)
    before, after = (bundles.load(path).state().arrays for path in (whole, killed))
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert (array == after[name]).all(), name
    assert not run.checkpoint.exists()


def test_a_checkpoint_that_will_be_replaced_is_named_and_one_that_is_missing_too(
    labelwise: Callable, acts_folder: Path, tmp_path: Path
) -> None:
    call = (
        "train", "cnn-lwan", "--data", acts_folder, "--out", tmp_path / "cnn.bundle", *sets(*CNN),
    )  # fmt: skip
    run = tmp_path / "cnn.bundle.run"
    missing = labelwise(*call, "--resume")
    assert missing.code == 0
    assert f"{run} holds no checkpoint: the training starts from the beginning" in missing.err
    (run / "checkpoint.safetensors").write_bytes(b"half a checkpoint")
    damaged = labelwise(*call, "--resume")
    assert damaged.code == 1
    assert "this is not a checkpoint that can be read" in damaged.err
    anew = labelwise(*call)
    assert anew.code == 0
    assert f"{run / 'checkpoint.safetensors'} is the checkpoint of a training that" in anew.err
    assert "--resume" in anew.err


def test_an_ensemble_keeps_a_folder_for_each_member(
    labelwise: Callable, acts_folder: Path, tmp_path: Path
) -> None:
    called = labelwise(
        "train", "ensemble-lwan", "--data", acts_folder, "--out", tmp_path / "e.bundle", "--json",
        *sets(*RNN, "z_units=8", "z_epochs=1"),
    )  # fmt: skip
    assert called.code == 0, called.err
    run = tmp_path / "e.bundle.run"
    logs = [str(run / name / "log.jsonl") for name in ("bigru-lwan", "z-bigru-lwan")]
    assert called.json["logs"] == logs
    assert not list(run.rglob("*.safetensors"))


@pytest.mark.parametrize("option", [["--resume"], ["--run-dir", "runs"]])
def test_a_method_without_checkpoints_says_so_before_any_data_is_read(
    labelwise: Callable, tmp_path: Path, option: list[str]
) -> None:
    called = labelwise("train", "svm", "--data", "absent", "--out", tmp_path / "b", *option)
    assert called.code == 1
    assert f"svm keeps no checkpoints, so {option[0]} is not for it" in called.err
    assert logs_of(get("svm")()) == []


def test_a_run_folder_that_is_a_file_is_refused(
    labelwise: Callable, acts_folder: Path, tmp_path: Path, one: Path
) -> None:
    out = tmp_path / "cnn.bundle"
    called = labelwise("train", "cnn-lwan", "--data", acts_folder, "--out", out, "--run-dir", one)
    assert called.code == 1
    assert f"{one} is a file" in called.err


# Settings


@pytest.mark.parametrize("method", NETWORKS)
def test_every_kind_of_setting_of_a_network_is_read(method: str) -> None:
    cls: Any = get(method).Settings
    given = ["vectors=glove.6B.200d.txt", "max_seconds=90", "precision=bfloat16", "seed=3"]
    made = parse_settings(cls, [*given, "learned_vectors=none", "scale_by_length=yes"], method)
    assert (made.vectors, made.max_seconds) == ("glove.6B.200d.txt", 90.0)
    assert (made.precision, made.seed) == ("bfloat16", 3)
    assert (made.learned_vectors, made.scale_by_length) == ("none", True)
    default = parse_settings(cls, ["vectors=none", "max_seconds=none"], method)
    assert (default.vectors, default.max_seconds) == (None, None)
    assert default == cls()


@pytest.mark.parametrize("method", REGISTRY)
def test_the_settings_of_every_method_read_well_at_80_columns(
    labelwise: Callable, method: str
) -> None:
    called = labelwise("train", method, "--help-settings")
    assert called.code == 0
    assert max(map(len, called.out.splitlines())) <= 80
    rows = labelwise("train", method, "--help-settings", "--json").json
    for row in rows:
        assert row["meaning"], f"what does {row['name']} mean?"
        assert re.search(rf"^{row['name']} = \S* +\(", called.out, re.MULTILINE)
    assert "None" not in called.out
    assert issubclass(get(method).Settings, Settings)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("precision=fp16", "it takes auto, float32 or bfloat16"),
        ("max_seconds=soon", "it takes a number or none"),
        ("filters=0", "filters must be a whole number from 1, not 0"),
        (
            "units=100",
            "there is no setting 'units'; cnn-lwan has these settings: averaging, batch,",
        ),
        ("vectors=absent.txt", "absent.txt: there is no such file of word vectors"),
        ("device=tpu9", "the device 'tpu9' cannot be used here"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(
    labelwise: Callable, acts_folder: Path, tmp_path: Path, given: str, words: str
) -> None:
    called = labelwise(
        "train", "cnn-lwan", "--data", acts_folder, "--out", tmp_path / "b", "--set", given
    )
    assert called.code == 1
    assert words in called.err
    assert called.err.count("\n") == 1


# Evidence


def test_tagging_shows_what_a_network_attended_to(
    labelwise: Callable, lwan: Path, acts_folder: Path, one: Path
) -> None:
    (record,) = labelwise("tag", one, "--bundle", lwan, "--evidence", "--json").json
    text = open_dataset(acts_folder).test[0].text
    for prediction in record["predictions"]:
        found = prediction["evidence"]
        assert found["kind"] == "attention"
        assert sum(span["weight"] for span in found["spans"]) == pytest.approx(1, abs=1e-3)
        assert all(text[span["start"] : span["end"]] == span["text"] for span in found["spans"])
        assert 0 <= prediction["score"] <= 1
    table = labelwise("tag", one, "--bundle", lwan, "--evidence")
    assert "because of" in table.out


@pytest.mark.parametrize("method", ["bigru-lwan", "han"])
def test_the_page_of_a_network_is_a_heat_map_and_not_a_carpet(
    labelwise: Callable, acts_folder: Path, lwan: Path, one: Path, tmp_path: Path, method: str
) -> None:
    bundle = lwan
    if method == "han":
        bundle = trained("han", acts_folder, tmp_path / "han.bundle", *RNN)
    out = tmp_path / "page.html"
    assert labelwise("explain", one, "--bundle", bundle, "--out", out, "--top", 4).code == 0
    page = " ".join(out.read_text("utf-8").split())
    document = open_dataset(acts_folder).test[0]
    assert f"of {len(document.labels)} among the top 4" in page
    assert page.count('type="radio"') == 4
    assert "more attention the network paid to the word" in page
    (evidence,) = bundles.load(bundle).evidence(document, [document.labels[0]])
    marked = len(re.findall(r'<mark[^>]*class="[^"]*p0-', page))
    assert 0 < marked < 0.7 * len(evidence.spans)
    assert re.search(r"p0-8\b", page), "the strongest word of a label has the strongest colour"
    shown = labelwise("explain", one, "--bundle", bundle, "--top", 1)
    assert "«" in shown.out
    assert shown.out.count("«") <= 24


# Labels added later


@pytest.mark.parametrize("model", ["z", "minilm"])
def test_a_label_added_by_command_is_scored_shown_and_explained(
    labelwise: Callable, model: str, one: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bundle = request.getfixturevalue(model)
    added = ("--add-label", "n1=customs duty", "--add-label", "n2 = fishing vessel")
    (record,) = labelwise(
        "tag", one, "--bundle", bundle, *added, "--include", "n1,n2", "--evidence", "--json"
    ).json
    found = {label["id"]: label for label in record["predictions"]}
    assert found.keys() == {"n1", "n2"}
    assert found["n2"]["descriptor"] == "fishing vessel"
    assert found["n1"]["group"] == "zero"
    assert found["n1"]["evidence"]["spans"]
    out = tmp_path / "page.html"
    call = ("explain", one, "--bundle", bundle, *added, "--labels", "n2", "--out", out)
    assert labelwise(*call).code == 0
    assert "fishing vessel" in out.read_text("utf-8")
    plain, wider = (
        labelwise("tag", one, "--bundle", bundle, "--top", 500, "--json", *options).json[0]
        for options in ((), added)
    )
    assert len(wider["predictions"]) == len(plain["predictions"]) + 2


def test_a_thesaurus_has_the_other_names_of_a_label_added_by_command(
    labelwise: Callable, minilm: Path, one: Path, tmp_path: Path
) -> None:
    thesaurus = tmp_path / "descriptors.json"
    concept = {"concept_id": "n1", "label": "customs duty", "alt_labels": ["fishing vessel"]}
    thesaurus.write_text(json.dumps({"n1": {**concept, "parents": []}}))
    added = ("--bundle", minilm, "--add-label", "n1=customs duty", "--include", "n1", "--json")
    alone, known = (
        labelwise("tag", one, *added, *more).json[0]["predictions"][0]
        for more in ((), ("--thesaurus", thesaurus))
    )
    assert known["descriptor"] == alone["descriptor"] == "customs duty"
    assert known["score"] != alone["score"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["n1"], "--add-label 'n1' is not id=descriptor"),
        (["=fish"], "is not id=descriptor"),
        (["n1="], "is not id=descriptor"),
        (["n1=fish", "n1=vessel"], "gives the label 'n1' twice"),
        (["n1=zzyzx qwrt"], "this model knows no word of its descriptor 'zzyzx qwrt'"),
    ],
)
def test_a_label_that_cannot_be_added_is_one_sentence(
    labelwise: Callable, z: Path, one: Path, given: list[str], words: str
) -> None:
    options = [word for label in given for word in ("--add-label", label)]
    called = labelwise("tag", one, "--bundle", z, *options)
    assert (called.code, called.out) == (1, "")
    assert words in called.err
    known = bundles.load(z).label_space.ids[0]
    twice = labelwise("explain", one, "--bundle", z, "--add-label", f"{known}=fish")
    assert f"{known} is already a label of this model" in twice.err


def test_a_descriptor_that_is_known_in_part_says_so_in_a_sentence(
    labelwise: Callable, z: Path, one: Path
) -> None:
    known = bundles.load(z).label_space.labels[0].descriptor
    called = labelwise("tag", one, "--bundle", z, "--add-label", f"n1={known} zzyzx", "--json")
    assert called.code == 0
    assert called.json
    assert "does not know: zzyzx\n" in called.err
    assert "UserWarning" not in called.err


def test_a_method_that_cannot_take_labels_names_those_that_can(
    labelwise: Callable, lwan: Path, one: Path
) -> None:
    called = labelwise("tag", one, "--bundle", lwan, "--add-label", "n1=customs duty")
    assert called.code == 1
    assert "bigru-lwan cannot score a label that it was not trained for" in called.err
    can = "blend, ensemble-lwan, exact-match, lexical, minilm-lwan, mpnet-lwan, z-bigru-lwan"
    assert f"these methods can: {can}" in called.err


# Faithfulness


def test_faithfulness_is_printed_and_written_beside_the_runs(
    labelwise: Callable, lwan: Path, acts_folder: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    call = (
        "faithfulness", lwan, "--data", acts_folder, "--results", results, "--documents", 2,
        "--top", 2,
    )  # fmt: skip
    called = labelwise(*call)
    assert called.code == 0, called.err
    assert max(map(len, called.out.splitlines())) <= 80
    for words in (
        "higher is better",
        "lower is better",
        "AOPC",
        "gradient × input",
        "AttInGrad",
        "random",
    ):
        assert words in called.out
    file = results / "synthetic" / "bigru-lwan" / "faithfulness-seed-0.json"
    assert f"wrote {file}" in called.err
    record = json.loads(file.read_text("utf-8"))
    assert record["plan"]["seed"] == 0
    assert record["plan"]["top"] == 2
    assert (len(record["documents"]), record["labels"]) == (2, 4)
    others = {"gradient", "attingrad", "integrated", "occlusion", "random"}
    assert record["evidence"].keys() == {"own"} | others
    assert record["costs"].keys() == {"own"} | others - {"random"}
    assert 0 <= record["evidence"]["own"]["sufficiency"]["normalised"]["mean"] <= 1
    assert record["limits"]["sufficiency"]["lowest"] <= record["limits"]["sufficiency"]["highest"]
    assert record["evidence"]["own"]["kind"] == "attention"
    assert record["evidence"]["own"]["comprehensiveness"]["at"][4]["error"] >= 0
    assert record["data"]["fingerprint"] == open_dataset(acts_folder).fingerprint
    assert record["settings"]["units"] == 8
    assert record["versions"]["torch"]
    assert record["command"]

    again = labelwise(*call, "--json").json
    assert again["evidence"] == record["evidence"]
    other = labelwise(*call, "--seed", 1, "--json").json
    assert other["documents"] != record["documents"]
    gold = labelwise(*call, "--gold", "--json").json
    assert gold["plan"]["gold"]

    assert labelwise("evaluate", lwan, "--data", acts_folder, "--results", results).code == 0
    assert labelwise("report", results).code == 0
    assert labelwise("compare", results).code == 0
    page = (results / "synthetic" / "README.md").read_text("utf-8")
    aopc = gold["evidence"]["own"]["comprehensiveness"]["aopc"]["mean"]
    assert "## Is the evidence true?" in page
    assert f"| bigru-lwan, seed 0, test: attention | {number(abs(aopc))} ± " in page.replace(
        "-.", "."
    )
    file.write_text('{"method": "bigru-lwan"}', "utf-8")
    refused = labelwise("report", results)
    assert refused.code == 1
    assert f"{file}: this is not what `labelwise faithfulness` writes" in refused.err


def test_the_evidence_of_a_linear_method_needs_no_gradient(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    called = labelwise(
        "faithfulness", bundle, "--data", corpus, "--results", tmp_path, "--documents", 10
    )
    assert called.code == 0
    assert "what a linear method's words add is exact already" in called.out
    assert "(better)" in called.out
    record = json.loads((tmp_path / "synthetic/svm/faithfulness-seed-0.json").read_text("utf-8"))
    assert record["evidence"].keys() == {"own", "occlusion", "random"}


def test_attention_is_examined_and_the_page_and_figure_are_written(
    labelwise: Callable, lwan: Path, acts_folder: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    call = (
        "examine", lwan, "--data", acts_folder, "--results", results, "--documents", 3,
        "--other", lwan, "--top", 2,
    )  # fmt: skip
    called = labelwise(*call)
    assert called.code == 0, called.err
    assert max(map(len, called.out.splitlines())) <= 80
    assert "attention and gradients put the words in" in called.out
    folder = results / "synthetic"
    record = json.loads((folder / "bigru-lwan" / "attention-seed-0.json").read_text("utf-8"))
    assert len(record["pairs"]) == 3 * 2
    assert record["other seed"] == 0
    assert record["data"]["fingerprint"] == open_dataset(acts_folder).fingerprint
    assert record["settings"]["units"] == 8
    assert record["versions"]["torch"]
    assert record["plan"]["permutations"] == 100
    page = (folder / "attention.md").read_text("utf-8")
    assert "| bigru-lwan, seed 0, dev |" not in page
    assert "| bigru-lwan, seed 0, test | 3 | 6 |" in page
    assert "(attention.svg)" in page
    assert (folder / "attention.svg").read_bytes().startswith(b"<?xml")
    assert labelwise(*call, "--json").json["pairs"] == record["pairs"]


def test_a_method_without_an_attention_to_replace_is_refused(
    labelwise: Callable, bundle: Path, corpus: Path
) -> None:
    called = labelwise("examine", bundle, "--data", corpus)
    assert called.code == 1
    assert "the attention of svm cannot be replaced" in called.err
