"""One process of the benchmark ``million``: a shard of the acts, tagged into a folder.

    python -m labelwise.bench.million_shard REQUEST.json ANSWER.json

The answer says how many acts it tagged, in how many seconds, and in how many of the processor,
from the loaded model on.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from labelwise.bench.million_acts import MadeActs
from labelwise.bulk import Tagger
from labelwise.bulk.shards import Work
from labelwise.corpus.shard import Shard


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
