"""A million acts tagged in bulk: how fast, in how much memory, and at what price.

The acts are synthetic, of 100 to 200 words, and made when they are read; what is written is their
tags, in parts (:mod:`labelwise.bulk`). All processes are killed when half is done, and begun again.
Then 1, 2 and 4 processes tag a sample, and Annif's ``index`` and LibMultiLabel's prediction tag the
acts that the shipped models do, each by a model that was trained on the same documents.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelwise.bench.facts import data_facts, data_folder
from labelwise.bench.million_processes import FEWEST, MOST, MadeActs, Tagging, Watched, watched
from labelwise.bench.plan import Plan, Result
from labelwise.bench.processes import LIBMULTILABEL, PROGRAMS, environment, run_program, threads
from labelwise.bench.service import ANNIF, TRAINED, annif_environment, annif_model
from labelwise.bench.svm import write_tsv
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.model import load
from labelwise.shipped import NAME, SMALL

SAMPLE = 10_000
"""Acts that 1, 2 and 4 processes tag, at most."""

COMPARED = 500
"""Acts that the larger model and the peers tag, at most."""

PROCESSES = (1, 2, 4)

PRICE = 0.05
"""What a core is taken to cost in an hour, in dollars: rented, without a contract."""

MILLIONS = (1, 10, 100)

ANNIFS = "Annif, Bonsai"

OF_A_CORE = "acts a second of a core"
"""By the seconds that the processor worked, which other work on the machine does not add to."""


def run(plan: Plan) -> Result:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        data = open_dataset(data_folder(plan, folder))
        of_data = data_facts(data)
        whole = Tagging(SMALL, plan.acts, threads(), folder / "all")
        seen = watched(whole, kill=True)
        check(whole)
        sample = min(plan.acts, SAMPLE)
        scaling = {
            processes: sampled(Tagging(SMALL, sample, processes, folder / f"by {processes}"))
            for processes in PROCESSES
        }
        compared = beside(plan, data, folder, min(plan.acts, COMPARED))
    return {
        "what": f"{plan.acts:,} acts tagged in bulk",
        "text": f"Synthetic acts of {FEWEST} to {MOST} words ({average_words():.0f} on average), "
        f"made when they are read, tagged by {SMALL} in {threads()} processes, one thread each. "
        f"All were killed when half was done, with {seen.left:,} acts in whole parts, and begun "
        f"again; the next part was there after {seen.again:.1f} s. At the end every act was there "
        f"once: {seen.seconds:,.0f} s in all. Memory is that of all processes; what they share is "
        "counted once.",
        "data": of_data,
        "threads": threads(),
        "peer": f"{ANNIF[0]}, {LIBMULTILABEL[-1]}",
        "acts": plan.acts,
        "killed": {"acts in whole parts": seen.left, "seconds to the next part": seen.again},
        "tables": [
            over_time(seen),
            by_processes(scaling, sample),
            compared,
            prices(scaling[1][OF_A_CORE]),
        ],
    }


def check(tagging: Tagging) -> None:
    """Every act is there once, in its place, with labels."""
    count = 0
    for count, row in enumerate(tagging.rows(), 1):
        if row["position"] != count - 1 or not row["predictions"]:
            raise LabelwiseError(f"the row of act {count - 1:,} is missing, or there twice")
    if count != tagging.acts:
        raise LabelwiseError(f"{count:,} rows were written of {tagging.acts:,} acts")


def sampled(tagging: Tagging) -> dict[str, Any]:
    """Acts a second by so many processes, from the loaded models on."""
    seen = watched(tagging, kill=False)
    answers = tagging.answers()
    return {
        "acts a second": tagging.acts / max(one["seconds"] for one in answers),
        OF_A_CORE: tagging.acts / sum(one["processor seconds"] for one in answers),
        "memory": max(point["memory"] for point in seen.points),
    }


def over_time(seen: Watched) -> dict[str, Any]:
    rows, before = [], {"acts": 0, "seconds": 0.0}
    for point in seen.points:
        seconds = point["seconds"] - before["seconds"]
        rate = (point["acts"] - before["acts"]) / max(seconds, 1e-9)
        rows.append({**point, "acts": f"{point['acts']:,}", "acts a second": rate})
        before = point
    return {
        "what": "Over time",
        "columns": [
            "acts",
            {"key": "seconds", "as": "plain"},
            {"key": "acts a second", "name": "acts a second since the row above", "as": "plain"},
            {"key": "memory", "as": "bytes"},
        ],
        "rows": rows,
    }


def by_processes(scaling: Mapping[int, dict[str, Any]], acts: int) -> dict[str, Any]:
    return {
        "what": f"{acts:,} acts by 1, 2 and 4 processes on {threads()} cores",
        "columns": [
            "processes",
            {"key": "acts a second", "as": "plain"},
            {"key": "acts a second", "name": "to 1 process", "as": "ratio", "peer": "1"},
            {"key": OF_A_CORE, "as": "plain"},
            {"key": "memory", "as": "bytes"},
        ],
        "rows": [{"processes": str(one), **found} for one, found in scaling.items()],
    }


def beside(plan: Plan, data: Dataset, folder: Path, count: int) -> dict[str, Any]:
    """Ours and the peers' on the same acts, one after the other."""
    acts = MadeActs(count)
    documents = [acts.act(number) for number in range(count)]
    train = list(data.train[:TRAINED])
    rows: list[dict[str, Any]] = []
    for name in (SMALL, NAME):
        found = sampled(Tagging(name, count, threads(), folder / name))
        labels = len(load(name).labels)
        rows.append({"": f"labelwise, {name}", "labels": labels, **found})
    known = len({label for one in train for label in one.labels})
    kept = (plan.out / ".prepared" / f"service-{data.fingerprint}").absolute()
    python = Path(annif_environment(plan.out))
    variables = annif_model(kept / "annif", python, data, train)
    found = annif_index(python, variables, documents, folder / "texts")
    rows.append({"": ANNIFS, "labels": known, **found})
    found = libmultilabel_predict(plan, data, documents, folder)
    rows.append({"": "LibMultiLabel, SVM", "labels": known, **found})
    return {
        "what": f"{count:,} acts, beside peers",
        "text": f"Ours by {threads()} processes, each peer as it comes. Ours are the shipped "
        f"models; the peers' were trained on {len(train):,} documents of {data.name}, and have its "
        "labels alone. Without the time to start and to load.",
        "columns": [
            "",
            {"key": "labels", "as": "count"},
            {"key": "acts a second", "as": "plain"},
            {"key": OF_A_CORE, "as": "plain"},
            {"key": OF_A_CORE, "name": "to Annif", "as": "ratio", "peer": ANNIFS},
        ],
        "rows": rows,
    }


def annif_index(
    python: Path, variables: Mapping[str, str], documents: Sequence[Document], folder: Path
) -> dict[str, float]:
    """The rate of ``annif index``, which reads a folder of texts and writes beside each.

    Starting and loading are what a folder of one act takes."""
    seconds, worked = [], []
    for number, some in enumerate((documents[:1], documents)):
        where = folder / str(number)
        where.mkdir(parents=True)
        for at, one in enumerate(some):
            (where / f"{at:06d}.txt").write_text(one.text, "utf-8")
        began, before = time.perf_counter(), _worked()
        run_program(
            [str(python.parent / "annif"), "index", "--limit", "5", "bonsai", str(where)],
            env=variables,
        )
        seconds.append(time.perf_counter() - began)
        worked.append(_worked() - before)
        if len(list(where.glob("*.annif"))) != len(some):
            raise LabelwiseError("`annif index` did not write a file for every text")
    if seconds[1] <= seconds[0] or worked[1] <= worked[0]:
        raise LabelwiseError("the machine is too busy to tell how long `annif index` takes")
    return _rates(len(documents) - 1, seconds[1] - seconds[0], worked[1] - worked[0])


def _worked() -> float:
    """Seconds of the processor that programs which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _rates(acts: int, seconds: float, worked: float) -> dict[str, float]:
    return {"acts a second": acts / seconds, OF_A_CORE: acts / worked}


def libmultilabel_predict(
    plan: Plan, data: Dataset, documents: Sequence[Document], folder: Path
) -> dict[str, float]:
    """The rate of LibMultiLabel: features and values of all labels, and the best five."""
    python = environment("libmultilabel", LIBMULTILABEL, plan.out)
    write_tsv(folder / "train.tsv", data.train[:TRAINED])
    write_tsv(folder / "acts.tsv", documents)
    answer = folder / "libmultilabel.json"
    program = str(PROGRAMS / "libmultilabel_predict.py")
    run_program([python, program, str(folder / "train.tsv"), str(folder / "acts.tsv"), str(answer)])
    took = json.loads(answer.read_text("utf-8"))
    return _rates(len(documents), took["seconds"], took["processor seconds"])


def prices(rate: float) -> dict[str, Any]:
    """What it would take and cost elsewhere, from the rate of a core."""
    hours = 1e6 / rate / 3600  # of one core, for a million acts
    return {
        "what": "What it would cost on rented machines",
        "text": f"Computed, not measured: {rate:,.0f} acts a second of a core, as one process has "
        "them above, on cores that nothing else keeps busy (shards share nothing), at "
        f"{PRICE:.2f} dollars for a core and hour, an assumption; a million acts take {hours:.2f} "
        "hours of a core. Acts of 1,000 words take several times as long; reading from and writing "
        "to a store of objects is not in it.",
        "columns": [
            "acts",
            {"key": "2 cores", "name": "hours, 2 cores", "as": "plain"},
            {"key": "16 cores", "name": "hours, 16 cores", "as": "plain"},
            {"key": "96 cores", "name": "hours, 96 cores", "as": "plain"},
            {"key": "dollars", "as": "ratio"},
        ],
        "rows": [
            {
                "acts": f"{millions} million",
                **{f"{cores} cores": hours * millions / cores for cores in (2, 16, 96)},
                "dollars": hours * millions * PRICE,
            }
            for millions in MILLIONS
        ],
    }


def average_words() -> float:
    """Of the first thousand acts."""
    acts = MadeActs(1_000)
    return sum(len(acts.act(number).text.split()) for number in range(1_000)) / 1_000
