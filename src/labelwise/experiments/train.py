"""From a data set to a trained model, and to its bundle."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelwise import bundle as bundles
from labelwise.corpus.more import Repeated
from labelwise.errors import CallError, LabelwiseError
from labelwise.evaluation.runs import DataRecord, current_versions, peak_memory
from labelwise.experiments.configs import settings_from
from labelwise.experiments.data import additions_of, hiding_of, read_dataset
from labelwise.experiments.named_vectors import vectors_file
from labelwise.experiments.run_folder import finish_run, run_folders, set_run_folder
from labelwise.experiments.settings import assignments
from labelwise.experiments.shards import set_shard
from labelwise.experiments.training_data import places_of
from labelwise.methods import Method, get
from labelwise.methods.base import VectorSettings
from labelwise.model import Model
from labelwise.progress import note
from labelwise.training.processes import Processes, are_several, together


class Trained(Model):
    """A model that was trained just now."""

    def __init__(
        self, method: Method, card: Mapping[str, Any], repeated: Sequence[Repeated]
    ) -> None:
        super().__init__(method, card=card, thesaurus=bundles.thesaurus_in(card, method.name))
        self.repeated = repeated
        """Of the additional documents those left out, for their ids are there already."""


def train(
    method: str,
    *,
    data: str | Path,
    more: str | Path | Sequence[str | Path] | None = None,
    summaries: bool = False,
    thesaurus: str | Path | None = None,
    every_concept: bool = False,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | str | Sequence[str] | None = None,
    config: str | Path | None = None,
    seed: int | None = None,
    hide: float | None = None,
    draw: int = 0,
    drop_documents: bool = False,
    cache: str | Path | None = None,
    run_dir: str | Path | None = None,
    resume: bool = False,
    shard: str | None = None,
    skip_bad: bool = False,
    command: str = "",
) -> Trained:
    """Train a method on a data set; with ``out``, write it there as a bundle.

    The options are those of `labelwise train`. ``settings`` are those of the method, by name, or as
    ``name=value``; a network keeps its checkpoints in ``run_dir``, or beside ``out``. ``command``
    is what the card says that it was made with. Where `torchrun` has started several processes, all
    train one network together and end with it, and the first one writes.
    """
    cls = get(method)
    if not isinstance(data, (str, Path)):
        raise LabelwiseError(f"data is the folder of a data set, not {data!r}")
    folder, file = Path(data), Path(config) if config is not None else None
    given = [*assignments(settings), *([f"seed={seed}"] if seed is not None else ())]
    chosen = settings_from(cls.Settings, method, file, given)
    if out is None and resume and run_dir is None:
        raise CallError("where the training is to go on from is not known: give --run-dir or --out")
    hiding = hiding_of(hide, draw, drop_documents)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    where = Path(cache) if cache is not None else None
    with _processes(cls(chosen)) as processes:
        if out is not None and processes.is_first:
            bundles.check_writable(Path(out))
        if isinstance(chosen, VectorSettings) and chosen.vectors:
            kept = Path(out or "model").parent / "vectors"  # of vectors that are learned or joined
            with processes.first_before_others():
                vectors = vectors_file(
                    chosen.vectors, folder, kept, file, where, additions=additions
                )
            chosen = dataclasses.replace(chosen, vectors=str(vectors))
        model = cls(chosen)
        model.cache = where
        set_run_folder(model, out, run_dir, resume)
        set_shard(model, shard)

        dataset = read_dataset(folder, additions, skip_bad=skip_bad, hiding=hiding)
        model.thesaurus = dataset.thesaurus
        started = time.perf_counter()
        try:
            model.fit(dataset.train, dataset.dev, dataset.label_space)
        except KeyboardInterrupt:
            if run_folders(model):
                note("to go on from the last checkpoint, call the same command with --resume")
            raise
        card = {
            "data": dataclasses.asdict(DataRecord.of(dataset)),
            "seconds": {"fit": round(time.perf_counter() - started, 3)},
            "peak_memory": peak_memory(),
            "versions": current_versions(),
            "command": command,
            **({"thesaurus": places.to_json()} if (places := places_of(dataset)) else {}),
            **({"shard": shard} if shard is not None else {}),
            **({"processes": processes.size} if processes.size > 1 else {}),
        }
        if processes.is_first:
            if out is not None:
                bundles.save(model, out, card=card)
            finish_run(model)
        processes.wait()  # for the bundle: whoever looks for it then finds it
    return Trained(model, card, dataset.repeated)


@contextmanager
def _processes(method: Method) -> Iterator[Processes]:
    """Those that train together, where `torchrun` has started several."""
    if not are_several():
        yield Processes()
        return
    if method.recipe is None:
        raise LabelwiseError(
            f"{method.name} is trained by one process: start it without torchrun; networks are "
            "trained by several, and svm and logistic by shards (--shard)"
        )
    with together(method.recipe.device) as found:
        yield found
