"""``labelwise demo``: an act tagged by the model that ships, then the whole way to a model of one's
own."""

from __future__ import annotations

import os
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.explain import write_page
from labelwise.cli.output import console, print_table

if TYPE_CHECKING:
    from labelwise.corpus.document import Document
    from labelwise.model import Tagging

NETWORK, CHOSEN = "z-cnn-lwan", "svm"
METHODS = ("exact-match", CHOSEN, NETWORK)

SMALL = {"filters": 32, "epochs": 3, "learning_rate": 0.025, "dropout": 0.1, "max_tokens": 100}
"""A network that learns a synthetic corpus in seconds; its own settings are those of the paper."""

SYNTHETIC = "A synthetic act, written by a program for demonstrations; it is not law."
WRITTEN = "An act written for labelwise; it was never in force."


def demo(
    out: Annotated[Path, typer.Option(help="Folder to work in.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Same seed, same demo.")] = 0,
) -> None:
    """See what it does: an act tagged, then methods trained and compared.

    First the model of the package tags an act and shows the words that speak for each concept (a
    real test act where LABELWISE_DATA names the folder of EURLEX57K). Then a synthetic corpus is
    made, three methods are trained on it, one of them a network of the paper, and compared by group
    beside chance; and an act that none has seen is tagged. Each act leaves an HTML
    page with its evidence. Takes about a minute on two cores and needs no network.

    \b
    Examples:
      labelwise demo
      labelwise demo --out /tmp/labelwise-demo --seed 7
    """
    from labelwise.cli.evaluate import print_groups
    from labelwise.corpus.dataset import open_dataset
    from labelwise.corpus.synthetic import make_dataset
    from labelwise.experiments.measured import measure
    from labelwise.experiments.train import train
    from labelwise.model import load

    started = time.perf_counter()
    corpus, act_file, page_file = out / "synthetic", out / "act.json", out / "explained.html"
    _step(1, "An act, tagged by the model that ships with the package")
    act, note = _act_of_eu_law()
    shipped = load()
    found = shipped.explain(act, top=6)
    _print_tags(found)
    out.mkdir(parents=True, exist_ok=True)
    write_page(page_file, shipped, found, note)

    _step(2, "Making a synthetic corpus: acts in the style of EU law, written by a program")
    make_dataset(corpus, seed=seed)
    dataset = open_dataset(corpus)
    frequent, few, zero = (cut.stop - cut.start for cut in dataset.label_space.groups.values())
    print(f"{len(dataset.train):,} train, {len(dataset.dev)} dev and {len(dataset.test)} test acts")
    print(
        f"{len(dataset.label_space)} labels: {frequent} frequent, {few} few-shot, {zero} zero-shot"
    )

    _step(3, f"Training {', '.join(METHODS[:-1])} and {NETWORK}, a network of the paper")
    runs = []
    for name in METHODS:
        network: dict[str, Any] = {**SMALL, "vectors": str(corpus / "vectors.txt")}
        model = train(
            name,
            data=corpus,
            seed=seed,
            settings=network if name == NETWORK else None,
            out=out / f"{name}.bundle",
        )
        seconds = model.card["seconds"]["fit"]
        print(f"{name}: {seconds:.1f} s, saved as {out / name}.bundle")
        runs.append(measure(model.method, dataset, card=model.card))
        runs[-1].write(out / "results")

    _step(4, "How good, on the synthetic test acts, beside chance")
    print_groups(runs, "test")
    print(f"No training act has a zero-shot label: {NETWORK} reads the label's own words.")

    _step(5, f"Tagging the first test act, which no method has seen, by {CHOSEN}")
    act_file.write_text((corpus / "test.jsonl").read_text("utf-8").splitlines()[0], "utf-8")
    unseen, bundle = dataset.test[0], out / f"{CHOSEN}.bundle"
    chosen = load(bundle)
    found = chosen.explain(unseen, top=6)
    _print_tags(found)
    write_page(out / "synthetic.html", chosen, found, SYNTHETIC)

    _step(6, f"Done in {time.perf_counter() - started:.0f} s. What to try next")
    print(
        f"open {page_file} in a browser: the words that speak for each concept\n"
        f"labelwise tag {act_file} --bundle {bundle} --evidence\n"
        f"labelwise explain {act_file} --bundle {bundle}\n"
        f"labelwise compare {out / 'results'}\n"
        f"labelwise train logistic --data {corpus} --out {out / 'logistic.bundle'}\n"
        "labelwise data fetch eurlex57k    # the real thing: 57,000 acts, 4,271 labels\n"
        "labelwise serve                   # the desk for indexers, in a browser"
    )


def _act_of_eu_law() -> tuple[Document, str]:
    """A test act of EURLEX57K where it lies on this machine, or one of our own writing, and what
    the page is to say of it."""
    from labelwise.corpus.readers import read

    data = os.environ.get("LABELWISE_DATA")
    for folder in (Path(data), Path(data) / "eurlex57k") if data else ():  # itself, or around it
        if (tests := folder / "test.jsonl.xz").is_file():
            return next(iter(read(tests))), ""
    examples = resources.files("labelwise.serving") / "page" / "examples"
    with resources.as_file(examples / "fisheries.txt") as path:
        return next(iter(read(path))), WRITTEN


def _print_tags(found: Tagging) -> None:
    """The concepts of an act with the words that speak for each, and whether an indexer gave it."""
    console().print(" ".join(found.document.title.split()))
    gold = found.document.labels
    columns = ["score", "descriptor", "group", "because of"]
    print_table(
        [*columns, "gold"] if gold else columns,
        [
            [f"{tag.score:.3f}", tag.descriptor, tag.group, ", ".join(tag.words(found.document, 3))]
            + (["yes" if tag.id in gold else ""] if gold else [])
            for tag in found
        ],
        left=[*columns[1:], "gold"],
    )


def _step(number: int, words: str) -> None:
    from rich.text import Text

    console().print(Text(f"\n{number}. {words}", style="bold"))
