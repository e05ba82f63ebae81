"""The folder of a run: where a training that takes long keeps its checkpoint and its log."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from labelwise.cli.output import note
from labelwise.errors import LabelwiseError


@runtime_checkable
class Resumable(Protocol):
    """A method that keeps checkpoints while it learns: a network, or several."""

    run_dir: Path | None
    resume: bool


def set_run_folder(model: object, name: str, out: Path, run_dir: Path | None, resume: bool) -> None:
    """Tell a method that keeps checkpoints where to, and whether to go on from there."""
    if not isinstance(model, Resumable):
        if resume or run_dir is not None:
            raise LabelwiseError(
                f"{name} keeps no checkpoints, so {'--resume' if resume else '--run-dir'} is not "
                "for it: networks keep them; train without this option"
            )
        return
    from labelwise.training.checkpoint import before
    from labelwise.training.loop import RunFolder

    folder = run_dir if run_dir is not None else out.with_name(f"{out.name}.run")
    if folder.is_file():
        raise LabelwiseError(f"{folder} is a file: the folder of a run needs another name")
    model.run_dir, model.resume = folder, resume
    # An ensemble keeps a folder a member. Beside them, in a folder of one's own, may be others'.
    last = RunFolder(folder).checkpoint
    found = sorted(one for name in (last, before(last)) for one in folder.rglob(name.name))
    own = any(one.parent == folder for one in found)
    if resume and not found:
        note(f"{folder} holds no checkpoint: the training starts from the beginning")
    elif not resume and (own or (found and run_dir is None)):
        note(
            f"{found[0]} is the checkpoint of a training that did not finish: this one starts "
            "anew and replaces it (stop it and add --resume to go on from there instead)"
        )


def run_folders(model: object) -> list[Path]:
    """The folders that a training has written to: the method's own, those of its members."""
    parts = [model, *vars(model).values(), *getattr(model, "members", ())]
    return [one.run_dir for one in parts if isinstance(one, Resumable) and one.run_dir is not None]


def finish_run(model: object) -> list[Path]:
    """Remove the checkpoints, which the bundle has made needless; give the logs, which stay."""
    folders = run_folders(model)
    if not folders:
        return []
    from labelwise.training.loop import RunFolder

    for folder in folders:
        for checkpoint in RunFolder(folder).checkpoints:
            checkpoint.unlink(missing_ok=True)
    return [log for folder in folders if (log := RunFolder(folder).log).is_file()]
