"""``labelwise join``: saved models become one, weighed on the dev documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelwise.cli.evaluate import command_line
from labelwise.cli.inputs import hiding_of_card
from labelwise.cli.options import (
    EveryConceptOption,
    JsonOption,
    MaybeDataOption,
    MoreOption,
    NameOption,
    SummariesOption,
    ThesaurusOption,
    additions_of,
)
from labelwise.cli.output import note, print_json, print_table
from labelwise.cli.train import check_writable
from labelwise.errors import LabelwiseError

if TYPE_CHECKING:
    from labelwise.cli.worker import Documents
    from labelwise.evaluation.runs import Run
    from labelwise.methods import Method, Scores


def join(
    method: Annotated[
        str, typer.Argument(help="What to make: blend or ensemble-lwan.", metavar="METHOD")
    ],
    members: Annotated[
        list[Path], typer.Argument(help="Trained models, two or more.", metavar="BUNDLE...")
    ],
    *,
    data: MaybeDataOption = None,
    more: MoreOption = None,
    summaries: SummariesOption = False,
    thesaurus: ThesaurusOption = None,
    every_concept: EveryConceptOption = False,
    like: Annotated[
        Path | None,
        typer.Option(
            help="A blend of models of the same methods, whose weights and threshold are taken "
            "over; no documents are needed.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the bundle to write.")],
    name: NameOption = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Measure it on dev and test too, and write the run into this folder.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Join saved models into one bundle, which holds them all.

    blend: any models trained on the same data; how much each counts for frequent, few-shot and
    zero-shot labels is chosen on the dev documents. ensemble-lwan: a bigru-lwan for the labels seen
    in training and a z-bigru-lwan for those that were not. Nothing is trained.

    What was kept of the scores of members (NAME.scores.npz beside the bundle, as `labelwise
    reproduce` writes it) is not asked again; so a blend with networks that were trained on a GPU is
    weighed, and measured with --results, in a minute.

    With --like, for a model that ships: what was chosen for a twin that has not seen the documents
    to measure on holds for one that has.

    \b
    Examples:
      labelwise join blend svm.bundle minilm.bundle --data data/eurlex57k --out blend.bundle
      labelwise join ensemble-lwan lwan.bundle z.bundle --data data/eurlex57k --out both.bundle
      labelwise join blend svm-all.bundle minilm-all.bundle --like blend.bundle --out final.bundle
      labelwise evaluate blend.bundle --data data/eurlex57k
    """
    from labelwise import bundle as bundles
    from labelwise.cli.worker import JOINERS, Documents

    if method not in JOINERS:
        raise LabelwiseError(
            f"'{method}' is not made by joining; these are: {', '.join(JOINERS)} (the method comes "
            "first, then the bundles)"
        )
    if len(members) < 2:
        raise LabelwiseError(f"{method} is joined from two bundles or more, not from {members[0]}")
    if like is not None and method != "blend":
        raise typer.BadParameter("a blend can be like another one, no other method")
    if data is None and like is None:
        raise typer.BadParameter("--data (or LABELWISE_DATA) or --like is needed")
    if like is not None and results is not None:
        raise typer.BadParameter(
            "what is like another blend has its figures: --results does not fit"
        )
    check_writable(out)
    of_members = [bundles.describe(path)["card"] for path in members]
    if like is not None:
        joined = _joined_like(members, like)
    else:
        assert data is not None
        additions = additions_of(more, summaries, thesaurus, every_concept)
        source = Documents(data, additions, hiding_of_card(of_members[0]))
        joined, scores = _joined(method, members, source, ["dev", "test"] if results else ["dev"])
    fit = [card.get("seconds", {}).get("fit", 0.0) for card in of_members]
    card = {
        **of_members[0],
        "seconds": {"fit": sum(fit)},
        "peak_memory": max(card.get("peak_memory") or 0 for card in of_members),
        "command": command_line("\n".join(str(card.get("command", "")) for card in of_members)),
        **getattr(joined, "card", {}),
    }
    notices = [line for card in of_members for line in card.get("notices", ())]
    card |= {"notices": list(dict.fromkeys(notices))} if notices else {}
    card |= {"name": name} if name else {}
    card |= {"twin": bundles.as_twin(like)} if like else {}
    bundles.save(joined, out, card=card)
    if results is not None:
        note(f"wrote {_run(joined, source, scores, card).write(results)}")
    if as_json:
        print_json({"method": method, "bundle": str(out), **_chosen(joined), **card})
        return
    _show(joined, out)
    note(f"Next: labelwise evaluate {out} --data {data or 'DATA'}")


def _joined(
    method: str, members: Sequence[Path], source: Documents, splits: Sequence[str]
) -> tuple[Method, Mapping[str, Scores]]:
    """The models as one, weighed on the dev documents, and its scores of some splits."""
    from labelwise import bundle as bundles
    from labelwise.cli.worker import JOINERS, Kept
    from labelwise.evaluation.threshold import tune_threshold

    space = source.dataset.label_space
    if not source.dataset.dev:
        raise LabelwiseError(
            f"the data set {source.record.name} has no dev documents, on which the joined models "
            "are weighed"
        )
    loaded = [bundles.load(path) for path in members]
    for path, one in zip(members, loaded, strict=True):
        if one.label_space.fingerprint != space.fingerprint:
            raise LabelwiseError(
                f"{path} has other labels or label counts than the data set {source.record.name}: "
                "join models that were trained on it"
            )
    known = Kept(source, {str(path): one for path, one in zip(members, loaded, strict=True)})
    joined, scores = JOINERS[method](loaded, known, splits)
    joined.threshold = tune_threshold(scores["dev"], source.gold("dev"))
    return joined, scores


def _run(
    joined: Method, source: Documents, scores: Mapping[str, Scores], card: Mapping[str, Any]
) -> Run:
    """What it reaches on the splits whose scores are known."""
    from labelwise.bundle import name_of
    from labelwise.evaluation.measures import evaluate
    from labelwise.evaluation.runs import Run, current_versions

    return Run(
        method=name_of(card, joined.name),
        seed=int(joined.settings.seed),
        measures={
            split: evaluate(
                of, source.gold(split), joined.label_space, tuned_threshold=joined.threshold
            )
            for split, of in scores.items()
        },
        data=source.record,
        threshold=joined.threshold,
        settings=dataclasses.asdict(joined.settings),
        versions=current_versions(),
        seconds=dict(card["seconds"]),
        peak_memory=card["peak_memory"] or None,
        command=str(card["command"]),
    )


def _joined_like(members: Sequence[Path], like: Path) -> Method:
    """The models as one, weighed as another blend is."""
    from labelwise import bundle as bundles
    from labelwise.methods.blend import Blend

    twin = bundles.load(like)
    if not isinstance(twin, Blend):
        raise LabelwiseError(f"{like} is a {twin.name}, and not a blend")
    return Blend.like([bundles.load(path) for path in members], twin)


def _chosen(joined: Method) -> dict[str, Any]:
    """What dev has chosen and the card does not say: how far unseen labels are shifted."""
    shift = getattr(joined, "shift", None)
    return {} if shift is None else {"shift": shift}


def _show(joined: Method, out: Path) -> None:
    """The bundle and, below it, what dev has chosen."""
    shift = [f"{value:+.2f}" for value in _chosen(joined).values()]
    print_table(
        ["method", "labels", *(["shift of unseen labels"] if shift else []), "bundle"],
        [[joined.name, f"{len(joined.label_space):,}", *shift, out]],
        left=("method", "bundle"),
    )
    weights = getattr(joined, "card", {}).get("weights", [])
    if weights:
        print_table(
            ["training documents", *(f"weight of {name}" for name in joined.settings.members)],
            [
                [row["training documents"], *(f"{weight:.2f}" for weight in row["weights"])]
                for row in weights
            ],
        )
