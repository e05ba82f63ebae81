"""The container file and the systemd unit call the command as it is."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from labelwise.cli import main
from labelwise.serving.limits import Limits
from labelwise.serving.server import GRACE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def options(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The options that ``labelwise serve --help`` names."""
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    return set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_the_container_starts_the_service_as_a_user_without_rights(options: set[str]) -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    entry = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", text, re.M)[1])  # type: ignore[index]
    assert entry[:2] == ["labelwise", "serve"]
    assert {word for word in entry if word.startswith("--")} <= options
    assert re.search(r"^USER (?!root)", text, re.M)
    assert re.search(r"^ARG BASE=python:3\.11-slim$", text, re.M)
    assert "--read-only" in text
    for path in re.findall(r"^COPY ([^-].*) \S+$", text, re.M):
        assert all((ROOT / one).exists() for one in path.split())


def test_all_that_the_container_installs_is_pinned_with_hashes() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    installed = re.findall(r"pip install (.*?)(?: \\)?$", text, re.M)
    assert all("--require-hashes" in one or "--no-index" in one for one in installed)
    made = (ROOT / "deploy" / "pins.py").read_text("utf-8")
    extras = re.search(r'^EXTRAS = "([a-z,]+)"', made, re.M)
    assert extras is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"]]
    for extra in extras[1].split(","):
        wanted += project["optional-dependencies"][extra]
    pins = (ROOT / "deploy" / "requirements.txt").read_text("utf-8")
    pinned = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}", pins, re.M)
    )
    for one in wanted:
        assert re.split(r"[>=<;\[ ]", one)[0].lower() in pinned
    ours = (ROOT / "constraints.txt").read_text("utf-8")
    for name, version in re.findall(r"^([\w-]+)==(\S+)$", ours, re.M):
        if name in pinned:
            assert pinned[name].partition("+")[0] == version, "run `make pins`"


def test_the_unit_starts_the_service_and_waits_for_its_answers(options: set[str]) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(ROOT / "deploy" / "labelwise.service", "utf-8")
    command = shlex.split(unit["Service"]["ExecStart"])
    assert command[1] == "serve"
    assert {word for word in command if word.startswith("--")} <= options
    timeout = float(command[command.index("--timeout") + 1])
    assert float(unit["Service"]["TimeoutStopSec"]) > timeout + GRACE
    assert float(unit["Service"]["LimitNOFILE"]) > 2 * Limits().connections
    assert unit["Service"]["NoNewPrivileges"] == "yes"
    assert unit["Service"]["DynamicUser"] == "yes"
