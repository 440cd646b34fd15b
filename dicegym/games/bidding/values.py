"""What states of Liar's Dice are worth: where it is known from, in both games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.luck import policy
from dicegym.games.bidding.solving import recall_values, solution
from dicegym.games.bidding.solving.best_response import ResponseBounds, ResponseTree
from dicegym.games.bidding.solving.hand_rules import Policy, Start, starts_of
from dicegym.games.parts import SOLUTIONS, part
from dicegym.games.worth import Bracket, Progress, SearchTime, ValueSource, training_against
from dicegym.play.player import Player

PASSES = 200
"""How often hands that lead back to more dice are worked out again from what they are then worth, at most."""
SWEPT_DICE = 2
"""Dice each with which all that is likely of a hand can be looked at in seconds."""
THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""How likely a player lets come about what is looked at, coarsest first."""
MOST_POINTS = 40_000
"""Public points of a hand that are looked at, at most: some ten seconds of asking a network."""
ENOUGH = 0.8
"""Part of them from which on a lower threshold brings no more."""
SETTLING = 0.1
"""Part of the time that is kept for working out hands that lead back to more dice."""
STILL = 1e-9
"""Change below which what hands are worth stands."""


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""
    found: list[ValueSource] = []
    doc = "how likely the player to move wins between two players of an equilibrium"
    if solution.at_once(game):
        found.append(
            ValueSource(solution.NAME, "equilibrium", doc, lambda: True, lambda _: solution.values_at_once(game))
        )
    elif _is_solved_by_command(game):
        found.append(
            ValueSource(
                solution.NAME, "equilibrium", doc, lambda: solution.is_kept(game), lambda _: solution.load_values(game)
            )
        )
    return (*found, *recall_values.recall_sources(game, recall_values.BESIDE_EXACT if found else solution.NAME))


def _is_solved_by_command(game: Game) -> bool:
    found = part(game, SOLUTIONS)
    return found is not None and any(isinstance(one, solution.EquilibriumSolution) for one in found.solutions(game))


def exploitability(player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None) -> Bracket:
    """Return the bounds of how often the best response to ``player`` wins; see `dicegym.games.worth.Exploits`.

    All hands with any numbers of dice are looked at from the fewest dice on, each as far as its share of the time
    allows (`ResponseTree.improve`). The responder bids and calls what environments offer, and knows the player's whole
    policy. The player is taken to play alike in both seats, and to keep to the rules.

    Args:
        player: one that draws nothing and remembers nothing, or whose probabilities can be asked.
        game: for two, with any number of dice.
        time: how long; the result depends on how far that goes, unless everything is looked at.
        progress: told of the hands that are done.

    Raises:
        ParameterError: more than two play, or it cannot be asked how the player draws.
    """
    if game.players != 2:
        raise ParameterError(
            f"what a best response wins is known in games for two alone, not in {game!r}: give players=2"
        )
    asked = _policy(game, player)
    if int(game.parameters["dice"]) <= SWEPT_DICE and not player.pure:
        return _by_thresholds(game, asked, STILL, time, progress)
    starts = starts_of(int(game.parameters["dice"]))
    worths = dict.fromkeys(starts, ResponseBounds(0.0, 1.0))
    trees: list[ResponseTree] = []
    weights = np.array([float(start.first + start.second) ** 2 for start in starts])
    for number, start in enumerate(starts):
        tree = ResponseTree(game, start, asked)
        if number == 0:
            time.begin()  # what its kernels and the network needed is loaded
        share = (1 - SETTLING) * weights[number] / weights[number:].sum()
        worths[start] = tree.improve(worths, time.left * share, whole=time)
        trees.append(tree)
        if progress is not None:
            progress(number + 1, len(starts), "hands looked at")
        if time.over:
            break
    _settle(trees, worths, time)
    found = _at_first(starts, worths)
    low, high = max(0.5, found.low), found.high
    if high - low < STILL:
        return Bracket(low, high, "exact: in all hands everything that a best response could want was looked at")
    complete = sum(worths[tree.start].high - worths[tree.start].low < STILL for tree in trees)
    how = (
        f"best responses in {len(starts)} hands, {complete} of them worked out; in the others, what was not looked at "
        "is called at once (low; a copy of the player wins 0.5), or ends the hand as well as hands can end (high)"
    )
    return Bracket(low, max(low, high), how)


def best_reply(player: Player, game: Game, gap: float) -> Bracket:
    """Return the same bounds, ``gap`` apart or less; see `dicegym.games.worth.Exploits`.

    All that the player lets come about more often than a threshold is looked at (`ResponseTree.grow`). The threshold
    is lowered until the bounds are close, or a hand has `MOST_POINTS`: against random play, what is likely has no end.
    Two dice each are the most: with three there are too many bids to follow each other.

    Raises:
        ParameterError: there are more dice or players, or it cannot be asked how the player draws.
    """
    check_best_reply(game)
    return _by_thresholds(game, _policy(game, player), gap)


def check_best_reply(game: Game) -> None:
    """Raise ParameterError for a game in which `best_reply` would take too long."""
    if game.players != 2 or int(game.parameters["dice"]) > SWEPT_DICE:
        raise ParameterError(
            f"how often the best response wins is known within minutes in games for two with {SWEPT_DICE} dice each at "
            f"most, not in {game!r}: give dice={SWEPT_DICE} or fewer, or choose by win rates "
            '(`run.best_by="worst"`)'
        )


def _swept(game: Game, asked: Policy, least: float, time: SearchTime | None = None) -> tuple[ResponseBounds, int]:
    """Return the bounds by all that comes about in ``least`` of hands, and the points of the largest hand.

    Hands for which ``time`` leaves no room may be worth anything.
    """
    starts = starts_of(int(game.parameters["dice"]))
    worths = dict.fromkeys(starts, ResponseBounds(0.0, 1.0))
    sweeps = []
    for start in starts:
        sweeps.append(ResponseTree(game, start, asked, least))
        sweeps[-1].grow(MOST_POINTS)
        worths[start] = sweeps[-1].bounds(worths)
        if time is not None and time.over:
            break
    _settle(sweeps, worths)
    return _at_first(starts, worths), max(sweep.points for sweep in sweeps)


def _by_thresholds(
    game: Game, asked: Policy, gap: float, time: SearchTime | None = None, progress: Progress | None = None
) -> Bracket:
    """Return the bounds by the first threshold that brings them ``gap`` together, or as close as they come.

    Each threshold takes longer than the last: it is the last one if there were too many points, or ``time`` is over.
    """
    found, seen = ResponseBounds(0.0, 1.0), THRESHOLDS[0]
    for number, least in enumerate(THRESHOLDS, 1):
        now, points = _swept(game, asked, least, time if number > 1 else None)
        if time is not None and number == 1:
            time.begin()  # the coarsest threshold takes moments, and loads what the others need
        elif time is not None and now.high - now.low >= found.high - found.low:
            break  # the time was over before all hands were looked at
        found, seen = now, least
        if progress is not None:
            progress(number, len(THRESHOLDS), "thresholds")
        if found.high - found.low <= gap or points >= ENOUGH * MOST_POINTS or (time is not None and time.over):
            break
    how = f"all was looked at that comes about in one of {1 / seen:,.0f} hands against somebody"
    if found.high - found.low < STILL:
        how = "exact: in all hands everything was looked at"
    return Bracket(max(0.5, found.low), max(0.5, found.high), how)


def _settle(hands: Sequence[ResponseTree], worths: dict[Start, ResponseBounds], time: SearchTime | None = None) -> None:
    """Work out again what hands are worth that lead back to more dice, until that stands or the time is over.

    ResponseBounds hold after each hand: they only come closer.
    """
    for _ in range(PASSES):
        before = list(worths.values())
        for hand in hands:
            if time is not None and time.over:
                return
            worths[hand.start] = hand.bounds(worths)
        if np.abs(np.array(before) - np.array(list(worths.values()))).max() < STILL:
            break


def _at_first(starts: Sequence[Start], worths: Mapping[Start, ResponseBounds]) -> ResponseBounds:
    """Return what the game is worth to the responder when it begins, either of the two opening it."""
    whole = starts[-1].first
    low, high = np.mean([worths[Start(whole, whole, opener)] for opener in (0, 1)], axis=0).tolist()
    return ResponseBounds(min(1.0, low), min(1.0, high))


def _policy(game: Game, player: Player) -> Policy:
    found = policy(game, player)
    if found is None:
        raise ParameterError(
            f"{player.name!r} draws or remembers, and cannot be asked how likely it does what: what can be won against "
            f"it is found by training: {training_against(game, player.name)}"
        )
    return found
