"""`labelwise learn` and `labelwise replay` on a small trained bundle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import labelwise as front_door
from labelwise.bench.page import page
from labelwise.errors import LabelwiseError
from labelwise.methods.learned import Learned


@pytest.fixture(scope="module")
def log(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The gold labels of the dev acts as decisions; one act is not in the file of acts, and one
    concept is no label."""
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    lines: list[dict[str, Any]] = [
        {"act": "elsewhere", "concept": "s0001", "what": "accept"},
    ]
    for line in (corpus / "dev.jsonl").read_text("utf-8").splitlines():
        act = json.loads(line)
        said = [{"concept": one, "what": "accept"} for one in (*act["concepts"], "no-label")]
        lines += [{"act": act["celex_id"], **one} for one in (*said, {"what": "done"})]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
    return path


def test_a_bundle_learns_and_tags_like_any_other(
    labelwise: Callable,
    bundle: Path,
    corpus: Path,
    log: Path,
    act: Path,
    tmp_path: Path,
) -> None:
    new = tmp_path / "new.bundle"
    acts = corpus / "dev.jsonl"
    done = labelwise("learn", bundle, "--decisions", log, "--acts", acts, "--out", new, "--json")
    assert done.code == 0
    assert done.json["acts"] == 60
    assert done.json["labels"] > 0
    assert "1 of 61 decided acts are not in" in done.err
    assert "1 concepts of the decisions are no labels of the model, such as no-label" in done.err
    assert "Whether this helps has to be measured" in done.err
    assert f"labelwise replay {bundle} --on FILE" in done.err
    assert labelwise("tag", act, "--bundle", new, "--evidence", "--json").code == 0
    told = labelwise("card", new)
    assert told.code == 0
    refused = labelwise("compact", new, "--data", corpus, "--out", tmp_path / "small")
    assert refused.code == 1
    assert "learned from decisions" in refused.err


def test_in_python_it_is_one_call(bundle: Path, corpus: Path, log: Path, tmp_path: Path) -> None:
    made = front_door.learn(bundle, log, acts=corpus / "dev.jsonl", out=tmp_path / "new.bundle")
    again = front_door.load(tmp_path / "new.bundle")
    assert isinstance(again.method, Learned)
    assert made.card["learned"]["acts"] == 60
    assert [tag.id for tag in again.tag("On imports of citrus fruit.")]


def test_a_log_without_decisions_is_said(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text("", "utf-8")
    done = labelwise(
        *("learn", bundle, "--decisions", tmp_path / "log.jsonl"),
        *("--acts", corpus / "dev.jsonl", "--out", tmp_path / "new"),
    )
    assert done.code == 1
    assert "there is no decision in it" in done.err


def test_decisions_that_say_nothing_of_the_model_make_no_bundle(
    bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    """Concepts of another thesaurus, and what was taken back. A model that has learned forgets."""
    acts, log, first = corpus / "dev.jsonl", tmp_path / "log.jsonl", tmp_path / "first.bundle"
    act = json.loads(acts.read_text("utf-8").splitlines()[0])
    said = {"act": act["celex_id"], "concept": act["concepts"][0]}

    def learn(of: Path, *decisions: dict[str, str]) -> dict[str, Any]:
        log.write_text("".join(f"{json.dumps({**said, **one})}\n" for one in decisions), "utf-8")
        found: dict[str, Any] = front_door.learn(of, log, acts=acts, out=first).card["learned"]
        return found

    accept, remove = {"what": "accept"}, {"what": "remove"}
    for decisions in ([{**accept, "concept": "no-label"}], [accept, remove]):
        with pytest.raises(LabelwiseError, match="nothing is decided of a label of the model"):
            learn(bundle, *decisions)
    assert not first.exists()
    assert learn(bundle, accept)["decisions"] == 1
    assert learn(first, accept, remove)["decisions"] == 0


def test_several_workers_do_not_learn(labelwise: Callable, bundle: Path) -> None:
    done = labelwise("serve", bundle, "--learn", "--workers", 2)
    assert done.code == 2
    assert "--learn goes with one worker" in done.err


def test_replayed_gold_labels_become_a_curve(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    on, out = corpus / "dev.jsonl", tmp_path / "benchmarks"
    done = labelwise("replay", bundle, "--on", on, "--out", out, "--every", 15, "--json")
    assert done.code == 0
    curve, parts = done.json["tables"]
    assert [row["acts"] for row in curve["rows"]] == [0, 15, 30]
    assert curve["rows"][0]["difference"]["median"] == 0  # nothing is learned from nothing
    assert curve["rows"][1]["decisions"] >= 10 * 15
    assert [row["learned"] for row in parts["rows"]][-1] == "all, second half"
    assert "Learning from decisions" in page(out)
    assert len(list((out / "figures").iterdir())) == 1
    few = labelwise("replay", bundle, "--on", on, "--out", out, "--every", 20)
    assert few.code == 1
    assert "60 acts are too few to replay in steps of 20" in few.err
