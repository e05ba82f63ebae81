"""What is written of the losses on dev is what the trials say."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from labelwise.evaluation.trial_records import Trial, read_trials

FOLDER = Path(__file__).parents[2] / "results" / "eurlex57k-seventh"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="results/ is not in the package")
def test_the_table_of_losses_has_the_means_of_the_trials() -> None:
    by_loss: dict[tuple[str, ...], list[Trial]] = {}
    for one in read_trials(FOLDER / "bigru-lwan" / "trials.jsonl"):
        assert one.state == "complete"
        loss, bias, margin = (one.settings.get(k) for k in ("loss", "hbm_bias", "hbm_margin"))
        own = (str(bias or 0 if bias is not None else 1), str(0 if margin == 0 else 0.01))
        key = (f"`{loss}`", *(own if loss == "hbm" else ("", "")))
        by_loss.setdefault(key, []).append(one)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (FOLDER / "DATA.md").read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    expected = [
        [
            *key,
            ", ".join(str(one.made["seed"]) for one in trials),
            *(
                f"{fmean(one.figures[name] for one in trials):.4f}".lstrip("0")
                for name in ("RP@5", "nDCG@5", "micro-F1")
            ),
        ]
        for key, trials in by_loss.items()
    ]
    assert cells == expected
