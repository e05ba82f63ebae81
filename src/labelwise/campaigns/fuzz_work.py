"""One process of a campaign of changed inputs: its targets in turn, until it is enough."""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Event
from pathlib import Path

from labelwise.campaigns import fuzz_targets as targets
from labelwise.campaigns.fuzz_lines import Lines
from labelwise.campaigns.fuzz_mutations import mutated
from labelwise.campaigns.fuzz_standing import Standing, standing_of
from labelwise.campaigns.fuzz_targets import Target
from labelwise.corpus.patience import seconds_for

BLOCK = 50
"""Inputs that one target is given before it is the next one's turn."""

KEPT = 200
"""Inputs of a target that are changed further, besides its sample."""

LONGEST = 20_000
"""Bytes of such an input, or twice those of its sample: what comes of a long one is long."""

WATCHED = 10
"""One input in so many is read a second time, to see which lines it reaches: that takes longer, and
the time of the first is what counts."""

EVERY = 30.0
"""Seconds after which it is written down where the targets stand."""


@dataclass(frozen=True)
class Share:
    """Which part of the targets a process has, and what it is told."""

    number: int
    of: int
    seed: int
    state: Path
    samples: Path | None
    port: int

    @property
    def current(self) -> Path:
        """What is being read: a line that tells which input it is, and its bytes."""
        return self.state / f"current-{self.number}"


def work(share: Share, counts: SynchronizedArray[int], ended: Event) -> None:
    """Go on with the share until it is ended, by word or by the end of the process that began it;
    ``counts`` tells how many inputs each share has had."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts the campaign has it end the work
    began_by = os.getppid()
    with tempfile.TemporaryDirectory(prefix="labelwise-fuzz-") as name:
        scratch = Path(name)
        every = [
            *targets.readers(share.samples),
            *targets.thesauri(scratch),
            *targets.saved(scratch),
            *targets.requests(share.port),
        ]
        mine = every[share.number :: share.of]
        standings = [standing_of(share.state, one.kind, one.name, share.seed) for one in mine]
        for one, standing in zip(mine, standings, strict=True):
            read_again(one, standing, share.state)

        def enough() -> bool:
            counts[share.number] = sum(one.inputs for one in standings)
            return ended.is_set() or os.getppid() != began_by

        campaign(mine, standings, share.state, enough=enough, current=share.current)


def campaign(
    all_targets: Sequence[Target],
    standings: Sequence[Standing],
    folder: Path,
    *,
    enough: Callable[[], bool],
    current: Path,
) -> None:
    """Give every target its turn, those with the fewest inputs first, until it is enough."""
    lines = [Lines(one.lines) for one in standings]
    kept = time.monotonic()
    while not enough():
        at = min(range(len(standings)), key=lambda one: standings[one].inputs)
        for _ in range(BLOCK):
            one_input(all_targets[at], standings[at], lines[at], folder, current)
        if time.monotonic() - kept > EVERY:
            kept = time.monotonic()
            for one in standings:
                one.write(folder)
    for one in standings:
        one.write(folder)


def read_again(target: Target, standing: Standing, folder: Path) -> None:
    """Read what raised an error or ended its process in an earlier call: where it was mended, it
    goes wrong no more."""
    for one in list(standing.wrong):
        reads = _reads_apart if one.get("ended") else _reads
        if one.get("raised") or one.get("ended"):
            data = (folder / standing.input_file(one["input"])).read_bytes()
            if reads(target, data):
                standing.wrong.remove(one)
                standing.mended.append(one)


def _reads(target: Target, data: bytes) -> bool:
    try:
        target.run(data)
    except (Exception, SystemExit):
        return False
    return True


def _reads_apart(target: Target, data: bytes) -> bool:
    """The same in a copy of this process, which the input may end."""
    copy = os.fork()
    if copy == 0:
        signal.alarm(int(seconds_for(len(data))) + 60)
        os._exit(0 if _reads(target, data) else 1)
    return os.waitpid(copy, 0)[1] == 0


def one_input(
    target: Target, standing: Standing, lines: Lines, folder: Path, current: Path
) -> None:
    """Change an input and have it read; the bytes of one that goes wrong are kept in the folder."""
    number = standing.inputs
    dice = random.Random(f"{standing.seed}/{target.kind}/{target.name}/{number}")
    kept = [base64.b64decode(one) for one in dice.sample(standing.kept, min(3, len(standing.kept)))]
    parent = dice.choice([target.sample, *kept])
    data = mutated(dice, target.form, parent, [target.sample, *kept])
    standing.inputs += 1
    if any(one["input"] == number for one in standing.wrong):
        return
    told = {"kind": target.kind, "name": target.name, "input": number}
    current.write_bytes(json.dumps(told).encode() + b"\n" + data)
    began = time.process_time()
    wrong, raised = None, False
    try:
        outcome = target.run(data)
    except (Exception, SystemExit) as error:  # whatever it is, it is what is looked for
        outcome = f"{type(error).__name__}: {error}"[:200]
        last = traceback.extract_tb(error.__traceback__)[-1]
        wrong, raised = f"{outcome} ({Path(last.filename).name}, line {last.lineno})", True
    share = (time.process_time() - began) / seconds_for(len(data))
    standing.slowest = max(standing.slowest, share)
    if share > 1:
        standing.late += 1
        wrong = wrong or f"it takes {share:.1f} times as long as it may"
    further = _reaches_more(target, data, lines) if wrong is None and number % WATCHED == 0 else ()
    standing.lines += further
    is_new = outcome not in standing.outcomes or bool(further)
    fits = len(standing.kept) < KEPT and len(data) <= max(LONGEST, 2 * len(target.sample))
    if is_new and fits:
        standing.kept.append(base64.b64encode(data).decode())
    if outcome in standing.outcomes or len(standing.outcomes) < 10 * KEPT:
        standing.outcomes[outcome] = standing.outcomes.get(outcome, 0) + 1
    if wrong is not None:
        standing.wrong.append({"input": number, "wrong": wrong, "raised": raised})
        (folder / standing.input_file(number)).write_bytes(data)


def _reaches_more(target: Target, data: bytes, lines: Lines) -> list[str]:
    before = set(lines.seen)
    with lines.watching():
        target.run(data)
    return sorted(lines.seen - before)
