"""A synthetic corpus: acts in the style of EU legislation, made from the project's own phrases.

It serves the demo and the tests. No sentence and no concept of it comes from a real data set, and
no figure measured on it says anything about real law; it is always called synthetic.

The recipe:

1. **Concepts** (``concepts``). Subjects (*citrus fruit*, *steel*), provisions (*import*, *aid*)
   and places come from tables; about 120 pairs of a provision and a subject are concepts of their
   own (*import of citrus fruit*), so that a concept never seen can be scored from parts that were.
   Subjects and places follow Zipf's law, and half the acts on a subject are about its favourite
   provision. The thesaurus is the same for every seed.
2. **What an act is about** (``acts``). A subject, a provision, often a second one of each, up to
   two places. Some subjects, places and pairs are *unseen*: no training act deals with them, three
   in ten of the dev and test acts do.
3. **Labels**. An indexer assigns the concepts of the plan, forgets some, leaves out the parts of a
   pair now and then, adds the broader concept by mood, and is wrong once in a while: no method
   can reach a perfect score.
4. **Text**. Header, recitals, articles, attachments. An act settles on a few words for its
   subject (*oranges*, *lemons*); less than half of the acts name it by its descriptor, so that
   Exact Match finds some labels only. Boilerplate stands in all acts; passing remarks name
   concepts the act is not about; some words point to two concepts. Lengths are log-normal.
5. **Vectors** (``vectors``). Every concept has a direction, close to that of its broader concept;
   a word lies near the concepts it speaks for.

Everything is drawn from ``random()`` of seeded generators, so that the same seed gives the same
bytes in every process, on every machine.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from labelwise.corpus.synthetic.acts import Act, ActWriter
from labelwise.corpus.synthetic.concepts import build_world
from labelwise.corpus.synthetic.dice import Dice
from labelwise.corpus.synthetic.files import descriptors_json, thesaurus_ttl
from labelwise.corpus.synthetic.vectors import vectors_txt, word_counts
from labelwise.errors import LabelwiseError

__all__ = ["make_dataset"]

UNSEEN_SHARE = {"train": 0.0, "dev": 0.3, "test": 0.3}

_HEADING = "A SYNTHETIC corpus made by labelwise"


def make_dataset(
    folder: Path, *, seed: int = 0, train: int = 2400, dev: int = 300, test: int = 300
) -> None:
    """Write the synthetic corpus into a folder that is new, empty, or held an earlier one.

    The folder gets ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl`` with the keys of EURLEX57K,
    ``descriptors.json``, ``thesaurus.ttl`` (SKOS), ``vectors.txt`` (GloVe's format) and
    ``README.txt``. With far fewer training acts than the default, few labels are frequent.
    """
    sizes = {"train": train, "dev": dev, "test": test}
    for split, size in sizes.items():
        if size < 1:
            raise LabelwiseError(f"the synthetic corpus needs at least one {split} act, not {size}")
    folder = Path(folder)
    _claim(folder)
    world = build_world()
    writer = ActWriter(world)
    splits = {
        split: sorted(
            writer.acts(size, Dice(f"{split} {seed}"), UNSEEN_SHARE[split]),
            key=lambda act: act.celex_id,
        )
        for split, size in sizes.items()
    }
    # The README comes first: it marks the folder as ours, should the writing be interrupted.
    _write(folder / "README.txt", _readme(seed, sizes))
    for split, acts in splits.items():
        _write(folder / f"{split}.jsonl", "".join(_line(act) for act in acts))
    _write(folder / "descriptors.json", descriptors_json(world))
    _write(folder / "thesaurus.ttl", thesaurus_ttl(world))
    counts = word_counts(
        text
        for act in splits["train"]
        for text in (act.header, act.recitals, *act.main_body, act.attachments)
    )
    _write(folder / "vectors.txt", vectors_txt(world, counts))


def _claim(folder: Path) -> None:
    """Refuse to write over anything but an earlier synthetic corpus."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        empty = not any(folder.iterdir())
    except OSError as error:
        raise LabelwiseError(f"{folder}: cannot be used as a folder ({error.strerror})") from error
    readme = folder / "README.txt"
    if not empty and not (
        readme.is_file() and readme.read_text("utf-8", errors="replace").startswith(_HEADING)
    ):
        raise LabelwiseError(
            f"{folder}: the folder holds other files; name a new folder for the synthetic corpus"
        )


def _line(act: Act) -> str:
    return json.dumps(asdict(act), ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """The same bytes on every system: UTF-8, and no translated line ends."""
    path.write_bytes(text.encode("utf-8"))


def _readme(seed: int, sizes: dict[str, int]) -> str:
    options = " ".join(f"--{split} {size}" for split, size in sizes.items())
    return f"""{_HEADING}.

Acts, concepts and word vectors are invented; nothing here is law, nothing comes from EUR-Lex,
EURLEX57K, EUROVOC or GloVe, and figures measured on it say nothing about them.

seed:    {seed}
acts:    {sizes["train"]} train, {sizes["dev"]} dev, {sizes["test"]} test
command: labelwise data make --out FOLDER --seed {seed} {options}

train.jsonl, dev.jsonl, test.jsonl   one act a line, with the keys of EURLEX57K
descriptors.json                     the concepts, in the shape of EURLEX57K.json
thesaurus.ttl                        the concepts as SKOS: broader, related, microthesaurus, domain
vectors.txt                          synthetic word vectors in GloVe's text format

How it is made: the docstring of labelwise.corpus.synthetic. Licence: Apache-2.0, as labelwise.
"""
