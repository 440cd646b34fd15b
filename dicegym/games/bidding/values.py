"""What states of Liar's Dice are worth: where it is known from, in both games."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.luck import Ways, policy
from dicegym.games.bidding.solving import recall_values, solution
from dicegym.games.bidding.solving.hand_tree import Mixture, Policy, Start, starts_of
from dicegym.games.bidding.solving.reply_tree import ReplyBounds, ReplyTree
from dicegym.games.parts import SOLUTIONS, part
from dicegym.games.worth import Bracket, Progress, ValueSource, training_against
from dicegym.play.player import Player, draws_openly

PASSES = 200
"""How often hands that lead back to more dice are worked out again from what they are then worth, at most."""
STILL = 1e-9
"""Change below which what hands are worth stands."""


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""
    found: list[ValueSource] = []
    doc = "how likely who is to move wins between two who play an equilibrium"
    if solution.at_once(game):
        found.append(
            ValueSource(solution.NAME, "equilibrium", doc, lambda: True, lambda _: solution.values_at_once(game))
        )
    elif _is_solved_by_command(game):
        found.append(
            ValueSource(
                solution.NAME, "equilibrium", doc, lambda: solution.is_kept(game), lambda _: solution.kept_values(game)
            )
        )
    return (*found, *recall_values.recall_sources(game, recall_values.BESIDE_EXACT if found else solution.NAME))


def _is_solved_by_command(game: Game) -> bool:
    found = part(game, SOLUTIONS)
    return found is not None and any(isinstance(one, solution.EquilibriumSolution) for one in found.solutions(game))


def exploitability(
    player: Player, game: Game, ways: Ways, *, seconds: float, progress: Progress | None = None
) -> Bracket:
    """Return the bounds of how often the best reply to ``player`` wins; see `dicegym.games.worth.Exploits`.

    All hands with any numbers of dice are looked at from the fewest dice on, each as far as its share of the time
    allows (`ReplyTree`). The replier bids and calls what environments offer, and knows of the player its whole way to
    play. The player is taken to play alike in both seats, and to keep to the rules.

    Args:
        player: one that draws nothing and remembers nothing, or whose probabilities can be asked.
        game: for two, with any number of dice.
        ways: what is the game's own.
        seconds: about how long; the result depends on how far that goes, unless everything is looked at.
        progress: told of the hands that are done.

    Raises:
        ParameterError: more than two play, or it cannot be asked how the player draws.
    """
    if game.players != 2:
        raise ParameterError(f"what a best reply wins is known in games for two alone, not in {game!r}: give players=2")
    asked = _policy(game, player, ways)
    starts = starts_of(int(game.parameters["dice"]))
    worths = dict.fromkeys(starts, ReplyBounds(0.0, 1.0))
    trees: list[ReplyTree] = []
    weights = np.array([float(start.first + start.second) ** 2 for start in starts])
    end = time.monotonic() + seconds
    for number, start in enumerate(starts):
        tree = ReplyTree(game, start, asked, ways.wild)
        share = weights[number] / weights[number:].sum()
        worths[start] = tree.improve(worths, max(0.0, end - time.monotonic()) * share)
        trees.append(tree)
        if progress is not None:
            progress(number + 1, len(starts), "hands looked at")
    for _ in range(PASSES):
        before = list(worths.values())
        for tree in trees:
            worths[tree.start] = tree.bounds(worths)
        if np.abs(np.array(before) - np.array(list(worths.values()))).max() < STILL:
            break
    whole = starts[-1].first
    found = np.mean([worths[Start(whole, whole, opener)] for opener in (0, 1)], axis=0)
    low, high = max(0.5, float(found[0])), min(1.0, float(found[1]))
    if high - low < STILL:
        return Bracket(low, high, "exact: in all hands everything that a best reply could want was looked at")
    complete = sum(worths[tree.start].high - worths[tree.start].low < STILL for tree in trees)
    how = (
        f"best replies in {len(trees)} hands, {complete} of them worked out; in the others, what was not looked at is "
        "called at once (low; a copy of the player wins 0.5), or ends the hand as well as hands can end (high)"
    )
    return Bracket(low, max(low, high), how)


def _policy(game: Game, player: Player, ways: Ways) -> Policy:
    if draws_openly(player):
        return lambda records: Mixture(np.arange(game.n_actions), player.chances(game, records))
    found = policy(game, player, ways)
    if found is None:
        raise ParameterError(
            f"{player.name!r} draws or remembers, and cannot be asked how likely it does what: what can be won against "
            f"it is found by training: {training_against(game, player.name)}"
        )
    return found
