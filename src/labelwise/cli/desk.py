"""``labelwise desk``: the worklist of a department, from the command line."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.command import Command
from labelwise.cli.inputs import read_inputs
from labelwise.cli.options import JsonOption, SkipBadOption
from labelwise.cli.output import print_json, print_table
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.desk.store import Store

desk = typer.Typer(
    help="The worklist of a department: acts, people, decisions, exports.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StoreArgument = Annotated[
    str,
    typer.Argument(help="File of SQLite, or postgresql://…", metavar="STORE", show_default=False),
]


class Role(StrEnum):
    indexer = "indexer"
    reviewer = "reviewer"
    admin = "admin"


@desk.command(cls=Command)
def add(
    store: StoreArgument,
    files: Annotated[
        list[Path],
        typer.Argument(help="Files, folders, `-`, or acts to fetch by their CELEX numbers."),
    ],
    who: Annotated[
        str | None, typer.Option(help="Who adds them; the user of the system if not given.")
    ] = None,
    skip_bad: SkipBadOption = False,
) -> None:
    """Put acts on the worklist; a store that is missing is made. The same text is one act.

    \b
    Examples:
      labelwise desk add desk.sqlite acts/
      labelwise desk add postgresql://desk@db/desk act.html 32019R0532
    """
    from labelwise.desk.people import this_user
    from labelwise.text.tokenizer import words

    opened = _opened(store, create=True)
    who = who or this_user()
    new = known = 0
    for document in read_inputs(files, skip_bad=skip_bad):
        count = sum(len(words(section.text)) for section in document.sections)
        ((_, is_new),) = opened.add([(document, count)], source="", who=who)
        new, known = new + is_new, known + (not is_new)
    note(f"{new} new on the worklist" + (f", {known} were there already" if known else ""))


@desk.command(name="list", cls=Command)
def list_(
    store: StoreArgument,
    state: Annotated[
        str | None, typer.Option(help="Only acts that are new, open, done or withdrawn.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The acts of the worklist.

    \b
    Examples:
      labelwise desk list desk.sqlite
      labelwise desk list desk.sqlite --state done --json
    """
    from labelwise.desk.records import STATES
    from labelwise.desk.worklist import Wanted, page
    from labelwise.errors import LabelwiseError

    if state is not None and state not in STATES:
        raise LabelwiseError(f"--state is one of {', '.join(STATES)}, not '{state}'")
    found = page(_opened(store).database, Wanted(state), limit=1_000_000).entries
    if as_json:
        print_json([vars(one) for one in found])
        return
    rows = [[one.id, one.state, one.chosen, one.who, one.when[:16], one.title] for one in found]
    columns = ["act", "state", "chosen", "who", "when", "title"]
    print_table(columns, rows, left=("act", "state", "who", "when", "title"))


@desk.command(cls=Command)
def log(
    store: StoreArgument,
    acts: Annotated[
        bool,
        typer.Option("--acts", help="Instead, the done acts: text, and the chosen concepts."),
    ] = False,
    second: Annotated[
        bool, typer.Option("--second", help="Instead, what second readers decided.")
    ] = False,
) -> None:
    """All decisions in their order, or the done acts as documents; one JSON object a line.

    \b
    Examples:
      labelwise desk log desk.sqlite > log.jsonl
      labelwise desk log desk.sqlite --acts > done.jsonl
    """
    from labelwise.desk.exports import act_lines, log_lines

    opened = _opened(store)
    for line in act_lines(opened) if acts else log_lines(opened, 2 if second else 1):
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


@desk.command(cls=Command)
def person(
    store: StoreArgument,
    name: Annotated[
        str | None, typer.Argument(help="Whom; without a name all are listed.", show_default=False)
    ] = None,
    role: Annotated[
        Role,
        typer.Option(
            help="A reviewer also reads a second time and stops concepts; an admin also says who "
            "works here, and withdraws acts."
        ),
    ] = Role.indexer,
    remove: Annotated[
        bool, typer.Option("--remove", help="May not sign in any more; what they did stays.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Name somebody who works here, and print the token to sign in with: it is shown once.

    A person who is there already gets a new role and a new token; the old one ends.

    \b
    Examples:
      labelwise desk person desk.sqlite Ana --role reviewer
      labelwise desk person desk.sqlite
      labelwise desk person desk.sqlite Ana --remove
    """
    from labelwise.desk.people import People

    people = People(_opened(store, create=True).database)
    if name is None:
        found = people.all()
        if as_json:
            print_json([vars(one) for one in found])
        else:
            print_table(["name", "role"], [[x.name, x.role] for x in found], left=("name", "role"))
    elif remove:
        people.remove(name)
        note(f"{name} may not sign in any more")
    else:
        token = people.add(name, role.value)
        note(f"{name} signs in with this token, which is not shown again:")
        print_json({"name": name, "role": role.value, "token": token}) if as_json else print(token)


@desk.command(cls=Command)
def agreement(store: StoreArgument, as_json: JsonOption = False) -> None:
    """How far first and second readers agree: Cohen's kappa by pair, Krippendorff's alpha.

    \b
    Examples:
      labelwise desk agreement desk.sqlite
      labelwise desk agreement desk.sqlite --json
    """
    from labelwise.desk.agreement import agreement as agreed

    found = agreed(_opened(store))
    pairs = [vars(one) | {"kappa": one.kappa, "overlap": one.overlap} for one in found.pairs]
    if as_json:
        print_json({"acts": found.acts, "alpha": found.alpha, "pairs": pairs})
        return
    columns = ["first", "second", "acts", "both", "only first", "only second", "kappa", "F1"]
    rows = [
        [
            one.first,
            one.second,
            one.acts,
            one.both,
            one.only_first,
            one.only_second,
            _figure(one.kappa),
            _figure(one.overlap),
        ]
        for one in found.pairs
    ]
    print_table(columns, rows, left=("first", "second"))
    note(f"{found.acts} acts were read twice; Krippendorff's alpha {_figure(found.alpha)}")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


class ExportFormat(StrEnum):
    csv = "csv"
    jsonl = "jsonl"
    ttl = "ttl"
    marcxml = "marcxml"


@desk.command(cls=Command)
def export(
    store: StoreArgument,
    format: Annotated[
        ExportFormat,
        typer.Option(
            "--as", help="ttl is Turtle with who assigned what (PROV); marcxml MARC 21, field 650."
        ),
    ] = ExportFormat.csv,
    every: Annotated[
        bool, typer.Option("--every", help="Also acts that are not done yet.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="File to write; standard output if not given.")
    ] = None,
) -> None:
    """What was decided about the done acts, as a file.

    \b
    Examples:
      labelwise desk export desk.sqlite --as csv --out done.csv
      labelwise desk export desk.sqlite --as ttl | riot --validate -
    """
    from labelwise.desk.exports import export as pieces
    from labelwise.desk.records import LISTED
    from labelwise.files import write_whole

    found = pieces(_opened(store), format.value, LISTED if every else ("done",))
    if out is not None:
        write_whole(out, "".join(found).encode())
        return
    for piece in found:
        sys.stdout.write(piece)


def _opened(store: str, *, create: bool = False) -> Store:
    from labelwise.desk.database import Database
    from labelwise.desk.store import Store

    return Store(Database(store, create=create))
