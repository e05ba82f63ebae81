"""The folder of a run: where a training that takes long keeps its checkpoint and its log."""

from __future__ import annotations

from pathlib import Path

from labelwise.errors import LabelwiseError
from labelwise.methods.base import Method, Resumable, within
from labelwise.progress import note


def set_run_folder(
    model: Method, out: str | Path | None, run_dir: str | Path | None, resume: bool
) -> None:
    """Tell a method that keeps checkpoints where to, and whether to go on from there: the folder
    that is named, or one beside the bundle; without either it keeps none."""
    if not isinstance(model, Resumable):
        if resume or run_dir is not None:
            raise LabelwiseError(
                f"{model.name} keeps no checkpoints, so {'--resume' if resume else '--run-dir'} is "
                "not for it: networks keep them; train without this option"
            )
        return
    from labelwise.training.checkpoint import before
    from labelwise.training.loop import RunFolder

    if run_dir is None and out is None:
        return
    folder = Path(run_dir) if run_dir is not None else Path(f"{Path(str(out))}.run")
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


def run_folders(model: Method) -> list[Path]:
    """The folders that a training has written to: the method's own, those of its members."""
    kept = [one for one in within(model) if isinstance(one, Resumable)]
    return [one.run_dir for one in kept if one.run_dir is not None]


def finish_run(model: Method) -> None:
    """Remove the checkpoints, which the bundle has made needless; the logs stay."""
    for folder in run_folders(model):
        from labelwise.training.loop import RunFolder

        for checkpoint in RunFolder(folder).checkpoints:
            checkpoint.unlink(missing_ok=True)


def logs_of(model: Method) -> list[Path]:
    """The logs of a training."""
    found = []
    for folder in run_folders(model):
        from labelwise.training.loop import RunFolder

        found.append(RunFolder(folder).log)
    return [log for log in found if log.is_file()]
