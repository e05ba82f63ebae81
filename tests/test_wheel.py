"""The wheel, in a clean environment without extras: it tags, and names what it lacks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
ACT = """COMMISSION REGULATION
laying down detailed rules for the import of citrus fruit

Whereas the tariff quota for oranges, lemons and mandarins has to be opened;

Article 1
Imports of citrus fruit shall need an import licence.
"""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def done(*command: object, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    called = [str(one) for one in command]
    ended = subprocess.run(
        called, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False, timeout=1800
    )
    assert ended.returncode == code, (called, ended.stderr)
    return ended


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", out, ROOT, cwd=out)
    (found,) = out.glob("labelwise-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("clean")
    done(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    pip = folder / "venv/bin/pip"
    done(pip, "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    return folder / "venv/bin"


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        rooms = {name.split("/")[0] for name in archive.namelist()}
    assert {one for one in rooms if not one.endswith(".dist-info")} == {"labelwise"}


@pytest.mark.slow
def test_the_wheel_without_extras_tags_an_act(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "act.txt").write_text(ACT)
    tagged = done(
        installed / "labelwise", "tag", "act.txt", "--evidence", "--json", cwd=tmp_path
    ).stdout
    (document,) = json.loads(tagged)
    best = document["predictions"][0]
    assert best["descriptor"] == "citrus fruit"
    assert best["evidence"]
    first = re.search(r"```python\n(.+?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    said = done(installed / "python", "-c", first[1], cwd=tmp_path).stdout
    assert said.startswith("1 citrus fruit 0.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "call"),
    [
        ("serve", ["serve", "--port", "0"]),
        ("mcp", ["mcp"]),
        ("linear", ["train", "svm", "--data", "corpus", "--out", "svm.bundle"]),
        ("files", ["tag", "act.pdf"]),
    ],
)
def test_what_it_lacks_it_names_in_a_sentence(
    installed: Path, tmp_path: Path, extra: str, call: list[str]
) -> None:
    make = ("data", "make", "--out", "corpus", "--train", "60", "--dev", "10", "--test", "10")
    done(installed / "labelwise", "-q", *make, cwd=tmp_path)
    (tmp_path / "act.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    said = done(installed / "labelwise", *call, cwd=tmp_path, code=1).stderr
    assert f"pip install 'labelwise[{extra}]'" in said
    assert "Traceback" not in said
