"""The card of a trained model: its training, its scores against scripted agents, and its exploitability."""

from __future__ import annotations

import functools
import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dicegym.analysis.exploitability import exploitability
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.errors import ModelError, ParameterError, UnknownNameError, one_line
from dicegym.escape import harmless, markdown
from dicegym.files import read_text, write_text
from dicegym.games.worth import Bracket, Progress
from dicegym.learning.curve_pictures import SUFFIX, draw_learned, write_learned
from dicegym.learning.curves import facts_of_stages
from dicegym.learning.evaluate import BY_EXPLOITABILITY, CARD_SEED, Score, evaluate
from dicegym.learning.teacher import REPLY
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.players.pool import needs_trust
from dicegym.players.roster import agent_names, resolve

PACKAGES = ("dicegym", "gymnasium", "numba", "numpy", "sb3-contrib", "stable-baselines3", "torch")
"""Packages that a trained model depends on."""
CHOSEN_BY = {
    "mean": "The score is the mean over the opponents of the training's evaluations.",
    "worst": "The score is that against the hardest of the opponents of the training's evaluations.",
    BY_EXPLOITABILITY: "The score is its win rate against its best response, which knows its whole strategy.",
}
"""Explanations of a score over several opponents, by ``run.best_by``; "last" uses the mean."""
LONGEST_COMMAND = 2_000
"""Letters that are shown of a text from a model's file, such as the command of an earlier stage."""
LEAST_GAMES = 100
"""Cards with fewer games are drafts, without exploitability."""
SECONDS = 3.0
"""Search time for the best response: trainings wait for it; `dicegym values exploitability` searches longer."""
RESPONSE, REGRET = "An approximate best response", "Regret of its decisions"
"""The starts of a card's parts that are copied from `dicegym values exploitability` and `dicegym values grade`."""
_LAST = "The model's file contains all settings"
"""The start of a card's last line, which follows these parts."""


@functools.cache
def collect_versions() -> dict[str, Any]:
    """Return the machine and the versions of packages, for model files."""
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "versions": {name: version(name) for name in PACKAGES},
    }


def _measured_against(game: Game, run: Mapping[str, Any], trust: bool) -> list[Any]:
    """Return the opponents on a card: scripted agents, and shared tables of the training's evaluations.

    Tables with programs or language models need ``trust``, as anyone may have written the model's file.
    """
    if game.players == 1:
        return [None]
    scripted = [name for name in agent_names(game) if not isinstance(resolve(game, name), Path)]
    tables = [one for one in run.get("evaluate_against", []) if isinstance(one, list) and len(one) < game.players]
    return [*scripted, *(one for one in tables if trust or not any(needs_trust(game, name) for name in one))]


def best_score(model: Path) -> Score:
    """Return the score in a model's file. Raises ModelError or ParameterError without a valid score."""
    return Score.from_json(model_file.facts(model).get("score"))


def bracket_of(game: Game, player: Player, seconds: float, progress: Progress | None = None) -> Bracket | None:
    """Return bounds on the win rate of a player's best response; None where they cannot be computed."""
    try:
        return exploitability(player, game, seconds=seconds, progress=progress)
    except ParameterError:
        return None


def card(
    model: Path, games: int, seconds: float = SECONDS, progress: Progress | None = None, trust: bool = False
) -> str:
    """Measure a model, and return its card as a page.

    Args:
        model: the file.
        games: against each scripted agent; with fewer than `LEAST_GAMES` no best response is searched.
        seconds: search time for the best response.
        progress: called with (measurements done, total measurements, text).
        trust: also play programs and language models that the model's file names.

    Raises:
        ParameterError: ``seconds`` is not above 0.
        ModelError: the file does not fit the rules, or does not say how it was trained.
    """
    seconds = finite_number("seconds", seconds, "a time to look for the best response", above=0)
    player, facts = models.load(model), model_file.facts(model)
    game, searched = player.game, games >= LEAST_GAMES
    try:
        page(facts, model.stem, [best_score(model)])
        against = _measured_against(game, facts["settings"]["run"], trust)
    except UnknownNameError:  # of an opponent
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        why = f"{type(error).__name__}: {one_line(error, 100)}"
        raise ModelError(f"{model} does not say how it was trained ({why}): `dicegym evaluate` measures it") from None
    total = len(against) + searched

    def part(number: int, what: str) -> Progress:
        """Return a function that reports the progress of a measurement."""
        report = progress or (lambda done, total, text: None)
        return lambda done, of, text: report(number, total, f"{what}: {done:,} of {of:,}{text and f', {text}'}")

    scores = [
        evaluate(game, player, one, games, seed=CARD_SEED, progress=part(number, "games"))
        for number, one in enumerate(against)
    ]
    if not searched:
        return page(facts, model.stem, scores)
    best = bracket_of(game, player, seconds, part(len(against), "best response"))
    return page(facts, model.stem, scores, best)


def keep_copied(model: Path, text: str) -> str:
    """Return the text of a new card with the parts of the card beside a model that were copied into it."""
    path = model.with_suffix(".md")
    before = read_text(path, "remove it") if path.is_file() else ""
    found = re.search(rf"^({RESPONSE}|{REGRET}).*?^(?={_LAST})", before, re.MULTILINE | re.DOTALL)
    return text.replace(_LAST, found[0] + _LAST) if found else text


def write_card(model: Path, text: str) -> list[Path]:
    """Write a card and the picture of its curve beside a model; return their paths. Raises ModelError."""
    page_file = model.with_suffix(".md")
    write_text(page_file, text)
    picture = write_learned(model)
    return [page_file, *([picture] if picture else [])]


def _code(text: str) -> str:
    """Return text for a span of code in a table, where only the cell separator can be escaped."""
    return harmless(text).replace("`", "'").replace("|", "\\|")


def _teacher(name: Any) -> str:
    """Describe a model's teacher, for a cell."""
    text = str(name)[:LONGEST_COMMAND]
    agent = REPLY.fullmatch(text)
    return f"the best response to `{_code(agent[1])}`" if agent else f"`{_code(text)}` values"


def _in_words(score: Score) -> str:
    """Return a score as Markdown: names are escaped, the brackets of its interval are not."""
    return str(score._replace(measure=markdown(score.measure), opponent=markdown(score.opponent)))


def _before(stage: Mapping[str, Any]) -> str:
    """Describe an earlier training stage of a model."""
    command, steps, seconds, path = (stage.get(name) for name in ("command", "timesteps", "seconds", "path"))
    numbers = [f"{steps:,} steps"] if isinstance(steps, int) and abs(steps) < 1 << 53 else []
    if isinstance(seconds, float) or (isinstance(seconds, int) and abs(seconds) < 1 << 53):
        numbers.append(f"{seconds:,.0f} s")
    how = f"`{_code(command[:LONGEST_COMMAND])}`" if isinstance(command, str) and command else "a model"
    if teacher := stage.get("taught_by"):
        how = f"taught by {_teacher(teacher)}, {how}"
    where = f", there `{_code(str(path)[:LONGEST_COMMAND])}`" if path else ""
    return f"{how}{': ' if numbers else ''}{', '.join(numbers)}; the next stage begins with its model{where}"


def _exploitability(best: Bracket) -> str:
    """Return the paragraph about the best response to the model."""
    wins = f"{best.low:.4f}" if best.high - best.low < 5e-5 else f"at least {best.low:.4f}, at most {best.high:.4f}"
    return f"The best response to it wins {wins} of games (0.5 is optimal): {best.how}.\n\n"


def page(facts: dict[str, Any], name: str, scores: list[Score], best: Bracket | None = None) -> str:
    """Return the text of a card; ``best`` is the result of a search for a best response to the model."""
    score = Score(**facts["score"])
    parameters = "".join(f", {key} {value}" for key, value in facts["parameters"].items())
    players = f"{facts['players']} player{'s' if facts['players'] > 1 else ''}"
    parts = facts["scores"]
    chosen = ""
    if len(parts) > 1:
        by = facts["settings"]["run"]["best_by"]
        explained = [CHOSEN_BY.get(by, CHOSEN_BY["mean"]), *(f"- {_in_words(Score(**part))}" for part in parts)]
        chosen = "\n".join(explained) + "\n\n"
    lines = "\n".join(
        f"| {markdown(one.opponent)} | {one.value:.4f} | {one.low:.4f} - {one.high:.4f} | {one.games or one.known_by} |"
        for one in scores
    )
    temperature = facts.get(model_file.PLAY, {}).get(model_file.TEMPERATURE, 0)
    plays = f"| plays | samples its policy at temperature {temperature:g} |\n" if temperature else ""
    curve = draw_learned(facts)
    picture = f"![{markdown(curve.chart.title)}]({quote(name + SUFFIX)})\n\n" if curve else ""
    *earlier, _ = facts_of_stages(facts)
    taught = f"| taught by | {_teacher(facts['taught_by'])}, by imitation |\n" if "taught_by" in facts else ""
    begun = "".join(f"| stage {number} | {_before(stage)} |\n" for number, stage in enumerate(earlier, 1))
    return f"""# {markdown(name)}

A {markdown(str(facts["algorithm"]))} policy for {facts["game"]} ({players}{parameters}).

| | |
|---|---|
| score | {_in_words(score)} |
{plays}{taught}{begun}| command | `{_code(facts["command"])}` |
| seed | {markdown(str(facts["settings"]["run"]["seed"]))} |
| steps | {facts["timesteps"]:,} decisions of the learner |
| time | {facts["seconds"]:,.0f} s |
| machine | {markdown(str(facts["machine"]))} |
| versions | {markdown(", ".join(f"{package} {version}" for package, version in facts["versions"].items()))} |
| rules | fingerprint {facts["fingerprint"]} |

{picture}{chosen}The score above is from an evaluation in its training, which may have selected the model.
The scores below are from other games, in every seat in turn, with 95 % intervals.

| against | {scores[0].measure} | interval | games |
|---|---|---|---|
{lines}

{_exploitability(best) if best else ""}{_LAST}: `dicegym.players.model_file.facts("{name}.zip")["settings"]`.
"""
