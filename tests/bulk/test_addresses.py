"""Parquet files, and addresses that fsspec knows, hold the same as files of this machine."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from test_bulk import line, rows, run

import labelwise
from labelwise.errors import InputError

pa = pytest.importorskip("pyarrow", reason="needs the extra 'bulk'")
fsspec = pytest.importorskip("fsspec", reason="needs the extra 'bulk'")
from pyarrow import parquet  # noqa: E402

ACTS: list[dict[str, Any]] = [
    {"celex_id": "31", "title": "On fruit", "text": None, "header": "On fruit", "recitals": "",
     "main_body": ["Oranges.", "Lemons and limes."], "concepts": []},
    {"celex_id": "32", "title": "On steel", "text": None, "header": "On steel", "recitals": "",
     "main_body": ["Tubes."], "concepts": []},
]  # fmt: skip


def table(records: list[dict[str, Any]]) -> bytes:
    made = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records), made, row_group_size=1)
    return made.getvalue()


def test_a_row_of_a_parquet_file_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "acts.parquet").write_bytes(table(ACTS))
    first, second = labelwise.read(tmp_path / "acts.parquet")
    assert (first.id, first.title) == ("31", "On fruit")
    assert [one.kind for one in first.sections] == ["header", "article", "article"]
    assert second.text == "On steel\nTubes."


def test_a_wrong_row_is_named_and_a_damaged_file_said_to_be_one(tmp_path: Path) -> None:
    file = tmp_path / "acts.parquet"
    file.write_bytes(table([{"text": "Oranges."}, {"text": None}]))
    with pytest.raises(InputError, match="entry 2"):
        list(labelwise.read(file))
    file.write_bytes(table(ACTS)[:-30])
    with pytest.raises(InputError, match="damaged Parquet file"):
        list(labelwise.read(file))


def test_parquet_parts_hold_the_rows_of_jsonl_parts(tmp_path: Path) -> None:
    (tmp_path / "acts.jsonl").write_text("".join(map(line, range(11))), "utf-8")
    run([tmp_path / "acts.jsonl"], tmp_path / "lines")
    run([tmp_path / "acts.jsonl"], tmp_path / "tables", format="parquet")
    # The manifest, which begins with an underscore, is passed over.
    found = parquet.read_table(tmp_path / "tables").sort_by("position").to_pylist()
    assert found == rows(tmp_path / "lines")


def test_an_address_is_read_and_written_as_a_folder_is(tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    system.pipe({"/acts/a.jsonl": "".join(map(line, range(7))).encode(), "/acts/_SUCCESS": b""})
    system.pipe_file("/acts/more/b.parquet", table(ACTS))
    run(["memory://acts"], "memory://tags", "1/2")
    run(["memory://acts"], "memory://tags", "2/2")
    assert run(["memory://acts"], "memory://tags").found == 3
    for name in system.ls("/tags", detail=False):
        (tmp_path / Path(name).name).write_bytes(system.cat_file(name))
    assert [row["document"] for row in rows(tmp_path)] == [
        *(f"act {number}" for number in range(7)),
        *("31", "32"),
    ]


@pytest.mark.parametrize("address", ["memory://nowhere", "no-such-scheme://acts"])
def test_an_address_with_nothing_behind_it_is_named(address: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=address):
        run([address], tmp_path / "tags")
