"""What a search for settings found: a page, the best settings as a configuration, and pictures that Optuna draws."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import TrialState

from dicegym.errors import DependencyError
from dicegym.escape import markdown
from dicegym.files import write_text, writing
from dicegym.learning.configuration import override, read_config, to_plain
from dicegym.learning.curve_pictures import pyplot
from dicegym.learning.tune import OVER, Study, as_toml_pair, quiet

PAGE, BEST, PICTURE = "tune.md", "best.toml", "tune-{}.png"
"""What a study's folder gets."""
ENOUGH_TRIALS = 8
"""Trials that ran to their end, from which on it is told what mattered."""
SHOWN = 10
"""Trials on the page."""
BELIEVE = (
    "The best of many trials is partly lucky, and settings that are best in a short run are often too hasty for a long "
    "one. Train with them and other seeds before you believe it:"
)
"""What is said of the best trial."""


def importances(found: Study) -> dict[str, float]:
    """Return how much each setting decided whether a trial was among the best; nothing of few trials.

    By PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023), shares that sum to 1: how far the settings of the best tenth
    of the trials lie from those of all.
    """
    done = found.trials(TrialState.COMPLETE)
    if len(done) < ENOUGH_TRIALS or len({one.value for one in done}) < 2:
        return {}
    with quiet():
        return get_param_importances(found.study, evaluator=PedAnovaImportanceEvaluator())


def command(found: Study) -> str:
    """Return the command that trains with the best settings, with seeds that the study did not use."""
    plan, best = found.plan, found.best
    words = ["dicegym", "train", plan.game, "--run-dir", f"runs/{plan.game}-tuned", "--seeds", "5"]
    words += ["--seed", "1000"] if not any(one.startswith("run.seed=") for one in plan.overrides) else []
    words += ["--config", plan.config] if plan.config else []
    return shlex.join(words + [word for text in (plan.settings(best) if best else ()) for word in ("--set", text)])


def write_report(found: Study) -> list[Path]:
    """Write a page, the best settings as a configuration, and pictures; return what was written."""
    plan, folder = found.plan, found.folder
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / PAGE, _page(found))
    if found.best is None:
        return [folder / PAGE]
    settings = override(read_config(plan.game, Path(plan.config) if plan.config else None), plan.settings(found.best))
    lines = [f"# The best of {len(found.trials())} trials, after {plan.steps:,} steps each; {PAGE} says more."]
    for section, values in to_plain(settings).items():
        if values:
            lines += ["", f"[{section}]", *(as_toml_pair(key, value) for key, value in values.items())]
    write_text(folder / BEST, "\n".join(lines) + "\n")
    return [folder / PAGE, folder / BEST, *_draw(found)]


def _page(found: Study) -> str:
    """Return the report, a page of Markdown."""
    plan, importance, trials = found.plan, importances(found), found.trials()
    lines = [
        f"# Settings searched for {markdown(plan.game)}",
        "",
        f"{len(trials)} trials of {plan.steps:,} steps each: {ended(found)}. A trial's score is the mean of its "
        f"evaluations in the last quarter of its steps. Pruner: {plan.pruner}.",
        "",
        "| setting | values | decided |",
        "|---|---|---|",
    ]
    for name, searched in plan.space.items():
        share = f"{importance[name]:.0%}" if name in importance else "-"
        lines.append(f"| `{name}` | {markdown(_words(searched))} | {share} |")
    if plan.overrides:
        lines += ["", "Of all trials: " + ", ".join(f"`{text}`" for text in plan.overrides)]
    ranked = sorted(found.trials(TrialState.COMPLETE), key=lambda one: one.value or 0.0, reverse=True)
    if ranked:
        titles = ["trial", "score", *(name.partition(".")[2] for name in plan.space)]
        lines += ["", "## Best", "", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
        for one in ranked[:SHOWN]:
            values = [
                f"{value:.4g}" if isinstance(value, float) else str(value) for value in map(one.params.get, plan.space)
            ]
            lines.append("| " + " | ".join([str(one.number), f"{one.value:.4f}", *values]) + " |")
        for one in ranked:
            if one.user_attrs.get("usual"):
                lines += ["", f"Trial {one.number} is what the configuration says: it scored {one.value:.4f}."]
        lines += ["", BELIEVE, "", "```console", command(found), "```"]
    failed = found.trials(TrialState.FAIL)
    if failed:
        lines += ["", "## Failed", ""]
        lines += [f"- trial {one.number}: {markdown(str(one.user_attrs.get('why', '')))}" for one in failed]
    return "\n".join(lines) + "\n"


def ended(found: Study) -> str:
    """Return in words how many trials ended how."""
    counts = {word: len(found.trials(state)) for state, word in OVER.items()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none is over"


def _words(one: BaseDistribution) -> str:
    if isinstance(one, IntDistribution | FloatDistribution):
        return f"{one.low:g} to {one.high:g}" + (", on a logarithmic scale" if one.log else "")
    return ", ".join(map(str, one.choices)) if isinstance(one, CategoricalDistribution) else str(one)


def _draw(found: Study) -> Iterator[Path]:
    """Draw what Optuna draws of a study; nothing if matplotlib is not installed."""
    try:
        plt = pyplot("the pictures of a study")
    except DependencyError:  # the numbers are there
        return
    from optuna.visualization import matplotlib as draws

    pictures: dict[str, Callable[[], Any]] = {
        "history": lambda: draws.plot_optimization_history(found.study),
        "curves": lambda: draws.plot_intermediate_values(found.study),
        "settings": lambda: draws.plot_slice(found.study),
    }
    for name, draw in pictures.items():
        path = found.folder / PICTURE.format(name)
        with plt.rc_context(), quiet(), writing(path) as unfinished:
            draw()
            plt.gcf().set_size_inches(max(9, 3.4 * len(found.plan.space)) if name == "settings" else 9, 5)
            for axes in plt.gcf().axes:
                axes.tick_params(axis="x", which="both", rotation=30)
            plt.gcf().savefig(unfinished, dpi=110, bbox_inches="tight")
            plt.close("all")
        yield path
