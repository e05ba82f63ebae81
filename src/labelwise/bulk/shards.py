"""A shard of the work: every n-th part of the input, each tagged and written whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from labelwise.bulk.rows import FORMATS, Prediction, Row
from labelwise.bulk.storage import storage_of
from labelwise.corpus.document import Document
from labelwise.corpus.records import Record
from labelwise.corpus.shard import Shard
from labelwise.errors import InputError, LabelwiseError

MANIFEST = "_manifest.json"
"""What the parts of a folder are made of. Readers of data sets pass over such names."""

PART = 1_000
"""Records of a part: what a kill may cost, and what a shard holds in memory."""


class Done(NamedTuple):
    """What a run of a shard has done."""

    tagged: int
    """Records that it read and wrote."""
    problems: int
    """Those among them that could not be read."""
    parts: int
    """Parts that the shard has."""
    found: int
    """Parts that were there already."""


class Input(Protocol):
    """Records in an order that does not change."""

    def facts(self) -> dict[str, Any]:
        """By what it is known again."""

    def records(self) -> Iterator[Record]: ...


class Work:
    """An input and the folder that its tags go to."""

    def __init__(self, given: Input, out: str, *, format: str = "jsonl", part: int = PART) -> None:
        self._input, self._format, self._part = given, format, part
        self._out, self._address = storage_of(out), out

    def claim(self, made_with: Mapping[str, Any]) -> None:
        """Say in the folder what its parts are made of; refuse one that is made of something else.

        ``made_with``: the model and the options. How many shards there are is not part of it.
        """
        manifest = {
            **made_with,
            "format": self._format,
            "records in a part": self._part,
            "input": self._input.facts(),
        }
        names = self._out.names()
        if MANIFEST not in names:
            if strange := sorted(name for name in names if not name.startswith((".", "_"))):
                raise LabelwiseError(
                    f"{self._address}: holds other files ({strange[0]}): give the tags a folder of "
                    "their own"
                )
            content = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
            self._out.write(MANIFEST, content)
        # Read back in any case: another shard may have written it a moment ago.
        there = json.loads(self._out.read(MANIFEST))
        for key, value in manifest.items():
            if there.get(key) != value:
                raise LabelwiseError(
                    f"{self._address}: was begun with another {key}: choose another folder, or "
                    "call it as before"
                )

    def run(
        self,
        tag: Callable[[Sequence[Document]], list[list[Prediction]]],
        shard: Shard,
        *,
        skip_bad: bool = False,
        advance: Callable[[int], None] = lambda records: None,
    ) -> Done:
        """Tag what is missing of a shard, and say in the folder that it is whole.

        A record that cannot be read ends it with an error; with ``skip_bad`` its row says so.
        """
        there = self._out.names()
        tagged = problems = own = found = first = 0
        for number, part in enumerate(self._parts()):
            if number % shard.of == shard.number - 1:
                own += 1
                name = f"part-{first:012d}.{self._format}"
                if name in there:
                    found += 1
                else:
                    rows = _rows(part, first, tag, skip_bad)
                    self._out.write(name, FORMATS[self._format](rows))
                    tagged += len(rows)
                    problems += sum(row.problem is not None for row in rows)
                advance(len(part))
            first += len(part)
        if not first:
            raise LabelwiseError("the input holds no document")
        whole = {"shard": str(shard), "parts": own, "records in all": first}
        self._out.write(
            f"_shard-{shard.number}-of-{shard.of}.json", json.dumps(whole, indent=1).encode()
        )
        return Done(tagged, problems, own, found)

    def _parts(self) -> Iterator[list[Record]]:
        every = self._input.records()
        while part := list(islice(every, self._part)):
            yield part


def _rows(
    part: Sequence[Record],
    first: int,
    tag: Callable[[Sequence[Document]], list[list[Prediction]]],
    skip_bad: bool,
) -> list[Row]:
    read: list[Document | InputError] = []
    for record in part:
        try:
            read.append(record())
        except InputError as error:
            if not skip_bad:
                raise
            read.append(error)
    found = iter(tag([one for one in read if isinstance(one, Document)]))
    return [
        Row(at, one.id, None, next(found))
        if isinstance(one, Document)
        else Row(at, None, str(one), [])
        for at, one in enumerate(read, first)
    ]
