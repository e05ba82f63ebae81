"""Our service by 1, 2 and 4 workers beside Annif's by as many, under the same load, in one run.

The models and the clients are those of the benchmark ``service``: both serve Bonsai trees, asked
over Annif's routes for one document a request.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from labelwise.bench.facts import data_facts
from labelwise.bench.load import load, memory_of
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import threads
from labelwise.bench.results import spread, taking_turns
from labelwise.bench.service import (
    ANNIF,
    CLIENTS,
    LIMIT,
    both_sides,
    measuring,
    relevant,
    single,
)
from labelwise.evaluation.runs import current_versions

WORKERS = (1, 2, 4)


def run(plan: Plan) -> Result:
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        folder = Path(work)
        both = both_sides(plan, folder)
        train, documents = both.train, both.documents
        of_data = data_facts(both.data)
        sides = {}
        for workers in WORKERS:
            ours = both.ours(f"bonsai={both.bundles['tree']}", "--workers", str(workers))
            sides[name_of("labelwise", workers)] = stack.enter_context(ours)
            sides[name_of("Annif", workers)] = stack.enter_context(both.theirs(workers))
        requests = single("bonsai", documents)
        for port, _ in sides.values():  # every worker loads at its first request, or has loaded
            load(port, requests[: 8 * max(WORKERS)], CLIENTS)

        found = taking_turns(
            {name: measuring(port, requests, CLIENTS) for name, (port, _) in sides.items()},
            plan.repeats or 3,
        )
        memory = {name: memory_of(process) for name, (_, process) in sides.items()}
    return {
        "what": "The service by 1, 2 and 4 workers beside Annif's",
        "text": f"Both serve Bonsai trees trained on {len(train):,} documents, and are asked over "
        f"Annif's routes for the {LIMIT} best labels of {len(documents):,} test documents, one a "
        f"request, by {CLIENTS} clients in one process on the same {threads()} cores. Memory is "
        "that of all processes of a side; what they share is counted once.",
        "data": of_data,
        "threads": threads(),
        "repeats": plan.repeats or 3,
        "peer": ANNIF[0],
        "versions": current_versions("uvicorn", "fastapi", "omikuji"),
        "columns": [
            "",
            {"key": "documents a second", "as": "plain"},
            {
                "key": "documents a second",
                "name": "to Annif's 1 worker",
                "as": "ratio",
                "peer": name_of("Annif", 1),
            },
            {"key": "median", "as": "seconds"},
            {"key": "99th percentile", "as": "seconds"},
            {"key": "RP@5", "as": "figure"},
            {"key": "memory", "as": "bytes"},
        ],
        "rows": [
            {
                "": name,
                "documents a second": spread([one.rate for one in repeats]),
                "median": spread([one.median for one in repeats]),
                "99th percentile": spread([one.slowest for one in repeats]),
                "RP@5": relevant(repeats[0].answers, documents),
                "memory": memory[name],
            }
            for name, repeats in found.items()
        ],
    }


def name_of(side: str, workers: int) -> str:
    """
    >>> name_of("Annif", 1), name_of("Annif", 2)
    ('Annif, 1 worker', 'Annif, 2 workers')
    """
    return f"{side}, {workers} worker{'s' if workers > 1 else ''}"
