"""A campaign of faults: ``python -m labelwise.bench.chaos --rounds 200 --seed 0``.

In each round a command is started, disturbed at a random moment of its work, and called again in
the same way. Three things are held: what lies there after the fault can be read, all of it; a
command that could not go on says so in a sentence; called again, it makes what it makes undisturbed
(weights, figures and tags to the last bit; of a search, as many trials). A service under load gives
no answer that is not the whole one, and answers the same when it is started again.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from labelwise.bench.chaos_faults import FAULTS, Fault, can_mount, disk_for, mend, strike
from labelwise.bench.chaos_service import SERVICE, disturbed_service
from labelwise.bench.chaos_works import WORKS, Work, look_at, make_ready
from labelwise.bench.machine import machine
from labelwise.bench.results import write_result
from labelwise.evaluation.runs import current_versions

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
        process = work.start(folder, {})
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
            again = work.start(folder, {})
            if code := again.wait(PATIENCE):
                said = (folder / "said.txt").read_text("utf-8", "replace").strip()
                wrong.append(f"called again it ends with {code}: {said[-300:]}")
            elif work.made(folder) != self.made[work.name]:
                wrong.append("called again it makes something else")
        if not wrong:
            shutil.rmtree(folder)
        return wrong

    def environment(self, fault: Fault) -> dict[str, str]:
        """With the module of the fault, which Python imports by its name."""
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(fault.module, "utf-8")
        return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    def _disturb(self, work: Work, fault: Fault, moment: float, folder: Path) -> list[str]:
        process = work.start(folder, self.environment(fault))
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


def campaign(
    rounds: int, seed: int, folder: Path, keep: Callable[[dict[str, Any]], object]
) -> dict[str, Any]:
    """Run it; the result is the table of what was done and what went wrong. It is kept after every
    round, so that a campaign that is cut off leaves a true count."""
    dice = random.Random(seed)
    at_work = Campaign(folder)
    names = [*(work.name for work in WORKS), SERVICE]
    faults = [one for one in FAULTS if one.disk != "read-only" or at_work.mountable]
    counted: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(names, 0))
    wrong: list[dict[str, Any]] = []
    for work in WORKS:
        at_work.undisturbed(work)
        print(f"{work.name}: {at_work.seconds[work.name]:.1f} s undisturbed", flush=True)
    began = time.monotonic()
    for number in range(rounds):
        fault = faults[number % len(faults)]
        # A service writes nothing, so that disks are the others' business.
        name, moment = dice.choice(names[:-1] if fault.disk else names), dice.random()
        if name == SERVICE:
            seconds = 2 * moment
            environment = at_work.environment(fault)
            found = disturbed_service(fault, seconds, at_work.ready, environment)
        else:
            [work] = [one for one in WORKS if one.name == name]
            seconds = moment * at_work.seconds[name] * (1.5 if fault.module else 1.0)
            found = at_work.round(work, fault, seconds, number)
        counted[fault.name][name] += 1
        wrong += [
            {"round": number, "fault": fault.name, "work": name, "second": seconds, "wrong": one}
            for one in found
        ]
        print(f"{number + 1}/{rounds} {name}, {fault.name}, {seconds:.2f} s", *found, flush=True)
        took = time.monotonic() - began
        result = _result(number + 1, seed, counted, wrong, at_work=at_work, seconds=took)
        keep(result)
    return result


def _result(
    rounds: int,
    seed: int,
    counted: Mapping[str, Mapping[str, int]],
    wrong: list[dict[str, Any]],
    *,
    at_work: Campaign,
    seconds: float,
) -> dict[str, Any]:
    rows = [
        {
            "fault": fault,
            **by_work,
            "rounds": sum(by_work.values()),
            "went wrong": len({one["round"] for one in wrong if one["fault"] == fault}),
        }
        for fault, by_work in counted.items()
    ]
    columns = ["fault", *(work.name for work in WORKS), SERVICE, "rounds", "went wrong"]
    disk = (
        "a small file system in memory that is filled or made read-only at the moment"
        if at_work.mountable
        else "a limit on the size of files (nothing could be mounted here, so that a read-only "
        "disk was left out)"
    )
    return {
        "what": "Faults at random moments",
        "text": f"{rounds} rounds, seed {seed}, on a synthetic corpus. A command is disturbed at a "
        "random moment and called again; a round went wrong where something half-written lay "
        "there, where an error was no sentence, or where the second call did not end with what "
        f"an undisturbed one makes. A full disk is {disk}.",
        "columns": columns,
        "rows": rows,
        "wrong": wrong,
        "seed": seed,
        "seconds": round(seconds, 1),
        "undisturbed": {name: round(took, 2) for name, took in at_work.seconds.items()},
        "machine": machine(),
        "versions": current_versions("optuna"),
        "command": f"python -m labelwise.bench.chaos --rounds {rounds} --seed {seed}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="labelwise-chaos-") as folder:
        result = campaign(
            given.rounds,
            given.seed,
            Path(folder),
            lambda so_far: write_result(given.out, "chaos", so_far),
        )
    sys.exit(1 if result["wrong"] else 0)


if __name__ == "__main__":
    main()
