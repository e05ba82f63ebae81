"""Two processes that write to one place: what is there is whole, and of one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labelwise import bundle
from labelwise.errors import LabelwiseError
from labelwise.locks import locked

SAVE = """
import sys
from pathlib import Path
from labelwise import bundle
from labelwise.corpus.document import Document, Section
from labelwise.corpus.labels import LabelSpace
from labelwise.methods.exact_match import ExactMatch

act = Document("a", "", (Section("article", "The import of citrus fruit."),))
for round in range(20):
    names = {str(at): f"{sys.argv[2]} {round} {at}" for at in range(200)}
    method = ExactMatch()
    method.fit([act], [], LabelSpace.from_counts(dict.fromkeys(names, 1), names))
    bundle.save(method, Path(sys.argv[1]), card={"by": sys.argv[2], "round": round})
    print(round, flush=True)
"""

CACHE = """
import sys
from pathlib import Path
import numpy as np
from labelwise.text.array_cache import write_arrays
for at in range(20):
    write_arrays(Path(sys.argv[1]), f"key-{at}", {"tokens": np.arange(20_000) + at})
"""


def started(program: str, *arguments: object) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()


def test_a_bundle_that_two_processes_save_loads_at_every_moment_and_is_whole(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "model"
    both = [started(SAVE, folder, name) for name in ("citrus", "fishing")]
    assert both[0].stdout is not None
    both[0].stdout.readline()
    loaded = 0
    while any(process.poll() is None for process in both):
        labels = bundle.load(folder).label_space.labels
        assert len({label.descriptor.split()[0] for label in labels}) == 1
        bundle.describe(folder)
        loaded += 1
    for process in both:
        ended(process)
    card = bundle.describe(folder)["card"]
    assert card["round"] == 19
    assert bundle.load(folder).label_space.labels[0].descriptor.startswith(card["by"])
    assert len(list(folder.iterdir())) == 4, "nothing of the others is left"
    assert loaded


def test_a_save_that_waits_too_long_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_bundle import method

    monkeypatch.setattr(bundle, "WAIT", 0.1)
    bundle.save(method("import"), tmp_path / "model")
    with (
        locked(tmp_path / "model" / bundle.LOCK, ""),
        pytest.raises(LabelwiseError, match="another process is saving a bundle there"),
    ):
        bundle.save(method("export"), tmp_path / "model")
    assert bundle.load(tmp_path / "model").label_space.labels[0].descriptor == "import"


def test_a_cache_that_two_processes_fill_holds_every_entry_once(tmp_path: Path) -> None:
    from labelwise.text.array_cache import read_arrays

    left = tmp_path / "cache" / ".building-by-a-process-that-was-killed"
    left.mkdir(parents=True)
    for process in [started(CACHE, tmp_path / "cache") for _ in range(2)]:
        ended(process)
    assert len(list((tmp_path / "cache").iterdir())) == 20
    for at in range(20):
        read = read_arrays(tmp_path / "cache", f"key-{at}", ["tokens"])
        assert read is not None
        assert np.array_equal(read["tokens"], np.arange(20_000) + at)
