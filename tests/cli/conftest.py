"""Ways to call the command line, and one small trained bundle to call it on."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from worker_cases import PoolHere

from labelwise.cli import main
from labelwise.corpus.synthetic import make_dataset
from labelwise.tuning import jobs


@dataclass(frozen=True)
class Called:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def labelwise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Called]:
    """Call the command line within this process."""

    def call(*arguments: object, stdin: bytes = b"") -> Called:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Called(ended.value.code, shown.out, shown.err)

    return call


@pytest.fixture
def process() -> Callable[..., Called]:
    """Call the command line as a user does, in a process of its own."""

    def call(*arguments: object, stdin: bytes = b"", **environment: str) -> Called:
        done = subprocess.run(
            [sys.executable, "-c", "from labelwise.cli import main; main()", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
            timeout=600,
            check=False,
        )
        return Called(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def workers_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `reproduce` and `tune` have trained is trained in this process, one after another."""
    monkeypatch.setattr(jobs, "Pool", PoolHere)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small synthetic data set."""
    folder = tmp_path_factory.mktemp("data") / "synthetic"
    make_dataset(folder, train=300, dev=60, test=60)
    return folder


@pytest.fixture(scope="session")
def bundle(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An svm trained on it by the command line."""
    folder = tmp_path_factory.mktemp("bundles") / "svm.bundle"
    with pytest.raises(SystemExit) as ended:
        main(["--quiet", "train", "svm", "--data", str(corpus), "--out", str(folder), "--json"])
    assert ended.value.code == 0
    return folder


@pytest.fixture(scope="session")
def acts(corpus: Path) -> list[dict[str, Any]]:
    """The test documents as they stand in the file."""
    return [json.loads(line) for line in (corpus / "test.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def act(acts: list[dict[str, Any]], tmp_path: Path) -> Path:
    """One act as a JSON file."""
    path = tmp_path / "act.json"
    path.write_text(json.dumps(acts[0]), "utf-8")
    return path
