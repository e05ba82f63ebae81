"""The commands in one place, and the one place where errors become a sentence and an exit code."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn, TextIO

import typer

from labelwise import __version__, progress
from labelwise.cli.bench import bench
from labelwise.cli.calibrate import calibrate
from labelwise.cli.card import card
from labelwise.cli.command import Command
from labelwise.cli.compact import compact
from labelwise.cli.crowding import crowding
from labelwise.cli.data import data
from labelwise.cli.demo import demo
from labelwise.cli.desk import desk
from labelwise.cli.evaluate import compare, evaluate, report
from labelwise.cli.examine import examine
from labelwise.cli.explain import explain
from labelwise.cli.export import export
from labelwise.cli.faithfulness import faithfulness
from labelwise.cli.join import join
from labelwise.cli.learn import learn
from labelwise.cli.mcp import mcp
from labelwise.cli.prepare import prepare
from labelwise.cli.push import push
from labelwise.cli.relabel import relabel
from labelwise.cli.replay import replay
from labelwise.cli.reproduce import reproduce
from labelwise.cli.serve import serve
from labelwise.cli.tag import tag
from labelwise.cli.train import methods, train
from labelwise.cli.tune import tune
from labelwise.cli.vectors import vectors
from labelwise.errors import CallError, LabelwiseError


def _calls_named(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose wrong calls are told like those that typer finds, by its name."""

    @functools.wraps(command)
    def called(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except CallError as error:
            raise typer.BadParameter(str(error)) from error

    return called


app = typer.Typer(
    name="labelwise",
    # Plain help reads the same in a terminal, in a pipe and at 80 columns.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(data, name="data")
app.add_typer(desk, name="desk")
for command in (
    train,
    join,
    calibrate,
    methods,
    evaluate,
    compare,
    report,
    reproduce,
    tune,
    vectors,
    prepare,
    tag,
    explain,
    compact,
    relabel,
    learn,
    card,
    export,
    push,
    serve,
    mcp,
    faithfulness,
    examine,
    crowding,
    replay,
    bench,
    demo,
):
    app.command(cls=Command)(_calls_named(command))

# Typer carries its own copy of click in some versions: this is the base of all usage errors there.
UsageError: Any = typer.BadParameter.__bases__[0]


def _version(value: bool) -> None:
    if value:
        print(f"labelwise {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress bars and no notes, only errors.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error arose.")
    ] = False,
) -> None:
    """Tag documents with concepts from a large thesaurus, and see why.

    \b
    Examples:
      labelwise tag act.html --evidence
      labelwise explain act.html --out act-explained.html
      labelwise demo
      labelwise train svm --data data/eurlex57k --out svm.bundle
      labelwise tag act.html --bundle svm.bundle

    `labelwise COMMAND --help` explains a command, with examples.
    """
    progress.quiet = progress.silent = quiet
    if context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit: 0 done, 1 an error, 2 a wrong call, 130 interrupted."""
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by the shell (`>&-`): nothing comes, or is heard
            setattr(sys, name, _nowhere(place))
    if not sys.stdout.isatty():
        # Files and pipes are UTF-8 everywhere; half a surrogate pair becomes \\ud800, as in JSON.
        _reconfigure = getattr(sys.stdout, "reconfigure", lambda **options: None)
        _reconfigure(encoding="utf-8", errors="backslashreplace")
    given = _anywhere(list(sys.argv[1:] if arguments is None else arguments))
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note_warning
            code = app(args=given, prog_name="labelwise", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in given and not isinstance(error, BrokenPipeError):
            raise
        code = _explain(error)
    if code == 130:
        _end_at_the_next()
        print("labelwise: interrupted", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _end_at_the_next() -> None:
    """Whoever presses Ctrl-C twice is shown no error in what tells of the first."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _nowhere(place: int) -> TextIO:
    """What takes the place of a closed input or output, so that no file opened later does."""
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != place:
        os.dup2(opened, place)
        os.close(opened)
    return os.fdopen(place, "w" if place else "r", encoding="utf-8")


def _note_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a sentence, without the line of the program that it came from."""
    progress.note(" ".join(str(message).split()))


def _anywhere(arguments: list[str]) -> list[str]:
    """Allow --debug and --quiet after the command too, where people tend to add them."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    flags = [word for word in arguments[:end] if word in {"--debug", "--quiet"}]
    return flags + [word for word in arguments[:end] if word not in flags] + arguments[end:]


def _explain(error: BaseException) -> int:
    """Say in one sentence what went wrong, and give the exit code."""
    code = 1
    match error:
        case KeyboardInterrupt():
            return 130
        case typer.Abort():
            return 130
        case BrokenPipeError():
            # The reader of our output has gone. Nothing more can be said to it, at exit neither.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case LabelwiseError():
            sentence = str(error)
        case UsageError():
            code = 2
            path = error.ctx.command_path if error.ctx else "labelwise"
            wrong = error.format_message().rstrip(".").replace(": Value error, ", ": ")
            sentence = f"{wrong} (see `{path} --help`)"
            sentence = sentence[:1].lower() + sentence[1:]
        case OSError():
            sentence = _os_sentence(error)
        case MemoryError():
            sentence = "not enough memory: take fewer documents at a time, or a smaller model"
        case _:
            sentence = (
                f"an unexpected error, which is a fault of labelwise ({type(error).__name__}: "
                f"{error}); run again with --debug to see where, and report it"
            )
    print(f"labelwise: {' '.join(sentence.split())}", file=sys.stderr)
    return code


def _os_sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    advice = {
        errno.ENOENT: "there is no such file or folder",
        errno.EACCES: "permission denied: choose another place, or change its permissions",
        errno.EROFS: "the place is read-only: choose another one",
        errno.ENOSPC: "there is no space left on the device: free some, or choose another place",
        errno.EISDIR: "this is a folder, and a file is needed",
        errno.ENOTDIR: "this is a file, and a folder is needed",
        errno.EEXIST: "this exists already: choose another name",
    }
    return where + advice.get(error.errno or 0, (error.strerror or str(error)).lower())
