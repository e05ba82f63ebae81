"""A campaign of changed inputs: ``python -m labelwise.campaigns.fuzz --minutes 5 --seed 0``.

Sample files of every format, saved models, checkpoints and requests are changed in ways that keep
most of their structure, and read. Three things are held: every input gives a result or a sentence;
none takes longer than a document of its size may; memory does not grow with their number. An input
of which something new became, or that reached lines which none had reached, is kept and changed
further.

All that is random follows from the seed, the target and the number of the input. The targets are
shared by several processes, which write down where they stand, and go on from there when the
campaign is called again in the same way. A process that an input ends is begun again behind it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from labelwise.bench.load import memory_of
from labelwise.bench.processes import threads
from labelwise.bench.results import busy_cores, machine, write_result
from labelwise.campaigns import fuzz_targets as targets
from labelwise.campaigns.fuzz_standing import Campaign, Standing, all_standings, standing_of
from labelwise.campaigns.fuzz_work import EVERY, Share, work
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import current_versions

KINDS = ("files", "thesauri", "bundles", "checkpoints", "requests")
"""In the order of the table."""

STALLED = 900.0
"""Seconds without one input read, on however busy a machine: a process is ended then."""


class Workers:
    """The processes of a campaign, begun again where an input has ended one."""

    def __init__(self, shares: Sequence[Share]) -> None:
        self.shares = shares
        self._context = multiprocessing.get_context("spawn")
        self.counts = self._context.Array("q", len(shares))
        self.ended = self._context.Event()
        self._moved = [(0, time.monotonic())] * len(shares)
        self.processes = [self._begin(share) for share in shares]

    def _begin(self, share: Share) -> SpawnProcess:
        process = self._context.Process(target=work, args=(share, self.counts, self.ended))
        process.start()
        return process

    @property
    def inputs(self) -> int:
        return sum(self.counts[:])

    def look(self) -> None:
        """Begin again what an input has ended, and end what has stalled."""
        for at, (share, process) in enumerate(zip(self.shares, self.processes, strict=True)):
            if process.exitcode is not None:
                if process.exitcode > 0:
                    raise LabelwiseError("a process of the campaign failed: see above")
                note_end(share, process.exitcode)
                self.processes[at] = self._begin(share)
            count, since = self._moved[at]
            if count != self.counts[at]:
                self._moved[at] = self.counts[at], time.monotonic()
            elif time.monotonic() - since > STALLED:
                process.kill()
                self._moved[at] = count, time.monotonic()

    def end(self) -> None:
        self.ended.set()
        for process in self.processes:
            process.join()

    def memory(self) -> int:
        return sum(memory_of(one.pid) for one in self.processes if one.pid and one.is_alive())


def note_end(share: Share, code: int) -> None:
    """Write down that an input ended its process; the next process passes it by."""
    told, _, data = share.current.read_bytes().partition(b"\n")
    which = json.loads(told)
    standing = standing_of(share.state, which["kind"], which["name"], share.seed)
    what = f"it ends the process by signal {-code}, or takes no end"
    standing.wrong.append({"input": which["input"], "wrong": what, "ended": True})
    standing.write(share.state)
    (share.state / standing.input_file(which["input"])).write_bytes(data)


def result_of(campaign: Campaign, standings: Sequence[Standing]) -> dict[str, Any]:
    """The table of what was done and what went wrong."""
    rows = []
    for kind in KINDS:
        each = [one for one in standings if one.kind == kind]
        if each:
            rows.append(
                {
                    "kind": kind,
                    "samples": len(each),
                    "inputs": sum(one.inputs for one in each),
                    "different outcomes": sum(len(one.outcomes) for one in each),
                    "lines reached": len({line for one in each for line in one.lines}),
                    "went wrong": sum(len(one.wrong) for one in each),
                    "mended since": sum(len(one.mended) for one in each),
                    "over their time": sum(one.late for one in each),
                    "slowest, of its time": round(max(one.slowest for one in each), 4),
                }
            )
    inputs = sum(one.inputs for one in standings)
    return {
        "what": "Changed inputs",
        "text": f"{inputs:,} inputs, seed {campaign.seed}: sample files of every format, the parts "
        "of bundles under checksums that fit, a checkpoint, and requests to a running service, "
        "changed in ways that keep most of their structure. An input went wrong where it gave "
        "neither a result nor a sentence; its time is that of a document of its size (of requests "
        "the part of the client, beside an end after a minute). What brought a new outcome, or "
        "reached new lines of the package (looked at for one input in ten, and not within the "
        "service), was changed further. What raised an error is read again by the next call, and "
        "counted as mended where it does so no more.",
        "columns": list(rows[0]),
        "rows": rows,
        "wrong": _alike((one, each) for one in standings for each in one.wrong),
        "mended": _alike((one, each) for one in standings for each in one.mended),
        "memory": _ends(campaign.memory),
        "inputs": inputs,
        "seed": campaign.seed,
        "seconds": round(campaign.seconds, 1),
        "machine": {**machine(), "load": campaign.load},
        "versions": current_versions("lxml", "pypdfium2", "pydantic", "uvicorn", "h11", "rdflib"),
        "command": f"python -m labelwise.campaigns.fuzz --inputs {inputs} --seed {campaign.seed}",
    }


def _alike(faults: Iterable[tuple[Standing, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The first input of each fault of a target, and how many did as it did."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for standing, one in faults:
        fault = standing.kind, standing.name, re.sub(r"[\d-]+|characters?", "", one["wrong"])
        first = {"kind": standing.kind, "name": standing.name, **one, "inputs alike": 0}
        found.setdefault(fault, first)["inputs alike"] += 1
    return list(found.values())


def _ends(memory: list[dict[str, int]]) -> list[dict[str, int]]:
    """A hundred of the figures at most, with the first and the last."""
    step = max(1, len(memory) // 100)
    return [*memory[:-1:step], *memory[-1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=int, help="until there were so many, in all calls")
    parser.add_argument("--minutes", type=float, help="so long at most, in this call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=threads())
    parser.add_argument("--state", type=Path, default=Path(".fuzz"), help="where it stands")
    parser.add_argument("--samples", type=Path, help="a folder of further sample files")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # either way its processes end too
    given.state.mkdir(parents=True, exist_ok=True)
    so_far = Campaign.read(given.state, given.seed)
    if given.inputs is None or _inputs(given.state) < given.inputs:
        _go_on(given, so_far)
    result = result_of(so_far, all_standings(given.state))
    write_result(given.out, "fuzz", result)
    print(f"{result['inputs']:,} inputs, {len(result['wrong'])} went wrong")
    sys.exit(1 if result["wrong"] else 0)


def _inputs(state: Path) -> int:
    return sum(one.inputs for one in all_standings(state))


def _go_on(given: argparse.Namespace, so_far: Campaign) -> None:
    """Until it is enough, or somebody interrupts it."""
    so_far.load = busy_cores()
    before, began = so_far.seconds, time.monotonic()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labelwise-fuzz-")))
        port, service = stack.enter_context(targets.service(scratch))
        workers = Workers(
            [
                Share(at, given.processes, given.seed, given.state, given.samples, port)
                for at in range(given.processes)
            ]
        )
        stack.callback(workers.end)
        kept = began

        def keep() -> None:
            so_far.seconds = before + time.monotonic() - began
            with suppress(OSError):  # of a process that ends while it is looked at
                memory = {"campaign": workers.memory(), "service": memory_of(service)}
                so_far.memory.append({"inputs": workers.inputs, **memory})
            so_far.write(given.state)

        def enough() -> bool:
            if given.inputs is not None and workers.inputs >= given.inputs:
                return True
            return given.minutes is not None and time.monotonic() - began > 60 * given.minutes

        with suppress(KeyboardInterrupt):
            while not enough():
                time.sleep(0.2)
                workers.look()
                if time.monotonic() - kept > EVERY:
                    kept = time.monotonic()
                    keep()
                    print(f"{workers.inputs:,} inputs", flush=True)
        keep()


if __name__ == "__main__":
    main()
