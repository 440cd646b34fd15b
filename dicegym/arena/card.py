"""The card of a trained model: how it was made, and how it fares against every scripted agent of its game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dicegym.arena.evaluate import Score, evaluate
from dicegym.core import Game
from dicegym.players import Player, policy
from dicegym.players.roster import agent_names, resolve

CARD_SEED = 1
"""Of the games for a card. Evaluations during a training have seed 0, and the best model was chosen by them."""


def scores_against_all(game: Game, player: Player, games: int) -> list[Score]:
    """Return the score of ``player`` against each scripted agent of the game; alone, what it scores."""
    if game.players == 1:
        return [evaluate(game, player, games=games, seed=CARD_SEED)]
    scripted = [name for name in agent_names(game) if not isinstance(resolve(game, name), Path)]
    return [evaluate(game, player, name, games, seed=CARD_SEED) for name in scripted]


def card(model: Path, games: int) -> str:
    """Return what a model's file says of itself, and its scores in ``games`` games each, as a page for people.

    Raises ModelError if the file does not fit the rules.
    """
    player = policy.load(model)
    return page(policy.facts(model), model.stem, scores_against_all(player.game, player, games))


def page(facts: dict[str, Any], name: str, scores: list[Score]) -> str:
    """Return the page."""
    score = Score(**facts["score"])
    parameters = "".join(f", {key} {value}" for key, value in facts["parameters"].items())
    players = f"{facts['players']} player{'s' if facts['players'] > 1 else ''}"
    lines = "\n".join(
        f"| {line.opponent} | {line.value:.4f} | {line.low:.4f} - {line.high:.4f} | {line.games or 'exact'} |"
        for line in scores
    )
    return f"""# {name}

A {facts["algorithm"]} policy for {facts["game"]} ({players}{parameters}).

| | |
|---|---|
| score | {score} |
| command | `{facts["command"]}` |
| seed | {facts["settings"]["run"]["seed"]} |
| steps | {facts["timesteps"]:,} decisions of the learner |
| time | {facts["seconds"]:,.0f} s |
| machine | {facts["machine"]} |
| versions | {", ".join(f"{package} {version}" for package, version in facts["versions"].items())} |
| rules | fingerprint {facts["fingerprint"]} |

The score above chose this model among those of its training. The scores below are of other games, from every
seat in turn, with 95 % intervals.

| against | {scores[0].measure} | interval | games |
|---|---|---|---|
{lines}

All settings stand in the model's file: `dicegym.players.policy.facts("{name}.zip")["settings"]`.
"""
