"""The front door: a trained model that tags, explains and scores, in a few lines of Python.

import labelwise

model = labelwise.load()
for tag in model.tag("On imports of citrus fruit from Morocco ...").tags:
    print(tag.rank, tag.descriptor, tag.score)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from io import IOBase
from math import isnan
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from labelwise import bundle as bundles
from labelwise import shipped
from labelwise.corpus.batches import batches
from labelwise.corpus.document import SECTION_KINDS, Document, Section
from labelwise.corpus.labels import Label, LabelSpace
from labelwise.corpus.plain_text import split_act
from labelwise.corpus.readers import read
from labelwise.corpus.thesaurus import PART, Thesaurus
from labelwise.corpus.uris import uri_of
from labelwise.errors import LabelwiseError, check_whole
from labelwise.evidence.heat import reasons
from labelwise.evidence.predictions import EVERY, Cut, rank
from labelwise.export import hub
from labelwise.files import HALF, is_whole
from labelwise.methods import REGISTRY, Evidence, Method, Scores, get
from labelwise.methods.base import Widening
from labelwise.methods.spans import Spans

BATCH = 256
"""Documents scored at a time: enough to be fast, few enough that memory does not grow."""

DIGITS = 6
"""Of scores and weights where they are written."""

LONGEST_NAME = 1_000
"""Characters of a text that may be the name of a file that somebody forgot to put into a path."""

ALONE = "best goes with threshold, certified or precision; top is how many there are"

What = str | Path | Document
"""A text, a file or a folder, or a document that was read before."""


@dataclass(frozen=True)
class Tag:
    """A label of a document, as it is shown and written everywhere."""

    id: str
    uri: str
    descriptor: str
    rank: int
    """1 for the best; counted among the labels that are allowed."""
    score: float
    assigned: bool
    """Whether the score is above the model's own threshold."""
    group: str
    """frequent: 50 training documents or more; few: fewer; zero: none."""
    place: Mapping[str, Any] | None = None
    """Where the label stands in the thesaurus; None where the model does not know."""
    evidence: Evidence | None = None
    """The words that speak for it, where they were asked for. Offsets count the characters of
    ``document.text``: the sections, with a newline between two."""

    @property
    def place_words(self) -> str:
        """Where it stands, from its domain down to itself; empty where that is not known."""
        return str(self.place["path"]) if self.place is not None else ""

    def words(self, document: Document, top: int = 4) -> list[str]:
        """The words that speak for it most."""
        return reasons(document.text, self.evidence, top=top)

    def to_json(self, text: str = "") -> dict[str, Any]:
        """With the words of the document's text that evidence marks, where it has some."""
        record: dict[str, Any] = {
            "id": self.id,
            "uri": self.uri,
            "descriptor": self.descriptor,
            "rank": self.rank,
            "score": round(self.score, DIGITS),
            "assigned": self.assigned,
            "group": self.group,
        }
        if self.place is not None:
            record["place"] = self.place
        if self.evidence is not None:
            spans = Spans.of(self.evidence.spans)
            weights = spans.weights.tolist()
            rounded = {weight: round(weight, DIGITS) for weight in set(weights)}
            record["evidence"] = {
                "kind": self.evidence.kind,
                "spans": [
                    {"start": start, "end": end, "weight": rounded[weight], "text": text[start:end]}
                    for start, end, weight in zip(
                        spans.starts.tolist(), spans.ends.tolist(), weights, strict=True
                    )
                    if rounded[weight]  # most words of a long act weigh nothing in so many digits
                ],
            }
        return record


def tag_of(
    label: Label,
    thesaurus: Thesaurus | None,
    names: Thesaurus | None = None,
    language: str | None = None,
) -> Tag:
    """All of a tag that does not hang on a document. ``names`` is a thesaurus by its names in a
    language; a label that has none there keeps its own."""
    known = next((one for one in (names, thesaurus) if one and label.id in one.concepts), None)
    concept = known[label.id] if known is not None else None
    there = concept.names_in(language) if concept is not None and language is not None else ()
    own = label.descriptor or (concept.label if concept is not None else "")
    return Tag(
        id=label.id,
        uri=uri_of(label.id, concept),
        descriptor=there[0] if there else own,
        rank=0,
        score=0.0,
        assigned=False,
        group=label.group,
        place=known.place_json(label.id) if known is not None else None,
    )


class TagOptions(TypedDict, total=False):
    """Which labels ``Model.tag`` and ``Model.tags`` give of a document, and with what."""

    top: int
    """At most so many; 5 if not given."""
    threshold: float | Literal["tuned"] | None
    """Only labels that score above it; "tuned" is the model's own."""
    certified: float | None
    """Above the score from which on so many are right (`labelwise calibrate --on`)."""
    precision: float | None
    """From the top, while the mean score is at least this."""
    best: int
    """So many at least, whatever these leave out."""
    include: Sequence[str]
    """Only labels of these ids, or of parts of the thesaurus: ``domain:60``, ``mt:6006``,
    ``under:1117``."""
    exclude: Sequence[str]
    """Never labels of these, named as above."""
    evidence: bool
    """With the words that speak for each label."""


@dataclass(frozen=True)
class Tagging:
    """A document and its labels, the best first."""

    document: Document
    tags: list[Tag] = field(default_factory=list)

    def __repr__(self) -> str:
        """A line, and not the whole document."""
        tags = ", ".join(f"{tag.descriptor} {tag.score:.3f}" for tag in self.tags)
        return f"<labels of {self.document.id}: {tags or 'none'}>"

    def __iter__(self) -> Iterator[Tag]:
        return iter(self.tags)

    def __len__(self) -> int:
        return len(self.tags)

    def __getitem__(self, at: int) -> Tag:
        return self.tags[at]

    def to_json(self) -> dict[str, Any]:
        text = self.document.text
        return {
            "document": self.document.id,
            "title": self.document.title,
            "predictions": [tag.to_json(text) for tag in self.tags],
        }


class Model:
    """A trained model. ``labelwise.load`` brings one from its bundle."""

    def __init__(
        self,
        method: Method,
        *,
        name: str = "",
        thesaurus: Thesaurus | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.method, self.thesaurus = method, thesaurus
        self.name = name or method.name
        self.card: Mapping[str, Any] = card or {}
        self._names: Thesaurus | None = None
        self._language: str | None = None
        self._tags: dict[str, Tag] = {}

    def __repr__(self) -> str:
        return f"<labelwise model {self.name}: {self.method.name}, {len(self.labels):,} labels>"

    @property
    def labels(self) -> LabelSpace:
        """What it chooses from, in the order of the columns of ``scores``."""
        return self.method.label_space

    @property
    def threshold(self) -> float:
        """The score above which a label is assigned."""
        return self.method.threshold

    @property
    def thesaurus_date(self) -> str | None:
        """Of which day, month or year the thesaurus is that the labels are from, where the name of
        its file said so."""
        known = bundles.dated_thesaurus(self.card)
        return known["date"] if known else None

    @overload  # a text is a sequence of texts as well: the first that fits is meant
    def tag(  # type: ignore[overload-overlap]
        self, what: str | Document, **options: Unpack[TagOptions]
    ) -> Tagging: ...
    @overload
    def tag(self, what: Path | Sequence[What], **options: Unpack[TagOptions]) -> list[Tagging]: ...
    def tag(
        self, what: What | Sequence[What], **options: Unpack[TagOptions]
    ) -> Tagging | list[Tagging]:
        """The labels of a text or a document; of a file, a folder or a list, those of each of its
        documents in a list. ``TagOptions`` has the options; ``tags`` takes the same, and more
        documents than fit in memory.

        A ``str`` is always a text: one that is the name of a file is refused.
        """
        found = list(self.tags(_documents(what), **options))
        return found[0] if isinstance(what, str | Document) else found

    def tags(
        self,
        documents: Iterable[Document],
        *,
        top: int = 5,
        threshold: float | Literal["tuned"] | None = None,
        certified: float | None = None,
        precision: float | None = None,
        best: int = 0,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        evidence: bool = False,
    ) -> Iterator[Tagging]:
        """The labels of each document, as the documents come; ``TagOptions`` has the options."""
        if isinstance(documents, Document) or not isinstance(documents, Iterable):
            raise _no_document(documents)
        cut = self.cut(threshold=threshold, certified=certified, precision=precision, best=best)
        check_whole("top", top, 1)
        if best > top:
            raise LabelwiseError(f"best is {best}, and top, the most there may be, {top}")
        return self.cut_tags(
            documents, cut, top=top, include=include, exclude=exclude, evidence=evidence
        )

    def cut_tags(
        self,
        documents: Iterable[Document],
        cut: Cut,
        *,
        top: int,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        evidence: bool = False,
    ) -> Iterator[Tagging]:
        """The same with a cut that was made before."""
        include, exclude = _ids(include), _ids(exclude)
        allowed = self.allowed(include, exclude)
        # Labels that are asked for by name need not be among the best.
        score = self.method.scores if include else self.method.best_scores
        for batch in batches(map(_read_before, documents), BATCH):
            for document, scores in zip(batch, score(batch), strict=True):
                found = self._found(document, scores, top=top, cut=cut, allowed=allowed)
                yield self._explained(document, found) if evidence else Tagging(document, found)

    def explain(
        self,
        what: What,
        labels: Sequence[str] = (),
        *,
        top: int = 5,
        explainer: str | None = None,
    ) -> Tagging:
        """The best labels of a text, a document or a file that holds one, or those that are named,
        each or by a part of the thesaurus as in ``TagOptions.include``, best first, with the words
        that speak for each.
        """
        document = _one_document(what)
        check_whole("top", top, 1)
        allowed = self.allowed(_ids(labels), ())
        scores = self.method.scores([document])[0]
        if allowed is not None:
            found = self.ranked(scores, top=int(allowed.sum()), allowed=allowed)
        else:
            found = self._found(document, scores, top=top)
        return self._explained(document, found, explainer)

    def unread(self, words: int) -> str | None:
        """What is not read of a document of so many words, in a sentence; None where all of it is.

        Networks count words, or pieces of words, of which a document has more.
        """
        short = {name: most for name, most in self.method.limits.items() if words > most}
        if not short:
            return None
        if most := short.get(self.method.name):
            return f"the document has {words:,} words, of which {self.name} reads {most:,} at most"
        parts = ", ".join(f"{name} {most:,} at most" for name, most in short.items())
        return (
            f"the document has {words:,} words, of which parts of {self.name} read the beginning "
            f"alone: {parts}"
        )

    def scores(self, what: What | Sequence[What]) -> Scores:
        """Documents × labels: a probability each."""
        return self.method.scores(_documents(what))

    def evidence(
        self, what: What, labels: Sequence[str], explainer: str | None = None
    ) -> list[Evidence]:
        """The words that speak for each of the labels, in their order."""
        return self.method.evidence(_one_document(what), _ids(labels), explainer)

    def with_labels(self, extra: Mapping[str, str], thesaurus: Thesaurus | None = None) -> Model:
        """The model with more labels, by id and descriptor, each scored from its descriptor and,
        where a thesaurus has it, from the other names that the method knows labels by."""
        given: Any = extra
        if not isinstance(given, Mapping):
            raise LabelwiseError(
                "labels are given by id, {'7001': 'electric bicycle'}, not as " + repr(given)
            )
        for label in given.items():
            if not all(isinstance(text, str) and text.strip() for text in label):
                id, descriptor = map(repr, label)
                raise LabelwiseError(
                    f"a label has an id and a descriptor, two texts, not {id} and {descriptor}"
                )
        _check_thesaurus(thesaurus)
        if not isinstance(self.method, Widening):
            able = [name for name in REGISTRY if issubclass(get(name), Widening)]
            raise LabelwiseError(
                f"{self.method.name} cannot score a label that it was not trained for; these "
                f"methods can: {', '.join(able)}"
            )
        made = copy(self)
        made.method, made._tags = self.method.with_labels(extra, thesaurus), {}
        return made

    def in_language(self, language: str, thesaurus: Thesaurus | None = None) -> Model:
        """The model with names and places of labels in another language, as a thesaurus has them,
        or the model's own; a label that has no name there keeps its own."""
        _check_thesaurus(thesaurus)
        known = thesaurus or self.thesaurus
        own = str(self.card.get("language", "en"))
        there = known.languages if known is not None else ()
        made = copy(self)
        made._names, made._language, made._tags = None, None, {}
        if known is not None and language in there:
            made._names, made._language = known.in_language(language), language
        elif language != own:
            raise LabelwiseError(
                f"there are no names of labels in '{language}', but in {', '.join((own, *there))}: "
                "give a thesaurus that has them"
            )
        return made

    def ranked(
        self,
        scores: NDArray[np.float32],
        *,
        top: int,
        cut: Cut = EVERY,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[Tag]:
        """The best labels of one row of scores, best first, among the columns that are allowed."""
        found = rank(scores, self.labels, top=top, cut=cut, allowed=allowed)
        return [
            replace(
                self._shown(one.label),
                rank=at,
                score=one.score,
                assigned=one.score > self.threshold,
            )
            for at, one in enumerate(found, 1)
        ]

    def _found(
        self,
        document: Document,
        scores: NDArray[np.float32],
        *,
        top: int,
        cut: Cut = EVERY,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[Tag]:
        """The best labels of a document; none of one without a word, whose scores mean nothing."""
        if not document.has_words:
            return []
        return self.ranked(scores, top=top, cut=cut, allowed=allowed)

    def _explained(
        self, document: Document, tags: Sequence[Tag], explainer: str | None = None
    ) -> Tagging:
        """The tags of a document, each with the words that speak for it."""
        why = self.method.evidence(document, [tag.id for tag in tags], explainer)
        found = [replace(tag, evidence=one) for tag, one in zip(tags, why, strict=True)]
        return Tagging(document, found)

    def named(self, id: str) -> Label:
        """A label by the name that is shown; one that the model does not have, by its id."""
        place = self.labels.index.get(id)
        if place is None:
            return Label(id, id, 0)
        label = self.labels.labels[place]
        return replace(label, descriptor=self._shown(label).descriptor)

    def _shown(self, label: Label) -> Tag:
        """All of a label's tag that does not hang on a document; made once."""
        found = self._tags.get(label.id)
        if found is None:
            found = self._tags[label.id] = tag_of(
                label, self.thesaurus, self._names, self._language
            )
        return found

    def cut(
        self,
        *,
        threshold: float | Literal["tuned"] | None = None,
        certified: float | None = None,
        precision: float | None = None,
        best: int = 0,
    ) -> Cut:
        """How far down the ranked labels of a document are taken.

        With the model's own threshold the best label is taken in any case: no document is without
        one.
        """
        if threshold is not None and certified is not None:
            raise LabelwiseError("threshold and certified are two thresholds: give one")
        if not (threshold is None or threshold == "tuned" or _is_number(threshold)):
            raise LabelwiseError(f"threshold is a number or the word 'tuned', not '{threshold}'")
        for name, share in (("precision", precision), ("certified", certified)):
            if not (share is None or (_is_number(share) and 0 <= share <= 1)):
                raise LabelwiseError(f"{name} is a share, 0.8 say, not {share!r}")
        check_whole("best", best, 0)
        if best and threshold is None and certified is None and precision is None:
            raise LabelwiseError(ALONE)
        if certified is not None:
            return Cut(self.method.certified(certified), precision, best)
        if isinstance(threshold, str):
            return Cut(self.threshold, precision, max(best, 1))
        return Cut(threshold, precision, best)

    def allowed(self, include: Sequence[str], exclude: Sequence[str]) -> NDArray[np.bool_] | None:
        """The columns that both lists leave; None where there is no list."""
        if not include and not exclude:
            return None
        chosen, unknown = self.meant(include)
        dropped, others = self.meant(exclude)
        if wrong := [*unknown, *others]:
            raise LabelwiseError(f"{wrong[0] or 'an empty word'} is not a label of this model")
        return self.columns(chosen if include else None, dropped)

    def meant(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """The ids of the labels that words mean, one a word or, by the name of a part of the
        thesaurus (``mt:6006``), all labels in it; and the words that are the id of none."""
        return meant(_ids(words), self.labels, self.thesaurus)

    def columns(self, include: Sequence[str] | None, exclude: Sequence[str]) -> NDArray[np.bool_]:
        """Of the labels by these ids, or of all, those that are not excluded."""
        index = self.labels.index
        allowed = np.full(len(index), include is None)
        allowed[[index[id] for id in include or ()]] = True
        allowed[[index[id] for id in exclude]] = False
        if not allowed.any():
            raise LabelwiseError("the lists leave no label of this model")
        return allowed


def meant(
    words: Iterable[str], labels: LabelSpace, thesaurus: Thesaurus | None
) -> tuple[list[str], list[str]]:
    """The ids of the labels that words mean, as ``Model.meant`` says, and the words that mean none.

    >>> space = LabelSpace.from_counts({"1309": 90, "693": 60})
    >>> meant(["693", "lemon"], space, None)
    (['693'], ['lemon'])
    """
    ids: list[str] = []
    unknown: list[str] = []
    for word in words:
        if word in labels.index:
            ids.append(word)
        elif PART.match(word):
            if thesaurus is None:
                raise LabelwiseError(f"'{word}' is a part of a thesaurus, and this model has none")
            ids += [one for one in thesaurus.within(word) if one in labels.index]
        else:
            unknown.append(word)
    return ids, unknown


def load(name_or_folder: str | Path = shipped.NAME) -> Model:
    """The model that ships with the package, by its name, or one in the folder of its bundle, or on
    the Hugging Face Hub (``hf://owner/name``, ``hf://owner/name@revision``; extra ``hub``)."""
    folder = shipped.folder_of(hub.fetched(name_or_folder))
    method = bundles.load(folder)
    card = bundles.describe(folder)["card"]
    name = bundles.name_of(card, method.name)
    return Model(method, name=name, thesaurus=bundles.thesaurus_in(card, folder), card=card)


def _check_thesaurus(given: Any) -> None:
    if given is not None and not isinstance(given, Thesaurus):
        raise LabelwiseError(
            "a thesaurus was expected, as labelwise.corpus.thesaurus.read_thesaurus gives it, not "
            f"{given!r}"
        )


def _is_number(given: Any) -> bool:
    """True is one for Python, and no threshold."""
    return isinstance(given, Real) and not isinstance(given, bool) and not isnan(given)


def _ids(words: Sequence[str] | None) -> list[str]:
    """Ids in a list: a text would be taken for a list of its characters, and many of them are ids
    of EUROVOC too. What can be read once, as a generator can, is read here and nowhere else."""
    if words is None:
        return []
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise LabelwiseError(f"ids are given in a list, ['{words}'], not as '{words}'")
    found = list(words)
    if wrong := [word for word in found if not isinstance(word, str)]:
        raise LabelwiseError(f"an id is a text, '{wrong[0]}', not {wrong[0]!r}")
    return found


def _read_before(document: Document) -> Document:
    if not isinstance(document, Document):
        raise _no_document(document)
    return _checked(document)


def _no_document(given: object) -> LabelwiseError:
    return LabelwiseError(
        "documents were expected, as labelwise.read gives them, not "
        f"{type(given).__name__}; `tag` takes texts and paths as well"
    )


def _checked(document: Document) -> Document:
    """A document that a program made may be another than any that is read."""
    for one in document.sections:
        kind = one.kind if isinstance(one, Section) else type(one).__name__
        if kind not in SECTION_KINDS:
            raise LabelwiseError(
                f"document {document.id}: a section is a Section of one of the kinds "
                f"{', '.join(SECTION_KINDS)}, not '{kind}'"
            )
        if not is_whole(one.text):
            raise LabelwiseError(f"document {document.id}: {HALF}")
    return document


def _one_document(what: What) -> Document:
    found = _documents(what)
    if len(found) != 1:
        raise LabelwiseError(f"one document was expected, and there are {len(found)}")
    return found[0]


def _documents(what: What | Sequence[What]) -> list[Document]:
    if isinstance(what, Document):
        return [_checked(what)]
    if isinstance(what, str):
        if not is_whole(what):
            raise LabelwiseError(f"{HALF}: read the text again by its own encoding")
        _refuse_name(what)
        return [Document("text", *split_act(what))]
    if isinstance(what, Path):
        return list(read(what))
    if isinstance(what, bytes | Mapping | IOBase) or not isinstance(what, Iterable):
        raise LabelwiseError(
            f"a text, a Path, a Document or a list of these was expected, not {type(what).__name__}"
        )
    return [document for one in what for document in _documents(one)]


def _refuse_name(text: str) -> None:
    """Raise an error for a text that is the name of a file or, written with a slash, of a folder:
    whoever gives it wants what is in there. No other text is looked for."""
    if len(text) > LONGEST_NAME or "\n" in text:
        return
    path = Path(text)
    try:
        kind = "file" if path.is_file() else "folder" if "/" in text and path.is_dir() else ""
    except (OSError, ValueError):  # too long for a name, or with characters that none has
        return
    if kind:
        raise LabelwiseError(
            f'"{text}" is the name of a {kind}: give Path("{text}") to read it, or its text'
        )
