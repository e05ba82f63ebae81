"""The models that are loaded, each with its labels and the threads that work for it."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.corpus.decisions import Decided
from labelwise.corpus.document import Document
from labelwise.corpus.labels import GROUPS
from labelwise.corpus.thesaurus import Thesaurus
from labelwise.errors import LabelwiseError
from labelwise.export import hub
from labelwise.methods import Method
from labelwise.methods.base import Scores, Widening
from labelwise.methods.learned import Learned, learn
from labelwise.model import Model as FrontDoor
from labelwise.serving.limits import Limits
from labelwise.serving.metrics import Metrics
from labelwise.serving.places import Labels, thesaurus_of
from labelwise.serving.problems import ProblemError
from labelwise.serving.shapes import ModelInfo
from labelwise.serving.work import FullError, Scorer, Tasks
from labelwise.text import language

T = TypeVar("T")


TOLD = ("name", "data", "scores", "seconds", "versions", "notices", "compact")
"""What clients see of a bundle's card; the command it was made with may name folders."""


FINGERPRINT = 16
"""Characters of a digest that tell models apart."""

YEARS = {"eurlex57k": (1958, 2016), "newlaw": (1958, 2026)}
"""The first and last year in the CELEX numbers of the training documents of known data sets."""


def years_of(data: str) -> tuple[int, int] | None:
    """The years of a data set, with what was added to it; None where it is not known.

    >>> years_of("eurlex57k"), years_of("eurlex57k+newlaw+eurovoc-2026"), years_of("mine+newlaw")
    ((1958, 2016), (1958, 2026), None)
    """
    first, *added = data.split("+")
    if first not in YEARS:
        return None
    spans = [YEARS[name] for name in (first, *added) if name in YEARS]
    return min(start for start, _ in spans), max(end for _, end in spans)


@dataclass(frozen=True)
class Servable:
    """Where a model comes from: a bundle's folder, a method that is fitted already, or both where
    the bundle was loaded before."""

    id: str
    folder: Path | None = None
    method: Method | None = None


def servables(named: Iterable[str]) -> list[Servable]:
    """Models from ``folder`` or ``id=folder``; ids are made of the folders' names and differ.
    A model of the package goes by its name, one on the Hub by its address.

    >>> [one.id for one in servables(["models/svm.bundle", "fast=models/tree", "old/svm"])]
    ['svm', 'fast', 'svm-2']
    """
    found: list[Servable] = []
    for word in named:
        id, equals, folder = word.partition("=")
        if not equals or Path(word).is_dir():
            id, folder = Path(word).name.removesuffix(".bundle"), word
            id = re.sub(r"[^A-Za-z0-9_.-]+", "-", id).strip("-.") or "model"
            taken = [one.id for one in found]
            if id in taken:
                id = next(f"{id}-{n}" for n in range(2, 10_000) if f"{id}-{n}" not in taken)
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", id):
            raise LabelwiseError(
                f"'{id}' cannot be the id of a model: it has letters, digits, '-', '_' and '.'"
            )
        if id in [one.id for one in found]:
            raise LabelwiseError(f"two models have the id '{id}': give one of them another")
        found.append(Servable(id, shipped.folder_of(hub.fetched(folder))))
    return found


@dataclass(eq=False)
class Model:
    """A loaded model. Its method is called on its own two threads and nowhere else."""

    id: str
    front: FrontDoor
    """The same model as Python has it, which says what a tag is; another one when it learns."""
    labels: Labels
    info: ModelInfo
    fingerprint: str
    """Of the bundle, or of the labels where the model was never saved."""
    saved: str | None
    reads: str | None
    """The language that its card tells."""
    scorer: Scorer
    explainer: Tasks
    _wider: dict[tuple[tuple[str, str], ...], tuple[FrontDoor, list[str]]] = field(
        default_factory=dict
    )

    @property
    def method(self) -> Method:
        return self.front.method

    def front_in(self, language: str | None) -> FrontDoor:
        """The front door with names in a language that the thesaurus has; None is its own."""
        return self.front if language is None else self.front.in_language(language)

    async def scores(self, documents: Sequence[Document]) -> Scores:
        """Documents × labels, gathered with those of other requests."""
        return await _refusing(lambda: self.scorer.submit(documents))

    async def explain(self, function: Callable[[], T]) -> T:
        """Run something long on the model's other thread, so that tagging goes on meanwhile."""
        return await _refusing(lambda: self.explainer.submit(function))

    def widened(self, extra: Mapping[str, str]) -> tuple[FrontDoor, list[str]]:
        """The model with these labels besides, and what it says about them; kept for a while.

        Called on the explainer's thread alone.
        """
        key = tuple(sorted(extra.items()))
        found = self._wider.pop(key, None)
        if found is None:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                wider = self.front.with_labels(extra, self.labels.thesaurus)
            found = wider, [str(one.message) for one in caught]
        self._wider[key] = found
        while len(self._wider) > 4:
            del self._wider[next(iter(self._wider))]
        return found

    async def with_concepts(self, extra: Mapping[str, str]) -> tuple[Model, list[str]]:
        """The model with these concepts among its labels, and what it says about them."""
        if not extra:
            return self, []
        front, notes = await self.explain(lambda: self.widened(extra))
        wider = Widened(
            self.id,
            front,
            self.labels,
            self.info,
            self.fingerprint,
            self.saved,
            self.reads,
            self.scorer,
            self.explainer,
        )
        return wider, notes

    async def learn(
        self, documents: Mapping[str, Document], decided: Mapping[str, Decided], most: int
    ) -> None:
        """Learn from decided acts, beside the last ones before, so ``most`` altogether; from the
        next request on the model is what it became."""

        def learned() -> Learned:
            return learn(self.method, documents, decided, most=most)

        method = await self.explain(learned)
        self.front = FrontDoor(method, name=self.id, thesaurus=self.labels.thesaurus)
        self.scorer.use(method)
        self._wider.clear()
        told = [self.fingerprint, *(f"{act} {sorted(one.chosen)}" for act, one in decided.items())]
        self.fingerprint = hashlib.sha256("\n".join(told).encode()).hexdigest()[:FINGERPRINT]
        self.info = self.info.model_copy(update={"certified": [], "fingerprint": self.fingerprint})

    def close(self) -> None:
        self.scorer.close()
        self.explainer.close()


class Widened(Model):
    """A model with more labels than it has for everybody: its scores are not gathered."""

    async def scores(self, documents: Sequence[Document]) -> Scores:
        return await self.explain(lambda: self.method.scores(documents))


async def _refusing(submit: Callable[[], asyncio.Future[T]]) -> T:
    try:
        future = submit()
    except FullError as full:
        raise overloaded(full.seconds) from full
    return await future


def overloaded(seconds: float) -> ProblemError:
    wait = str(min(60, max(1, round(seconds))))
    return ProblemError(
        503,
        "overloaded",
        f"the queue is full: try again in {wait} s",
        headers={"Retry-After": wait},
    )


class Models:
    """All models by id; the first is the default. They are loaded on a thread of their own."""

    def __init__(
        self,
        wanted: Sequence[Servable],
        limits: Limits,
        metrics: Metrics,
        under_way: Callable[[], int],
        thesaurus: Path | None = None,
    ) -> None:
        self._wanted, self._limits, self._metrics = wanted, limits, metrics
        self._under_way, self._thesaurus = under_way, thesaurus
        self.loaded: dict[str, Model] = {}
        self.ready = False
        self.error: Exception | None = None

    def load(self, failed: Callable[[], None] = lambda: None) -> threading.Thread:
        """Begin to load; ``failed`` is called where a model cannot be."""

        def run() -> None:
            try:
                self._load()
            except Exception as error:
                self.error = error
                failed()

        thread = threading.Thread(target=run, name="loading", daemon=True)
        thread.start()
        return thread

    def _load(self) -> None:
        given = _read_thesaurus(self._thesaurus) if self._thesaurus else None
        for wanted in self._wanted:
            self.loaded[wanted.id] = self._model(wanted, given)
        language.prepared()
        self.ready = True

    def _model(self, wanted: Servable, given: Thesaurus | None) -> Model:
        card: Mapping[str, Any] = {}
        saved = None
        fingerprint = ""
        if wanted.folder is not None:
            manifest = bundles.describe(wanted.folder)
            card = manifest["card"]
            method = wanted.method or bundles.load(wanted.folder)
            fingerprint = manifest["digest"][:FINGERPRINT]
            at = (wanted.folder / bundles.MANIFEST).stat().st_mtime
            saved = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
        else:
            assert wanted.method is not None
            method = wanted.method
            fingerprint = method.label_space.fingerprint
        id, limits, metrics = wanted.id, self._limits, self._metrics

        def scored(documents: int, seconds: float) -> None:
            metrics.documents.add(documents, model=id)
            metrics.batches.observe(documents, model=id)
            metrics.scoring.add(seconds, model=id)

        scorer = Scorer(
            f"scores-{id}",
            method,
            limit=limits.queue,
            max_batch=limits.max_batch,
            max_wait=limits.max_wait,
            batch_characters=limits.batch_characters,
            under_way=self._under_way,
            scored=scored,
        )
        labels = Labels(method.label_space, thesaurus_of(method.label_space, card, given))
        explainer = Tasks(f"explains-{id}", limits.explanations)
        info = _info(wanted, fingerprint, method, card, labels)
        reads = language.reads(card)
        front = FrontDoor(method, name=id, thesaurus=labels.thesaurus)
        return Model(id, front, labels, info, fingerprint, saved, reads, scorer, explainer)

    def get(self, id: str | None, field: str = "model") -> Model:
        """The model of this id, or the default; a problem with ``field`` where there is none."""
        self.require_ready()
        if id is None:
            return next(iter(self.loaded.values()))
        if id not in self.loaded:
            raise ProblemError(
                404,
                "unknown-model",
                f"no model here is called '{id[:200]}': see /v1/models",
                field=field,
            )
        return self.loaded[id]

    def widening(self, id: str | None) -> Model:
        """The model of this id, or the first that can score concepts it was not trained on.

        One that learned what words mean (a network, told by its explainers) is asked before one
        that only looks for the words.
        """
        if id is not None:
            model = self.get(id)
            if not model.info.zero_shot:
                raise ProblemError(
                    422,
                    "invalid",
                    f"model: {model.id} cannot score a concept that it was not trained on",
                    field="model",
                )
            return model
        self.require_ready()
        able = [model for model in self.loaded.values() if model.info.zero_shot]
        if able:
            return max(able, key=lambda one: bool(one.method.explainers))
        raise ProblemError(
            404,
            "unknown-model",
            "no model here can score a concept that it was not trained on: load a zero-shot model",
        )

    def require_ready(self) -> None:
        if not self.ready:
            raise ProblemError(
                503,
                "not-ready",
                "the models are being loaded: try again in a few seconds",
                headers={"Retry-After": "2"},
            )

    def close(self) -> None:
        self.ready = False
        for model in self.loaded.values():
            model.close()


def _read_thesaurus(path: Path) -> Thesaurus:
    from labelwise.corpus.thesaurus import read_thesaurus

    return read_thesaurus(path)


def _info(
    wanted: Servable, fingerprint: str, method: Method, card: Mapping[str, Any], labels: Labels
) -> ModelInfo:
    data = card.get("data", {})
    shown = {key: card[key] for key in TOLD if key in card}
    return ModelInfo(
        id=wanted.id,
        fingerprint=fingerprint,
        method=method.name,
        labels=len(method.label_space),
        groups={
            group: method.label_space.groups[group].stop - method.label_space.groups[group].start
            for group in GROUPS
        },
        threshold=round(method.threshold, 6),
        calibrated=method.calibration is not None,
        certified=[
            one.precision for one in (method.calibration.certificates if method.calibration else ())
        ],
        zero_shot=isinstance(method, Widening),
        max_words=method.max_tokens,
        language=str(card.get("language", "en")),
        languages=list(labels.thesaurus.languages),
        years=years_of(str(data.get("name", ""))),
        synthetic="synthetic" in str(data.get("name", "")),
        card=shown,
    )
