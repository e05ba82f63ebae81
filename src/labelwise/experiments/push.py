"""A bundle goes to the Hugging Face Hub, with its card and its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.errors import LabelwiseError
from labelwise.evaluation.runs import Run
from labelwise.experiments.card import card_markdown, run_of_bundle
from labelwise.export import hub

FIGURES = ("RP@5", "nDCG@5", "micro-F1")
"""What a card tells the Hub of a split, for all labels and for each group."""


def push(
    bundle: str | Path, repository: str, *, results: str | Path = "results", private: bool = False
) -> hub.Address:
    """Commit a bundle to a repository of the Hub; the address of what was committed.

    The figures are those of its run in ``results``; none is measured here.
    """
    to = hub.Address.parse(repository if hub.is_address(repository) else f"hf://{repository}")
    if to.revision is not None:
        raise LabelwiseError(f"a push makes a revision of its own: give {to.repository} alone")
    folder = shipped.folder_of(bundle)
    bundles.load(folder)  # what does not load here is not sent
    manifest = bundles.describe(folder)
    files: dict[str, Path | bytes] = {
        entry["file"]: folder / entry["file"] for entry in manifest["files"].values()
    }
    card = hub_card(folder, Path(results), to.repository)
    return hub.push(
        to,
        {bundles.MANIFEST: folder / bundles.MANIFEST, **files, hub.CARD: card.encode()},
        private=private,
    )


def hub_card(bundle: Path, results: Path, repository: str) -> str:
    """The model card with what the Hub reads above it."""
    manifest = bundles.describe(bundle)
    told = manifest["card"]
    name = bundles.name_of(told, manifest["method"])
    facts = {
        "library_name": "labelwise",
        "pipeline_tag": "text-classification",
        "tags": ["labelwise", "multi-label", manifest["method"]],
    }
    run = run_of_bundle(manifest, results)
    head = hub.metadata(name, facts, list(eval_results(run)) if run else [])
    use = (
        f'```python\nimport labelwise\n\nmodel = labelwise.load("hf://{repository}")\n'
        "for tag in model.tag(text):\n    print(tag.descriptor, tag.score)\n```\n"
    )
    return f"{head}\n{card_markdown(bundle, results)}\n## Use\n\n{use}"


def eval_results(run: Run) -> Iterator[dict[str, Any]]:
    """The figures of a run, one by one, as the Hub names their parts."""
    for split, measures in run.measures.items():
        for group, figures in measures.values.items():
            for figure in FIGURES:
                if figure in figures and not math.isnan(figures[figure]):
                    yield {
                        "task_type": "text-classification",
                        "task_name": "multi-label classification",
                        "dataset_type": run.data.name,
                        "dataset_name": run.data.name,
                        "dataset_split": split,
                        "dataset_revision": run.data.fingerprint,
                        "metric_type": figure,
                        "metric_name": f"{figure}, {group} labels",
                        "metric_value": round(float(figures[figure]), 6),
                    }
