"""What learning from decisions brings: gold labels are replayed as an indexer's decisions.

The acts of a labelled file are taken in order of time. After every so many of them the model learns
from all that came before, each act decided with its gold labels and done, and is measured on those
that come after. Which parts of the lessons are kept was chosen on the first half of the acts, where
each block is measured by what the acts before it have taught; the second half says what that is
worth.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.bench import Result
from labelwise.bench.results import write_result
from labelwise.corpus.celex import time_of
from labelwise.corpus.dataset import digest_of
from labelwise.corpus.decisions import Decided
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import LabelwiseError
from labelwise.evaluation.bootstrap import interval
from labelwise.evaluation.measures import evaluate
from labelwise.evaluation.ranking import top_k
from labelwise.evaluation.runs import current_versions
from labelwise.experiments.labelled_file import file_name, score_file
from labelwise.methods import Scores
from labelwise.methods.learned import reader_of
from labelwise.methods.lessons import Belief, Lessons
from labelwise.methods.taught import Taught, heaviest

SHOWN = 10
"""Labels that the indexer saw: those of them that are not gold were rejected."""

PARTS = {
    "calibration": Belief(memory=0, unit=0),
    "memory": Belief(calibration=0, unit=0),
    "units": Belief(calibration=0, memory=0),
    "all": Belief(),
}

BEFORE, AFTER = "as it was", "having learned"

TEXT = (
    "Acts with gold labels, in order of time, are replayed as an indexer's decisions on the ten "
    "best suggestions: gold ones accepted, others rejected, missing ones added. The model is taken "
    "as it was trained, without its calibration. The interval is that of the difference, by the "
    "bootstrap over acts."
)


@dataclass(frozen=True, eq=False)
class Acts:
    """Acts in order of time, with all that is known of them."""

    taught: Taught
    scores: Scores  # acts × labels, of the model as it was
    gold: NDArray[np.bool_]  # acts × labels
    similar: NDArray[np.float32]  # acts × acts
    decisions: NDArray[np.int64]  # (acts,) how many each took
    space: LabelSpace

    def scored(self, one: slice, belief: Belief) -> Scores:
        """The scores of these acts after all before them were learned from."""
        if not one.start:
            return self.scores[one]
        lessons = Lessons.learned(self.taught.part(slice(one.start)), self.space, belief)
        return lessons(self.scores[one], self.similar[one, : one.start])

    def rp5(self, scores: Scores, one: slice) -> NDArray[np.float64]:
        """RP@5 of each of these acts."""
        counts = evaluate(scores, self.gold[one], self.space).counts
        return counts.per_document("all", "RP@5")


def replay(
    bundle: str | Path, on: str | Path, *, out: str | Path, every: int = 20, command: str = ""
) -> tuple[Result, Path]:
    """Replay a labelled file, and write what was found below ``out``: the result and its path."""
    started, on = time.perf_counter(), Path(on)
    folder = shipped.folder_of(bundle)
    manifest = bundles.describe(folder)
    acts = _acts(folder, on)
    total = len(acts.gold)
    if total < 4 * every:
        raise LabelwiseError(f"{total} acts are too few to replay in steps of {every}")
    name = bundles.name_of(manifest["card"], manifest["method"])
    half = total // 2
    first, second = range(every, half, every), range(half, total, every)
    rows = [
        *(_blocks(f"{part}, first half", acts, belief, first) for part, belief in PARTS.items()),
        _blocks("all, second half", acts, Belief(), second),
    ]
    result = {
        "what": f"Learning from decisions: {name}",
        "text": TEXT,
        "tables": [
            _curve([_point(acts, at) for at in range(0, total - every, every)]),
            _parts(rows, every),
        ],
        "model": {"name": name, "digest": manifest["digest"]},
        "settings": {"every": every, "shown": SHOWN, **asdict(Belief())},
        "data": {"name": f"{name}-{file_name(on)}", "fingerprint": digest_of([on]), "acts": total},
        "versions": current_versions(),
        "seconds": round(time.perf_counter() - started, 1),
        "command": command,
    }
    return result, write_result(Path(out), "learn", result)


def _acts(folder: Path, on: Path) -> Acts:
    method = bundles.load(folder)
    method.calibration = None  # it may have been chosen on the very acts that are replayed
    card = bundles.describe(folder)["card"]
    found = score_file(method, on, thesaurus=bundles.thesaurus_in(card, folder), card=card)
    order = sorted(range(len(found.documents)), key=lambda at: time_of(found.documents[at].id))
    documents, scores = [found.documents[at] for at in order], found.scores[order]
    gold = found.space.gold(documents).toarray() > 0
    suggested = np.zeros_like(gold)
    np.put_along_axis(suggested, top_k(scores, SHOWN), True, axis=1)
    features = heaviest(reader_of(method).features(documents))
    decided = {one.id: Decided(set(one.labels), set(), done=True) for one in documents}
    taught = Taught.of(decided, features, scores, found.space)
    return Acts(
        taught,
        scores,
        gold,
        taught.similar(features),
        (gold | suggested).sum(axis=1),
        found.space,
    )


def _point(acts: Acts, decided: int) -> dict[str, Any]:
    """What so many decided acts have taught, measured on all that come after."""
    rest = slice(decided, len(acts.gold))
    before = acts.rp5(acts.scores[rest], rest)
    after = acts.rp5(acts.scored(rest, Belief()), rest)
    return {
        "acts": decided,
        "decisions": int(acts.decisions[:decided].sum()),
        "acts after": len(before),
        **_compared(before, after),
    }


def _blocks(what: str, acts: Acts, belief: Belief, within: range) -> dict[str, Any]:
    """What was learned before each block of acts, measured on the block."""
    start, stop = within.start, within.stop
    blocks = [slice(at, min(at + within.step, stop)) for at in within]
    own = np.concatenate([acts.scores[one] for one in blocks])
    learned = np.concatenate([acts.scored(one, belief) for one in blocks])
    whole = slice(start, stop)
    return {
        "learned": what,
        "acts": stop - start,
        **_compared(acts.rp5(own, whole), acts.rp5(learned, whole)),
        f"{BEFORE} log loss": _log_loss(own, acts.gold[whole]),
        f"{AFTER} log loss": _log_loss(learned, acts.gold[whole]),
    }


def _compared(before: NDArray[np.float64], after: NDArray[np.float64]) -> dict[str, Any]:
    low, high = interval(after - before)
    return {
        f"{BEFORE} RP@5": float(before.mean()),
        f"{AFTER} RP@5": float(after.mean()),
        "difference": {"median": float((after - before).mean()), "lowest": low, "highest": high},
    }


def _log_loss(scores: Scores, gold: NDArray[np.bool_]) -> float:
    """Minus the log-likelihood of an act's labels, of chances of one in a million or more."""
    p = scores.astype(np.float64).clip(1e-6, 1 - 1e-6)
    return float(-np.where(gold, np.log(p), np.log1p(-p)).sum(axis=1).mean())


def _curve(points: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "what": "RP@5 of all acts that come after so many decisions",
        "text": (
            "The acts that come after are fewer and newer from row to row: each row compares the "
            "model with itself on the same acts, and two rows do not compare."
        ),
        "columns": [
            {"key": "acts", "name": "decided acts", "as": "count"},
            {"key": "decisions", "as": "count"},
            {"key": "acts after", "as": "count"},
            *_columns(),
        ],
        "rows": points,
        "figure": {
            "over": "decisions",
            "panels": [{"what": "RP@5", "scale": "linear"}],
            "lines": [AFTER, BEFORE],
        },
    }


def _parts(rows: list[dict[str, Any]], every: int) -> dict[str, Any]:
    return {
        "what": "What is learned, and what it is worth",
        "text": (
            f"Blocks of {every} acts, each measured after all acts before it were learned from. "
            "The parts were chosen on the first half."
        ),
        "columns": [
            "learned",
            {"key": "acts", "as": "count"},
            *_columns(),
            {"key": f"{BEFORE} log loss", "as": "exponent"},
            {"key": f"{AFTER} log loss", "as": "exponent"},
        ],
        "rows": rows,
    }


def _columns() -> list[dict[str, str]]:
    figures = (f"{BEFORE} RP@5", f"{AFTER} RP@5", "difference")
    return [{"key": one, "as": "figure"} for one in figures]
