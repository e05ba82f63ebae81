"""How networks are trained on a machine with a GPU and little else, tried on this one.

Nothing but the core may be imported there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_cases import frequent_words, tiny_encoder

from labelwise import bundle
from labelwise.corpus.dataset import Dataset, open_dataset
from labelwise.corpus.synthetic import make_dataset
from labelwise.evaluation.measures import evaluate_topk
from labelwise.evaluation.runs import Run

BARE = """
import sys
OPTIONAL = {"numba", "omikuji", "rdflib", "fastapi", "optuna", "ahocorasick"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OPTIONAL:
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
from labelwise.tuning import jobs
from worker_cases import PoolHere
jobs.Pool = PoolHere  # what is trained is trained here, with the core alone
from labelwise.cli import main
for line in sys.stdin.read().splitlines():
    try:
        main(line.split("\t"))
    except SystemExit as ended:
        if ended.code:
            raise
"""


@pytest.fixture(scope="module")
def few_acts(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A data set that is prepared, trained on and measured in a moment."""
    folder = tmp_path_factory.mktemp("prepare") / "acts"
    make_dataset(folder, train=120, dev=24, test=40)
    return open_dataset(folder)


def run(*commands: tuple[object, ...]) -> None:
    """Commands where neither the real data nor anything but the core is at hand."""
    lines = "\n".join("\t".join(map(str, command)) for command in commands)
    alone = {name: value for name, value in os.environ.items() if name != "LABELWISE_DATA"}
    alone |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    python = [sys.executable, "-c", BARE]
    done = subprocess.run(
        python, input=lines, capture_output=True, text=True, check=False, env=alone
    )
    assert done.returncode == 0, done.stderr


def test_a_corpus_is_prepared_then_trained_on_and_measured(
    few_acts: Dataset, tmp_path: Path
) -> None:
    folder = Path(few_acts.paths["train"]).parent
    vectors = folder / "vectors.txt"
    prepared, out = tmp_path / "prepared", tmp_path / "out"
    quick = ("epochs=2", "filters=16", "max_tokens=60", "device=cpu", "vectors=vectors.txt")
    where = ("--prepared", prepared, "--out", out / "results", "--bundles", out)
    chosen = ("--methods", "z-cnn-lwan", "--seeds", 1, "--max-seconds", 60, "--no-report")
    run(
        ("prepare", "--data", folder, "--vectors", vectors, "--out", prepared),
        ("reproduce", *where, *chosen, *(word for x in quick for word in ("--set", x))),
    )

    (file,) = (out / "results").rglob("seed-0.json")
    measured = Run.read(file)
    assert measured.settings["vectors"] == "vectors.txt"
    assert measured.data.fingerprint == few_acts.fingerprint
    model = bundle.load(out / "z-cnn-lwan-0.bundle")
    scores = model.scores(few_acts.test)
    gold = few_acts.label_space.gold(few_acts.test)
    with np.load(out / "z-cnn-lwan-0.scores.npz") as kept:
        columns, odds = kept["test.columns"], kept["test.log_odds"]
    best = 1 / (1 + np.exp(-odds.astype(np.float32)))
    np.testing.assert_allclose(np.take_along_axis(scores, columns, axis=1), best, atol=0.01)
    again = evaluate_topk(columns, best, gold, few_acts.label_space)
    for group in ("all", "few", "zero"):
        # Half precision ties labels that are all but equal.
        close = pytest.approx(measured.value("test", group, "RP@5"), abs=0.01)
        assert again[group]["RP@5"] == close
        assert again[group]["rankings cut short"] == 0
    assert file.with_suffix(".log.jsonl").exists()
    assert not list(out.rglob("checkpoint.safetensors"))


def test_a_corpus_is_prepared_in_the_pieces_of_an_encoder(
    labelwise: Callable[..., Any],
    few_acts: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(few_acts.paths["train"]).parent
    words = frequent_words(section.text for act in few_acts.train for section in act.sections)
    encoder = tiny_encoder("mpnet", words)
    prepared, out = tmp_path / "prepared", tmp_path / "out"
    monkeypatch.setenv("LABELWISE_ENCODERS", str(encoder.parent))
    monkeypatch.delenv("LABELWISE_DATA", raising=False)  # what is prepared is all there is
    quick = (f"encoder={encoder.name}", "piece_tokens=20", "stride=20", "epochs=1", "device=cpu")
    where = ("--prepared", prepared, "--out", out / "results", "--bundles", out)
    chosen = ("--methods", "mpnet-lwan", "--seeds", 1, "--no-report")
    run(
        ("prepare", "--data", folder, "--encoder", encoder, "--most", 40, "--out", prepared),
        ("reproduce", *where, *chosen, *(word for x in quick for word in ("--set", x))),
    )

    (file,) = (out / "results").rglob("seed-0.json")
    measured = Run.read(file)
    assert measured.settings["encoder"] == encoder.name
    assert measured.data.fingerprint == few_acts.fingerprint
    model = bundle.load(out / "mpnet-lwan-0.bundle")
    with np.load(out / "mpnet-lwan-0.scores.npz") as kept:
        columns, odds = kept["test.columns"], kept["test.log_odds"]
    best = np.take_along_axis(model.scores(few_acts.test), columns, axis=1)
    np.testing.assert_allclose(best, 1 / (1 + np.exp(-odds.astype(np.float32))), atol=0.01)

    # What it was prepared for is not mixed up with what it was not.
    for method, said in (("bigru-lwan", "which bigru-lwan does not read"), ("minilm-lwan", "asks")):
        refused = labelwise("reproduce", "--prepared", prepared, "--methods", method)
        assert refused.code != 0
        assert said in " ".join(refused.err.split())


def test_options_that_contradict_each_other_are_refused(
    few_acts: Dataset, tmp_path: Path, labelwise: Callable[..., Any]
) -> None:
    asked = ("prepare", "--data", Path(few_acts.paths["train"]).parent, "--out", tmp_path / "out")
    assert "--most goes with --encoder" in labelwise(*asked, "--most", 10).err
    both = labelwise(*asked, "--vectors", "glove.txt", "--encoder", "mini")
    assert (both.code, "not both" in both.err) == (2, True)
    assert not (tmp_path / "out").exists()
