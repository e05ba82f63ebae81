"""A million acts tagged in bulk: how fast, in how much memory, and at what price.

The acts are synthetic, of 100 to 200 words, and made when they are read; what is written is their
tags, in parts (:mod:`labelwise.bulk`). All processes are killed when half is done, and begun again.
Then 1, 2 and 4 processes tag a sample, and Annif's ``index`` and LibMultiLabel's prediction tag the
acts that the shipped models do, each by a model that was trained on the same documents.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from labelwise.bench import Plan, Result
from labelwise.bench.load import memory_of
from labelwise.bench.processes import (
    LIBMULTILABEL,
    PROGRAMS,
    command_of,
    environment,
    run_program,
    threads,
)
from labelwise.bench.results import data_facts, data_folder
from labelwise.bench.service import ANNIF, TRAINED, annif_model
from labelwise.bench.svm import write_tsv
from labelwise.bulk import Tagger
from labelwise.bulk.shards import PART, Work
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.document import Document, Section
from labelwise.corpus.records import Record
from labelwise.corpus.shard import Shard
from labelwise.corpus.synthetic.acts import Act, ActWriter
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.corpus.synthetic.dice import Dice
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

MILLIONS, CORES = (1, 10, 100), (2, 16, 96)

ANNIFS = "Annif, Bonsai"

OF_A_CORE = "acts a second of a core"
"""By the seconds that the processor worked, which other work on the machine does not add to."""

SOURCES = 500
"""Acts of the synthetic corpus whose sentences the others are put together from."""

FEWEST, MOST = 100, 200
"""Words of an act, but for the end of its last sentence."""


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
    found = annif_index(*annif_model(plan, data, train), documents, folder / "texts")
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
        annif = [str(python.parent / "annif"), "index", "--limit", "5", "bonsai", str(where)]
        began, before = time.perf_counter(), _worked()
        run_program(annif, env=variables)
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
            *({"key": f"{n} cores", "name": f"hours, {n} cores", "as": "plain"} for n in CORES),
            {"key": "dollars", "as": "ratio"},
        ],
        "rows": [
            {
                "acts": f"{millions} million",
                **{f"{n} cores": hours * millions / n for n in CORES},
                "dollars": hours * millions * PRICE,
            }
            for millions in MILLIONS
        ],
    }


def average_words() -> float:
    """Of the first thousand acts."""
    acts = MadeActs(1_000)
    return sum(len(acts.act(number).text.split()) for number in range(1_000)) / 1_000


class MadeActs:
    """So many acts, the same in every process. Act ``n`` hangs on ``n`` alone.

    >>> acts = MadeActs(3)
    >>> acts.act(2).id, 100 <= len(acts.act(2).text.split()) < 300
    ('synthetic 2', True)
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def facts(self) -> dict[str, Any]:
        return {"synthetic acts": self._count, "put together from": SOURCES}

    def records(self) -> Iterator[Record]:
        for number in range(self._count):
            yield partial(self.act, number)

    def act(self, number: int) -> Document:
        """A header, and recitals and articles until it is long enough."""
        dice = random.Random(number)
        words = FEWEST + int(dice.random() * (MOST - FEWEST))
        source = self._sources[int(dice.random() * SOURCES)]
        sections = [Section("header", source.header)]
        left = words - len(source.header.split())
        recitals = self._drawn(self._recitals, left / 2, dice)
        articles = self._drawn(self._articles, left / 2, dice)
        sections.append(Section("recitals", "\n".join(recitals)))
        sections += [Section("article", one) for one in articles]
        return Document(f"synthetic {number}", source.title, tuple(sections))

    def _drawn(self, sentences: list[str], words: float, dice: random.Random) -> list[str]:
        found = []
        while words > 0:
            found.append(sentences[int(dice.random() * len(sentences))])
            words -= len(found[-1].split())
        return found

    @cached_property
    def _sources(self) -> list[Act]:
        return list(ActWriter(build_world()).acts(SOURCES, Dice("a million acts"), 0.0))

    @cached_property
    def _recitals(self) -> list[str]:
        return [line for act in self._sources for line in act.recitals.splitlines() if line]

    @cached_property
    def _articles(self) -> list[str]:
        return [article for act in self._sources for article in act.main_body]


POINTS = 10
"""Moments of a run that are kept: after so many equal parts of the acts."""

LOOK = 0.2
"""Seconds between two looks at the processes."""


@dataclass(frozen=True)
class Tagging:
    """Acts to be tagged into a folder by so many processes."""

    bundle: str
    acts: int
    processes: int
    folder: Path

    @property
    def part(self) -> int:
        """Acts of a part: fewer of few, so that every process has several."""
        return max(1, min(PART, self.acts // 40))

    @property
    def out(self) -> Path:
        return self.folder / "tags"

    def done(self) -> int:
        """Acts that stand in whole parts."""
        with suppress(FileNotFoundError):
            parts = sum(name.startswith("part-") for name in os.listdir(self.out))  # noqa: PTH208
            return min(self.acts, parts * self.part)
        return 0

    def start(self) -> list[subprocess.Popen[bytes]]:
        """Begin all shards, or go on with them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        started = []
        for number in range(1, self.processes + 1):
            asked = self.folder / f"{number}.json"
            request = {"bundle": self.bundle, "acts": self.acts, "part": self.part}
            request |= {"out": str(self.out), "shard": f"{number}/{self.processes}"}
            asked.write_text(json.dumps(request))
            command = command_of(tag_shard, asked, self._answer(number))
            env = {**os.environ, "OMP_NUM_THREADS": "1"}
            started.append(subprocess.Popen(command, env=env))
        return started

    def answers(self) -> list[dict[str, Any]]:
        numbers = range(1, self.processes + 1)
        return [json.loads(self._answer(number).read_text("utf-8")) for number in numbers]

    def rows(self) -> Iterator[dict[str, Any]]:
        """What was written, in the order of the parts' names."""
        for part in sorted(self.out.glob("part-*.jsonl")):
            with part.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def _answer(self, number: int) -> Path:
        return self.folder / f"{number}.answer.json"


@dataclass
class Watched:
    """What a run looked like from outside."""

    seconds: float = 0.0
    points: list[dict[str, Any]] = field(default_factory=list)  # one at each tenth
    left: int = 0  # acts that stood in whole parts when it was killed
    again: float = 0.0  # seconds from the kill to the next part


def watched(tagging: Tagging, *, kill: bool) -> Watched:
    """Run to the end; with ``kill`` all processes are killed when half is done, and begun again."""
    found = Watched()
    began = time.perf_counter()
    processes = tagging.start()

    def look(until: Callable[[int], bool]) -> None:
        while True:
            running = [one for one in processes if one.poll() is None]
            done, seconds = tagging.done(), time.perf_counter() - began
            if done >= tagging.acts * (len(found.points) + 1) / POINTS:
                memory = sum(_memory(one.pid) for one in running)
                found.points.append({"acts": done, "seconds": seconds, "memory": memory})
            if not running or until(done):
                return
            time.sleep(LOOK)

    if kill:
        look(lambda done: done >= tagging.acts / 2)
        for one in processes:
            one.kill()
            one.wait()
        killed, found.left = time.perf_counter(), tagging.done()
        processes = tagging.start()
        look(lambda done: done > found.left)
        found.again = time.perf_counter() - killed
    look(lambda done: False)
    found.seconds = time.perf_counter() - began
    if any(one.wait() for one in processes):
        raise LabelwiseError("a process that tags has failed: its last words are above")
    return found


def _memory(process: int) -> int:
    try:
        return memory_of(process)
    except OSError:  # it has just ended
        return 0


def tag_shard(request: dict[str, Any]) -> dict[str, float]:
    """Tag a shard of the acts into a folder: in how many seconds, and in how many of the processor,
    from the loaded model on."""
    tagger, acts = Tagger(request["bundle"]), MadeActs(request["acts"])
    tagger.documents([acts.act(0)])  # what is loaded at the first act is loaded now
    work = Work(acts, request["out"], part=request["part"])
    began, worked = time.perf_counter(), time.process_time()
    work.claim({"model": request["bundle"]})
    work.run(tagger.documents, Shard.parse(request["shard"]))
    return {
        "seconds": time.perf_counter() - began,
        "processor seconds": time.process_time() - worked,
    }
