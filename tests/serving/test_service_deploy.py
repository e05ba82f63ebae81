"""The files in deploy/ call the command as it is, and ask for routes that are there."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from labelwise.cli import main
from labelwise.serving.app import create_app
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


def test_compose_and_kubernetes_ask_for_routes_that_are_there_and_wait_for_answers(
    options: set[str],
) -> None:
    routes = create_app([]).openapi()["paths"]
    longest = Limits().timeout + GRACE
    (composed,) = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))[
        "services"
    ].values()
    assert {word for word in composed["command"] if word.startswith("--")} <= options
    (asked,) = re.findall(r"http://127\.0\.0\.1:8000(/\w+)", composed["healthcheck"]["test"][-1])
    assert asked in routes
    assert float(composed["stop_grace_period"].removesuffix("s")) > longest
    assert composed["read_only"]
    assert composed["mem_limit"]

    text = (ROOT / "deploy" / "kubernetes.yaml").read_text("utf-8")
    made = {one["kind"]: one for one in yaml.safe_load_all(text)}
    pod = made["Deployment"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    assert {word for word in container["args"] if word.startswith("--")} <= options
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] in routes
        assert asked["port"] == container["ports"][0]["name"]
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    pause = float(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["spec"]["terminationGracePeriodSeconds"] > longest + pause
    assert container["resources"]["limits"].keys() == {"cpu", "memory"}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    for kind in ("Deployment", "Service", "PodDisruptionBudget"):
        selector = made[kind]["spec"]["selector"]
        assert selector.get("matchLabels", selector) == pod["metadata"]["labels"]
    entry = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    assert f'"--port", "{container["ports"][0]["containerPort"]}"' in entry
    assert f"--uid {pod['spec']['securityContext']['runAsUser']}" in entry
