"""What an extra would have brought is asked for in a sentence that names the extra."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

CALLS = (
    # The service first: what it imports stays imported.
    ("serve", "fastapi", "serve --port 0"),
    ("serve", "uvicorn", "serve --port 0"),
    ("serve", "python_multipart", "serve --port 0"),
    ("mcp", "mcp", "mcp"),
    ("linear", "numba", "train svm --data CORPUS --out new.bundle"),
    ("tree", "omikuji", "train tree --data CORPUS --out new.bundle"),
    ("encoder", "huggingface_hub", "train minilm-lwan --data CORPUS --out new.bundle"),
    ("thesaurus", "rdflib", "train exact-match --data CORPUS --out new.bundle --thesaurus a.ttl"),
    ("plots", "matplotlib", "data describe CORPUS --figure labels.svg"),
    ("postgres", "psycopg", "serve BUNDLE --port 0 --store postgresql://nobody@localhost/desk"),
    ("files", "pypdfium2", "tag act.pdf --bundle BUNDLE"),
    ("bulk", "pyarrow", "tag acts.parquet --bundle BUNDLE"),
    ("bulk", "fsspec", "tag act.txt --bundle BUNDLE --out s3://acts/tags"),
    ("hub", "huggingface_hub", "tag act.txt --bundle hf://labelwise/svm"),
    ("hub", "huggingface_hub", "push BUNDLE labelwise/svm"),
    ("tune", "optuna", "tune svm --data CORPUS --trials 1 --vary C=1,2 --out svm.toml"),
    ("ray", "ray", "tune svm --data CORPUS --trials 1 --vary C=1,2 --out svm.toml --on ray"),
    ("onnx", "onnx", "export BUNDLE --onnx svm.onnx"),
    ("sklearn", "sklearn", "import labelwise.sklearn"),
)
"""An extra, a module of it that is missing, and what a user asks for."""

WITHOUT_A_SENTENCE = {"language", "docs", "dev"}
"""A language is looked at where it can be and nobody asks for it; the others are for `make`."""

PROGRAM = """
import contextlib, importlib, io, json, sys

hidden = ""

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from labelwise.cli import main

for hidden, call in json.load(sys.stdin):
    for name in [one for one in sys.modules if one.partition(".")[0] == hidden]:
        del sys.modules[name]
    said, code = io.StringIO(), 0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            if call[0] == "import":
                importlib.import_module(call[1])
            main(call)
        except SystemExit as ended:
            code = ended.code
        except Exception as error:
            code = 1
            print(error, file=said)
    print(json.dumps([code, said.getvalue()]))
"""


@pytest.fixture(scope="module")
def answers(
    corpus: Path, bundle: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[int, str]]:
    """What each call said, one after another in a process in which its module is missing."""
    here = tmp_path_factory.mktemp("extras")
    (here / "act.txt").write_text("Oranges may be imported.")
    (here / "act.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    (here / "acts.parquet").write_bytes(b"PAR1 PAR1")
    (here / "a.ttl").write_text("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n")
    folders = {"CORPUS": str(corpus), "BUNDLE": str(bundle)}
    asked: Any = [
        (module, [folders.get(word, word) for word in call.split()]) for _, module, call in CALLS
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(asked),
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("at", range(len(CALLS)), ids=lambda at: f"{CALLS[at][0]}-{CALLS[at][1]}")
def test_a_missing_module_is_a_sentence_with_the_extra_to_install(
    at: int, answers: list[tuple[int, str]]
) -> None:
    code, said = answers[at]
    assert code == 1, said
    assert f"pip install 'labelwise[{CALLS[at][0]}]'" in said
    assert "Traceback" not in said


def test_every_extra_of_the_package_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (
        set(project["optional-dependencies"]) == {one for one, _, _ in CALLS} | WITHOUT_A_SENTENCE
    )


def test_the_extra_that_is_used_where_it_is_there_is_documented() -> None:
    assert "pip install 'labelwise[language]'" in (ROOT / "docs/input-formats.md").read_text(
        "utf-8"
    )
