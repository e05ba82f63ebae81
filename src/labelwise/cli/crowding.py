"""``labelwise crowding``: do near-synonyms take each other's places, and would a rule help?"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import DataOption, JsonOption, ThesaurusOption
from labelwise.cli.output import print_json, print_wide_table
from labelwise.errors import LabelwiseError
from labelwise.experiments.sampled import write_record
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.evaluation.crowding import Found


def crowding(
    bundle: Annotated[Path, typer.Argument(help="Folder of a trained model.", metavar="BUNDLE")],
    data: DataOption,
    *,
    on: Annotated[
        Path | None,
        typer.Option(
            help="Look at this file or folder of labelled documents, and not at dev.",
            show_default=False,
        ),
    ] = None,
    thesaurus: ThesaurusOption = None,
    results: Annotated[
        Path, typer.Option(help="Folder; RESULTS/DATA/METHOD/crowding-seed-N.json is written.")
    ] = Path("results"),
    as_json: JsonOption = False,
) -> None:
    """Measure how often a concept stands beside its broader one in the first five labels.

    In gold and in the model's list; how often both are right; and what two rules do that lower a
    label once a relative stands before it. Their weight is chosen on documents and measured on
    others, with a p-value. The data set's training documents say how often two labels go together.

    \b
    Examples:
      labelwise crowding svm.bundle --data data/eurlex57k
      labelwise crowding svm.bundle --data data/eurlex57k --on newlaw/dev.jsonl.xz
    """
    from labelwise import bundle as bundles
    from labelwise.corpus.dataset import digest_of
    from labelwise.evaluation.crowding import measure_crowding
    from labelwise.evaluation.runs import current_versions
    from labelwise.experiments.data import commands, hiding_of_card
    from labelwise.experiments.labelled_file import (
        Labelled,
        file_name,
        known_thesaurus,
        named_after_data,
        score_file,
    )
    from labelwise.experiments.training_data import Documents, Kept

    started = time.perf_counter()
    method, card = bundles.load(bundle), bundles.describe(bundle)["card"]
    source = Documents(data, hiding=hiding_of_card(card))
    dataset = source.dataset
    known = known_thesaurus(thesaurus, card, bundle)
    known = known or dataset.thesaurus
    if known is None:
        raise LabelwiseError("which concepts are broader is not known: name a --thesaurus")
    if on is None:
        kept = Kept(source, {str(bundle): method}).scores(method, "dev")
        found = Labelled(dataset.dev, method.label_space, {}, kept)
        of = {"name": dataset.name, "fingerprint": source.record.fingerprint}
        named = bundles.name_of(card, method.name)
    else:
        found = score_file(method, on, thesaurus=known)
        of = {"name": file_name(on), "fingerprint": digest_of([on])}
        named = named_after_data(method, card)
    space = found.space
    train = space.gold(
        [
            dataclasses.replace(
                one, labels=tuple(label for label in one.labels if label in space.index)
            )
            for one in dataset.train
        ]
    ).astype("int32")
    gold = space.gold(found.documents).toarray() > 0
    measured = measure_crowding(found.scores, gold, space, known, (train.T @ train).tocsr())
    record = {
        "method": named,
        "seed": int(method.settings.seed),
        "documents": len(found.documents),
        **dataclasses.asdict(measured),
        "data": of,
        "versions": current_versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "command": commands(card, command_line()),
    }
    path = write_record(results, "crowding", record)
    if as_json:
        print_json(record)
    else:
        _show(measured)
    note(f"wrote {path}")


def _show(found: Found) -> None:
    from labelwise.evaluation.tables import Table, number, p_value

    table = Table(["rule", "weight", "RP@5", "nDCG@5", "crowded", "p"])
    table.add(["none", "", *map(number, found.plain.values()), number(found.model.documents), ""])
    for name, rule in found.rules.items():
        for weight, row in rule.by_weight.items():
            if weight != "0":
                table.add([name, weight, *map(number, row.values()), ""])
        held = [number(one) for one in rule.held_out.values()]
        table.add([name, "held out", *held, "", p_value(rule.p_value)])
    print_wide_table(table)
    both = ", ".join(f"{what} {count:,}" for what, count in found.right.items())
    print(
        f"documents with a concept beside its broader one: gold {100 * found.gold.documents:.1f} %"
        f", first five {100 * found.model.documents:.1f} % (gold of these pairs: {both})"
    )
