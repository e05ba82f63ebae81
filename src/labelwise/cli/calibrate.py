"""``labelwise calibrate``: unseen labels take their place in the one list; scores become chances
(``calibrate_on``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.calibrate_on import calibrate_like, calibrate_on
from labelwise.cli.evaluate import command_line
from labelwise.cli.inputs import hiding_of_card
from labelwise.cli.options import (
    EveryConceptOption,
    JsonOption,
    MoreOption,
    NameOption,
    SkipBadOption,
    SummariesOption,
    ThesaurusOption,
    additions_of,
)
from labelwise.cli.output import note, print_json, print_table
from labelwise.cli.train import check_writable
from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.cli.worker import Source
    from labelwise.corpus.dataset import Additions
    from labelwise.corpus.hidden import Hiding
    from labelwise.evaluation.unseen_scale import Lists, Placed
    from labelwise.methods import Method


def calibrate(
    bundle: Annotated[Path, typer.Argument(help="Folder of a trained model.", metavar="BUNDLE")],
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
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="LABELWISE_DATA",
            help="Folder of the data set; its test documents are never scored.",
            show_default=False,
        ),
    ] = None,
    prepared: Annotated[
        Path | None,
        typer.Option(help="A corpus in numbers, for the networks.", show_default=False),
    ] = None,
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
        Path, typer.Option(help="With --on: the folder that the figures are written to.")
    ] = Path("results"),
    skip_bad: SkipBadOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put labels that no training document carries on the scale of the others, or make scores
    chances.

    With HIDDEN the first: their log-odds get a slope and an offset. Models of the same method from
    which labels were hidden say, on dev documents, which slope, and how much the seen labels should
    lose of their RP@5 and R@10, gives the highest harmonic mean of what is found of seen and of
    unseen labels in the top ten of all. The offset is the one at which the model itself loses as
    much on dev. Labels added later are put on the same scale.

    With --on the second: documents like those that the model will meet say how often labels of a
    score are right, for labels often, seldom and never seen in training; the threshold becomes the
    best one for them. What that does is measured on documents held out. The order of the labels of
    a group stays as it is.

    \b
    Examples:
      labelwise calibrate z.bundle z-hidden-0.bundle z-hidden-1.bundle --data DATA --out all.bundle
      labelwise evaluate all.bundle --data DATA
      labelwise calibrate svm.bundle --on newlaw/dev.jsonl.xz --out sure.bundle
      labelwise calibrate svm-with-dev.bundle --like sure.bundle --out final.bundle
    """
    from labelwise import bundle as bundles
    from labelwise.evaluation.threshold import tune_threshold
    from labelwise.evaluation.unseen_scale import (
        Loss,
        UnseenScale,
        choose_scale,
        described,
        lists_of,
        placed,
    )

    if sum(map(bool, (hidden, on, like))) != 1:
        raise typer.BadParameter("one of HIDDEN, --on and --like is needed")
    if on is not None or like is not None:
        if prepared or more or summaries or every_concept:
            raise typer.BadParameter("these options go with HIDDEN; with --on, --thesaurus fits")
        check_writable(out)
        if on is not None:
            calibrate_on(
                bundle, on, out, thesaurus=thesaurus, name=name, results=results,
                skip_bad=skip_bad, as_json=as_json,
            )  # fmt: skip
        elif like is not None:
            calibrate_like(bundle, like, out, name=name, as_json=as_json)
        return
    assert hidden is not None
    if data is None and prepared is None:
        raise typer.BadParameter("--data (or LABELWISE_DATA) or --prepared is needed")
    check_writable(out)
    additions = additions_of(more, summaries, thesaurus, every_concept)
    card = bundles.describe(bundle)["card"]
    method = bundles.load(bundle)
    _check(bundle, method, hidden)
    unseen = int((method.label_space.counts == 0).sum())
    chosen_on: list[Lists] = []
    for path in hidden:
        draw = bundles.load(path)
        hiding = hiding_of_card(bundles.describe(path)["card"])
        source = _source(data, additions, prepared, hiding)
        _check_labels(path, draw, source)
        zero = int((draw.label_space.counts == 0).sum())
        parts = max(1, round(zero / unseen)) if unseen else 1
        scores = source.scores(draw, "dev")
        chosen_on += lists_of(scores, source.gold("dev"), draw.label_space, parts)
    best = choose_scale(chosen_on, most_lost=Loss(lose_rp5, lose_r10))

    source = _source(data, additions, prepared, hiding_of_card(card))
    _check_labels(bundle, method, source)
    method.unseen = method.calibration = None
    scores, gold = source.scores(method, "dev"), source.gold("dev")
    own = lists_of(scores, gold, method.label_space)
    before = described(own, UnseenScale(1.0, 0.0))
    after = placed(own, best.scale.slope, best.allowed)
    method.unseen = after.scale
    method.threshold = tune_threshold(method.placed(scores), gold)

    made = {
        "draws": [bundles.describe(path)["card"]["data"]["name"] for path in hidden],
        "parts": len(chosen_on),
        "allowed": dataclasses.asdict(best.allowed),
        "on hidden labels": _figures(best),
        "on dev before": _figures(before),
        "on dev": _figures(after),
    }
    kept = {**card, "unseen": made, "command": command_line(str(card.get("command", "")))}
    bundles.save(method, out, card=kept | ({"name": name} if name else {}))
    if as_json:
        print_json({"method": method.name, "bundle": str(out), **made})
        return
    rows = [("hidden labels", best), ("dev before", before), ("dev", after)]
    print_table(
        [
            *("", "slope", "offset", "RP@5 lost", "R@10 lost"),
            *("seen", "unseen", "harmonic mean"),
        ],
        [[what, *(f"{value:.3f}" for value in _figures(one).values())] for what, one in rows],
        left=("",),
    )
    note(f"Next: labelwise evaluate {out} --data {data or 'DATA'}")


def _source(
    data: Path | None, additions: Additions, prepared: Path | None, hiding: Hiding | None
) -> Source:
    from labelwise.cli.worker import Documents, Numbers

    if prepared is not None:
        return Numbers(prepared, None, hiding)
    assert data is not None
    return Documents(data, additions, hiding)


def _check(path: Path, method: Method, hidden: Sequence[Path]) -> None:
    """The models must be of one kind, and one that can know a label it was not trained for."""
    from labelwise import bundle as bundles
    from labelwise.methods.base import Widening

    if not isinstance(method, Widening):
        raise LabelwiseError(
            f"{path}: {method.name} scores a label that no training document carries by chance: no "
            "place in the list is the right one"
        )
    for one in hidden:
        about: dict[str, Any] = bundles.describe(one)
        if about["method"] != method.name:
            raise LabelwiseError(f"{one} is a {about['method']}, and {path} a {method.name}")
        if hiding_of_card(about["card"]) is None:
            raise LabelwiseError(
                f"no label was hidden from {one}: train it with --hide, so that it has unseen "
                "labels whose documents are known"
            )


def _check_labels(path: Path, method: Method, source: Source) -> None:
    if method.label_space.fingerprint != source.record.label_space:
        raise LabelwiseError(
            f"{path} has other labels or label counts than the data set {source.record.name}: "
            "calibrate models that were trained on it"
        )


def _figures(one: Placed) -> dict[str, float]:
    """A scale and what it does, as a card and a table show it."""
    lost = {f"lost_{what}": value for what, value in dataclasses.asdict(one.lost).items()}
    found = {"seen": one.seen, "unseen": one.unseen, "harmonic_mean": one.harmonic_mean}
    return dataclasses.asdict(one.scale) | lost | found
