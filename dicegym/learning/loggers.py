"""Where a training logs besides its own files: Weights & Biases and MLflow, as writers of Stable-Baselines3's logger.

Whatever the algorithm and the evaluations record goes to each, by the same names and steps as to TensorBoard. Which run
of theirs a folder belongs to is kept in the folder, so that a resumed training goes on there.
"""

from __future__ import annotations

import abc
import json
import os
import re
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger

from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text, write_text
from dicegym.learning.configuration import to_plain
from dicegym.learning.files import LOGS_FILE
from dicegym.learning.log_packages import check_logs
from dicegym.learning.settings import TrainingSettings

PROJECT = "dicegym"
"""Of Weights & Biases, and the experiment of MLflow, where WANDB_PROJECT or MLFLOW_EXPERIMENT_NAME names no other."""
LONGEST_VALUE = 500
"""Characters of a setting that MLflow is told: older servers take no more."""
_MLFLOW_REFUSES = re.compile(r"[^\w\-./ :]")
_AN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RunLog(KVWriter, abc.ABC):
    """A writer of Stable-Baselines3's logger that stands for a run elsewhere."""

    run_id: str
    """By which it is gone on with."""

    def close(self) -> None:
        """Do nothing: `end` does, once it is known how the training ended."""

    @abc.abstractmethod
    def end(self, finished: bool) -> None:
        """Say that nothing more comes, and whether the training is finished."""


class WandbLog(RunLog):
    """Logs to Weights & Biases. Address, key, mode and project are its own affair (``wandb login``, ``WANDB_...``).

    Args:
        folder: of the training; ``wandb/`` in it takes its files.
        settings: told as its config, by ``section.key``.
        name: of the run.
        group: what runs that belong together share, such as the folder of several seeds.
        run_id: of the run that is gone on with; empty: a new one.

    Raises ParameterError if it cannot begin.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], name: str, group: str, run_id: str) -> None:
        import wandb

        self.run_id = run_id or uuid.uuid4().hex[:12]
        try:
            self._run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT),
                dir=str(folder),
                id=self.run_id,
                resume="allow",
                name=name,
                group=group,
                config=dict(settings),
            )
        except wandb.Error as error:
            raise ParameterError(
                f"Weights & Biases does not begin ({one_line(error, 200)}): `wandb login`, set WANDB_MODE=offline, or "
                "leave it out of run.log"
            ) from error
        self._run.define_metric("*", step_metric="steps")

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Log all numbers and texts that are not kept from it."""
        self._run.log({"steps": step, **_numbers(key_values, key_excluded, "wandb")})

    def end(self, finished: bool) -> None:
        """Upload what is left; a training that is not finished can be gone on with in either case."""
        self._run.finish(exit_code=0 if finished else 1)


class MlflowLog(RunLog):
    """Logs to MLflow, wherever ``MLFLOW_TRACKING_URI`` says, as its client would without dicegym. As `WandbLog`."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], name: str, group: str, run_id: str) -> None:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        self._unheard = (MlflowException, OSError)
        self._told = False
        try:
            self._client = MlflowClient()
            self.run_id = self._gone_on_with(run_id) if run_id else self._new(folder, settings, name, group)
        except self._unheard as error:
            raise ParameterError(
                f"MLflow does not begin ({one_line(error, 200)}): say by MLFLOW_TRACKING_URI where it is, or leave it "
                "out of run.log"
            ) from error

    def _gone_on_with(self, run_id: str) -> str:
        self._client.update_run(run_id, status="RUNNING")
        return run_id

    def _new(self, folder: Path, settings: Mapping[str, Any], name: str, group: str) -> str:
        from mlflow.entities import Param

        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        found = self._client.get_experiment_by_name(experiment)
        number = found.experiment_id if found else self._client.create_experiment(experiment)
        about = {"group": group, "folder": str(folder)}
        run_id: str = self._client.create_run(number, run_name=name, tags=about).info.run_id
        told = [
            Param(_MLFLOW_REFUSES.sub("_", key), str(value)[:LONGEST_VALUE])
            for key, value in settings.items()
            if value not in ("", [], {})
        ]
        for first in range(0, len(told), 100):  # a server takes no more at once
            self._client.log_batch(run_id, params=told[first : first + 100])
        return run_id

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Log all numbers that are not kept from it; a server that does not answer costs these alone."""
        from mlflow.entities import Metric

        now = int(1000 * time.time())
        numbers = _numbers(key_values, key_excluded, "mlflow").items()
        metrics = [Metric(_MLFLOW_REFUSES.sub("_", key), value, now, step) for key, value in numbers]
        self._safely(lambda: self._client.log_batch(self.run_id, metrics=metrics))

    def end(self, finished: bool) -> None:
        """Say how the run ended."""
        self._safely(lambda: self._client.set_terminated(self.run_id, "FINISHED" if finished else "KILLED"))

    def _safely(self, tell: Callable[[], object]) -> None:
        try:
            tell()
        except self._unheard as error:
            if not self._told:
                self._told = True
                warnings.warn(f"MLflow misses what is logged ({one_line(error, 200)})", RuntimeWarning, stacklevel=2)


_KINDS: dict[str, Any] = {"wandb": WandbLog, "mlflow": MlflowLog}


def _numbers(
    key_values: Mapping[str, Any], key_excluded: Mapping[str, tuple[str, ...] | None], name: str
) -> dict[str, float]:
    """Return the numbers that are recorded and not kept from ``name``."""
    return {
        key: float(value)
        for key, value in key_values.items()
        if name not in (key_excluded.get(key) or ())
        and isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
    }


def logs_of(settings: TrainingSettings, folder: Path) -> list[RunLog]:
    """Begin, or go on with, the runs elsewhere that a training logs to.

    Args:
        settings: of the training; ``run.log`` says where to.
        folder: the training's, in which the ids of these runs are kept.

    Raises DependencyError as `check_logs` does, and ParameterError where one of them does not begin.
    """
    names = [name for name in settings.run.log if name in _KINDS]
    check_logs(names)
    known = _known_ids(folder / LOGS_FILE)
    told = {f"{section}.{key}": value for section, keys in to_plain(settings).items() for key, value in keys.items()}
    found = {}
    for name in names:
        found[name] = _KINDS[name](folder, told, folder.name, folder.absolute().parent.name, known.get(name, ""))
        known[name] = found[name].run_id
        write_text(folder / LOGS_FILE, json.dumps(known) + "\n")
    return list(found.values())


def _known_ids(path: Path) -> dict[str, str]:
    """Return the runs that a folder belongs to; what cannot be read is as nothing: a training is worth more."""
    try:
        found = json.loads(read_text(path, "remove it")) if path.is_file() else {}
        return {str(name): run for name, run in found.items() if _AN_ID.fullmatch(run)}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


class LoggedTo(BaseCallback):
    """Puts writers beside those that the algorithm's logger has by itself."""

    def __init__(self, logs: Sequence[RunLog]) -> None:
        super().__init__()
        self._logs = logs

    def _on_training_start(self) -> None:
        logger: Logger = self.logger
        logger.output_formats += [one for one in self._logs if one not in logger.output_formats]

    def _on_step(self) -> bool:
        return True
