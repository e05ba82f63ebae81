"""``labelwise tag``: files, folders and standard input in; tables, JSON, JSONL and CSV out."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelwise import bundle as bundles
from labelwise.cli import tag as tag_module
from labelwise.corpus.batches import batches
from labelwise.corpus.dataset import open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.model import BATCH, Tagging


def ids(record: dict[str, Any]) -> list[str]:
    return [one["id"] for one in record["predictions"]]


def test_json_is_all_there_is_on_standard_output(
    process: Callable, bundle: Path, act: Path, acts: list[dict[str, Any]]
) -> None:
    called = process("tag", act, "--bundle", bundle, "--json")
    assert called.code == 0
    (record,) = called.json
    assert record["document"] == acts[0]["celex_id"]
    assert record["title"] == acts[0]["title"]
    assert len(record["predictions"]) == 5
    first = record["predictions"][0]
    fields = {"id", "uri", "descriptor", "rank", "score", "assigned", "group", "place"}
    assert set(first) == fields
    assert first["group"] in {"frequent", "few", "zero"}
    scores = [one["score"] for one in record["predictions"]]
    assert scores == sorted(scores, reverse=True)


def test_what_is_shown_is_what_the_model_says(
    labelwise: Callable, bundle: Path, corpus: Path
) -> None:
    method = bundles.load(bundle)
    documents = open_dataset(corpus).test
    scores = method.scores(documents)
    records = labelwise("tag", corpus / "test.jsonl", "--bundle", bundle, "--json").json
    assert len(records) == len(documents)
    for row, record in zip(scores, records, strict=True):
        best = sorted(range(len(row)), key=lambda column: -row[column])[:5]
        assert ids(record) == [method.label_space.ids[column] for column in best]
        assert record["predictions"][0]["score"] == pytest.approx(float(row[best[0]]), abs=1e-5)


def test_the_four_formats_say_the_same(labelwise: Callable, bundle: Path, act: Path) -> None:
    call = lambda format: labelwise("tag", act, "--bundle", bundle, "--format", format)
    (record,) = call("json").json
    assert json.loads(call("jsonl").out) == record
    rows = list(csv.DictReader(io.StringIO(call("csv").out)))
    assert [row["label"] for row in rows] == ids(record)
    assert [int(row["rank"]) for row in rows] == [1, 2, 3, 4, 5]
    assert {row["document"] for row in rows} == {record["document"]}
    table = call("table").out
    for one in record["predictions"]:
        assert any(
            one["id"] in line and f"{one['score']:.3f}" in line for line in table.splitlines()
        )


def test_the_table_reads_well_in_a_pipe_of_80_columns(
    process: Callable, bundle: Path, corpus: Path
) -> None:
    called = process("tag", corpus / "test.jsonl", "--bundle", bundle, "--evidence", COLUMNS="80")
    assert called.code == 0
    assert max(map(len, called.out.splitlines())) <= 80
    assert not set(called.out) & set("┃│┏━╇\x1b")
    assert "because of" in called.out


def test_standard_input_works_like_a_file(labelwise: Callable, bundle: Path, act: Path) -> None:
    from_file = labelwise("tag", act, "--bundle", bundle, "--json").json
    from_pipe = labelwise("tag", "-", "--bundle", bundle, "--json", stdin=act.read_bytes()).json
    assert from_pipe == from_file


def test_plain_text_on_standard_input_gets_labels(process: Callable, bundle: Path) -> None:
    text = (
        "Regulation on the import of citrus fruit.\nArticle 1\nOranges and lemons may be imported."
    )
    called = process("tag", "-", "--bundle", bundle, "--json", stdin=text.encode())
    assert called.code == 0
    assert len(ids(called.json[0])) == 5


def test_a_folder_and_several_files_are_read_in_order(
    labelwise: Callable, bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "acts"
    folder.mkdir()
    for number in (2, 0, 1):
        (folder / f"{number}.json").write_text(json.dumps(acts[number]), "utf-8")
    alone = tmp_path / "alone.txt"
    alone.write_text("The export of steel to third countries.", "utf-8")
    records = labelwise("tag", folder, alone, "--bundle", bundle, "--json").json
    assert [one["document"] for one in records] == [
        *(act["celex_id"] for act in acts[:3]),
        "alone",
    ]


def test_top_and_threshold_cut_the_list(labelwise: Callable, bundle: Path, act: Path) -> None:
    call = lambda *options: labelwise("tag", act, "--bundle", bundle, "--json", *options).json[0]
    full = call("--top", 20)["predictions"]
    assert len(full) == 20
    middle = (full[3]["score"] + full[4]["score"]) / 2
    assert call("--top", 20, "--threshold", middle)["predictions"] == full[:4]
    tuned = bundles.load(bundle).threshold
    kept = call("--top", 20, "--threshold", "tuned")["predictions"]
    assert kept == [one for one in full if one["score"] > tuned]
    assert call("--threshold", "1e9")["predictions"] == []
    refused = labelwise("tag", act, "--bundle", bundle, "--threshold", "high")
    assert refused.code == 1
    assert "--threshold is a number or the word 'tuned', not 'high'" in refused.err


def test_include_and_exclude_take_ids_comma_lists_and_files(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    call = lambda *options: ids(
        labelwise("tag", act, "--bundle", bundle, "--json", *options).json[0]
    )
    best = call("--top", 8)
    assert call("--top", 6, "--exclude", f"{best[0]},{best[2]}") == [best[1], *best[3:8]]
    assert call("--exclude", best[0], "--exclude", best[1])[:2] == best[2:4]
    assert call("--include", f"{best[7]},{best[4]}") == [best[4], best[7]]
    listed = tmp_path / "allowed.txt"
    listed.write_text(f"# allowed\n{best[5]}\tsome descriptor\n\n{best[1]}  # a note\n", "utf-8")
    assert call("--include", f"@{listed}") == [best[1], best[5]]
    assert call("--include", listed) == [best[1], best[5]]
    assert call("--include", f"@{listed}", "--exclude", best[1]) == [best[5]]


def test_a_piped_text_that_is_the_name_of_a_file_is_a_text(
    labelwise: Callable, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "act.txt").write_text("On imports of citrus fruit.", "utf-8")
    for command in ("tag", "explain"):
        piped = labelwise(command, "-", "--bundle", bundle, "--json", stdin=b"act.txt")
        assert piped.code == 0, piped.err


def test_names_in_another_language_and_parts_of_the_thesaurus(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    above, lower, *_ = bundles.load(bundle).label_space.ids
    given = tmp_path / "names.json"
    names = {above: {"en": "fruit", "fr": "fruits"}, lower: {"en": "lemon", "fr": "citron"}}
    names[lower]["broader"] = above
    given.write_text(json.dumps(names), "utf-8")
    french = ("tag", act, "--bundle", bundle, "--labels", "fr", "--json", "--top", 1000)
    (record,) = labelwise(*french, "--thesaurus", given).json
    found = {one["id"]: one for one in record["predictions"]}
    assert (found[above]["descriptor"], found[lower]["descriptor"]) == ("fruits", "citron")
    assert found[lower]["place"]["path"] == "fruits › citron"
    (same,) = labelwise(
        "tag", act, "--bundle", bundle, "--names", "fr", "--thesaurus", given, "--json"
    ).json
    assert same["predictions"] == record["predictions"][: len(same["predictions"])]
    assert "no names of labels in 'fr'" in labelwise(*french).err  # the model's own are English

    model = bundles.load(bundle)
    known = {above: {"label": "fruit"}, lower: {"label": "lemon", "broader": [above]}}
    bundles.save(model, tmp_path / "placed", card={"thesaurus": {"concepts": known}})
    placed = ("tag", act, "--bundle", tmp_path / "placed", "--json")
    (record,) = labelwise(*placed, "--include", f"under:{above}").json
    assert sorted(ids(record)) == sorted([above, lower])
    assert "is no part of the thesaurus" in labelwise(*placed, "--include", "mt:7").err


def test_unknown_labels_are_not_passed_over_in_silence(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    label = bundles.load(bundle).label_space.labels[0]
    typed = labelwise("tag", act, "--bundle", bundle, "--exclude", label.descriptor)
    assert typed.code == 1
    assert f"did you mean {label.id} ({label.descriptor})" in typed.err
    assert labelwise("tag", act, "--bundle", bundle, "--include", "no-such-id").code == 1
    listed = tmp_path / "list.txt"
    listed.write_text(f"{label.id}\nabsent-1\nabsent-2\n", "utf-8")
    part = labelwise("tag", act, "--bundle", bundle, "--json", "--include", f"@{listed}")
    assert ids(part.json[0]) == [label.id]
    assert "2 of 3 labels are not in the model" in part.err
    listed.write_text("absent-1\n", "utf-8")
    none = labelwise("tag", act, "--bundle", bundle, "--include", f"@{listed}")
    assert none.code == 1
    assert "not one line is the id of a label" in none.err
    missing = labelwise("tag", act, "--bundle", bundle, "--include", "@absent.txt")
    assert missing.code == 1
    assert "absent.txt" in missing.err
    everything = labelwise(
        "tag", act, "--bundle", bundle, "--include", label.id, "--exclude", label.id
    )
    assert "the lists leave no label" in everything.err


def test_evidence_lies_within_the_text_of_the_document(
    labelwise: Callable, bundle: Path, corpus: Path, act: Path
) -> None:
    (record,) = labelwise("tag", act, "--bundle", bundle, "--evidence", "--json").json
    text = open_dataset(corpus).test[0].text
    spans = [span for one in record["predictions"] for span in one["evidence"]["spans"]]
    assert spans
    assert all(text[span["start"] : span["end"]] == span["text"] != "" for span in spans)
    assert {one["evidence"]["kind"] for one in record["predictions"]} == {"contribution"}


def test_a_bad_document_stops_or_is_counted_and_the_json_stays_whole(
    labelwise: Callable, bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "acts.jsonl"
    lines = [json.dumps(acts[0]), '{"celex_id": "32001R0001", broken', json.dumps(acts[1])]
    path.write_text("\n".join(lines), "utf-8")
    stopped = labelwise("tag", path, "--bundle", bundle, "--json")
    assert stopped.code == 1
    assert f"{path}, line 2" in stopped.err
    assert isinstance(stopped.json, list)
    went_on = labelwise("tag", path, "--bundle", bundle, "--json", "--skip-bad")
    assert went_on.code == 0
    assert [one["document"] for one in went_on.json] == [act["celex_id"] for act in acts[:2]]
    assert "1" in went_on.err
    assert "skipped" in went_on.err.lower()


@pytest.mark.parametrize("format", ["table", "json", "jsonl", "csv"])
def test_what_was_tagged_before_a_bad_file_of_a_folder_is_printed(
    labelwise: Callable, bundle: Path, acts: list[dict[str, Any]], tmp_path: Path, format: str
) -> None:
    for number, act in enumerate(acts[:3]):
        (tmp_path / f"{number}.json").write_text(json.dumps(act), "utf-8")
    (tmp_path / "2.json").write_text('{"celex_id": "32001R0001", broken', "utf-8")
    stopped = labelwise("tag", tmp_path, "--bundle", bundle, "--format", format)
    assert stopped.code == 1
    assert f"{tmp_path / '2.json'}" in stopped.err
    assert [act["celex_id"] in stopped.out for act in acts[:3]] == [True, True, False]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize("format", ["table", "json", "jsonl", "csv"])
def test_tags_that_a_full_disk_does_not_take_are_an_error_in_words(
    bundle: Path, act: Path, format: str
) -> None:
    program = "from labelwise.cli import main; main()"
    words = [sys.executable, "-c", program, "tag", act, "--bundle", bundle, "--format", format]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            list(map(str, words)), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("labelwise: ")
    assert "no space left on the device" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_an_empty_input_is_an_error_and_not_an_empty_answer(
    labelwise: Callable, bundle: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    called = labelwise("tag", empty, "--bundle", bundle)
    assert called.code == 1
    assert str(empty) in called.err


def test_codes_and_markup_in_a_title_do_not_reach_the_terminal(
    labelwise: Callable, bundle: Path, acts: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "act.json"
    title = "\x1b[2JOn [bold]lemons[/bold] \u202e :smile:"
    path.write_text(json.dumps({**acts[0], "title": title}), "utf-8")
    called = labelwise("tag", path, "--bundle", bundle)
    assert called.code == 0
    assert "\x1b" not in called.out
    assert "[bold]lemons[/bold]" in called.out
    assert ":smile:" in called.out


def test_json_is_utf_8_whatever_the_locale(
    process: Callable, bundle: Path, acts: list[dict[str, Any]]
) -> None:
    act = json.dumps({**acts[0], "title": "Κανονισμός για τα λεμόνια"}).encode()
    for format in ("json", "jsonl", "csv", "table"):
        called = process(
            "tag", "-", "--bundle", bundle, "--format", format, stdin=act,
            LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0",
        )  # fmt: skip
        assert (called.code, called.err) == (0, "")
        assert format == "csv" or "Κανονισμός" in called.out


def test_documents_are_read_no_faster_than_they_are_tagged(
    labelwise: Callable, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0

    def endless(*_: object, **__: object) -> Iterator[Document]:
        nonlocal read
        while read < 2000:
            read += 1
            yield Document(str(read), "", (Section("article", "the import of steel"),))

    most_ahead = 0
    printed = 0
    one_document = Tagging.to_json

    def watched(one: Tagging) -> dict[str, Any]:
        nonlocal most_ahead, printed
        printed += 1
        most_ahead = max(most_ahead, read - printed)
        return one_document(one)

    monkeypatch.setattr(tag_module, "read_inputs", endless)
    monkeypatch.setattr(Tagging, "to_json", watched)
    called = labelwise("tag", "-", "--bundle", bundle, "--format", "jsonl")
    assert called.out.count("\n") == printed == 2000
    assert most_ahead < BATCH


def test_batches_keep_order_and_leave_nothing_out() -> None:
    assert list(batches(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(batches([], 3)) == []


def test_the_same_call_gives_the_same_bytes_under_another_hash_seed(
    process: Callable, bundle: Path, act: Path
) -> None:
    first, second = (
        process("tag", act, "--bundle", bundle, "--evidence", "--json", PYTHONHASHSEED=seed)
        for seed in ("1", "2")
    )
    assert first == second


FRENCH = (
    "Le droit sur les oranges et les citrons des pays tiers est fixé chaque semaine. "
    "La Commission publie ce droit au Journal officiel, et les États membres le perçoivent.\n"
)


def test_a_document_in_another_language_is_noted_once(
    labelwise: Callable, bundle: Path, act: Path, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(FRENCH)
    called = labelwise("tag", tmp_path / "a.txt", tmp_path / "b.txt", "--bundle", bundle, "--json")
    assert called.err.count("looks like French; the model reads English") == 1
    assert called.err.startswith("a looks like French")
    assert len(called.json) == 2
    assert "looks like" not in labelwise("tag", act, "--bundle", bundle).err
    assert "looks like French" in labelwise("explain", tmp_path / "a.txt", "-b", bundle).err


def test_out_writes_parts_that_say_what_is_printed_without_it(
    labelwise: Callable, bundle: Path, corpus: Path, tmp_path: Path
) -> None:
    printed = labelwise("tag", corpus / "test.jsonl", "--bundle", bundle, "--json").json
    for shard in ("2/2", "1/2"):
        called = labelwise(
            "tag", corpus / "test.jsonl", "--bundle", bundle, "--out", tmp_path, "--shard", shard
        )
        assert (called.code, called.out) == (0, "")
    (part,) = tmp_path.glob("part-*.jsonl")
    written = [json.loads(line) for line in part.read_text("utf-8").splitlines()]
    assert [one["document"] for one in written] == [one["document"] for one in printed]
    assert [ids(one) for one in written] == [ids(one) for one in printed]
    again = labelwise(
        "tag", corpus / "test.jsonl", "--bundle", bundle, "--out", tmp_path, "--json"
    ).json
    assert again == {"tagged": 0, "problems": 0, "parts": 1, "found": 1}
    other = labelwise(
        "tag", corpus / "test.jsonl", "--bundle", bundle, "--out", tmp_path, "--top", 3
    )
    assert (other.code, "begun with another choice of labels" in other.err) == (1, True)


@pytest.mark.parametrize(
    "options", [("--shard", "1/2"), ("--format", "parquet"), ("--out", "x", "--format", "csv")]
)
def test_shards_and_parquet_go_with_out(labelwise: Callable, act: Path, options: tuple) -> None:
    called = labelwise("tag", act, *options)
    assert (called.code, "--out" in called.err) == (2, True)


@pytest.mark.parametrize("empty", ["", " , "])
def test_a_choice_of_no_label_is_not_one_of_all(
    labelwise: Callable, bundle: Path, act: Path, empty: str
) -> None:
    for call in (("tag", act, "--include", empty), ("explain", act, "--labels", empty)):
        called = labelwise(*call, "--bundle", bundle)
        assert (called.code, called.out) == (1, "")
        assert f"no label of this model is meant by '{empty}'" in called.err
    assert labelwise("tag", act, "--exclude", empty, "--bundle", bundle).code == 0


@pytest.mark.parametrize("command", ["tag", "explain"])
def test_a_file_that_is_not_there_is_told_before_the_model_is_loaded(
    labelwise: Callable, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: object) -> None:
        raise AssertionError(name)

    monkeypatch.setattr("labelwise.model.load", load)
    called = labelwise(command, "absent.txt")
    assert called.err == "labelwise: absent.txt: there is no such file or folder\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--threshold", "tunned"], "--threshold is a number or the word 'tuned', not 'tunned'"),
        (["--threshold", "nan"], "--threshold is a number or the word 'tuned', not 'nan'"),
        (["--best", "3"], "--best goes with --threshold, --certified or --precision"),
    ],
)
def test_a_cut_that_cannot_be_meant_is_told_before_the_model_is_loaded(
    labelwise: Callable, act: Path, options: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: object) -> None:
        raise AssertionError(name)

    monkeypatch.setattr("labelwise.model.load", load)
    called = labelwise("tag", act, *options)
    assert (called.code > 0, called.out) == (True, "")
    assert told in called.err
