"""A campaign of changed inputs: ``python -m labelwise.bench.fuzz --minutes 5 --seed 0``.

Sample files of every format, saved models, checkpoints and requests are changed in ways that keep
most of their structure, and read. Three things are held: every input gives a result or a sentence;
none takes longer than a document of its size may; memory does not grow with their number. An input
of which something new became is kept and changed further.

All that is random follows from the seed and the number of the input. The campaign writes down where
it stands, and goes on from there when it is called again in the same way.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labelwise.bench import fuzz_targets as targets
from labelwise.bench.fuzz_mutations import mutated
from labelwise.bench.fuzz_targets import Target
from labelwise.bench.load import memory_of
from labelwise.bench.machine import machine
from labelwise.bench.results import write_result
from labelwise.corpus.patience import seconds_for
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import current_versions
from labelwise.files import write_whole

BLOCK = 50
"""Inputs that one target is given before it is the next one's turn."""

KEPT = 200
"""Inputs of a target that are changed further, besides its sample."""

EVERY = 20.0
"""Seconds after which it is written down where the campaign stands."""


@dataclass
class Standing:
    """Where one target stands."""

    inputs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    """In base64."""
    slowest: float = 0.0
    """The largest share of its time that an input took."""
    late: int = 0


@dataclass
class Standings:
    """Where the campaign stands."""

    seed: int
    seconds: float = 0.0
    targets: dict[str, Standing] = field(default_factory=dict)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    memory: list[dict[str, int]] = field(default_factory=list)
    """Bytes after so many inputs: of the campaign and of the service; anew after each start."""

    @property
    def inputs(self) -> int:
        return sum(one.inputs for one in self.targets.values())

    @classmethod
    def read(cls, path: Path, seed: int) -> Standings:
        if not path.exists():
            return cls(seed)
        written = json.loads(path.read_bytes())
        if written["seed"] != seed:
            raise LabelwiseError(
                f"{path}: this campaign has the seed {written['seed']}: give that one, or another "
                "--state"
            )
        each = {name: Standing(**one) for name, one in written.pop("targets").items()}
        return cls(**written, targets=each)

    def write(self, path: Path) -> None:
        write_whole(path, json.dumps(asdict(self)).encode())


def one_input(target: Target, standing: Standing, seed: int, folder: Path) -> str | None:
    """Change an input and have it read; what went wrong, or None."""
    dice = random.Random(f"{seed}/{target.kind}/{target.name}/{standing.inputs}")
    kept = [base64.b64decode(one) for one in dice.sample(standing.kept, min(3, len(standing.kept)))]
    parent = dice.choice([target.sample, *kept])
    data = mutated(dice, target.form, parent, [target.sample, *kept])
    (folder / "current").write_bytes(f"{target.kind}: {target.name}\n".encode() + data)
    began = time.process_time()
    wrong = None
    try:
        outcome = target.run(data)
    except Exception as error:  # whatever it is, it is what is looked for
        outcome = f"{type(error).__name__}: {error}"[:200]
        last = traceback.extract_tb(error.__traceback__)[-1]
        wrong = f"{outcome} ({Path(last.filename).name}, line {last.lineno})"
    share = (time.process_time() - began) / seconds_for(len(data))
    standing.inputs += 1
    standing.slowest = max(standing.slowest, share)
    if share > 1:
        standing.late += 1
        wrong = wrong or f"it takes {share:.1f} times as long as it may"
    if outcome not in standing.outcomes and len(standing.kept) < KEPT:
        standing.kept.append(base64.b64encode(data).decode())
    if outcome in standing.outcomes or len(standing.outcomes) < 10 * KEPT:
        standing.outcomes[outcome] = standing.outcomes.get(outcome, 0) + 1
    if wrong is not None:
        number = standing.inputs - 1
        (folder / f"{target.kind}-{target.name.replace('/', '_')}-{number}").write_bytes(data)
    return wrong


def campaign(
    all_targets: Sequence[Target],
    standings: Standings,
    folder: Path,
    *,
    enough: Callable[[Standings], bool],
    keep: Callable[[Standings], object],
    memory: Callable[[], dict[str, int]],
) -> None:
    """Give every target its turn until it is enough."""
    began, before, kept = time.monotonic(), standings.seconds, time.monotonic()
    at = standings.inputs // BLOCK
    while not enough(standings):
        target = all_targets[at % len(all_targets)]
        standing = standings.targets.setdefault(f"{target.kind}: {target.name}", Standing())
        for _ in range(BLOCK):
            wrong = one_input(target, standing, standings.seed, folder)
            if wrong is not None:
                standings.wrong.append(
                    {
                        "kind": target.kind,
                        "name": target.name,
                        "input": standing.inputs - 1,
                        "wrong": wrong,
                    }
                )
        at += 1
        standings.seconds = before + time.monotonic() - began
        if time.monotonic() - kept > EVERY:
            kept = time.monotonic()
            standings.memory.append({"inputs": standings.inputs, **memory()})
            keep(standings)
    standings.memory.append({"inputs": standings.inputs, **memory()})
    keep(standings)


def result_of(standings: Standings) -> dict[str, Any]:
    """The table of what was done and what went wrong."""
    rows = []
    for kind in dict.fromkeys(name.partition(":")[0] for name in standings.targets):
        each = [one for name, one in standings.targets.items() if name.startswith(f"{kind}:")]
        wrong = Counter(one["kind"] for one in standings.wrong)
        rows.append(
            {
                "kind": kind,
                "samples": len(each),
                "inputs": sum(one.inputs for one in each),
                "different outcomes": sum(len(one.outcomes) for one in each),
                "went wrong": wrong[kind],
                "over their time": sum(one.late for one in each),
                "slowest, of its time": round(max(one.slowest for one in each), 4),
            }
        )
    return {
        "what": "Changed inputs",
        "text": f"{standings.inputs:,} inputs, seed {standings.seed}: sample files of every "
        "format, the parts of a bundle under checksums that fit, a checkpoint, and requests to a "
        "running service, changed in ways that keep most of their structure. An input went wrong "
        "where it gave neither a result nor a sentence; its time is that of a document of its "
        "size (of requests the part of the client, beside an end after a minute).",
        "columns": list(rows[0]),
        "rows": rows,
        "wrong": standings.wrong,
        "memory": _ends(standings.memory),
        "inputs": standings.inputs,
        "seed": standings.seed,
        "seconds": round(standings.seconds, 1),
        "machine": machine(),
        "versions": current_versions("lxml", "pypdf", "pydantic", "uvicorn", "h11", "rdflib"),
        "command": f"python -m labelwise.bench.fuzz --inputs {standings.inputs} "
        f"--seed {standings.seed}",
    }


def _ends(memory: list[dict[str, int]]) -> list[dict[str, int]]:
    """A hundred of the figures at most, with the first and the last."""
    step = max(1, len(memory) // 100)
    return [*memory[:-1:step], *memory[-1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=int, help="until there were so many, in all calls")
    parser.add_argument("--minutes", type=float, help="so long at most, in this call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path(".fuzz"), help="where it stands")
    parser.add_argument("--samples", type=Path, help="a folder of further sample files")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    given.state.mkdir(parents=True, exist_ok=True)
    path = given.state / "standings.json"
    standings = Standings.read(path, given.seed)
    until = time.monotonic() + 60 * given.minutes if given.minutes else None

    def enough(so_far: Standings) -> bool:
        if given.inputs is not None and so_far.inputs >= given.inputs:
            return True
        return until is not None and time.monotonic() > until

    def keep(so_far: Standings) -> None:
        so_far.write(path)
        write_result(given.out, "fuzz", result_of(so_far))
        print(f"{so_far.inputs:,} inputs, {len(so_far.wrong)} went wrong", flush=True)

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labelwise-fuzz-")))
        every = [
            *targets.readers(given.samples),
            *targets.thesauri(scratch),
            *targets.saved(scratch),
        ]
        port, process = stack.enter_context(targets.service(scratch))
        campaign(
            [*every, *targets.requests(port)],
            standings,
            given.state,
            enough=enough,
            keep=keep,
            memory=lambda: {"campaign": _resident(), "service": memory_of(process)},
        )
    sys.exit(1 if standings.wrong else 0)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096


if __name__ == "__main__":
    main()
