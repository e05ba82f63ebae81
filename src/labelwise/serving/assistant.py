"""The tools of ``labelwise mcp``: tagging, evidence and the thesaurus for language models.

The official SDK of the Model Context Protocol makes the schemas from the types here, and tells the
model the first paragraphs of the docstrings. An error that a user can act on is told as it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from labelwise import __version__
from labelwise.corpus.document import Document
from labelwise.corpus.named_act import asked_once, fetch_act, named_act
from labelwise.corpus.plain_text import split_act
from labelwise.corpus.readers import document_files, read
from labelwise.errors import LabelwiseError
from labelwise.evidence.heat import heat_of
from labelwise.methods.base import Evidence, Method
from labelwise.model import Model, Tag
from labelwise.serving.assistant_shapes import (
    Concept,
    Files,
    Found,
    FoundConcepts,
    Neighbour,
    Reason,
    Reasons,
    Suggestion,
    Tags,
)
from labelwise.serving.places import Labels
from labelwise.text.language import language_of, mismatch
from labelwise.text.tokenizer import words

INSTRUCTIONS = (
    "Tags documents with concepts of a thesaurus (EUROVOC for EU law) by a trained model, and "
    "shows the words that speak for each. Scores rank concepts of one document; they are no "
    "certainty. Show a concept with its id."
)
KEPT = 8
"""Fetched acts that are remembered: whoever tags an act asks for reasons next."""
LISTED = 200
DIGITS = 4
"""Of scores: more are only more to read."""
WORDS = 8
"""That are looked at for a concept; those that speak against it are left out."""
AROUND = 90
"""Characters that a passage shows before and after the words that weigh."""

Text = Annotated[str | None, Field(description="The text of the document.", max_length=5_000_000)]
Act = Annotated[
    str | None,
    Field(
        description="An act of EUR-Lex in place of a text: CELEX number (32016R0679), ELI or "
        "address. It is fetched from the EU's Publications Office.",
        max_length=500,
    ),
]
File = Annotated[
    str | None,
    Field(
        description="A file in place of a text, by its path within the folder that was opened.",
        max_length=1_000,
    ),
]


class Assistant:
    """One model and its thesaurus. Tools may be called side by side; the model works for one."""

    def __init__(
        self,
        name: str,
        method: Method,
        labels: Labels,
        *,
        reads: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name, self._labels = name, labels
        self._model = Model(method, name=name, thesaurus=labels.thesaurus)
        self._reads, self._folder = reads, folder.resolve() if folder is not None else None
        self._working = threading.Lock()
        self._fetched: dict[str, Document] = {}
        self._polite = asked_once()

    def tag_document(
        self,
        text: Text = None,
        act: Act = None,
        file: File = None,
        top: Annotated[int, Field(ge=1, le=100, description="At most so many concepts.")] = 10,
    ) -> Tags:
        """The concepts that a document is about, ranked by a trained model.

        Give one of text, act and file.
        """
        with self._told():
            document = self._document(text, act, file)
            counted = len(words(document.text))
            found = self._model.tag(document, top=top).tags if counted else []
            return Tags(
                document=document.id,
                title=document.title,
                words=counted,
                model=self.name,
                concepts=[
                    Suggestion(
                        id=tag.id,
                        name=tag.descriptor,
                        place=tag.place_words,
                        score=round(tag.score, DIGITS),
                        assigned=tag.assigned,
                    )
                    for tag in found
                ],
                notes=self._notes(document),
            )

    def explain_concepts(
        self,
        concepts: Annotated[
            list[str],
            Field(min_length=1, max_length=20, description="Ids of concepts, as tagging gives."),
        ],
        text: Text = None,
        act: Act = None,
        file: File = None,
    ) -> Reasons:
        """Why a document gets these concepts: the words that speak for each, and where they stand.

        Give one of text, act and file.
        """
        with self._told():
            if unknown := [id for id in concepts if id not in self._model.labels.index]:
                raise ToolError(f"not among the concepts of the model: {', '.join(unknown)[:500]}")
            document = self._document(text, act, file)
            tags = {tag.id: tag for tag in self._model.explain(document, concepts)}
            return Reasons(
                document=document.id,
                title=document.title,
                reasons=[_reason(document, tags[id]) for id in concepts],
                notes=self._notes(document),
            )

    def search_concepts(
        self,
        query: Annotated[
            str, Field(min_length=1, max_length=200, description="Words, or beginnings of words.")
        ],
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> FoundConcepts:
        """Concepts of the thesaurus whose names or synonyms have words that begin like these."""
        with self._told():
            found = [match.concept.id for match in self._labels.found(query)]
            return FoundConcepts(
                concepts=[Found(**self._found(id)) for id in found[:limit]], total=len(found)
            )

    def show_concept(
        self, id: Annotated[str, Field(max_length=500, description="Id of a concept.")]
    ) -> Concept:
        """One concept: its names, its place in the thesaurus, and its neighbours there."""
        with self._told():
            if id not in self._labels:
                raise ToolError(f"neither the model nor its thesaurus has a concept {id[:100]}")
            shown = self._labels.details(id)
            return Concept(
                **self._found(id),
                other_names=shown.alternatives,
                broader=[Neighbour(id=one.id, name=one.name) for one in shown.place.broader],
                narrower=[Neighbour(id=one.id, name=one.name) for one in shown.narrower],
                related=[Neighbour(id=one.id, name=one.name) for one in shown.related],
                training_documents=shown.count,
            )

    def list_files(self) -> Files:
        """The files of the folder that was opened, to be given as `file`."""
        with self._told():
            assert self._folder is not None
            found = [str(one.relative_to(self._folder)) for one in document_files(self._folder)]
            return Files(files=found[:LISTED], more=max(0, len(found) - LISTED))

    def server(self) -> MCPServer[None]:
        """The server of these tools."""
        made: MCPServer[None] = MCPServer(
            "labelwise", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
        )
        tools: list[Callable[..., Any]] = [
            self.tag_document,
            self.explain_concepts,
            self.search_concepts,
            self.show_concept,
        ]
        if self._folder is not None:
            tools.append(self.list_files)
        for tool in tools:
            made.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True))
        return made

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The model to oneself, and our errors in the words that we have for them."""
        try:
            with self._working:
                yield
        except LabelwiseError as error:
            raise ToolError(str(error)) from error

    def _document(self, text: str | None, act: str | None, file: str | None) -> Document:
        if sum(one is not None for one in (text, act, file)) != 1:
            raise ToolError("give one of text, act and file")
        if text is not None:
            return Document("", *split_act(text))
        return self._act(act) if act is not None else self._file(file or "")

    def _act(self, given: str) -> Document:
        celex = named_act(given)
        if celex is None:
            raise ToolError(
                f"'{given}' is no CELEX number, no ELI and no address of EUR-Lex: give such as "
                "32016R0679"
            )
        document = self._fetched.pop(celex, None) or fetch_act(celex, self._polite)
        self._fetched[celex] = document
        if len(self._fetched) > KEPT:
            del self._fetched[next(iter(self._fetched))]
        return document

    def _file(self, given: str) -> Document:
        if self._folder is None:
            raise ToolError("no folder was opened: start with labelwise mcp --folder FOLDER")
        path = (self._folder / given).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            raise ToolError(f"'{given}' is no file of the folder that was opened")
        documents = list(islice(read(path), 2))
        if len(documents) > 1:
            raise ToolError(f"'{given}' holds several documents: give a file with one")
        return documents[0]

    def _found(self, id: str) -> dict[str, Any]:
        info = self._labels.info(id)
        return {
            "id": id,
            "name": info.descriptor,
            "uri": info.uri,
            "place": info.place.path,
            "in_model": info.in_model,
        }

    def _notes(self, document: Document) -> list[str]:
        wrong = mismatch(language_of(document.text), self._reads)
        return [f"the document {wrong}"] if wrong else []


def _reason(document: Document, tag: Tag) -> Reason:
    assert tag.evidence is not None
    return Reason(
        id=tag.id,
        name=tag.descriptor,
        score=round(tag.score, DIGITS),
        kind=tag.evidence.kind,
        words=tag.words(document, top=WORDS),
        passages=passages(document.text, tag.evidence),
    )


def passages(text: str, evidence: Evidence, most: int = 3) -> list[str]:
    """The places of a text that weigh most, with a few words around them.

    >>> from labelwise.methods.base import Span
    >>> passages("Ripe oranges and lemons.", Evidence("693", "match", (Span(5, 12, 1.0),)))
    ['Ripe oranges and lemons.']
    """
    runs = sorted(heat_of(evidence).runs, key=lambda run: (-run.weight, run.start))
    chosen: list[tuple[int, int]] = []
    for run in runs:
        if len(chosen) == most or run.weight <= 0:
            break
        start, end = max(0, run.start - AROUND), min(len(text), run.end + AROUND)
        if all(end <= other[0] or other[1] <= start for other in chosen):
            chosen.append((start, end))
    return [_excerpt(text, start, end) for start, end in sorted(chosen)]


def _excerpt(text: str, start: int, end: int) -> str:
    """Whole words, with dots where the text goes on."""
    shown = text[start:end]
    if start:
        shown = "… " + shown.partition(" ")[2]
    if end < len(text):
        shown = shown.rpartition(" ")[0] + " …"
    return " ".join(shown.split())
