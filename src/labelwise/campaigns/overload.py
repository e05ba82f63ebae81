"""Too much, and for long, ours beside Annif: ``python -m labelwise.campaigns.overload``.

Both services serve Bonsai trees, as in the benchmark ``service``. In the overload, each in its turn
is asked four times as often as ours can answer, for five minutes. In the soak, both are asked at
once, at half of what the slower can answer, for thirty. What is looked at: how long an answer takes
that is given, how many are refused in words, how many get no answer, and memory over time.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from labelwise.bench import Plan
from labelwise.bench.load import Request, load, memory_of
from labelwise.bench.page import write_page
from labelwise.bench.processes import threads
from labelwise.bench.results import busy_cores, data_facts, machine, write_result
from labelwise.bench.service import ANNIF, LIMIT, Side, both_sides, single
from labelwise.campaigns.open_load import CLIENTS, PATIENCE, Borne, bear
from labelwise.evaluation.runs import current_versions

OURS, PEER = "labelwise", "Annif, 2 workers"
TIMES = 4
ENOUGH = 100
"""Requests whose answers tell what a side can do."""

EVERY = 5.0
"""Seconds between two looks at memory."""


def benchmark(plan: Plan, overload: float, soak: float) -> None:
    """So many minutes of each, none where it is 0; what is found is kept after each of them."""
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        folder = Path(work)
        both = both_sides(plan, folder)
        of_data = data_facts(both.data)
        sides = {
            OURS: stack.enter_context(both.ours(f"bonsai={both.bundles['tree']}")),
            PEER: stack.enter_context(both.theirs(2)),
        }
        requests = single("bonsai", both.documents)
        able = {name: _able(side, requests) for name, side in sides.items()}
        result = {
            "what": "Overload and soak, beside Annif",
            "text": f"Both serve Bonsai trees trained on {len(both.train):,} documents, over "
            f"Annif's routes for the {LIMIT} best labels, on the same {threads()} cores as the "
            f"clients, which ask at a given rate from {CLIENTS} addresses whether or not they were "
            f"answered, and go away after {PATIENCE:g} s. Annif is served by uvicorn as it comes, "
            "which begins a worker again that does not answer it within 5 s.",
            "data": of_data,
            "threads": threads(),
            "peer": ANNIF[0],
            "able": {name: round(rate, 2) for name, rate in able.items()},
            "versions": current_versions("uvicorn", "fastapi", "omikuji"),
        }
        tables = []
        for minutes, of_load in ((overload, _overload), (soak, _soak)):
            if minutes:
                tables.append(of_load(sides, requests, able, minutes))
                plan.keep({**result, "tables": tables})


def _able(side: Side, requests: Sequence[Request]) -> float:
    """Good answers a second to clients that wait for them."""
    load(side.port, requests[:8], 2)  # what is loaded at the first request is loaded now
    return load(side.port, requests[:ENOUGH], 8).rate


def _overload(
    sides: Mapping[str, Side],
    requests: Sequence[Request],
    able: Mapping[str, float],
    minutes: float,
) -> dict[str, Any]:
    rate = TIMES * able[OURS]
    rows = []
    for name, (port, process) in sides.items():
        with memory_over_time(process) as memory:
            borne = bear(port, requests, rate, 60 * minutes)
        rows.append({"": name, **_seen(borne), "memory before": memory[0], "peak": max(memory)})
    return {
        "what": f"{TIMES} times what ours can answer, for {minutes:g} minutes",
        "text": f"The same load for both, one after the other: {rate:.1f} requests a second. "
        "Refused is what got an answer that says so (429, 503 or 504).",
        "columns": [
            "",
            {"key": "answered a second", "as": "plain"},
            {"key": "answered a second", "name": "to Annif", "as": "ratio", "peer": PEER},
            *_OF_LOAD,
            {"key": "memory before", "as": "bytes"},
            {"key": "peak", "name": "peak memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def _soak(
    sides: Mapping[str, Side],
    requests: Sequence[Request],
    able: Mapping[str, float],
    minutes: float,
) -> dict[str, Any]:
    rate = min(able.values()) / 4  # of each: half of it by two at once
    rows = []
    with ExitStack() as stack, ThreadPoolExecutor(len(sides)) as pool:
        memory = {
            name: stack.enter_context(memory_over_time(process))
            for name, (_, process) in sides.items()
        }
        found = {
            name: pool.submit(bear, port, requests, rate, 60 * minutes)
            for name, (port, _) in sides.items()
        }
        borne = {name: one.result() for name, one in found.items()}
    for name, one in borne.items():
        early, late = _tenths(memory[name])
        rows.append({"": name, **_seen(one), "early": early, "late": late, "grown": late / early})
    return {
        "what": f"Half of what the slower can answer, for {minutes:g} minutes",
        "text": f"Both at once, each {rate:.1f} requests a second. Memory is the mean of the "
        "second tenth of the time, when all is warm, and of the last.",
        "columns": [
            "",
            {"key": "answered a second", "as": "plain"},
            *_OF_LOAD,
            {"key": "early", "name": "memory early", "as": "bytes"},
            {"key": "late", "name": "memory late", "as": "bytes"},
            {"key": "grown", "name": "late to early", "as": "plain"},
        ],
        "rows": rows,
        "memory": {name: _few(one) for name, one in memory.items()},
    }


_OF_LOAD = [
    {"key": "good", "as": "share"},
    {"key": "refused", "as": "share"},
    {"key": "no answer", "as": "share"},
    {"key": "median", "as": "seconds"},
    {"key": "99th percentile", "as": "seconds"},
]


def _seen(borne: Borne) -> dict[str, Any]:
    return {
        "requests": len(borne.asked),
        "answered a second": borne.rate,
        "good": borne.share(range(200, 201)),
        "refused": borne.share(range(429, 430), range(503, 505)),
        "no answer": borne.share(range(1)),
        "median": borne.wait(50),
        "99th percentile": borne.wait(99),
    }


@contextmanager
def memory_over_time(process: int) -> Iterator[list[int]]:
    """The bytes of a process and its children, looked at again and again within the block."""
    found: list[int] = []
    ended = threading.Event()

    def look() -> None:
        while not found or not ended.wait(EVERY):
            with suppress(OSError):  # a child that ends while it is looked at
                found.append(memory_of(process))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        ended.set()
        looking.join()


def _tenths(memory: Sequence[int]) -> tuple[float, float]:
    """The means of the second tenth and of the last."""
    size = max(1, len(memory) // 10)
    early, late = memory[size : 2 * size] or memory[:1], memory[-size:]
    return sum(early) / len(early), sum(late) / len(late)


def _few(memory: Sequence[int]) -> list[int]:
    return list(memory[:: max(1, len(memory) // 60)])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--overload", type=float, default=5.0, help="minutes; 0 leaves it out")
    parser.add_argument("--soak", type=float, default=30.0, help="minutes; 0 leaves it out")
    parser.add_argument("--data", type=Path, help="the data set; the synthetic corpus without it")
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    given = parser.parse_args()
    began, busy = time.monotonic(), busy_cores()

    def keep(result: dict[str, Any]) -> None:
        facts = {
            "machine": {**machine(), "load": busy},
            "seconds": round(time.monotonic() - began, 1),
            "command": f"python -m labelwise.campaigns.overload --overload {given.overload:g} "
            f"--soak {given.soak:g}",
        }
        write_result(given.out, "overload", {**result, **facts})
        write_page(given.out)

    benchmark(Plan(out=given.out, data=given.data, keep=keep), given.overload, given.soak)


if __name__ == "__main__":
    main()
