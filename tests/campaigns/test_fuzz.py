"""The campaign of changed inputs counts what it did, sees what goes wrong, and goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from labelwise.bench.results import read_result, write_result
from labelwise.campaigns import fuzz, fuzz_samples, fuzz_work
from labelwise.campaigns.fuzz import note_end, result_of
from labelwise.campaigns.fuzz_lines import Lines
from labelwise.campaigns.fuzz_mutations import MOST, OF_FORM, Form, mutated
from labelwise.campaigns.fuzz_standing import Campaign, Standing, all_standings, standing_of
from labelwise.campaigns.fuzz_targets import Target, WrongError, readers, saved, thesauri
from labelwise.campaigns.fuzz_work import Share, campaign
from labelwise.errors import LabelwiseError


def told(data: bytes) -> str:
    return f"{len(data) % 5} left over"


def target(run: object = told, form: Form = "json") -> Target:
    return Target("files", "a/act.json", form, b'{"celex_id": "32001R0001", "n": [1, 2]}', run)  # type: ignore[arg-type]


def run(one: Target, folder: Path, inputs: int, seed: int = 0) -> Standing:
    """Go on with a target until it had so many inputs."""
    folder.mkdir(exist_ok=True)
    standing = standing_of(folder, one.kind, one.name, seed)
    campaign(
        [one],
        [standing],
        folder,
        enough=lambda: standing.inputs >= inputs,
        current=folder / "current-0",
    )
    return standing


def test_a_campaign_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = run(target(), tmp_path / "whole", 200, seed=7)
    run(target(), tmp_path, 100, seed=7)
    rest = run(target(), tmp_path, 200, seed=7)
    assert (rest.outcomes, rest.kept) == (whole.outcomes, whole.kept)
    Campaign(7).write(tmp_path)
    assert Campaign.read(tmp_path, 7).seed == 7
    with pytest.raises(LabelwiseError, match="has the seed 7"):
        Campaign.read(tmp_path, 8)


def test_a_campaign_that_had_its_inputs_writes_its_record_and_begins_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(target(), tmp_path / "state", 100)
    words = f"fuzz --inputs 100 --state {tmp_path / 'state'} --out {tmp_path}"
    monkeypatch.setattr("sys.argv", words.split())
    with pytest.raises(SystemExit, match="0"):
        fuzz.main()
    assert read_result(tmp_path / "results" / "fuzz.json")["inputs"] == 100


def test_what_raises_is_counted_and_its_input_is_kept(tmp_path: Path) -> None:
    def breaks(data: bytes) -> str:
        if len(data) % 10 == 3:
            raise IndexError("a fault of ours")
        return "read"

    standing = run(target(breaks), tmp_path, 100)
    assert standing.wrong
    first = standing.wrong[0]
    assert "IndexError: a fault of ours (test_fuzz.py" in first["wrong"]
    assert len((tmp_path / f"files-a_act.json-{first['input']}").read_bytes()) % 10 == 3
    result = result_of(Campaign(0), all_standings(tmp_path))
    assert result["rows"][0]["went wrong"] == len(standing.wrong)
    assert result["inputs"] == 100
    read_result(write_result(tmp_path, "fuzz", result))


def test_what_was_mended_is_read_again_and_went_wrong_no_more(tmp_path: Path) -> None:
    def breaks(data: bytes) -> str:
        if data.endswith(b"}"):
            return "read"
        raise IndexError("a fault of ours")

    standing = run(target(breaks), tmp_path, 50)
    found = len(standing.wrong)
    assert found
    fuzz_work.read_again(target(breaks), standing, tmp_path)
    assert (len(standing.wrong), standing.mended) == (found, [])
    fuzz_work.read_again(target(told), standing, tmp_path)
    assert (standing.wrong, len(standing.mended)) == ([], found)
    [alike] = result_of(Campaign(0), [standing])["mended"]
    assert alike["inputs alike"] == found


def test_what_takes_longer_than_its_size_allows_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz_work, "seconds_for", lambda size: 1e-12)
    standing = run(target(), tmp_path, 50)
    assert standing.late == 50
    assert "times as long as it may" in standing.wrong[0]["wrong"]


def test_an_input_that_ends_its_process_is_written_down_and_passed_by(tmp_path: Path) -> None:
    class GoneError(BaseException):
        """As if the process had been killed."""

    def ends(data: bytes) -> str:
        if current.exists() and json.loads(current.read_bytes().split(b"\n")[0])["input"] == 70:
            raise GoneError
        return told(data)

    share = Share(0, 1, 0, tmp_path, None, 0)
    current = share.current
    run(target(ends), tmp_path, 50)
    with pytest.raises(GoneError):
        run(target(ends), tmp_path, 150)
    note_end(share, -11)
    standing = run(target(ends), tmp_path, 150)
    assert standing.inputs == 150
    [wrong] = standing.wrong
    assert (wrong["input"], "by signal 11" in wrong["wrong"]) == (70, True)
    assert (tmp_path / "files-a_act.json-70").exists()


def test_what_ended_its_process_is_read_again_in_a_copy_of_it(tmp_path: Path) -> None:
    def ends(_: bytes) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    standing = run(target(), tmp_path, 1)
    standing.wrong.append({"input": 0, "wrong": "it ends the process", "ended": True})
    (tmp_path / standing.input_file(0)).write_bytes(b"{}")
    fuzz_work.read_again(target(ends), standing, tmp_path)
    assert (len(standing.wrong), standing.mended) == (1, [])
    fuzz_work.read_again(target(), standing, tmp_path)
    assert (standing.wrong, len(standing.mended)) == ([], 1)


def test_an_input_that_reaches_new_lines_is_kept_though_nothing_new_became_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelwise.campaigns.fuzz_lines.ROOT", str(Path(__file__).parent))

    def reads(data: bytes) -> str:
        if b"celex" in data:
            return "read"
        return "read"

    standing = run(target(reads), tmp_path, 200)
    assert set(standing.outcomes) == {"read"}
    assert len(standing.lines) == 3
    assert len(standing.kept) == 2


def test_lines_are_those_of_the_package_and_each_is_new_once() -> None:
    lines = Lines(())
    for _ in range(2):
        with lines.watching():
            mutated(random.Random(3), "bytes", b"figs", [b"figs"])
    assert lines.seen
    assert all(line.startswith("campaigns/fuzz_mutations.py:") for line in lines.seen)
    again = Lines(lines.seen)
    with again.watching():
        mutated(random.Random(3), "bytes", b"figs", [b"figs"])
    assert again.seen == lines.seen


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
    for one in saved(tmp_path):
        assert one.run(one.sample).endswith(("scores", "tensors")), one.name
        assert len(one.sample) < MOST, one.name


def test_an_error_that_no_reader_foresaw_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise LabelwiseError("cannot be read (its reader failed, which is worth a report: x)")

    monkeypatch.setattr("labelwise.campaigns.fuzz_targets.read_stream", breaks)
    with pytest.raises(WrongError, match="worth a report"):
        readers(None)[0].run(b"text")
