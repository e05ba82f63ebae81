"""Synthetic acts in any number, tagged by several processes that are watched and killed if asked.

A process tags a shard of the acts into a folder: ``python -m labelwise.bench.million_processes
REQUEST.json ANSWER.json``. Its answer says how many acts it tagged, in how many seconds, and in how
many of the processor, from the loaded model on.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from labelwise.bench.load import memory_of
from labelwise.bulk import Tagger
from labelwise.bulk.shards import PART, Work
from labelwise.corpus.document import Document, Section
from labelwise.corpus.records import Record
from labelwise.corpus.shard import Shard
from labelwise.corpus.synthetic.acts import Act, ActWriter
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.corpus.synthetic.dice import Dice
from labelwise.errors import LabelwiseError

SOURCES = 500
"""Acts of the synthetic corpus whose sentences the others are put together from."""

FEWEST, MOST = 100, 200
"""Words of an act, but for the end of its last sentence."""


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
            request = self.folder / f"{number}.json"
            asked = {"bundle": self.bundle, "acts": self.acts, "part": self.part}
            asked |= {"out": str(self.out), "shard": f"{number}/{self.processes}"}
            request.write_text(json.dumps(asked), "utf-8")
            command = [sys.executable, "-m", "labelwise.bench.million_processes"]
            started.append(
                subprocess.Popen(
                    [*command, str(request), str(self._answer(number))],
                    env={**os.environ, "OMP_NUM_THREADS": "1"},
                )
            )
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
    points: list[dict[str, Any]] = field(default_factory=list)
    """Acts done, seconds and memory at each tenth."""
    left: int = 0
    """Acts that stood in whole parts when it was killed."""
    again: float = 0.0
    """Seconds from the kill to the next part."""


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


def main(request: str, answer: str) -> None:
    asked = json.loads(Path(request).read_text("utf-8"))
    tagger, acts = Tagger(asked["bundle"]), MadeActs(asked["acts"])
    tagger.documents([acts.act(0)])  # what is loaded at the first act is loaded now
    work = Work(acts, asked["out"], part=asked["part"])
    began, worked = time.perf_counter(), time.process_time()
    work.claim({"model": asked["bundle"]})
    done = work.run(tagger.documents, Shard.parse(asked["shard"]))
    found = {
        "tagged": done.tagged,
        "seconds": time.perf_counter() - began,
        "processor seconds": time.process_time() - worked,
    }
    Path(answer).write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
