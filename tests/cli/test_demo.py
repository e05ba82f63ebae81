"""``labelwise demo``: the whole way works, and says that its corpus is synthetic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def test_the_demo_leaves_a_page_two_bundles_and_commands_that_work(
    process: Callable, tmp_path: Path
) -> None:
    out = tmp_path / "demo"
    called = process("demo", "--out", out)
    assert called.code == 0, called.err
    assert "synthetic" in called.out.lower()
    assert "chance" in called.out
    for group in ("frequent", "few-shot", "zero-shot"):
        assert group in called.out
    page = (out / "explained.html").read_text("utf-8")
    assert "A synthetic act" in page
    assert "Gold labels:" in page
    assert "<mark" in page
    for name in ("exact-match", "svm"):
        assert (out / f"{name}.bundle").is_dir()
        assert (out / "results" / "synthetic" / name / "seed-0.json").is_file()
    assert max(len(line) for line in called.out.splitlines() if str(out) not in line) <= 80

    suggested = [line.split(" #")[0].split() for line in called.out.splitlines()]
    suggested = [words[1:] for words in suggested if words[:1] == ["labelwise"]]
    assert {words[0] for words in suggested} == {"tag", "explain", "compare", "train", "data"}
    for words in suggested:
        if words[0] in {"tag", "explain", "compare"}:
            assert process(*words).code == 0
