"""What the documents say is so: paths exist, commands parse, targets are there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from labelwise import __version__
from labelwise.cli.data import make
from labelwise.corpus.synthetic import make_dataset

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PAGES = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
TEXTS = {"README": README, "CONTRIBUTING": CONTRIBUTING, **PAGES}


def test_every_path_of_the_file_tree_exists() -> None:
    (tree,) = re.findall(r"```\n(src/.*?)```", README, re.DOTALL)
    folders: list[str] = []
    seen = 0
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        names = line.split("   ")[depth:][0] if depth == 0 else re.split(r"\s{3,}", line.strip())[0]
        for name in names.strip().split(", "):
            path = ROOT.joinpath(*folders[:depth], name)
            assert path.exists(), path
            seen += 1
            if name.endswith("/"):
                folders[depth:] = [name]
    assert seen > 20


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_every_path_named_in_the_text_exists(text: str) -> None:
    named = set(re.findall(r"`((?:src|tests)/[\w/.]+)`", text))
    for path in named - {"src/labelwise/methods/my_method.py", "tests/methods/test_my_method.py"}:
        if "my_" not in path:
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_command_and_option_in_the_text_exists(labelwise: Callable, text: str) -> None:
    found = re.findall(
        r"(?:^ {4}\$? ?|\| |`)labelwise ((?:data |desk )?[a-z][a-z-]*)([^`\n#]*)",
        text,
        re.MULTILINE,
    )
    assert found
    for command in dict.fromkeys(command for command, _ in found):
        help = labelwise(*command.split(), "--help")
        assert help.code == 0, command
        for rest in (rest for named, rest in found if named == command):
            for option in re.findall(r"--[a-z-]+", rest):
                assert option in help.out, (command, option)


def test_every_make_target_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(
        re.findall(r"`make ([a-z-]+)`|^    make ([a-z-]+)", README + CONTRIBUTING, re.MULTILINE)
    )
    assert {first or second for first, second in named} <= targets


def test_the_readme_has_the_markers_of_the_table_once() -> None:
    assert README.count("<!-- results:begin -->") == README.count("<!-- results:end -->") == 1


def test_the_citation_names_the_paper_and_the_present_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {__version__}\n" in citation
    assert (
        "Extreme Multi-Label Legal Text Classification: A Case Study in EU Legislation" in citation
    )
    for author in ("Chalkidis", "Fergadiotis", "Malakasiotis", "Aletras", "Androutsopoulos"):
        assert f"family-names: {author}" in citation
    assert "arXiv:1905.10892" in citation


def test_the_changelog_knows_the_present_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_make_offers_the_sizes_that_the_corpus_itself_has() -> None:
    ours, theirs = inspect.signature(make).parameters, inspect.signature(make_dataset).parameters
    for name in ("seed", "train", "dev", "test"):
        assert ours[name].default == theirs[name].default
