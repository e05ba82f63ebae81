"""The front door: help, version, completion, and errors that are one sentence."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelwise import __version__
from labelwise.cli.app import _explain

COMMANDS = [
    (),
    ("data",),
    ("data", "describe"),
    ("data", "fetch"),
    ("data", "make"),
    ("train",),
    ("join",),
    ("calibrate",),
    ("methods",),
    ("evaluate",),
    ("compare",),
    ("report",),
    ("reproduce",),
    ("tune",),
    ("vectors",),
    ("prepare",),
    ("tag",),
    ("explain",),
    ("export",),
    ("serve",),
    ("mcp",),
    ("faithfulness",),
    ("examine",),
    ("crowding",),
    ("bench",),
    ("compact",),
    ("relabel",),
    ("card",),
    ("push",),
    ("learn",),
    ("replay",),
    ("demo",),
    ("desk", "add"),
    ("desk", "list"),
    ("desk", "log"),
    ("desk", "person"),
    ("desk", "agreement"),
    ("desk", "export"),
]


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != ("data",)], ids=" ".join)
def test_help_shows_an_example_of_each_command(labelwise: Callable, command: tuple) -> None:
    called = labelwise(*command, "--help")
    assert called.code == 0
    examples = called.out.partition("Examples:")[2]
    assert " ".join(("labelwise", *command)) in examples


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_fits_a_page(labelwise: Callable, command: tuple) -> None:
    called = labelwise(*command, "-h")
    assert called.code == 0
    assert max(map(len, called.out.splitlines())) <= 100


CHILDREN = ("children_user", "children_system")


def test_help_and_version_start_fast_and_import_nothing_heavy() -> None:
    script = (
        "import sys, contextlib\nfrom labelwise.cli import main\n"
        "with contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
        "print([m for m in ('torch', 'numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    for argument in ("--help", "--version"):
        best = float("inf")
        for _ in range(3):
            before = os.times()
            done = subprocess.run(
                [sys.executable, "-c", script, argument], capture_output=True, text=True, check=True
            )
            after = os.times()  # the processor's own seconds: other tests run on the same cores
            took = sum(getattr(after, of) - getattr(before, of) for of in CHILDREN)
            best = min(best, took)
        assert done.stdout.splitlines()[-1] == "[]"
        assert best < 1.0  # 0.1 s on an idle machine


def test_the_version_is_printed(process: Callable) -> None:
    called = process("--version")
    assert (called.code, called.out) == (0, f"labelwise {__version__}\n")


def test_no_command_shows_the_help(labelwise: Callable) -> None:
    called = labelwise()
    assert called.code == 0
    assert "Usage: labelwise" in called.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_completion(process: Callable, shell: str) -> None:
    called = process(_LABELWISE_COMPLETE=f"source_{shell}")
    assert called.code == 0
    assert "_LABELWISE_COMPLETE" in called.out


def test_completion_knows_commands_and_methods(process: Callable) -> None:
    asked = {"_LABELWISE_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert "evaluate" in process(COMP_WORDS="labelwise ev", **asked).out
    asked["COMP_CWORD"] = "2"
    assert process(COMP_WORDS="labelwise train exa", **asked).out.strip() == "exact-match"


WRONG_CALLS = [
    (("sing",), 2, "no such command 'sing'"),
    (("tag",), 2, "missing argument"),
    (("tag", "absent.txt"), 1, "absent.txt"),
    (("tag", "act.txt", "--bundle", "b", "--top", "0"), 2, "--top"),
    (("tag", "act.txt", "--bundle", "b", "--format", "xml"), 2, "'--format': 'xml' is not one of"),
    (("tag", "act.txt", "--json", "--format", "csv"), 2, "--json and --format csv are two formats"),
    (("tag", "-", "--bundle", "absent.bundle"), 1, "absent.bundle"),
    (("explain", "-", "--bundle", "absent.bundle"), 1, "absent.bundle"),
    (("train", "oracle", "--data", "d", "--out", "o"), 1, "no method is called 'oracle'"),
    (("train", "svm", "--out", "o"), 2, "--data"),
    (("train", "svm", "--data", "absent", "--out", "o"), 1, "absent"),
    (("evaluate", "absent.bundle", "--data", "d"), 1, "absent.bundle"),
    (("compare", "absent.json"), 1, "absent.json"),
    (("report", "absent"), 1, "absent"),
    (("data", "describe", "absent"), 1, "absent"),
    (("data", "fetch", "eurlex58k"), 1, "eurlex57k"),
    (("data", "make", "--train", "-5"), 2, "--train"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG_CALLS, ids=lambda v: str(v)[:50])
def test_a_wrong_call_is_one_sentence_and_a_code(
    labelwise: Callable,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple,
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELWISE_DATA", raising=False)
    called = labelwise(*arguments)
    assert called.code == code
    assert called.out == ""
    assert called.err.startswith("labelwise: ")
    assert called.err.count("\n") == 1
    assert words in called.err
    assert "Traceback" not in called.err


def test_debug_shows_where_an_error_arose_wherever_it_is_written(process: Callable) -> None:
    for arguments in (("--debug", "report", "absent"), ("report", "absent", "--debug")):
        called = process(*arguments)
        assert called.code == 1
        assert "Traceback" in called.err
        assert "InputError" in called.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "b/weights"),
            "b/weights: there is no space",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "out.html"),
            "out.html: permission denied",
        ),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "acts"), "acts: this is a folder"),
        (OSError(errno.EIO, "Input/output error", "disk"), "disk: input/output error"),
        (MemoryError(), "not enough memory"),
        (ValueError("a\nb"), "a fault of labelwise (ValueError: a b)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_of_the_system_say_what_to_do(
    capsys: pytest.CaptureFixture[str], error: Exception, words: str
) -> None:
    assert _explain(error) == 1
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.count("\n") == 1


def _opened_for_writing(fifo: Path) -> int:
    deadline = time.monotonic() + 60
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            assert time.monotonic() < deadline
            time.sleep(0.05)


AGAIN = (
    "import labelwise.cli, sys; "
    "again = lambda *_, **__: signal.raise_signal(signal.SIGINT); "
    "sys.modules['labelwise.cli.app'].print = again; "
)
"""A second interrupt comes while the first is told."""


@pytest.mark.parametrize(
    ("before", "code", "said"),
    [("", 130, "interrupted"), (AGAIN, -signal.SIGINT, "")],
    ids=["once", "twice"],
)
def test_an_interrupt_ends_with_130_and_two_of_them_without_a_traceback(
    tmp_path: Path, before: str, code: int, said: str
) -> None:
    fifo = tmp_path / "slow.txt"
    os.mkfifo(fifo)
    running = subprocess.Popen(
        [
            sys.executable,
            "-c",
            # a runner in the background has interrupts switched off, which children inherit
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            f"{before}from labelwise.cli import main; main()",
            "data",
            "describe",
            str(fifo),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    writer = _opened_for_writing(fifo)  # succeeds when the command has begun to read
    running.send_signal(signal.SIGINT)
    _, shown = running.communicate(timeout=240)
    os.close(writer)
    assert running.returncode == code
    assert said in shown
    assert "Traceback" not in shown


def test_a_reader_that_goes_away_is_met_with_silence(corpus: Path) -> None:
    command = f"'{sys.executable}' -c 'from labelwise.cli import main; main()'"
    done = subprocess.run(
        ["bash", "-c", f"{command} data describe '{corpus}' --json | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("closed", "call", "code", "said"),
    [
        (">&-", "methods", 0, ""),
        ("2>&-", "tag absent.txt", 1, ""),
        ("<&-", "tag -", 1, "labelwise: standard input: empty file: there is nothing to read\n"),
        ("<&- >&- 2>&-", "methods", 0, ""),
    ],
)
def test_an_input_or_output_that_is_closed_is_like_an_empty_one(
    closed: str, call: str, code: int, said: str
) -> None:
    command = f"'{sys.executable}' -c 'from labelwise.cli import main; main()'"
    done = subprocess.run(
        ["bash", "-c", f"{command} {call} {closed}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_the_help_lists_every_command(labelwise: Callable) -> None:
    listed = labelwise("--help").out.partition("Commands:")[2].splitlines()
    names = [line.split()[0] for line in listed if line.strip()]
    assert set(names) == {command[0] for command in COMMANDS if command}


def test_an_option_that_takes_one_value_is_given_once(labelwise: Callable[..., Any]) -> None:
    """Of two, the first was dropped without a word."""
    wrong = labelwise("train", "svm", "--data", "a", "--data", "b", "--out", "c")
    assert wrong.code == 2
    assert "--data is given 2 times, and takes one value; further documents go with" in wrong.err
    wrong = labelwise("data", "make", "--out", "a", "--out", "b")
    assert "--out is given 2 times, and takes one value (see" in wrong.err
    assert labelwise("methods", "--json", "--json").code == 0


def test_an_empty_word_names_no_file(
    labelwise: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`labelwise tag "$FILE"` without such a variable tagged all files of the folder."""
    (tmp_path / "act.txt").write_text("On imports of citrus fruit.", "utf-8")
    monkeypatch.chdir(tmp_path)
    for words, name in (
        (("tag", ""), "files"),
        (("tag", "act.txt", ""), "files"),
        (("explain", ""), "file"),
        (("explain", "act.txt", "--out", ""), "--out"),
        (("tag", "act.txt", "--bundle", ""), "--bundle"),
        (("train", "svm", "--data", "", "--out", "svm.bundle"), "--data"),
        (("data", "make", "--out", ""), "--out"),
    ):
        wrong = labelwise(*words)
        assert wrong.code == 2, words
        assert f"an empty word is given for {name}, and names nothing" in wrong.err
    assert [file.name for file in tmp_path.iterdir()] == ["act.txt"]
