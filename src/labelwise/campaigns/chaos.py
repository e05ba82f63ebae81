"""A campaign of faults: ``python -m labelwise.campaigns.chaos --rounds 200 --seed 0``.

In each round a command is started, disturbed at a random moment of its work, and called again in
the same way. Three things are held: what lies there after the fault can be read, all of it; a
command that could not go on says so in a sentence; called again, it makes what it makes undisturbed
(weights, figures and tags to the last bit; of a search, as many trials). A service under load gives
no answer that is not the whole one, and answers the same when it is started again.

All that is random follows from the seed and the number of the round. The campaign writes down where
it stands, and goes on from there when it is called again in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from labelwise.bench.results import machine, write_result
from labelwise.campaigns.chaos_faults import FAULTS, Fault, can_mount, disk_for, mend, strike
from labelwise.campaigns.chaos_process import import_all
from labelwise.campaigns.chaos_service import SERVICE, disturbed_service
from labelwise.campaigns.chaos_works import WORKS, Work, look_at, make_ready
from labelwise.campaigns.state import read_state
from labelwise.evaluation.runs import current_versions
from labelwise.files import write_whole

PATIENCE = 600.0
"""Seconds that a command may take."""


class Campaign:
    def __init__(self, folder: Path) -> None:
        self.folder, self.ready = folder, folder / "ready"
        self.mountable = can_mount(folder / "disk")
        self.seconds: dict[str, float] = {}
        self.made: dict[str, Any] = {}
        self.ready.mkdir()
        make_ready(self.ready)

    def undisturbed(self, work: Work) -> None:
        """What a command makes, and how long it takes, when nothing happens."""
        folder = self.folder / "undisturbed" / work.name
        shutil.copytree(self.ready, folder)
        started = time.monotonic()
        process = work.start(folder)
        if process.wait(PATIENCE):
            raise RuntimeError(f"{work.name} fails: {(folder / 'said.txt').read_text('utf-8')}")
        self.seconds[work.name] = time.monotonic() - started
        self.made[work.name] = work.made(folder)

    def round(self, work: Work, fault: Fault, moment: float, number: int) -> list[str]:
        """What went wrong in a round: nothing, one hopes."""
        folder = self.folder / f"round-{number}"
        with disk_for(fault, folder, self.mountable):
            shutil.copytree(self.ready, folder, dirs_exist_ok=True)
            wrong = self._disturb(work, fault, moment, folder)
            mend(fault, folder, self.mountable)
            try:
                look_at(folder)
            except Exception as error:  # whatever it is, it is what is looked for
                wrong.append(f"what lies there cannot be read: {type(error).__name__}: {error}")
            again = work.start(folder)
            if code := again.wait(PATIENCE):
                said = (folder / "said.txt").read_text("utf-8", "replace").strip()
                wrong.append(f"called again it ends with {code}: {said[-300:]}")
            elif work.made(folder) != self.made[work.name]:
                wrong.append("called again it makes something else")
        if not wrong:
            shutil.rmtree(folder)
        return wrong

    def environment(self, fault: Fault) -> dict[str, str]:
        """For the processes that a command starts: the module of the fault, which Python imports by
        its name."""
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(fault.module, "utf-8")
        return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    def _disturb(self, work: Work, fault: Fault, moment: float, folder: Path) -> list[str]:
        process = work.start(folder, self.environment(fault), fault.module)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        strike(fault, process, folder, self.mountable)
        code = process.wait(PATIENCE)
        if not fault.whole_group and fault.kills:
            return []  # its workers end by themselves, perhaps while the next call begins
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        said = (folder / "said.txt").read_text("utf-8", "replace")
        if "Traceback" in said or "fault of labelwise" in said:
            return [f"it does not end in a sentence: {said[-300:]}"]
        if code and not fault.kills and not fault.disk:
            return [f"it ends with {code}, though nothing stood in its way: {said[-300:]}"]
        return []


@dataclass(frozen=True)
class Standing:
    """Where a campaign stands: its rounds so far, and the seconds they took."""

    seed: int
    rounds: list[dict[str, Any]] = field(default_factory=list)
    """Of each: the fault, the work, the second, and what went wrong."""
    seconds: float = 0.0


def campaign(
    rounds: int,
    standing: Standing,
    folder: Path,
    keep: Callable[[Standing, dict[str, Any]], object],
) -> dict[str, Any]:
    """Go on until there were so many rounds; the result is the table of what was done and what went
    wrong. It is kept after every round, so that a campaign that is cut off leaves a true count, and
    can go on."""
    import_all()
    at_work = Campaign(folder)
    for work in WORKS:
        at_work.undisturbed(work)
        print(f"{work.name}: {at_work.seconds[work.name]:.1f} s undisturbed", flush=True)
    began = time.monotonic()
    result = _result(standing, at_work)
    for number in range(len(standing.rounds), rounds):
        one = _round(number, random.Random(f"{standing.seed}/{number}"), at_work)
        standing.rounds.append(one)
        told = f"{one['work']}, {one['fault']}, {one['second']:.2f} s"
        print(f"{number + 1}/{rounds} {told}", *one["wrong"], flush=True)
        so_far = replace(standing, seconds=standing.seconds + time.monotonic() - began)
        result = _result(so_far, at_work)
        keep(so_far, result)
    return result


def _round(number: int, dice: random.Random, at_work: Campaign) -> dict[str, Any]:
    faults = [one for one in FAULTS if one.disk != "read-only" or at_work.mountable]
    fault = faults[number % len(faults)]
    names = [work.name for work in WORKS]
    # A service writes nothing, so that disks are the others' business.
    name = dice.choice(names if fault.disk else [*names, SERVICE])
    moment = dice.random()
    if name == SERVICE:
        second = 2 * moment
        environment = at_work.environment(fault)
        wrong = disturbed_service(fault, second, at_work.ready, environment)
    else:
        [work] = [one for one in WORKS if one.name == name]
        second = moment * at_work.seconds[name] * (1.5 if fault.module else 1.0)
        wrong = at_work.round(work, fault, second, number)
    return {"fault": fault.name, "work": name, "second": round(second, 3), "wrong": wrong}


def _result(standing: Standing, at_work: Campaign) -> dict[str, Any]:
    names = [*(work.name for work in WORKS), SERVICE]
    rounds = standing.rounds
    rows = []
    for fault in FAULTS:
        of_fault = [one for one in rounds if one["fault"] == fault.name]
        if of_fault:
            rows.append(
                {
                    "fault": fault.name,
                    **{name: sum(one["work"] == name for one in of_fault) for name in names},
                    "rounds": len(of_fault),
                    "went wrong": sum(bool(one["wrong"]) for one in of_fault),
                }
            )
    disk = (
        "a small file system in memory that is filled or made read-only at the moment"
        if at_work.mountable
        else "a limit on the size of files (nothing could be mounted here, so that a read-only "
        "disk was left out)"
    )
    return {
        "what": "Faults at random moments",
        "text": f"{len(rounds)} rounds, seed {standing.seed}, on a synthetic corpus. A command is "
        "disturbed at a random moment and called again; a round went wrong where something "
        "half-written lay there, where an error was no sentence, or where the second call did not "
        f"end with what an undisturbed one makes. A full disk is {disk}.",
        "columns": ["fault", *names, "rounds", "went wrong"],
        "rows": rows,
        "wrong": [{"round": at, **one} for at, one in enumerate(rounds) if one["wrong"]],
        "seed": standing.seed,
        "seconds": round(standing.seconds, 1),
        "undisturbed": {name: round(took, 2) for name, took in at_work.seconds.items()},
        "machine": machine(),
        "versions": current_versions("optuna"),
        "command": f"python -m labelwise.campaigns.chaos --rounds {len(rounds)} "
        f"--seed {standing.seed}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=200, help="until there were so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path(".chaos"), help="where it stands")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    path = given.state / "standing.json"

    def keep(standing: Standing, result: dict[str, Any]) -> None:
        write_whole(path, json.dumps(asdict(standing)).encode())
        write_result(given.out, "chaos", result)

    with tempfile.TemporaryDirectory(prefix="labelwise-chaos-") as folder:
        standing = Standing(**read_state(path, given.seed))
        result = campaign(given.rounds, standing, Path(folder), keep)
    write_result(given.out, "chaos", result)
    sys.exit(1 if result["wrong"] else 0)


if __name__ == "__main__":
    main()
