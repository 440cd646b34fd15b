"""Putting the curve of a training's folder into a model that it made, where the model's file tells none yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dicegym.errors import ModelError, ParameterError
from dicegym.learning.curves import read_run
from dicegym.learning.diary import read_evaluations
from dicegym.learning.evaluate import Score
from dicegym.learning.exploited import note, noted
from dicegym.learning.model_curve import BEGAN_WITH, CURVE, chosen_fact, curve_of, stages
from dicegym.players import model as models

RUN_MODELS = ("best.zip", "model.zip")
"""The models in a run's folder."""
SAME = ("command", "timesteps", "seconds")
"""What a stage says of itself, by which it is known again: no two trainings take the same time to a tenth of a second
and are of one command and length."""


def put_curves(model: Path, folders: Sequence[Path]) -> list[int]:
    """Put the curves of trainings' folders into the file of a model that comes from them; return which stages they are.

    Weights stay as they are, and so does what was noted of a best response to the model.

    Raises:
        ModelError: the file is no model.
        DamagedFileError: a folder does not hold what a training writes.
        ParameterError: a folder is that of no training that the model comes from.
    """
    facts = models.facts(model)
    told = stages(facts)
    numbers = []
    for folder in folders:
        found = {n: new for n, stage in enumerate(told, 1) if (new := _facts_for(stage, folder))}
        if not found:
            raise ParameterError(
                f"{folder} is not the folder of a training that {model} comes from: neither "
                f"{' nor '.join(RUN_MODELS)} there says the same {', '.join(SAME)} as it, or as a stage before it"
            )
        for number, new in found.items():
            told[number - 1] = {**told[number - 1], **new}
            numbers.append(number)
    exploited = noted(model)
    models.replace_facts(model, _nested(told))
    if exploited is not None:
        note(model, exploited)
    return sorted(numbers)


def _facts_for(stage: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a folder knows of a stage, if that is where its model was made, and measured; else nothing."""
    said = [stage.get(name) for name in SAME]
    for path in (folder / name for name in RUN_MODELS):
        try:
            about = models.facts(path)
        except ModelError:
            continue
        if None not in said and said == [about.get(name) for name in SAME]:
            run = read_run(folder)
            scores = [Score.from_json(one) for one in about.get("scores") or [about.get("score")]]
            values = [name for name in run.values if name != "score"]
            points = [
                (steps, [float(run.values[name][n]) for name in ("score", *values)])
                for n, steps in enumerate(run.steps.tolist())
            ]
            curve = curve_of(points, scores, read_evaluations(folder))
            if curve is not None:
                by = run.settings.get("run.best_by", "")
                return {CURVE: curve.to_json(), **chosen_fact(path.name == RUN_MODELS[0], by)}
    return {}


def _nested(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of the last stage, which hold those of the one before it, and so on."""
    found: dict[str, Any] = {}
    for one in told:
        found = dict(one) | ({BEGAN_WITH: found} if found else {})
    return found
