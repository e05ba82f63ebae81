"""The campaign of changed inputs counts what it did, sees what goes wrong, and goes on."""

from __future__ import annotations

import json
import random
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from labelwise.bench import fuzz, fuzz_samples
from labelwise.bench.fuzz import Standings, campaign, result_of
from labelwise.bench.fuzz_mutations import MOST, OF_FORM, Form, mutated
from labelwise.bench.fuzz_targets import Target, WrongError, readers, thesauri
from labelwise.bench.results import read_result, write_result
from labelwise.errors import LabelwiseError


def told(data: bytes) -> str:
    return f"{len(data) % 5} left over"


def target(run: object = told, form: Form = "json") -> Target:
    return Target("files", "a/act.json", form, b'{"celex_id": "32001R0001", "n": [1, 2]}', run)  # type: ignore[arg-type]


def run(targets: list[Target], standings: Standings, folder: Path, inputs: int) -> Standings:
    campaign(
        targets,
        standings,
        folder,
        enough=lambda so_far: so_far.inputs >= inputs,
        keep=lambda so_far: so_far.write(folder / "standings.json"),
        memory=lambda: {"campaign": 1},
    )
    return standings


def test_a_campaign_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = run([target()], Standings(7), tmp_path / "whole", 200)
    run([target()], Standings(7), tmp_path, 100)
    rest = run([target()], Standings.read(tmp_path / "standings.json", 7), tmp_path, 200)
    assert rest.targets["files: a/act.json"].outcomes == whole.targets["files: a/act.json"].outcomes
    assert rest.targets["files: a/act.json"].kept == whole.targets["files: a/act.json"].kept
    with pytest.raises(LabelwiseError, match="has the seed 7"):
        Standings.read(tmp_path / "standings.json", 8)


def test_what_raises_is_counted_and_its_input_is_kept(tmp_path: Path) -> None:
    def breaks(data: bytes) -> str:
        if len(data) % 10 == 3:
            raise IndexError("a fault of ours")
        return "read"

    standings = run([target(breaks)], Standings(0), tmp_path, 100)
    assert standings.wrong
    first = standings.wrong[0]
    assert "IndexError: a fault of ours (test_fuzz.py" in first["wrong"]
    assert len((tmp_path / f"files-a_act.json-{first['input']}").read_bytes()) % 10 == 3
    result = result_of(standings)
    assert result["rows"][0]["went wrong"] == len(standings.wrong)
    assert result["inputs"] == 100
    read_result(write_result(tmp_path, "fuzz", result))


def test_what_takes_longer_than_its_size_allows_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "seconds_for", lambda size: 1e-12)
    standings = run([target()], Standings(0), tmp_path, 50)
    assert standings.targets["files: a/act.json"].late == 50
    assert "times as long as it may" in standings.wrong[0]["wrong"]


@pytest.mark.parametrize("form", [*OF_FORM, "bytes"])
def test_changes_follow_from_the_seed_and_stay_within_bounds(form: Form) -> None:
    sample = fuzz_samples.files(None)["act.docx" if form == "zip" else "acts.jsonl"]
    for number in range(200):
        made = [mutated(random.Random(number), form, sample, [sample]) for _ in range(2)]
        assert made[0] == made[1]
        assert len(made[0]) <= MOST


def test_most_changed_archives_and_json_are_still_such() -> None:
    docx, act = (fuzz_samples.files(None)[name] for name in ("act.docx", "act.json"))
    whole = {"docx": 0, "json": 0}
    for number in range(200):
        dice = random.Random(number)
        whole["docx"] += zipfile.is_zipfile(BytesIO(mutated(dice, "zip", docx, [docx])))
        try:
            json.loads(mutated(dice, "json", act, [act]))
            whole["json"] += 1
        except ValueError:
            pass
    assert min(whole.values()) > 80


def test_every_sample_is_read_as_it_is(tmp_path: Path) -> None:
    for one in readers(None):
        assert "documents" in one.run(one.sample), one.name
    for one in thesauri(tmp_path):
        assert one.run(one.sample) == "2 concepts", one.name


def test_an_error_that_no_reader_foresaw_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise LabelwiseError("cannot be read (its reader failed, which is worth a report: x)")

    monkeypatch.setattr("labelwise.bench.fuzz_targets.read_stream", breaks)
    with pytest.raises(WrongError, match="worth a report"):
        readers(None)[0].run(b"text")
