"""``labelwise demo``: the whole way, from a made-up corpus to a page that explains a label."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.output import console, print_table
from labelwise.files import write_whole

METHODS = ("exact-match", "svm")

NOTE = "A synthetic act, written by a program for demonstrations; it is not law."


def demo(
    out: Annotated[Path, typer.Option(help="Folder to work in.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Same seed, same demo.")] = 0,
) -> None:
    """See the whole way, on a synthetic corpus.

    Makes the corpus, trains two methods, compares them by group beside chance, tags an act that no
    method has seen, and writes an HTML page with the evidence. Takes about a minute on two cores
    and needs no network.

    \b
    Examples:
      labelwise demo
      labelwise demo --out /tmp/labelwise-demo --seed 7
    """
    from labelwise import bundle as bundles
    from labelwise.cli.evaluate import print_groups
    from labelwise.corpus.dataset import open_dataset
    from labelwise.corpus.synthetic import make_dataset
    from labelwise.evidence.page import render_page
    from labelwise.evidence.predictions import rank
    from labelwise.experiments.measured import measure
    from labelwise.methods import get

    started = time.perf_counter()
    corpus, act_file, page_file = out / "synthetic", out / "act.json", out / "explained.html"
    _step(1, "Making a synthetic corpus: acts in the style of EU law, written by a program")
    make_dataset(corpus, seed=seed)
    dataset = open_dataset(corpus)
    frequent, few, zero = (cut.stop - cut.start for cut in dataset.label_space.groups.values())
    print(f"{len(dataset.train):,} train, {len(dataset.dev)} dev and {len(dataset.test)} test acts")
    print(
        f"{len(dataset.label_space)} labels: {frequent} frequent, {few} few-shot, {zero} zero-shot"
    )

    _step(2, f"Training {' and '.join(METHODS)}")
    runs = []
    for name in METHODS:
        cls = get(name)
        method = cls(cls.Settings(seed=seed))
        began = time.perf_counter()
        method.fit(dataset.train, dataset.dev, dataset.label_space)
        seconds = time.perf_counter() - began
        bundles.save(method, out / f"{name}.bundle", card={"seconds": {"fit": round(seconds, 3)}})
        print(f"{name}: {seconds:.1f} s, saved as {out / name}.bundle")
        runs.append(measure(method, dataset, card={"seconds": {"fit": seconds}}))
        runs[-1].write(out / "results")

    _step(3, "How good, on the synthetic test acts, beside chance")
    print_groups(runs, "test")

    _step(4, "Tagging the first test act, which no method has seen")
    model = bundles.load(out / f"{METHODS[-1]}.bundle")
    act = dataset.test[0]
    act_file.write_text((corpus / "test.jsonl").read_text("utf-8").splitlines()[0], "utf-8")
    space = model.label_space
    predictions = rank(model.scores([act])[0], space, top=6)
    evidence = model.evidence(act, [one.label.id for one in predictions])
    console().print(" ".join(act.title.split()))
    print_table(
        ["score", "label", "descriptor", "group", "gold"],
        [
            [
                f"{one.score:.3f}",
                one.label.id,
                one.label.descriptor,
                one.label.group,
                "yes" if one.label.id in act.labels else "",
            ]
            for one in predictions
        ],
        left=("label", "descriptor", "group", "gold"),
    )
    page = render_page(
        act,
        predictions,
        evidence,
        gold=[space.labels[space.index[id]] for id in act.labels],
        method=model.name,
        threshold=model.threshold,
        note=NOTE,
    )
    write_whole(page_file, page.encode())

    _step(5, f"Done in {time.perf_counter() - started:.0f} s. What to try next")
    bundle = out / f"{METHODS[-1]}.bundle"
    print(
        f"open {page_file} in a browser: the words that speak for each label\n"
        f"labelwise tag {act_file} --bundle {bundle} --evidence\n"
        f"labelwise explain {act_file} --bundle {bundle}\n"
        f"labelwise compare {out / 'results'}\n"
        f"labelwise train logistic --data {corpus} --out {out / 'logistic.bundle'}\n"
        "labelwise data fetch eurlex57k    # the real thing: 57,000 acts, 4,271 labels"
    )


def _step(number: int, words: str) -> None:
    from rich.text import Text

    console().print(Text(f"\n{number}. {words}", style="bold"))
