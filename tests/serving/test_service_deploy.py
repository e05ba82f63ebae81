"""The container file and the systemd unit call the command as it is."""

from __future__ import annotations

import configparser
import json
import re
import shlex
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
    extras = re.search(r'"\.\[([a-z,]+)\]"', text)
    assert extras is not None
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in extras[1].split(","):
        assert f"\n{extra} = [" in project
    for path in re.findall(r"^COPY ([^-].*) \S+$", text, re.M):
        assert all((ROOT / one).exists() for one in path.split())


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
