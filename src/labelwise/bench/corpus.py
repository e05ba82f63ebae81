"""The data that benchmarks read: what the user names, else the synthetic corpus."""

from __future__ import annotations

from pathlib import Path

from labelwise.bench.plan import Plan, Result
from labelwise.corpus.dataset import Dataset
from labelwise.corpus.synthetic import make_dataset


def data_folder(plan: Plan, work: Path) -> Path:
    """The data set's folder; without one, the synthetic corpus is made in the work folder."""
    if plan.data is not None:
        return plan.data.absolute()
    make_dataset(work / "synthetic", seed=0)
    return work / "synthetic"


def data_facts(data: Dataset) -> Result:
    """What a result says of its data. Ask while they are there: a corpus may be made for a run."""
    return {"name": data.name, "fingerprint": data.fingerprint, "counts": data.counts}
