"""The report: ``README.md``, the figures and ``labels.csv`` of ``results/<data>``.

All of it is written from the runs alone.

No figure in the documentation is typed by hand: ``report`` writes the page of each data set, and
``update_readme`` puts the table into the project's README between two markers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from labelwise.corpus.dataset import SPLITS
from labelwise.corpus.labels import FREQUENT
from labelwise.errors import InputError
from labelwise.evaluation.beginning_tables import beginning_sections
from labelwise.evaluation.comparison import MEASURES, best_on_dev, by_method, compare
from labelwise.evaluation.counts import VIEWS
from labelwise.evaluation.crowding_records import crowding_sections
from labelwise.evaluation.difference_tables import difference_table
from labelwise.evaluation.document_records import read_documents
from labelwise.evaluation.faithfulness_records import EXPLAINED, faithfulness_table
from labelwise.evaluation.figures import curves_svg
from labelwise.evaluation.file_tables import file_table, file_year_sections, without_a_row
from labelwise.evaluation.interval_tables import interval_table
from labelwise.evaluation.label_counts import labels_csv
from labelwise.evaluation.near_copy_tables import near_copy_sections
from labelwise.evaluation.notes import note_sections
from labelwise.evaluation.published import BY_METHOD, OTHERS, is_eurlex57k
from labelwise.evaluation.runs import Run, run_paths
from labelwise.evaluation.short_tables import LEGEND, short_file_table, short_table
from labelwise.evaluation.small_groups import kept_documents
from labelwise.evaluation.tables import Table, comparison_table, macro_table, results_table
from labelwise.evaluation.trial_records import EXPLAINED as TRIALS_EXPLAINED
from labelwise.evaluation.trial_records import trial_sections
from labelwise.evaluation.unseen_tables import Views, hidden_views, unseen_sections
from labelwise.evaluation.year_figure import years_svg
from labelwise.evaluation.year_tables import over_time, year_sections
from labelwise.files import write_whole

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"


def report(results: str | Path) -> list[Path]:
    """Write the page and the figure of every data set below the folder; say what was written.

    The folder is ``results``, or the folder of one data set in it.
    """
    written = []
    for folder, runs in runs_by_data(results).items():
        page, figure, table = (folder / name for name in ("README.md", "curves.svg", "labels.csv"))
        labels = None
        if table.is_file():
            labels = labels_csv(table.read_text(encoding="utf-8"), by_method(runs), _split(runs))
        content = report_markdown(
            runs,
            faithfulness_table(folder, data=runs[0].data.fingerprint),
            trial_sections(folder, runs),
            hidden_views(folder),
            document_sections(folder, runs),
            notes=note_sections(folder),
            has_labels=labels is not None,
        )
        drawings = {figure: curves_svg(runs, _split(runs))}
        if years := over_time(folder, runs):
            drawings[folder / "years.svg"] = years_svg(years, runs)
        write_whole(page, content.encode())
        for path, drawing in drawings.items():
            write_whole(path, drawing)
        written += [page, *drawings]
        if labels is not None:
            write_whole(table, labels)
            written.append(table)
    return written


def update_readme(readme: str | Path, results: str | Path) -> None:
    """Put the table of results between the two markers of a README."""
    readme = Path(readme)
    text = readme.read_text(encoding="utf-8")
    write_whole(readme, updated_readme(text, results, name=readme).encode())


def updated_readme(text: str, results: str | Path, name: str | Path = "README.md") -> str:
    """The README's text with the present table of results, as wide as a page, at its markers."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise InputError(
            f"the table of results needs the lines {BEGIN} and {END}, once each, in this order",
            file=name,
        )
    before, after = text[: text.index(BEGIN)], text[text.index(END) + len(END) :]
    parts = []
    for folder, runs in runs_by_data(results).items():
        if runs[0].data.hidden or runs[0].data.beginning:  # shown with what it is a view of
            continue
        where = f"{Path(results).name}/{folder.relative_to(results)}".removesuffix("/.")
        split = _split(runs)
        table = (short_file_table if runs[0].data.trained_on else short_table)(runs, split)
        parts.append(
            f"{_heading(runs)}\n\n{table.markdown()}\n"
            "All groups and measures, unseen labels, p-values, curves, settings and how to run it "
            f"again: [{where}]({where}/README.md)."
        )
    return f"{before}{BEGIN}\n\n" + "\n\n".join([*parts, LEGEND]) + f"\n\n{END}{after}"


def runs_by_data(results: str | Path) -> dict[Path, list[Run]]:
    """The runs of each data set's folder, ``<data>/<method>/seed-<n>.json``."""
    folders: dict[Path, list[Run]] = {}
    for path in run_paths(Path(results)):
        folders.setdefault(path.parent.parent, []).append(Run.read(path))
    if not folders:
        raise InputError(
            "there are no runs (<data>/<method>/seed-<n>.json) below this folder; `labelwise "
            "evaluate` writes them",
            file=results,
        )
    return folders


def report_markdown(
    runs: Sequence[Run],
    faithfulness: Table | None = None,
    trials: Sequence[str] = (),
    views: Views | None = None,
    of_documents: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
    has_labels: bool = False,
) -> str:
    """The page of one data set; ``has_labels`` where the table of each label stands beside it."""
    split = _split(runs)
    methods = by_method(runs)
    chosen = {method: best_on_dev(of, MEASURES[0]) for method, of in methods.items()}
    sections = [
        f"# Results on {runs[0].data.name}",
        "This page is written by `labelwise report` from the JSON files beside it; do not edit it.",
        _heading(runs),
        results_table(runs, split).markdown().rstrip(),
    ]
    published = split == "test" and is_eurlex57k(runs[0].data)
    if published:
        sections.append(_sources(list(methods)))
    sections += [
        f"Groups: `frequent` labels have at least {FREQUENT} training documents, `few` fewer, "
        "`zero` none. A group ranks its own labels among themselves, on the documents with a gold "
        "label in it; `zero-among-all` looks for the zero-shot labels among all labels. micro-F1 "
        "is at a score above 0.5, `tuned` at the threshold that is best on dev"
        + (", the dev of each model's own data." if runs[0].data.trained_on else "."),
        _documents(runs, split).markdown().rstrip(),
    ]
    sections += notes
    sure = file_table if runs[0].data.trained_on else interval_table
    sections += ["## How sure", sure(runs, split).markdown().rstrip()]
    sections += of_documents
    if unseen := unseen_sections(runs, views or {}):
        sections += ["## Unseen labels", *unseen]
    sections += [
        "## Labels one by one",
        macro_table(runs, split).markdown().rstrip(),
        "macro-F1 is the mean over the labels that are gold or predicted somewhere in the split, "
        "each label counting the same; at the threshold tuned on dev. Of a label that is neither "
        "F1 is not defined; `all, absent as 0` counts it as 0, over every label there is."
        + (" The F1 of each label: [labels.csv](labels.csv)." if has_labels else ""),
    ]
    if published:
        sections += [
            "## Beside the rows of others",
            difference_table(runs).markdown().rstrip(),
            "Ours minus theirs. What was tried for each method, and what dev said, stands in "
            "`configs/eurlex57k/`.",
        ]
    sections += [
        "## Curves",
        f"![P@K, R@K and RP@K over K = 1 to 10, {split} split](curves.svg)",
    ]
    if len(methods) > 1:
        sections += [
            "## Is the difference chance?",
            comparison_table(compare(runs, split=split)).markdown().rstrip(),
        ]
    if faithfulness is not None:
        sections += [
            "## Is the evidence true?",
            faithfulness.markdown().rstrip(),
            EXPLAINED,
        ]
    # What is joined took no time of its own: its seconds of fitting are those of its members.
    trained = [run for run in runs if not run.members]
    if on_gpu := [run for run in trained if run.device not in ("", "cpu")]:
        sections += [
            "## Time and memory of training",
            _costs(on_gpu).markdown().rstrip(),
            "Of the trainings on a GPU, several of which may have shared it; memory is the most "
            f"that the training held there. {_one_seed(on_gpu)}",
        ]
    if trials:
        sections += ["## What was tried on dev", TRIALS_EXPLAINED, *trials]
    sections += [
        "## Settings",
        "Of each method the run that was best on dev.",
        *(_settings(run) for run in chosen.values()),
        "## How to make this page again",
        "```\n" + "\n".join([*_commands(runs), "labelwise report"]) + "\n```",
    ]
    return "\n\n".join(sections) + "\n"


def document_sections(folder: Path, runs: Sequence[Run]) -> list[str]:
    """What is said where the ids of the documents are known: by year, and without near-copies; of
    a file, also which methods have no row and what the beginning of each document is worth. And
    whether near-synonyms crowd the first labels."""
    documents = read_documents(folder, runs)
    on_file = runs[0].data.trained_on and not runs[0].data.beginning
    return [
        *(without_a_row(folder, runs) if on_file else ()),
        *(file_year_sections(runs, documents, _split(runs)) if on_file else ()),
        *(beginning_sections(folder, runs, _split(runs)) if on_file else ()),
        *year_sections(over_time(folder, runs), runs),
        *near_copy_sections(runs, documents, _split(runs)),
        *crowding_sections(folder, runs[0].data.fingerprint),
    ]


def _split(runs: Sequence[Run]) -> str:
    """The test split, or dev where not all runs were measured on test."""
    return "test" if all("test" in run.measures for run in runs) else "dev"


def _heading(runs: Sequence[Run]) -> str:
    data = runs[0].data
    documents = ", ".join(
        f"{data.counts[split]:,} {split}" for split in SPLITS if split in data.counts
    )
    groups = ", ".join(f"{count:,} {group}" for group, count in data.groups.items())
    if data.trained_on:
        return (
            f"**{data.name}**, {_split(runs)} documents: {documents}. Labels are grouped by the "
            "training documents of each model, whose training data stands behind its name; labels "
            f"that it does not know count as missed. Data fingerprint `{data.fingerprint}`."
        )
    return (
        f"**{data.name}**, {_split(runs)} split. Documents: {documents}. Labels: {groups}. "
        f"Data fingerprint `{data.fingerprint}`, label space `{data.label_space}`."
    )


def _sources(methods: Sequence[str]) -> str:
    """Where the quoted rows are from."""
    rows = [row for method in methods for row in BY_METHOD.get(method, ())] + list(OTHERS)
    notes = "; ".join(f"{row.source}: {row.name} ({row.note})" for row in rows if row.note)
    return (
        "Rows in italics are quoted. *published*: Chalkidis et al. 2019, Extreme Multi-Label Legal "
        f"Text Classification, mean of five runs. {notes}."
    )


def _documents(runs: Sequence[Run], split: str) -> Table:
    """How many documents each group's figures are averaged over."""
    table = Table(["", *VIEWS])
    kept = (" to ".join(f"{n:,}" for n in kept_documents(runs, split, group)) for group in VIEWS)
    table.add(["documents kept", *kept])
    return table


def _costs(runs: Sequence[Run]) -> Table:
    table = Table(["run", "device", "fit, s", "score, s", "peak memory, GB"])
    for of in by_method(runs).values():
        for run in of:
            seconds = [
                f"{run.seconds[step]:,.1f}" if step in run.seconds else "–"
                for step in ("fit", "score")
            ]
            memory = "–" if run.peak_memory is None else f"{run.peak_memory / 1e9:.2f}"
            table.add([f"{run.method}, seed {run.seed}", run.device, *seconds, memory])
    return table


def _one_seed(runs: Sequence[Run]) -> str:
    """What the first seed of every method took, as though none had shared the GPU."""
    first = [min(of, key=lambda run: run.seed) for of in by_method(runs).values()]
    minutes = sum(run.seconds.get("fit", 0.0) for run in first) / 60
    return (
        f"One seed of each of these {len(first)} methods took {minutes:.0f} minutes if the seconds "
        "are added up as though no two had been trained side by side; side by side it takes less."
    )


def _settings(run: Run) -> str:
    threshold = "none" if run.threshold is None else f"{run.threshold:.6g}"
    versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
    settings = json.dumps(run.settings, ensure_ascii=False, indent=1, sort_keys=True)
    return (
        f"**{run.method}**, seed {run.seed}; threshold tuned on dev: {threshold}; {versions}.\n\n"
        f"```json\n{settings}\n```"
    )


def _commands(runs: Sequence[Run]) -> list[str]:
    """The command of each run, each one once."""
    ordered = sorted(runs, key=lambda run: (run.method, run.seed))
    return list(dict.fromkeys(run.command for run in ordered if run.command))
