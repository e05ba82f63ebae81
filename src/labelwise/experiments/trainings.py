"""Which trainings a table needs: their settings, and their jobs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelwise.corpus.by_year import whole_name
from labelwise.corpus.dataset import NOTHING
from labelwise.errors import LabelwiseError
from labelwise.experiments.configs import read_config, settings_from
from labelwise.experiments.corpora import Corpus, PreparedFolder
from labelwise.experiments.jobs import Job
from labelwise.experiments.named_vectors import vectors_file
from labelwise.experiments.settings import named_in, typed
from labelwise.methods import REGISTRY, Settings, get
from labelwise.methods.base import PretrainedSettings, VectorSettings

NOT_COMPARED = ("seed", "device", "precision", "max_seconds")
"""Settings in which a finished run may differ: what it was run on, and for how long."""


@dataclass(frozen=True)
class Training:
    """One method with one seed: what it is trained with, and what it is joined from."""

    method: str
    seed: int
    settings: Settings
    config: Path | None = None
    members: tuple[str, ...] = ()  # names of trainings

    @property
    def name(self) -> str:
        return f"{self.method}-{self.seed}"

    @property
    def title(self) -> str:
        return f"{self.method}, seed {self.seed}"

    @property
    def compared(self) -> dict[str, Any]:
        return compared(dataclasses.asdict(self.settings), type(self.settings))

    def digest_on(self, corpus: Corpus) -> str:
        """Of the settings and the data: a checkpoint is never resumed under others, and never in
        the way of a training with others."""
        text = json.dumps([self.compared, corpus.run_fingerprint], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def compared(settings: Mapping[str, Any], cls: type[Settings]) -> dict[str, Any]:
    """The settings that make a result; one that a run does not know had its default then."""
    values = {**dataclasses.asdict(cls()), **settings}
    values = json.loads(json.dumps(values))
    if values.get("vectors"):
        values["vectors"] = Path(values["vectors"]).name
        values.pop("dim", None)  # the file has its own
    if values.get("encoder"):
        values["encoder"] = Path(values["encoder"]).name
    return {name: value for name, value in values.items() if name not in NOT_COMPARED}


@dataclass(frozen=True)
class Folders:
    """Where trainings are kept."""

    results: Path
    bundles: Path
    cache: Path | None = None

    def bundle(self, name: str) -> Path:
        return self.bundles / f"{name}.bundle"

    def log(self, name: str) -> Path:
        return self.bundles / f"{name}.log"

    def job(self, name: str) -> Path:
        return self.bundles / f"{name}.job.json"


def method_names(given: Sequence[str], corpus: Corpus) -> list[str]:
    """The methods asked for, or all that can be trained from what there is; members first."""
    asked = [name.strip() for one in given for name in one.split(",") if name.strip()]
    for name in asked:
        get(name)  # says so where there is none of this name
    names = asked or list(REGISTRY)
    if corpus.data is None:
        unfit = {name: why for name in names if (why := _unfit(name, corpus, bool(asked)))}
        if asked and unfit:
            raise LabelwiseError(next(iter(unfit.values())))
        names = [name for name in names if name not in unfit]
    wanted = [*(member for name in names for member in get(name).joined_from), *names]
    return list(dict.fromkeys(wanted))


def _unfit(name: str, corpus: Corpus, asked: bool) -> str:
    """Why a method cannot be trained from numbers alone; empty where it can. One that is joined
    from networks and others is where it is asked for: the others may have been trained before."""
    if joined_from := get(name).joined_from:
        if not asked and not all(get(member).is_network() for member in joined_from):
            return "not all of its members are networks"
        members = [member for member in joined_from if get(member).is_network()]
        return next((why for one in members if (why := _unfit(one, corpus, asked))), "")
    if not get(name).is_network():
        return f"{name} is trained on documents: give --data too"
    if prepared_for(name, corpus) is None:
        kinds = {"pieces of an encoder" if one.encoder else "words" for one in corpus.prepared}
        return (
            f"the corpus was prepared in {' and in '.join(sorted(kinds))}, which {name} does not "
            "read: prepare one for it, or give --data"
        )
    return ""


def reads_pieces(name: str) -> bool:
    """Whether a network reads the word pieces of a pretrained encoder, and not words."""
    return get(name).reads == "pieces"


def prepared_for(name: str, corpus: Corpus, encoder: str | None = None) -> PreparedFolder | None:
    """The prepared corpus that a method reads: in words, or in the pieces of this encoder or, where
    none is, of another; None for what is no network, and where there is none of its kind."""
    if not get(name).is_network():
        return None
    kind = [one for one in corpus.prepared if (one.encoder is not None) == reads_pieces(name)]
    own = [one for one in kind if encoder is not None and one.encoder == Path(encoder).name]
    return next(iter(own or kind), None)


def trainings(
    names: Sequence[str],
    seeds: Sequence[int],
    corpus: Corpus,
    configs: Path,
    given: Sequence[str],
) -> Iterator[Training]:
    """Seed by seed, so that what is stopped early has every method once.

    Only networks are trained with more than one seed: of the others the results do not, or hardly,
    depend on it, and theirs is 0.
    """
    for at, one_of in enumerate(seeds):
        for name in names:
            joined_from = get(name).joined_from
            seed = one_of
            if not any(get(one).is_network() for one in (name, *joined_from)):
                if at:
                    continue
                seed = 0
            config = _config_file(configs, corpus.name, name)
            settings = training_settings(name, seed, corpus, config, given)
            members = tuple(
                f"{member}-{seed if get(member).is_network() else 0}" for member in joined_from
            )
            yield Training(name, seed, settings, config, members)


def _config_file(configs: Path, data: str, method: str) -> Path | None:
    """The settings for this data or, where it has additions, for the data set alone, or for the one
    that it was split from by year."""
    alone = data.partition("+")[0]
    for name in (data, alone, whole_name(alone)):
        if (file := configs / name / f"{method}.toml").is_file():
            return file
    return None


def training_settings(
    name: str, seed: int, corpus: Corpus, config: Path | None, given: Sequence[str]
) -> Settings:
    """The settings of a training: file, command line, seed, and what a prepared corpus fixes.

    Of what is given on the command line a method takes what it has.
    """
    cls = get(name).Settings
    known = {one.name for one in dataclasses.fields(cls)}
    over = {named_in(one): one for one in given if named_in(one) in known}
    over["seed"] = f"seed={seed}"
    asked = read_config(config) if config is not None else {}
    asked |= {key: one.partition("=")[2].strip() for key, one in over.items()}
    if isinstance(default := cls(), PretrainedSettings):
        asked.setdefault("encoder", default.encoder)
    numbers = prepared_for(name, corpus, asked.get("encoder"))
    if numbers is not None:
        own = numbers.settings
        for what in ("encoder", "vectors", "min_count"):
            offered = [str(own.get(what, "none")), *(corpus.rows if what == "vectors" else ())]
            if what in asked and Path(asked[what]).name not in offered:
                raise LabelwiseError(
                    f"{name} asks for {what}={asked[what]}, but the prepared corpus has "
                    f"{' and '.join(offered)}: prepare it so, or give the vectors with --vectors"
                )
        over |= {what: f"{what}={value}" for what, value in own.items() if what not in asked}
    return settings_from(cls, name, config, list(over.values()))


def job_of(one: Training, corpus: Corpus, folders: Folders, command: str) -> Job:
    """What a worker is told. Vectors that have to be learned or joined are made here."""
    settings, rows = one.settings, None
    encoder = settings.encoder if isinstance(settings, PretrainedSettings) else None
    numbers = prepared_for(one.method, corpus, encoder)
    if corpus.data is None and one.members:  # any will do: their scores were kept
        numbers = numbers or corpus.prepared[0]
    prepared = None if numbers is None else numbers.folder
    if isinstance(settings, VectorSettings) and settings.vectors:
        name = settings.vectors
        if prepared is not None:
            rows = corpus.rows.get(Path(name).name)
        elif corpus.data is not None:
            kept = folders.bundles / "vectors"
            file = vectors_file(
                name, corpus.data, kept, one.config, folders.cache, additions=corpus.additions
            )
            settings = dataclasses.replace(settings, vectors=str(file))
    return Job(
        method=one.method,
        seed=one.seed,
        settings=[f"{k}={typed(v)}" for k, v in dataclasses.asdict(settings).items()],
        run_dir=str(folders.bundles / f"{one.name}.bundle.run" / one.digest_on(corpus)),
        data=str(corpus.data) if prepared is None else None,
        prepared=str(prepared) if prepared is not None else None,
        rows=str(rows) if rows is not None else None,
        additions=corpus.additions.to_json() if corpus.additions != NOTHING else None,
        hide=dataclasses.asdict(corpus.hiding) if corpus.hiding else None,
        results=str(folders.results),
        bundle=str(folders.bundle(one.name)),
        members=[str(folders.bundle(member)) for member in one.members],
        cache=str(folders.cache) if folders.cache is not None else None,
        command=command,
    )
