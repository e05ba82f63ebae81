"""Whether near-synonyms take each other's places in a model's lists, on dev or on any file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from labelwise import bundle as bundles
from labelwise.corpus.dataset import digest_of
from labelwise.corpus.document import Document
from labelwise.corpus.labels import LabelSpace
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.crowding import Found, measure_crowding
from labelwise.evaluation.runs import current_versions
from labelwise.experiments.data import commands, hiding_of_card
from labelwise.experiments.labelled_file import (
    Labelled,
    file_name,
    known_thesaurus,
    named_after_data,
    named_among,
    score_file,
)
from labelwise.experiments.sampled import write_record
from labelwise.experiments.training_data import Documents, Kept


@dataclass(frozen=True)
class Crowded:
    """What was found, and the record of it."""

    found: Found
    record: dict[str, Any]
    path: Path
    """Where the record stands."""


def crowding(
    bundle: Path,
    *,
    data: Path,
    on: Path | None,
    documents: int | None = None,
    thesaurus: Path | None,
    results: Path,
    command: str,
) -> Crowded:
    """Measure the model of a bundle on the dev documents of its data set, or on a labelled file or
    so many of its documents."""
    if documents is not None and on is None:
        raise CallError("--documents goes with --on")
    started = time.perf_counter()
    method, card = bundles.load(bundle), bundles.describe(bundle)["card"]
    source = Documents(data, hiding=hiding_of_card(card))
    dataset = source.dataset
    known = known_thesaurus(thesaurus, card, bundle) or dataset.thesaurus
    if known is None:
        raise LabelwiseError("which concepts are broader is not known: name a --thesaurus")
    if on is None:
        kept = Kept(source, {str(bundle): method}).scores(method, "dev")
        scored = Labelled(dataset.dev, method.label_space, {}, kept)
        of = {"name": dataset.name, "fingerprint": source.record.fingerprint}
        named = named_among(method, card, source.record.fingerprint)
    else:
        scored = score_file(method, on, thesaurus=known, card=card, most=documents)
        of = {"name": file_name(on), "fingerprint": digest_of([on])}
        named = named_after_data(method, card)
    gold = scored.space.gold(scored.documents).toarray() > 0
    together = carried_together(dataset.train, scored.space)
    found = measure_crowding(scored.scores, gold, scored.space, known, together)
    record = {
        "method": named,
        "seed": int(method.settings.seed),
        "documents": len(scored.documents),
        **asdict(found),
        "data": of,
        "versions": current_versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "command": commands(card, command),
    }
    return Crowded(found, record, write_record(results, "crowding", record))


def carried_together(documents: Sequence[Document], space: LabelSpace) -> sp.csr_matrix:
    """Labels × labels: documents that carry both. Labels outside of the space are left out."""
    gold = space.known_gold(documents).astype("int32")
    return (gold.T @ gold).tocsr()
