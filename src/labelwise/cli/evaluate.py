"""``labelwise evaluate``, ``compare`` and ``report``: how good, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import (
    EveryConceptOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    PreparedOption,
    SkipBadOption,
    SummariesOption,
    ThesaurusOption,
    TrainedArgument,
)
from labelwise.cli.output import print_json, print_wide_table
from labelwise.progress import note

if TYPE_CHECKING:
    from labelwise.evaluation.runs import Run


class SplitChoice(StrEnum):
    dev = "dev"
    test = "test"


def evaluate(
    bundle: TrainedArgument,
    *,
    data: MaybeDataOption = None,
    prepared: PreparedOption = None,
    on: Annotated[
        Path | None,
        typer.Option(
            help="Measure on this file or folder of labelled documents, whatever its labels, and "
            "not on the data set.",
            show_default=False,
        ),
    ] = None,
    first_words: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of each document of --on only so many words; a data set of its own.",
            show_default=False,
        ),
    ] = None,
    readings: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            help="Also read the dev file of --on otherwise, and keep what comes of it as a trial; "
            "may be repeated.",
            metavar="NAME=VALUE[,NAME=VALUE]",
            show_default=False,
        ),
    ] = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    split: Annotated[
        list[SplitChoice] | None,
        typer.Option(help="Split to measure; may be repeated.", show_default="dev and test"),
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder of runs; RESULTS/DATA/METHOD/seed-N.json is written.")
    ] = Path("results"),
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a bundle on a data set, group by group.

    Writes the run as JSON, and beside it a small file of what each document got. The threshold of
    micro-F1 is tuned on dev; the test split is only measured. Labels that were hidden from a bundle
    (`train --hide`) are measured as unseen ones, in a folder of their own. What a model was trained
    on is opened with the same --more, --summaries, --thesaurus and --every-concept.

    With --on, labels are grouped by the model's own training documents; those that it does not know
    count as missed, and F1 is measured at the model's own threshold. With --first-words the report
    shows, by length of document, what is gained by all that comes after them. With --try a model
    reads otherwise than in training: a linear one or a tree weighs zones otherwise (zone_words=50),
    a network reads more or fewer words (max_tokens=800) or pieces (pieces=4), and the members of a
    blend do, each of them that has the setting. Nothing is trained.

    \b
    Examples:
      labelwise evaluate svm.bundle --data data/eurlex57k
      labelwise evaluate svm.bundle --data demo/synthetic --split test --results my-results --json
      labelwise evaluate svm.bundle --data data/eurlex57k --more newlaw/train-titles.jsonl.xz
      labelwise evaluate svm.bundle --on newlaw/dev.jsonl.xz
      labelwise evaluate svm.bundle --on newlaw/dev.jsonl.xz --first-words 1000
      labelwise evaluate svm.bundle --on newlaw/dev.jsonl.xz --try zone_words=50,annexes_weight=0
    """
    from labelwise.evaluation.tables import group_table
    from labelwise.experiments.evaluate import evaluate as evaluate_bundle

    run = evaluate_bundle(
        bundle, data=data, prepared=prepared, on=on, first_words=first_words,
        readings=readings, more=more, summaries=summaries, thesaurus=thesaurus,
        every_concept=every_concept, split=split, results=results, skip_bad=skip_bad,
        command=command_line(),
    )  # fmt: skip
    if as_json:
        print_json(run.to_json())
    else:
        for one in run.splits:
            title = f"{run.method} on {run.data.name}, {one}"
            print_wide_table(group_table(run, one, title))
        if on is not None:
            counts = run.data.counts
            print(
                f"labels that the model does not know: {counts['unknown labels']:,}, gold "
                f"{counts['unknown gold']:,} times, each missed"
            )
        if run.threshold is not None:
            whose = "tuned on dev" if on is None else "of the model"  # nothing is tuned on a file
            print(f"threshold {whose}: {run.threshold:.4f}")
        if run.peak_memory:
            print(f"peak memory: {run.peak_memory / 1e9:.2f} GB")
        print("seconds: " + ", ".join(f"{what} {took:.1f}" for what, took in run.seconds.items()))
    note(f"wrote {run.path(results)}")


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Files of runs, or folders of them.", metavar="RUN")
    ],
    *,
    split: Annotated[SplitChoice, typer.Option(help="Documents to look at.")] = SplitChoice.test,
    group: Annotated[
        str, typer.Option(help="Labels to look at: all, frequent, few, zero, zero-among-all.")
    ] = "all",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="Measure; may be repeated.", show_default="RP@5, nDCG@5, micro-F1"),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the randomisation test.")] = 10_000,
    as_json: JsonOption = False,
) -> None:
    """Compare runs on the same data, with p-values.

    Two-tailed approximate randomisation on the documents, the best method against each other.

    \b
    Examples:
      labelwise compare results/eurlex57k
      labelwise compare results/eurlex57k/svm/seed-0.json results/eurlex57k/tree/seed-0.json
      labelwise compare demo/results --group few --measure RP@5 --measure nDCG@5
    """
    from labelwise.evaluation.tables import comparison_table
    from labelwise.experiments.compare import compare as compare_runs

    made = compare_runs(runs, split=split, group=group, measure=measure, rounds=rounds)
    if not as_json:
        print_wide_table(comparison_table(made))
        return
    print_json(
        {
            "split": made.split,
            "group": made.group,
            "rounds": made.rounds,
            "best": made.best,
            "methods": [
                {
                    "method": row.method,
                    "seeds": row.seeds,
                    "measures": {name: _figure_json(row, name) for name in made.measures},
                }
                for row in made.methods
            ],
        }
    )


def _figure_json(row: Any, name: str) -> dict[str, Any]:
    test = row.against_best[name]
    return {
        "mean": row.figures[name].mean,
        "deviation": row.figures[name].deviation,
        "p_value": None if test is None else test.p_value,
    }


def print_groups(runs: Sequence[Run], split: str) -> None:
    """Methods side by side, a row a group, with the chance level."""
    from labelwise.evaluation.tables import Table, chance_level, figure_cell, legend

    table = Table(["group", "documents", *(f"{run.method} RP@5" for run in runs), "chance RP@5"])
    names = {"few": "few-shot", "zero": "zero-shot", "zero-among-all": "zero-shot among all"}
    groups = runs[0].measures[split].values
    for group, figures in groups.items():
        cells = [figure_cell([run], split, group, "RP@5") for run in runs]
        chance = chance_level(runs, split, group, "RP@5")
        table.add([names.get(group, group), f"{figures['documents']:,}", *cells, chance])
    table.notes.extend(legend(runs, split, [(group, "RP@5") for group in groups]))
    print_wide_table(table)


def report(
    results: Annotated[
        Path, typer.Argument(help="Folder of runs, as `labelwise evaluate` writes them.")
    ] = Path("results"),
    readme: Annotated[
        Path | None,
        typer.Option(help="Also put the table into this file, between its two markers."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Turn runs into the table of results and the curves.

    Writes README.md and curves.svg into the folder of each data set, from the runs alone.

    \b
    Examples:
      labelwise report
      labelwise report results --readme README.md
      labelwise report demo/results --json
    """
    from labelwise.evaluation.report import report as write_report
    from labelwise.evaluation.report import runs_by_data, update_readme
    from labelwise.evaluation.tables import results_table

    by_data = runs_by_data(results)
    written = write_report(results)
    if readme is not None:
        update_readme(readme, results)
        written.append(readme)
    if as_json:
        runs = [run.to_json() for found in by_data.values() for run in found]
        print_json({"written": [str(path) for path in written], "runs": runs})
        return
    for found in by_data.values():
        split = "test" if all("test" in run.measures for run in found) else "dev"
        print_wide_table(results_table(found, split))
    for path in written:
        note(f"wrote {path}")
