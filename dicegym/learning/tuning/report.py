"""What a study found: the best settings ready to be used, what mattered, what was given up; text, files, a picture."""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from dicegym.errors import DependencyError
from dicegym.escape import markdown
from dicegym.files import write_text, writing
from dicegym.learning.configuration import override, read_config, to_plain
from dicegym.learning.pictures import pyplot, short
from dicegym.learning.plot import COLOURS
from dicegym.learning.tuning.space import settings_as_toml
from dicegym.learning.tuning.study import Study, tried

PAGE, PLAIN, BEST, PICTURE = "tune.md", "tune.json", "best.toml", "tune.png"
"""What a study's folder gets."""
SHOWN = 10
"""Trials on the page."""
ENOUGH_TRIALS = 8
"""Trials that ran to their end, from which on it is told what mattered."""
_WORDS = {TrialState.COMPLETE: "ran to its end", TrialState.PRUNED: "given up", TrialState.FAIL: "failed"}


def importances(study: Study) -> dict[str, float]:
    """Return how much each setting decided whether a trial was among the best; nothing of few trials.

    By PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), shares that sum to 1: how far the settings of the best tenth
    of the trials lie from those of all.
    """
    done = [one for one in study.trials if one.state == TrialState.COMPLETE]
    values = [one.value for one in done]
    if len(done) < ENOUGH_TRIALS or len(set(values)) < 2:
        return {}
    made = optuna.create_study(direction="maximize")
    made.add_trials(done)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna says that the evaluator may change
        found = get_param_importances(made, evaluator=PedAnovaImportanceEvaluator())
    return {name: float(value) for name, value in found.items()}


def best_settings(study: Study) -> list[str]:
    """Return the settings of the best trial, as ``--set`` takes them; nothing if no trial ran to its end."""
    best = study.best
    return [] if best is None else [*study.plan.overrides, *tried(best)]


def command(study: Study) -> str:
    """Return the command that trains with the best settings, with seeds that the study did not use."""
    plan = study.plan
    words = ["dicegym", "train", plan.game, "--run-dir", f"runs/{plan.game}-tuned", "--seeds", "5"]
    words += ["--seed", str(1_000)] if not any(one.startswith("run.seed=") for one in plan.overrides) else []
    words += ["--config", plan.config] if plan.config else []
    return shlex.join(words + [word for text in best_settings(study) for word in ("--set", text)])


def write_report(study: Study) -> list[Path]:
    """Write page, JSON, the best settings as a configuration and, where matplotlib is installed, the picture.

    Returns what was written.
    """
    folder, importance = study.folder, importances(study)
    found = [folder / PAGE, folder / PLAIN]
    write_text(folder / PAGE, page(study, importance))
    write_text(folder / PLAIN, json.dumps(to_json(study, importance), indent=1) + "\n")
    if study.best is not None:
        config = Path(study.plan.config) if study.plan.config else None
        settings = override(read_config(study.plan.game, config), best_settings(study))
        head = (
            f"# The best of {len(study.trials)} trials, after {study.plan.steps:,} steps each; tune.md says more.\n\n"
        )
        write_text(folder / BEST, head + settings_as_toml(to_plain(settings)))
        found.append(folder / BEST)
        try:
            draw(study, importance, folder / PICTURE)
            found.append(folder / PICTURE)
        except DependencyError:  # the numbers are there
            pass
    return found


def counts(study: Study) -> dict[str, int]:
    """Return how many trials ended how."""
    return {word: sum(one.state == state for one in study.trials) for state, word in _WORDS.items()}


def _ranked(study: Study) -> list[FrozenTrial]:
    done = [one for one in study.trials if one.state == TrialState.COMPLETE and one.value is not None]
    return sorted(done, key=lambda one: one.value or 0.0, reverse=True)


def page(study: Study, importance: dict[str, float]) -> str:
    """Return the report, a page of Markdown."""
    plan, number = study.plan, counts(study)
    usual = next((one for one in study.trials if one.user_attrs.get("usual")), None)
    lines = [
        f"# Settings searched for {markdown(plan.game)}",
        "",
        f"{len(study.trials)} trials of {plan.steps:,} steps, {plan.seeds} seed{'s' * (plan.seeds > 1)} each: "
        + ", ".join(f"{count} {word}" for word, count in number.items() if count)
        + f". A trial's score is the mean of its evaluations in the last quarter of its steps. Pruner: {plan.pruner}.",
        "",
        "## Searched",
        "",
        "| setting | values | decided |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{one.name}` | {markdown(one.words())} | {importance.get(one.name, float('nan')):.0%} |".replace(
            "nan%", "-"
        )
        for one in plan.space
    ]
    if plan.overrides:
        lines += ["", "Of all trials: " + ", ".join(f"`{text}`" for text in plan.overrides)]
    ranked = _ranked(study)
    if ranked:
        titles = ["trial", "score", *(one.name.partition(".")[2] for one in plan.space)]
        lines += ["", "## Best", "", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
        lines += [_line(study, one) for one in ranked[:SHOWN]]
        if usual is not None and usual.value is not None:
            lines += ["", f"Trial {usual.number} is what the configuration says: it scored {usual.value:.4f}."]
        lines += [
            "",
            "The best of many is partly lucky, and what is best in a short run is often too hasty for a long one: "
            "train with its settings and other seeds before you believe it, and compare.",
            "",
            "```console",
            command(study),
            "```",
        ]
    failed = [one for one in study.trials if one.state == TrialState.FAIL]
    if failed:
        lines += ["", "## Failed", ""]
        lines += [f"- trial {one.number}: {markdown(str(one.user_attrs.get('why', '')))}" for one in failed]
    return "\n".join(lines) + "\n"


def _line(study: Study, one: FrozenTrial) -> str:
    values = [_shown(one.params.get(dimension.name)) for dimension in study.plan.space]
    return "| " + " | ".join([str(one.number), f"{one.value:.4f}", *values]) + " |"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def to_json(study: Study, importance: dict[str, float]) -> dict[str, Any]:
    """Return the whole study as plain values."""
    trials = [
        {
            "number": one.number,
            "how": _WORDS.get(one.state, "under way"),
            "score": one.value,
            "settings": tried(one),
            "why": one.user_attrs.get("why", ""),
            "evaluations": {str(step): value for step, value in one.intermediate_values.items()},
        }
        for one in study.trials
    ]
    best = study.best
    return {
        "plan": json.loads(study.plan.to_json()),
        "ended": counts(study),
        "best": None
        if best is None
        else {"number": best.number, "score": best.value, "settings": best_settings(study)},
        "command": command(study) if best is not None else "",
        "importance": importance,
        "trials": trials,
    }


def draw(study: Study, importance: dict[str, float], path: Path) -> None:
    """Draw the trials in their order, what mattered, and the score by each setting.

    Raises DependencyError if matplotlib is not installed.
    """
    plt = pyplot("the picture of a study")
    space = sorted(study.plan.space, key=lambda one: -importance.get(one.name, 0.0))
    across = 3
    down = 1 + -(-(len(space)) // across)
    figure, grid = plt.subplots(down, across, figsize=(11, 3.1 * down), layout="constrained", squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    _history(grid[0, 0], study)
    _learning(grid[0, 1], study)
    if importance:
        _importance(grid[0, 2], importance)
    for axes, dimension in zip(grid[1:].flat, space, strict=False):
        _slice(axes, study, dimension.name, dimension.log, dimension.choices)
    with writing(path) as unfinished:
        figure.savefig(unfinished, dpi=110)
    plt.close(figure)


def _begin(axes: Any, title: str, across: str, up: str) -> None:
    axes.set_visible(True)
    axes.set_title(title, loc="left", fontsize="medium")
    axes.set_xlabel(across, fontsize="small")
    axes.set_ylabel(up, fontsize="small")
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _history(axes: Any, study: Study) -> None:
    _begin(axes, "trials", "trial", "score")
    done = sorted(_ranked(study), key=lambda one: one.number)
    numbers, values = [one.number for one in done], [one.value or 0.0 for one in done]
    axes.plot(numbers, np.maximum.accumulate(values), color=COLOURS[1], drawstyle="steps-post", label="best so far")
    axes.plot(numbers, values, "o", color=COLOURS[0], markersize=4, label="ran to its end")
    pruned = [one for one in study.trials if one.state == TrialState.PRUNED and one.intermediate_values]
    last = [one.intermediate_values[max(one.intermediate_values)] for one in pruned]
    axes.plot([one.number for one in pruned], last, "x", color="0.6", markersize=5, label="given up")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, fontsize="x-small", loc="best")


def _learning(axes: Any, study: Study) -> None:
    _begin(axes, "their curves", "evaluation", "score")
    best = study.best
    for one in study.trials:
        steps = sorted(step for step in one.intermediate_values if step < 1_000)
        colour, width = (COLOURS[1], 2.0) if best is not None and one.number == best.number else ("0.7", 0.8)
        axes.plot(steps, [one.intermediate_values[step] for step in steps], color=colour, linewidth=width)


def _importance(axes: Any, importance: dict[str, float]) -> None:
    _begin(axes, "what mattered", "share", "")
    names = list(importance)[::-1]
    axes.barh([name.partition(".")[2] for name in names], [importance[name] for name in names], color=COLOURS[0])
    axes.tick_params(labelsize="small")


def _slice(axes: Any, study: Study, name: str, log: bool, choices: Sequence[str]) -> None:
    _begin(axes, name.partition(".")[2], "", "score")
    done = [one for one in _ranked(study) if name in one.params]
    scores = [one.value for one in done]
    if choices:
        axes.plot([choices.index(one.params[name]) for one in done], scores, "o", color=COLOURS[0], markersize=4)
        axes.set_xticks(range(len(choices)), choices, fontsize="small")
        return
    axes.plot([one.params[name] for one in done], scores, "o", color=COLOURS[0], markersize=4)
    if log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
