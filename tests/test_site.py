"""The documentation is a site that builds without a warning, and says what is so."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import labelwise
from labelwise.evaluation.report import updated_readme
from labelwise.methods import REGISTRY

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def text_of(page: Path) -> str:
    return re.sub(r"<[^>]+>", "", page.read_text("utf-8"))


@pytest.mark.xdist_group("site")
def test_the_reference_is_made_from_the_program(site: Path) -> None:
    commands = text_of(site / "reference/commands/index.html")
    for command in ("tag", "data make", "prepare", "serve"):
        assert f"Usage: labelwise {command}" in commands
    settings = text_of(site / "reference/settings/index.html")
    assert all(name in settings for name in REGISTRY)
    assert "Weight of the loss against the size of the weights." in settings
    methods = text_of(site / "reference/methods/index.html")
    assert "Raise an error for the first of these settings" in methods  # a docstring


@pytest.mark.xdist_group("site")
def test_all_that_the_front_door_offers_stands_in_the_reference(site: Path) -> None:
    pages = "".join(
        (site / f"reference/{page}/index.html").read_text("utf-8")
        for page in ("python", "corpus", "evaluation")
    )
    for name in labelwise.__all__:
        offered = getattr(labelwise, name)
        if name != "__version__":
            assert f'id="{offered.__module__}.{offered.__qualname__}"' in pages, name
    assert 'id="labelwise.sklearn.Tagger.fit"' in pages
    assert 'id="labelwise.model.Model.with_labels"' in pages


@pytest.mark.xdist_group("site")
def test_formulas_are_shown_without_a_script(site: Path) -> None:
    for page in ("methods", "measures"):
        html = (site / page / "index.html").read_text("utf-8")
        assert html.count("<math") > 10
        assert "$$" not in text_of(site / page / "index.html")


@pytest.mark.xdist_group("site")
def test_a_page_fetches_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("index.html"):
        html = page.read_text("utf-8")
        fetched = re.findall(r"<(?:script|img)[^>]* src=\"?(https?:[^\">\s]+)", html)
        fetched += re.findall(r"<link[^>]* rel=\"?stylesheet\"?[^>]*(https?:[^\">\s]+)", html)
        assert not fetched, page


def test_the_figures_of_exact_match_are_those_of_its_trials() -> None:
    """The table of docs/paper.md, row by row, and what the results page is told."""
    lines = (ROOT / "results/eurlex57k/exact-match/trials.jsonl").read_text("utf-8").splitlines()
    page = (ROOT / "docs/paper.md").read_text("utf-8")
    found = {True: "as whole words", False: "within longer words too"}
    ranked = {"occurrences": "by occurrences", "drawn": "by lot"}
    columns = ("RP@5", "nDCG@5", "micro-F1", "few RP@5", "zero RP@5")
    told = (ROOT / "results/eurlex57k/exact-match/NOTE.md").read_text("utf-8")
    for trial in map(json.loads, lines):
        settings, figures = trial["settings"], trial["figures"]
        cells = [f"{figures[name]:.3f}".removeprefix("0") for name in columns]
        words = [found[settings["whole_words"]], ranked[settings["order"]]]
        assert f"| {' | '.join([*words, *cells])} |" in page
        if settings["whole_words"] == (settings["order"] == "occurrences"):
            assert all(cells[at] in told for at in (0, 2, 3))


def test_the_results_of_the_readme_are_those_of_the_runs() -> None:
    """Runs were added, and the tables were not made again."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert updated_readme(readme, ROOT / "results") == readme, (
        "labelwise report results --readme README.md"
    )


def test_what_the_page_of_the_paper_says_of_settings_is_what_the_files_of_settings_say() -> None:
    page = (ROOT / "docs/paper.md").read_text("utf-8")
    rows = {line.split(" | ")[0].lstrip("| "): line for line in page.splitlines()}
    said, settings = {}, {}
    for rate, batch, names in re.findall(r"(\.\d+) and (\d+) \(([^)]+)\)", rows["optimiser"]):
        said |= {name: (float(rate), int(batch)) for name in names.split(", ")}
    for file in sorted((ROOT / "configs/eurlex57k").glob("*.toml")):
        config = tomllib.loads(file.read_text("utf-8"))
        if "learning_rate" in config:
            settings[file.stem.upper()] = config
    assert said == {name: (of["learning_rate"], of["batch"]) for name, of in settings.items()}
    lengths = {}
    for tokens, names in re.findall(r"([\d,]+) \(([^)]+)\)", rows["length"]):
        lengths |= dict.fromkeys(names.split(", "), int(tokens.replace(",", "")))
    wanted = {name: of["max_tokens"] for name, of in settings.items() if "max_tokens" in of}
    assert lengths == wanted
    encoders = {name: of["encoder_rate"] for name, of in settings.items() if "encoder_rate" in of}
    rates = " and ".join(f"{rate:.6f}".strip("0") for rate in encoders.values())
    assert f"the encoders of {' and '.join(encoders)} learn at {rates}" in rows["optimiser"]
    assert not any(of["weight_decay"] for of in settings.values() if "encoder" not in of)


def test_the_page_of_the_paper_names_every_method_that_was_scored_on_test_more_than_once() -> None:
    """It called the SVM the only one, when others had been."""
    page = (ROOT / "docs/paper.md").read_text("utf-8").lower()
    looks = page.split("## a look at the test split")[1].split("\n## ")[0]
    again = re.compile("test split was scored (more than once|once for each)")
    notes = {one.parent.name: one.read_text("utf-8") for one in ROOT.glob("results/*/*/NOTE.md")}
    scored = {name for name, note in notes.items() if again.search(note)}
    assert "svm" in scored
    assert all(name in looks for name in scored)


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    commands = re.findall(r"^ {4}labelwise (.+)$", page, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        call = [sys.executable, "-m", "labelwise", *command.split()]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stderr)


def test_the_workflow_runs_what_ci_runs_on_every_python_that_is_named() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == named


def test_make_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split())
    said = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[0] for line in said.stdout.splitlines()} == targets


def test_pre_commit_checks_what_make_check_checks() -> None:
    hooks: Any = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    tools = {hook["entry"].split()[0] for repo in hooks["repos"] for hook in repo["hooks"]}
    check = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert tools == {f".venv/bin/{name}" for name in re.findall(r"\$\(BIN\)/(\S+)", check[1])}
