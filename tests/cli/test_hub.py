"""Bundles travel over the Hub: pushed with their card, loaded by address, pinned by revision."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hub_server import Hub, serving

import labelwise as lw
from labelwise import bundle as bundles
from labelwise.corpus.dataset import open_dataset
from labelwise.errors import LabelwiseError

constants = pytest.importorskip("huggingface_hub.constants", reason="needs labelwise[hub]")
NAME = "labelwise-tests/svm"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_test")
    with serving() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.address)
        yield running


def test_a_bundle_is_pushed_with_its_figures_and_loaded_by_address_and_revision(
    labelwise: Callable[..., Any], hub: Hub, bundle: Path, corpus: Path, act: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    assert labelwise("evaluate", bundle, "--data", corpus, "--results", results).code == 0
    pushed = labelwise("push", bundle, NAME, "--results", results, "--json")
    assert pushed.code == 0, pushed.err
    revision = pushed.json["revision"]

    loaded = lw.load(f"hf://{NAME}")
    documents = open_dataset(corpus).test[:5]
    expected = bundles.load(bundle).scores(documents)
    assert np.array_equal(loaded.scores(documents), expected)
    tagged = labelwise("tag", act, "--bundle", f"hf://{NAME}@{revision}", "--json")
    assert tagged.code == 0, tagged.err

    [(commit, files)] = hub.repositories[NAME]
    assert commit == revision
    card = files["README.md"].decode()
    assert card.startswith("---\n")
    assert "library_name: labelwise" in card
    assert "model-index:" in card
    [run] = results.rglob("seed-0.json")
    rp5 = json.loads(run.read_text("utf-8"))["measures"]["test"]["all"]["RP@5"]
    assert f"value: {round(rp5, 6)}" in card
    assert any(name.endswith(".safetensors") for name in files)
    assert f'labelwise.load("hf://{NAME}")' in card


def test_a_second_push_replaces_the_files_of_the_first_and_leaves_its_revision_as_it_was(
    labelwise: Callable[..., Any], hub: Hub, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.bundle"
    train = ("train", "lexical", "--data", corpus, "--out", other)
    assert labelwise(*train).code == 0
    first = labelwise("push", bundle, NAME, "--json").json["revision"]
    assert labelwise("push", other, NAME).code == 0
    assert lw.load(f"hf://{NAME}").method.name == "lexical"
    assert lw.load(f"hf://{NAME}@{first}").method.name == "svm"
    arrays = [name for name in hub.repositories[NAME][-1][1] if name.startswith("arrays-")]
    assert len(arrays) == 1
    fetched = len(hub.fetched)
    lw.load(f"hf://{NAME}@{first}")
    assert len(hub.fetched) == fetched  # what is there is not fetched again


def test_what_was_altered_on_the_way_is_refused(
    labelwise: Callable[..., Any], hub: Hub, bundle: Path
) -> None:
    assert labelwise("push", bundle, NAME).code == 0
    _, files = hub.repositories[NAME][-1]
    [labels] = [name for name in files if name.startswith("labels-")]
    files[labels] = files[labels].replace(b"1", b"2", 1)
    with pytest.raises(LabelwiseError, match="damaged or has been altered"):
        lw.load(f"hf://{NAME}")


def test_what_the_hub_does_not_have_or_take_is_said_in_a_sentence(
    labelwise: Callable[..., Any], hub: Hub, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LabelwiseError, match="the Hub did not give hf://nobody/nothing"):
        lw.load("hf://nobody/nothing")
    with pytest.raises(LabelwiseError, match="is no address of the Hub: write hf://OWNER/NAME"):
        lw.load("hf://nothing")
    assert labelwise("push", bundle, f"hf://{NAME}").code == 0  # the address that loads it
    pinned = labelwise("push", bundle, f"{NAME}@main").err
    assert f"a push makes a revision of its own: give {NAME} alone" in pinned
    monkeypatch.setenv("HF_TOKEN", "hf_of_another")
    said = labelwise("push", bundle, NAME)
    assert said.code == 1
    assert f"the Hub did not take hf://{NAME}" in said.err
    assert said.err.count("\n") == 1


def test_an_address_stands_for_a_folder_wherever_a_command_takes_one(
    labelwise: Callable[..., Any], hub: Hub, bundle: Path, corpus: Path, act: Path, tmp_path: Path
) -> None:
    """`tag --out` read the model, and then said that the address was no bundle."""
    assert labelwise("push", bundle, NAME, "--json").code == 0
    address = f"hf://{NAME}"
    for called in (
        ("tag", act, "--bundle", address, "--out", tmp_path / "tags"),
        ("explain", act, "--bundle", address),
        ("card", address),
        ("evaluate", address, "--data", corpus, "--results", tmp_path / "results"),
    ):
        done = labelwise(*called)
        assert done.code == 0, (called[0], done.err)
    joined: Any = lw.join("blend", [address, bundle], data=corpus, out=tmp_path / "both")
    assert joined.method.name == "blend"
    first = json.loads((corpus / "dev.jsonl").read_text("utf-8").splitlines()[0])
    decided = [
        {"act": first["celex_id"], "concept": id, "what": "accept"} for id in first["concepts"]
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, decided)), "utf-8")
    learned = lw.learn(address, log, acts=corpus / "dev.jsonl", out=tmp_path / "learned")
    assert learned.card["learned"]["acts"] == 1
    with pytest.raises(LabelwiseError, match="a model is named by its folder or by a name, not by"):
        lw.learn(joined, log, acts=corpus / "dev.jsonl", out=tmp_path / "learned")
