"""``labelwise calibrate``: unseen labels get their place in the one list; scores become chances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelwise.cli.command_line import command_line
from labelwise.cli.options import (
    DevOption,
    EveryConceptOption,
    JsonOption,
    MoreOption,
    NameOption,
    PreparedOption,
    SkipBadOption,
    SummariesOption,
    ThesaurusOption,
    TrainedArgument,
)
from labelwise.cli.output import print_json, print_made, print_table, print_wide_table
from labelwise.progress import note


def calibrate(
    bundle: TrainedArgument,
    hidden: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The same method, trained with labels hidden (--hide), one or more draws.",
            metavar="HIDDEN...",
            show_default=False,
        ),
    ] = None,
    *,
    on: Annotated[
        Path | None,
        typer.Option(
            help="Make scores chances, on this file or folder of labelled documents.",
            show_default=False,
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="Take over the calibration and the threshold of this bundle, a twin of the model.",
            show_default=False,
        ),
    ] = None,
    data: DevOption = None,
    prepared: PreparedOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    lose_rp5: Annotated[
        float, typer.Option(min=0, help="What seen labels may lose of their RP@5 on dev.")
    ] = 0.003,
    lose_r10: Annotated[
        float, typer.Option(min=0, help="What they may lose of their R@10 on dev.")
    ] = 0.02,
    name: NameOption = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="The folder that figures are written to; with HIDDEN, measure on dev and test too."
            "  [default: results with --on]",
            show_default=False,
        ),
    ] = None,
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make scores chances, or put labels that no training document carries on the scale of the
    others.

    With --on the first: documents like those that the model will meet say how often labels of a
    score are right, for labels often, seldom and never seen in training; the threshold becomes the
    best one for them. What that does is measured on documents held out. The order of the labels of
    a group stays as it is.

    With HIDDEN the second: their log-odds get a slope and an offset. Models of the same method from
    which labels were hidden say, on dev documents, which slope, and how much the seen labels should
    lose of their RP@5 and R@10, gives the highest harmonic mean of what is found of seen and of
    unseen labels in the top ten of all. The offset is the one at which the model itself loses as
    much on dev. Labels added later are put on the same scale. What was kept of the scores of these
    models (NAME.scores.npz beside the bundle) is not asked again.

    \b
    Examples:
      labelwise calibrate svm.bundle --on newlaw/dev.jsonl.xz --out sure.bundle
      labelwise calibrate eurovoc-en --on ours.jsonl --out eurovoc-ours.bundle
      labelwise calibrate svm-with-dev.bundle --like sure.bundle --out final.bundle
      labelwise calibrate z.bundle z-hidden-0.bundle z-hidden-1.bundle --data DATA --out all.bundle
      labelwise evaluate all.bundle --data DATA
    """
    from labelwise.evaluation.unseen_scale import Loss
    from labelwise.experiments.calibrate import calibrate_unseen, figures
    from labelwise.experiments.data import additions_of

    if sum(map(bool, (hidden, on, like))) != 1:
        raise typer.BadParameter("one of HIDDEN, --on and --like is needed")
    if on is not None or like is not None:
        if prepared or more or summaries or every_concept:
            raise typer.BadParameter("these options go with HIDDEN; with --on, --thesaurus fits")
        if on is not None:
            _on(
                bundle, on, out, thesaurus=thesaurus, name=name,
                results=results or Path("results"), skip_bad=skip_bad, as_json=as_json,
            )  # fmt: skip
        elif like is not None:
            _like(bundle, like, out, name, as_json=as_json)
        return
    assert hidden is not None
    additions = additions_of(more, summaries, thesaurus, every_concept)
    made = calibrate_unseen(
        bundle, hidden, out, data=data, additions=additions, prepared=prepared,
        most_lost=Loss(lose_rp5, lose_r10), name=name, results=results, command=command_line(),
    )  # fmt: skip
    if as_json:
        print_made({"method": made.method, "bundle": str(out)}, made.card)
        return
    rows = [("hidden labels", made.on_hidden), ("dev before", made.before), ("dev", made.after)]
    print_table(
        [
            *("", "slope", "offset", "RP@5 lost", "R@10 lost"),
            *("seen", "unseen", "harmonic mean"),
        ],
        [[what, *(f"{value:.3f}" for value in figures(one).values())] for what, one in rows],
        left=("",),
    )
    note(f"Next: labelwise evaluate {out} --data {data or 'DATA'}")


def _on(
    bundle: Path,
    on: Path,
    out: Path,
    *,
    thesaurus: Path | None,
    name: str | None,
    results: Path,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Calibrate on a labelled file, and show what documents held out say."""
    from labelwise.evaluation.calibration_records import (
        assigned_table,
        precision_table,
        reliability_table,
        without_a_look,
    )
    from labelwise.experiments.calibrate_on import calibrate_on

    record, path = calibrate_on(
        bundle, on, out, thesaurus=thesaurus, name=name, results=results, skip_bad=skip_bad,
        command=command_line(),
    )  # fmt: skip
    if as_json:
        print_json({"bundle": str(out), **record})
    else:
        for table in (reliability_table, assigned_table, precision_table):
            print_wide_table(table(record))
        rp5 = record["rp5"]
        print(f"RP@5: {rp5['before']:.3f} before, {rp5['after']:.3f} after")
        before, after = record["threshold before"], record["threshold"]
        print(f"threshold: {before:.4f} before, {after:.4f} after")
        print(without_a_look(record))
    note(f"wrote {path}")
    note(f"Next: labelwise tag act.html --bundle {out} --precision 0.8 --best 3")


def _like(bundle: Path, like: Path, out: Path, name: str | None, *, as_json: bool) -> None:
    from labelwise.experiments.calibrate_on import calibrate_like

    method = calibrate_like(bundle, like, out, name=name, command=command_line())
    said = {"method": method.name, "threshold": method.threshold, "bundle": str(out)}
    if as_json:
        print_json(said)
    else:
        print_table(list(said), [[str(one) for one in said.values()]], left=("method", "bundle"))
