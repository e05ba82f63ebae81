"""``labelwise tag --out``: a folder of parts, which a call that was cut off goes on with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labelwise.cli.output import print_json
from labelwise.progress import note, one_bar

if TYPE_CHECKING:
    from labelwise.corpus.document import Document
    from labelwise.model import Tagging


def tag_in_bulk(
    inputs: Sequence[str],
    out: str,
    tags: Callable[[Sequence[Document]], Iterable[Tagging]],
    *,
    made_with: Mapping[str, Any],
    format: str,
    shard: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Tag a shard of the inputs, or all of them, and say what was done."""
    from labelwise.bulk.files import Files
    from labelwise.bulk.rows import predictions_of
    from labelwise.bulk.shards import Work
    from labelwise.corpus.shard import Shard

    own = Shard.parse(shard) if shard is not None else Shard(1, 1)
    work = Work(Files(inputs), out, format=format)
    work.claim(made_with)
    with one_bar("tagging") as advance:
        done = work.run(
            lambda documents: [predictions_of(one) for one in tags(documents)],
            own,
            skip_bad=skip_bad,
            advance=advance,
        )
    if as_json:
        print_json(done._asdict())
        return
    note(
        f"{out}: {done.tagged:,} documents tagged, {done.problems:,} of them could not be read; "
        f"of {done.parts:,} parts {done.found:,} were there already"
    )
