"""The card of a model: what it is, how good it is and what it cannot do, on one page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelwise.errors import InputError
from labelwise.files import write_whole

if TYPE_CHECKING:
    from labelwise.evaluation.runs import Run
    from labelwise.evaluation.tables import Table

FIRST_EDITION = "first-edition.json"
"""The run of a model that is no longer there, kept beside where its row was."""

THIS_FILE = "this very file"


def card_markdown(bundle: Path, results: Path, figure: Path | None = None) -> str:
    """The page, from the bundle and the files in ``results`` alone; its figure is written where it
    is wanted."""
    from labelwise import bundle as bundles
    from labelwise.evaluation.runs import Run
    from labelwise.experiments.times import TIMES

    manifest = bundles.describe(bundle)
    told = manifest["card"]
    name = bundles.name_of(told, manifest["method"])
    run_file = _run_file(manifest, results)
    folder, seed = run_file.parent, run_file.name
    run = run_of_bundle(manifest, results)
    on_files = [
        Run.read(one) for one in sorted(results.glob(f"*/{name}@{folder.parent.name}/{seed}"))
    ]
    sizes, times = _read(folder / "sizes.json"), _read(folder / TIMES)
    parts = [
        f"# {name}",
        "This page is written by `labelwise card` from the bundle and the files in `results/`; do "
        "not edit it.",
        *_summary(manifest, name, bundle),
        "## How good it is",
        *_twin(told),
        *_figures(run, name, results, _measured_with(told, run)),
        *_on_files(on_files, results, manifest.get("calibration", {}).get("record", "")),
        *_notes(manifest, folder),
        *_editions(name, run, results, seed),
        *_chances(manifest, results, figure),
        *_evidence(folder, run),
        *_sizes(sizes),
        *_speed(times or sizes),
        "## What it cannot do",
        "\n".join(f"- {one}" for one in _limits(manifest)),
        "## How it was made",
        *_making(manifest, run),
    ]
    if told.get("notices"):
        parts += ["## Notices", "\n".join(f"- {one}" for one in told["notices"])]
    return "\n\n".join(parts) + "\n"


def _notes(manifest: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """What one has to know of these figures, and of those of its method and its members, on the
    same data or on the data set that documents were added to."""
    from labelwise.evaluation.notes import note_of

    if (own := note_of(folder)) is not None:
        yield own
    names = (manifest["method"], *manifest["card"].get("members", ()))
    data = folder.parent
    alone = data.with_name(data.name.partition("+")[0])
    for place in dict.fromkeys(of / name for of in (data, alone) for name in names):
        if place != folder and (written := note_of(place)) is not None:
            yield f"Of {place.name} on {place.parent.name}: {written}"


def run_of_bundle(manifest: Mapping[str, Any], results: Path) -> Run | None:
    """The run whose figures are those of a bundle, where ``results`` has it."""
    from labelwise.evaluation.runs import Run

    file = _run_file(manifest, results)
    return Run.read(file) if file.is_file() else None


def _measured_with(told: Mapping[str, Any], run: Run | None) -> str:
    """Whose figures a run has: those of the file itself where what made it was followed by nothing
    but its measurement."""
    if "twin" in told:
        return "its twin"
    ours = told.get("command", "").splitlines()
    theirs = run.command.splitlines() if run is not None else ours
    if theirs and theirs != ours and "evaluate" in theirs[-1].split():
        theirs = theirs[:-1]
    if theirs == ours:
        return THIS_FILE
    if theirs and theirs == ours[: len(theirs)]:
        _, *words = ours[len(theirs)].split()
        step = next((word for word in words if not word.startswith("-")), "")
        return f"this file as it was before `labelwise {step}`"
    return "another file of this name, which was made by other commands than this one"


def results_folder(manifest: Mapping[str, Any], results: Path) -> Path:
    """Where the figures of a bundle lie."""
    return _run_file(manifest, results).parent


def _run_file(manifest: Mapping[str, Any], results: Path) -> Path:
    """Where it lies. A model that was made like another, on more documents, has the figures of that
    one."""
    from labelwise import bundle as bundles

    told = manifest["card"]
    data = told.get("twin", told).get("data", {})
    name = bundles.name_of(told, manifest["method"])
    seed = f"seed-{manifest['settings'].get('seed', 0)}.json"
    return results / str(data.get("name", "")) / name / seed


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"not JSON ({error})", file=path) from error
    return found


def _summary(manifest: Mapping[str, Any], name: str, bundle: Path) -> Iterator[str]:
    from labelwise import bundle as bundles
    from labelwise import shipped

    told, data = manifest["card"], manifest["card"].get("data", {})
    size = bundles.size_of(bundle)
    groups = data.get("groups", {})
    labels = ", ".join(f"{count:,} {group}" for group, count in groups.items())
    ranks = "that was trained to rank" if "relabelled" in told else "that ranks"
    yield (
        f"A model of the method `{manifest['method']}`{_members(told)}, {size / 1e6:.1f} MB, "
        f"{ranks} {sum(groups.values()):,} labels ({labels}). It was trained on {data.get('name')} "
        f"({data.get('counts', {}).get('train', 0):,} documents)."
    )
    if new := told.get("relabelled"):
        counts = new["counts"]
        yield (
            f"Its labels are those of the thesaurus {new['name']} ({new['date'] or 'no date'}), to "
            f"which `labelwise relabel` brought it without training: {counts['labels']:,} labels "
            f"since, {counts['renamed']:,} of the old ones by a new name, {counts['replaced']:,} "
            f"replaced by their successors, {counts['dropped']:,} no longer suggested, "
            f"{counts['added']:,} new ones scored from their names."
        )
    elif of := bundles.dated_thesaurus(told):
        yield f"Its labels are concepts of the thesaurus {of['name']} ({of['date'] or 'no date'})."
    if (known := told.get("thesaurus")) and known["domains"]:
        yield (
            "It says of a label where it stands in the thesaurus: in which of "
            f"{len(known['domains'])} domains and {len(known['microthesauri'])} microthesauri, and "
            "under which broader concepts."
        )
    if name in shipped.NAMES:
        used = "use it where no bundle is named"
        yield (
            "It is part of the package: `labelwise tag act.html` and `labelwise explain act.html` "
            + (f"{used}." if name == shipped.NAME else f"with `--bundle {name}` use it.")
            + " In Python:"
        )
        yield (
            f'```python\nimport labelwise\n\nmodel = labelwise.load("{name}")\n'
            "for tag in model.tag(text):\n    print(tag.descriptor, tag.score)\n```"
        )


def _members(told: Mapping[str, Any]) -> str:
    members = told.get("members")
    return f" ({', '.join(members)})" if members else ""


def _twin(told: Mapping[str, Any]) -> Iterator[str]:
    """Why the figures are not those of the file itself, where it was made like another."""
    if "twin" not in told:
        return
    ours, theirs = told.get("data", {}), told["twin"]["data"]
    more = ours["counts"]["train"] - theirs["counts"]["train"]
    yield (
        f"The file was trained on everything there is. Its figures are those of a twin that was "
        f"trained on {theirs['name']}, {more:,} documents fewer: those that it is measured on "
        "below. Settings, weights of the members, threshold and calibration are the twin's."
    )


def _on_files(runs: Sequence[Run], results: Path, calibrated: str) -> Iterator[str]:
    """Its figures on labelled files, and by year where these say so."""
    from labelwise.evaluation.document_records import read_documents
    from labelwise.evaluation.file_tables import file_table, file_year_table
    from labelwise.evaluation.tables import group_table

    for run in runs:
        (split,) = run.measures
        before = ", before its scores were calibrated on them"
        yield (
            f"On {run.data.name}, {run.data.counts[split]:,} documents"
            + (before if calibrated.partition("/")[0] == run.data.name else "")
            + ":"
        )
        yield group_table(run, split).markdown().rstrip()
        yield file_table([run], split).markdown().rstrip()
        documents = read_documents(results / run.data.name, [run])
        if documents is not None and documents.years(split).any():
            yield file_year_table([run], documents.years(split), split).markdown().rstrip()


def _editions(name: str, run: Run | None, results: Path, seed: str) -> Iterator[str]:
    """The first edition of the model that ships beside the present one, on the same documents."""
    from labelwise import shipped
    from labelwise.evaluation.file_tables import file_table
    from labelwise.evaluation.runs import Run

    if name != shipped.NAME or run is None or run.data.name == shipped.FIRST:
        return
    yield "## What has changed"
    yield (
        f"The first edition was a linear model, trained on {shipped.FIRST} alone, with the 4,271 "
        "concepts that have a document there, and their names of that time."
    )
    for first in sorted(results.glob(f"*/{name}@{shipped.FIRST}/{seed}")):
        second = first.parents[1] / f"{name}@{run.data.name}" / seed
        if second.is_file():
            runs = [Run.read(first), Run.read(second)]
            (split,) = runs[0].measures
            yield f"Both on {runs[0].data.name}:"
            yield file_table(runs, split).markdown().rstrip()
    alone = results / shipped.FIRST / name / FIRST_EDITION
    if alone.is_file():
        yield (
            f"Both on the test documents of {shipped.FIRST}, which the second edition has under "
            "the labels that today's thesaurus makes of theirs:"
        )
        yield _on_test([Run.read(alone), run]).markdown().rstrip()


def _on_test(runs: Sequence[Run]) -> Table:
    """Editions on test, each with the labels of its own."""
    from labelwise.evaluation.bootstrap import DRAWN
    from labelwise.evaluation.interval_tables import f1_cell, ranked_cells
    from labelwise.evaluation.tables import Table

    table = Table(["trained on", "labels", "RP@5", "nDCG@5", "micro-F1 tuned"])
    for run in runs:
        labels = f"{sum(run.data.groups.values()):,}"
        ranked = ranked_cells([run], "test", [("all", "RP@5"), ("all", "nDCG@5")])
        table.add([run.data.name, labels, *ranked, f1_cell(run, "test")])
    table.notes.append(f"{DRAWN}.")
    return table


def _figures(run: Run | None, name: str, results: Path, what: str) -> Iterator[str]:
    from labelwise.evaluation.tables import group_table

    if run is None:
        yield f"`{results.name}` holds no run of {name}: `labelwise evaluate` writes one."
        return
    for split in reversed(run.measures):
        yield f"On the {split} split of {run.data.name}, measured with {what}:"
        yield group_table(run, split).markdown().rstrip()
    yield (
        "`frequent` labels have 50 training documents or more, `few` 1 to 49, `zero` none. A group "
        "ranks its own labels among themselves. micro-F1 is at a score above 0.5, `tuned` at the "
        f"threshold that is best on dev, {run.threshold or 0.5:.4f}."
    )


def _chances(manifest: Mapping[str, Any], results: Path, figure: Path | None) -> Iterator[str]:
    """Whether its scores are chances and what can be done with them, where that was measured."""
    from labelwise.evaluation import calibration_records as records
    from labelwise.evaluation.reliability_figure import reliability_svg

    at = manifest.get("calibration", {}).get("record", "")
    record = _read(results / at) if at else None
    if record is None:
        return
    yield "## What its scores are good for"
    yield (
        f"Scores are calibrated on {record['data']['name']}, {record['documents']:,} documents "
        f"(`labelwise calibrate --on`, figures of {record['method']}): on such documents a score "
        "is the chance that a label is right."
    )
    yield records.without_a_look(record)
    if figure is not None:
        write_whole(figure, reliability_svg(record))
        yield f"![Share of the five best labels that are gold, by score]({figure.name})"
    for table in (records.reliability_table, records.assigned_table, records.precision_table):
        yield table(record).markdown().rstrip()
    yield records.EXPLAINED


def _evidence(folder: Path, run: Run | None) -> Iterator[str]:
    """Whether its scores hang on the words that it shows, where that was measured."""
    from labelwise.evaluation.faithfulness_records import EXPLAINED, faithfulness_table

    data = run.data.fingerprint if run is not None else None
    table = faithfulness_table(folder.parent, folder.name, data=data)
    if table is not None:
        yield "## Is its evidence true?"
        yield table.markdown().rstrip()
        yield EXPLAINED


def _sizes(written: Mapping[str, Any] | None) -> Iterator[str]:
    """Size against quality, as `labelwise compact` measured it."""
    from labelwise.experiments.compact import Size, sizes_table

    if written is None:
        return
    yield "## How small it is"
    yield (
        "Weights below `prune` were dropped, n-grams left without a weight as well, and the other "
        "weights rounded to levels that fit a byte. The dev split chose among the sizes of at most "
        f"{written['max_mb']:g} MB, by RP@5 over all labels:"
    )
    sizes = [Size(**one) for one in (written["parent"], *written["sizes"])]
    yield sizes_table(sizes, Size(**written["chosen"])).markdown().rstrip()


def _speed(written: Mapping[str, Any] | None) -> Iterator[str]:
    """As `labelwise compact` or `labelwise card --time` measured it."""
    if written is None:
        return
    took = written["seconds"]
    yield "## How fast it is"
    yield (
        f"It loads in {took['load']:.2f} s; `labelwise tag` gives its first answer after "
        f"{took['first answer']:.2f} s, Python's start and all imports included, and scores "
        f"{took['documents a second']:,.0f} documents a second from text ({_machine(written)})."
    )


def _machine(written: Mapping[str, Any]) -> str:
    found = written["machine"]
    return f"{found['processor']}, {found['threads']} threads"


def _eurlex57k_limits(relabelled: bool, added: Sequence[str]) -> Iterator[str]:
    """What every model trained on this data has in common."""
    from labelwise.shipped import EURLEX57K_YEARS, NEWLAW_DEV, NEWLAW_DEV_YEARS, NEWLAW_YEARS

    yield "It reads English. On a text in another language its answer means nothing."
    if "newlaw" in added:
        yield (
            f"It has learned from whole acts of {EURLEX57K_YEARS} (EURLEX57K), and from "
            f"{NEWLAW_YEARS} (newlaw)"
            + (f"; at last also from {NEWLAW_DEV_YEARS}" if NEWLAW_DEV in added else "")
            + ". It knows less of what is new: see the figures by year."
        )
    else:
        yield f"It has learned from acts of {EURLEX57K_YEARS} (EURLEX57K). " + (
            "Subjects that are newer it does not know, whatever today's names of its concepts say."
            if relabelled
            else "Subjects and concepts that are newer it does not know, and the names of its "
            "concepts are those of that time."
        )
    yield (
        "It has learned from legislation: regulations, directives and decisions. On other texts, "
        "news or judgments say, nothing was measured."
    )


def _limits(manifest: Mapping[str, Any]) -> Iterator[str]:
    from labelwise.methods import get
    from labelwise.methods.base import Widening
    from labelwise.methods.linear import LinearMethod

    data = manifest["card"].get("data", {})
    groups = data.get("groups", {})
    first, *added = str(data.get("name", "")).split("+")
    if first == "eurlex57k":
        yield from _eurlex57k_limits("relabelled" in manifest["card"], added)
    classes = [get(name) for name in manifest["card"].get("members", (manifest["method"],))]
    linear = any(issubclass(one, LinearMethod) for one in classes)
    if groups.get("zero") and any(issubclass(one, Widening) for one in classes):
        yield (
            f"It knows {groups['zero']:,} labels by their names alone, for no training document "
            "carries them: see the rows `zero`."
        )
    elif groups.get("zero"):
        yield (
            f"It cannot suggest the {groups['zero']:,} labels that no training document carried: "
            + ("they score 0" if linear else "what it says of them is chance")
            + ". A model that knows labels by their names can."
        )
    if linear:
        yield (
            ("Its linear member" if "members" in manifest["card"] else "It")
            + " reads a document whole, whatever its length: an act of 100,000 words is one bag of "
            "words and pairs of words. Order beyond pairs, tables and figures mean nothing to it."
        )
    if any(one.reads == "pieces" for one in classes):
        yield "Its encoder reads the beginning of an act, of about 750 words, and nothing after it."
    if groups.get("few"):
        yield (
            f"Of the labels, {groups['few']:,} have fewer than 50 training documents: see the row "
            "`few`, and look at suggestions of such labels twice."
        )
    calibrated = manifest.get("calibration", {}).get("record", "").partition("/")[0]
    yield (
        (
            f"Scores are chances fitted on {calibrated} for groups of labels, not label by label. "
            if calibrated
            else "Scores are probabilities fitted on dev over all labels at once, not label by "
            "label. "
        )
        + f"`--threshold tuned` is {manifest['threshold']:.4f}, which is best for micro-F1 on "
        + f"{calibrated or 'dev'}: for documents of another kind, choose your own."
    )
    yield (
        "It suggests; an indexer decides. The evidence is what the program went by, not what the "
        "law means."
    )


def _making(manifest: Mapping[str, Any], run: Run | None) -> Iterator[str]:
    told = manifest["card"]
    data = told.get("data", {})
    if parent := told.get("parent"):
        yield (
            f"From a bundle ({parent['method']}) of {parent['bytes'] / 1e6:.1f} MB by `labelwise "
            "compact`; nothing was trained again."
        )
    own = run is not None and _measured_with(told, run) == THIS_FILE
    commands = run.command if run is not None and own else told.get("command", "")
    yield f"```\n{commands}\n```" if commands else "How is not known: the bundle does not say."
    versions = ", ".join(f"{one} {number}" for one, number in told.get("versions", {}).items())
    yield (
        f"Data fingerprint `{data.get('fingerprint')}`, label space `{data.get('label_space')}`; "
        f"{versions}."
    )
    yield "```json\n" + json.dumps(manifest["settings"], indent=1) + "\n```"
