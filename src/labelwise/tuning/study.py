"""A study: optuna's tree-structured Parzen estimator, kept in one SQLite file.

It is asked for settings and told what dev said of them; in between it may lie on another machine
than the training. A study that was left goes on where it was.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelwise.errors import LabelwiseError, MissingExtraError
from labelwise.evaluation.trial_records import State, Trial
from labelwise.tuning.space import Choice, Range, Space, space_to_json

STARTUP = 6
"""Trials drawn at random before the estimator has something to go by."""


class Study:
    """The trials of one method on one corpus."""

    def __init__(
        self,
        file: Path,
        method: str,
        corpus: str,
        space: Space,
        seed: int = 0,
        *,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        """``fixed`` is what all trials have in common, settings and data: others do not compare."""
        self._optuna = _optuna()
        self.method, self.space = method, space
        file.parent.mkdir(parents=True, exist_ok=True)
        with _quiet(self._optuna, file):
            storage = self._optuna.storages.RDBStorage(f"sqlite:///{file}")
            self._study = self._optuna.create_study(
                storage=storage,
                study_name=f"{method} on {corpus}",
                direction="maximize",
                load_if_exists=True,
                pruner=self._optuna.pruners.NopPruner(),  # trials are given up from outside
            )
            known = len(self._study.get_trials(deepcopy=False))
            self._study.sampler = self._optuna.samplers.TPESampler(
                # The state of the generator is not kept, so that each sitting needs its own.
                seed=seed + known,
                n_startup_trials=STARTUP,
                # Trials that still run count as bad ones: nobody needs the same one twice.
                constant_liar=True,
            )
        self._check_space(file)
        self._check_fixed(file, json.loads(json.dumps(dict(fixed or {}))))

    def _check_space(self, file: Path) -> None:
        searched = space_to_json(self.space)
        before = self._study.user_attrs.get("space")
        if before is None:
            self._study.set_user_attr("space", searched)
        elif before != searched:
            differing = [
                name
                for name in sorted(before.keys() | searched.keys())
                if before.get(name) != searched.get(name)
            ]
            raise LabelwiseError(
                f"{file}: this study of {self.method} searches other values of "
                f"{', '.join(differing)}: call it with the same, or begin another file"
            )

    def _check_fixed(self, file: Path, fixed: Mapping[str, Any]) -> None:
        before = self._study.user_attrs.get("fixed")
        if before is None:
            self._study.set_user_attr("fixed", fixed)
            return
        # A setting that one of the two labelwises does not know is none of them.
        known = sorted(before.keys() & fixed.keys())
        if differing := [name for name in known if before[name] != fixed[name]]:
            raise LabelwiseError(
                f"{file}: the trials of this study of {self.method} were made with another "
                f"{', '.join(differing)}: call it with the same, or begin another file"
            )

    def settings_of(self, number: int) -> dict[str, Any] | None:
        """What was asked for as this trial; None where there is none of this number."""
        found = [one for one in self._study.get_trials(deepcopy=False) if one.number == number]
        return _settings(found[0].params) if found else None

    def ask(self, *, planned: bool = False) -> Trial:
        """The next settings to try; ``planned`` where another machine tries them."""
        trial = self._study.ask()
        for name, values in self.space.items():
            _suggest(trial, name, values)
        if planned:
            trial.set_user_attr("planned", True)
        return Trial(trial.number, self.method, _settings(trial.params))

    def tell(self, trial: Trial) -> bool:
        """Take note of a trial that has ended; False where it is known already."""
        known = {one.number: one for one in self._study.get_trials(deepcopy=False)}
        if trial.trial not in known or trial.method != self.method:
            raise LabelwiseError(
                f"this study has no trial {trial.trial} of {trial.method}: tell the study that "
                "planned it"
            )
        if known[trial.trial].state.is_finished():
            return False
        states = self._optuna.trial.TrialState
        open_trial = self._optuna.trial.Trial(self._study, known[trial.trial]._trial_id)
        for epoch, reached in enumerate(trial.curve):
            open_trial.report(reached, epoch)
        open_trial.set_user_attr("figures", trial.figures)
        open_trial.set_user_attr("made", trial.made)
        state = {"complete": states.COMPLETE, "pruned": states.PRUNED}.get(trial.state, states.FAIL)
        if state is states.COMPLETE:
            self._study.tell(trial.trial, trial.value)
        else:  # one that was given up counts by how far it came
            self._study.tell(trial.trial, state=state)
        return True

    def take_up(self) -> int:
        """Close the trials that a sitting left open when it ended, and put them in line again."""
        states = self._optuna.trial.TrialState
        left = [
            one
            for one in self._study.get_trials(deepcopy=False, states=(states.RUNNING,))
            if not one.user_attrs.get("planned")
        ]
        for one in left:
            self._study.tell(one.number, state=states.FAIL)
            if one.params:
                self._study.enqueue_trial(one.params, skip_if_exists=False)
        return len(left)

    def trials(self) -> list[Trial]:
        """All trials that have ended, in the order in which they were asked for."""
        names: dict[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
        ended = []
        for one in self._study.get_trials(deepcopy=False):
            if not one.state.is_finished():
                continue
            curve = [value for _, value in sorted(one.intermediate_values.items())]
            value = one.value if one.value is not None else max(curve, default=None)
            ended.append(
                Trial(
                    one.number,
                    self.method,
                    _settings(one.params),
                    names[one.state.name],
                    value,
                    curve,
                    dict(one.user_attrs.get("figures", {})),
                    dict(one.user_attrs.get("made", {})),
                )
            )
        return ended


def best_of(trials: list[Trial]) -> Trial:
    """The complete trial with the highest dev RP@5; the first of several as good."""
    complete = [one for one in trials if one.state == "complete" and one.value is not None]
    if not complete:
        raise LabelwiseError("no trial was completed, so there is no best one: see the logs")
    return max(complete, key=lambda one: (one.value or 0.0, -one.trial))


def _suggest(trial: Any, name: str, values: Choice | Range) -> None:
    if isinstance(values, Choice):
        trial.suggest_categorical(name, list(values.values))
    else:
        trial.suggest_float(name, values.low, values.high, log=True)


def _settings(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Three digits are enough for a person and for a training."""
    return {
        name: float(f"{value:.3g}") if isinstance(value, float) else value
        for name, value in drawn.items()
    }


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("a study of settings", "tune") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


@contextmanager
def _quiet(optuna: Any, file: Path) -> Iterator[None]:
    """Without warnings on what is experimental; a file that is no study is named."""
    from sqlalchemy.exc import DatabaseError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        try:
            yield
        except (DatabaseError, RuntimeError) as error:
            raise LabelwiseError(
                f"{file}: this is not a study that can be opened: choose another file"
            ) from error
