"""Sources of values, best responses and published values of Liar's Dice, for both games' ``values.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from dicegym.bots.bot_player import BotPlayer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.bidding.luck import policy
from dicegym.games.bidding.solving import solution
from dicegym.games.bidding.solving.cfr import Learner
from dicegym.games.bidding.solving.hand import Dice, HandEndings, Mixture, Policy, Start, starts_of, tabulate
from dicegym.games.bidding.solving.hand_tree import PLAYER, ResponseBounds, ResponseTree
from dicegym.games.bidding.solving.recall_table import RecallTable, recall_values
from dicegym.games.parts import VALUES, part
from dicegym.games.solved import Claim, how_to_solve
from dicegym.games.worth import Bracket, Progress, SearchTime, ValueSource, training_against
from dicegym.play.player import Player
from dicegym.shipped import shipped_folder

BESIDE_EXACT = "recall"
"""The name of the table's source in games that are also solved with all bids remembered."""
CLAIM_STEPS = 60
"""Steps of the solver after which the bounds of a single hand are less than 0.01 apart."""
LINEAR_PROGRAM = "linear programs of Koller and Megiddo (1992)"
SOLVED = "counterfactual regret minimisation, and a best response that remembers all bids"
PASSES = 200
"""The most iterations over hands that lead back to more dice."""
SWEPT_DICE = 2
"""The most dice each with which all likely points of a hand can be searched in seconds."""
ROUNDS = ((1e-2, 14), (1e-3, 16), (1e-4, 18), (1e-5, 20), (1e-6, 20), (1e-7, 20))
"""The least probability of a point in a tree, coarsest first, and the logarithm of the most points times rolls of the
player in a hand: a network answers 2**20 in some ten seconds."""
LONG_ROUNDS = (*ROUNDS, (1e-7, 22), (1e-7, 24))
"""The same for a search with a time limit."""
ENOUGH = 0.8
"""The part of the most points from which on a tree counts as full."""
STILL = 1e-9
"""Values of hands have converged if they change by less."""


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the sources of values of ``game``, the best first."""
    doc = "how likely the player to move wins between two players of an equilibrium"
    found = part(game, VALUES)
    if game.players == 2 and game.parameters["dice"] == 1:
        best = ValueSource(solution.NAME, "equilibrium", doc, lambda: True, lambda _: solution.values_at_once(game))
    elif found is not None and found.solution(game) is not None:
        best = ValueSource(
            solution.NAME, "equilibrium", doc, lambda: solution.is_kept(game), lambda _: solution.load_values(game)
        )
    else:
        return _recall_sources(game, solution.NAME)
    return (best, *_recall_sources(game, BESIDE_EXACT))


def _recall_sources(game: Game, name: str) -> Sequence[ValueSource]:
    """Return the table of the agent ``equilibrium`` as a source called ``name``; nothing for other games."""
    if game.players != 2 or game.added_parameters or not game.spec.registered:
        return ()
    doc = "how likely a player wins between two of an approximate equilibrium that remember the last bids"
    file = table_file(game)
    return (
        ValueSource(
            name, "equilibrium", doc, file.is_file, lambda _: recall_values(game, RecallTable(game, file), name)
        ),
    )


def table_file(game: Game) -> Path:
    """Return the file of the table of the game's agent ``equilibrium``, which need not exist."""
    return shipped_folder("agents") / game.name / "equilibrium.table"


def exploitability(player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None) -> Bracket:
    """Return bounds on the win rate of the best response to ``player``; see `dicegym.games.worth.Exploits`.

    All points with a probability above a threshold are searched, in all hands from the fewest dice on (`ResponseTree`).
    The threshold is lowered until no point is cut off, the largest hand is full, or the time is over: against random
    play the likely points have no end. The responder makes legal bids and calls, and knows the player's whole strategy.
    The player is assumed to play alike in both seats, and by the rules.

    Args:
        player: a pure player, or one whose probabilities are known: models, bots with twins, and the agent
            ``equilibrium`` where its table was solved for these dice.
        game: a game for two, with any number of dice.
        time: the time limit.
        progress: told of finished hands.

    Raises:
        ParameterError: the game is not for two, or the player's probabilities are unknown.
    """
    if game.players != 2:
        raise ParameterError(f"best responses are computed in games for two alone, not in {game!r}: give players=2")
    return _by_thresholds(game, _policy(game, player), STILL, LONG_ROUNDS, time, progress)


def best_reply(player: Player, game: Game, gap: float) -> Bracket:
    """Return the same bounds, at most ``gap`` apart if possible; see `dicegym.games.worth.Exploits`.

    Raises:
        ParameterError: the game has more than two players or dice each (three have too many sequences of bids), or the
            player's probabilities are unknown.
    """
    check_best_reply(game)
    return _by_thresholds(game, _policy(game, player), gap, ROUNDS, SearchTime(float("inf")))


def check_best_reply(game: Game) -> None:
    """Raise ParameterError for a game in which `best_reply` would take too long."""
    if game.players != 2 or int(game.parameters["dice"]) > SWEPT_DICE:
        raise ParameterError(
            f"the best response in {game!r} cannot be computed within minutes: give players=2 and dice={SWEPT_DICE} or "
            'fewer, or choose by win rates (`run.best_by="worst"`)'
        )


def _by_thresholds(
    game: Game,
    asked: Policy,
    gap: float,
    rounds: Sequence[tuple[float, int]],
    time: SearchTime,
    progress: Progress | None = None,
) -> Bracket:
    """Return the bounds of the first threshold that brings them within ``gap``, or the closest ones."""
    starts = starts_of(int(game.parameters["dice"]))
    found, how = ResponseBounds(0.0, 1.0), "the time was over before all hands were searched"
    for number, (least, cells) in enumerate(rounds):
        trees: list[ResponseTree] = []
        worths = dict.fromkeys(starts, ResponseBounds(0.0, 1.0))
        for start in starts:
            hand = HandEndings(game, start)
            trees.append(ResponseTree(hand, asked, least, (1 << cells) // len(hand.rolls[PLAYER].chances)))
            worths[start] = trees[-1].bounds(worths)
            if number == 0 and len(trees) == 1:
                time.begin()  # kernels and network are loaded
            if progress is not None:
                progress(number * len(starts) + len(trees), len(rounds) * len(starts), "hands searched")
            if time.over:
                break
        _settle(trees, worths, time)
        now, is_whole = _at_first(starts, worths), len(trees) == len(starts)
        if now.high - now.low <= found.high - found.low:
            found = now
            if is_whole:
                how = f"all was searched that comes about in one of {1 / least:,.0f} hands against somebody"
        is_full = cells == rounds[-1][1] and any(
            tree.points * len(tree.hand.rolls[PLAYER].chances) >= ENOUGH * (1 << cells) for tree in trees
        )
        if found.high - found.low <= gap or is_full or time.over:
            break
    if found.high - found.low < STILL:
        how = "exact: all hands were searched completely"
    return Bracket(max(0.5, found.low), max(0.5, found.high), f"{how}; a copy of the player wins 0.5")


def _settle(trees: Sequence[ResponseTree], worths: dict[Start, ResponseBounds], time: SearchTime) -> None:
    """Iterate the values of hands that lead back to more dice, until they converge or the time is over.

    The bounds hold after each hand, and only come closer.
    """
    for _ in range(PASSES):
        before = list(worths.values())
        for tree in trees:
            if time.over:
                return
            worths[tree.hand.start] = tree.bounds(worths)
        if np.abs(np.array(before) - np.array(list(worths.values()))).max() < STILL:
            break


def _at_first(starts: Sequence[Start], worths: Mapping[Start, ResponseBounds]) -> ResponseBounds:
    """Return the bounds at the beginning of the game, as the mean over both openers."""
    whole = starts[-1].first
    low, high = np.mean([worths[Start(whole, whole, opener)] for opener in (0, 1)], axis=0).tolist()
    return ResponseBounds(min(1.0, low), min(1.0, high))


def _policy(game: Game, player: Player) -> Policy:
    found, file = policy(game, player), table_file(game)
    if found is None and isinstance(player, BotPlayer) and player.source.file == file.with_suffix(".py"):
        table = RecallTable(game, file)
        if table.fits():
            values = recall_values(game, table, player.name)
            return lambda records: Mixture(np.arange(game.n_actions), values.policy_rows(records))
    if found is None:
        raise ParameterError(
            f"{player.name!r} draws or remembers, and its probabilities cannot be asked for: train a response instead: "
            f"{training_against(game, player.name)}"
        )
    return found


# --- published values ----------------------------------------------------------------------------------------


def hand_claims(game: str, values: Mapping[Dice, float]) -> Sequence[Claim]:
    """Return claims on the opener's values of single hands without wild faces, from -1 to 1, by their dice."""
    text = "value of a single hand of {} against {} dice, for the opener"
    return [
        Claim(text.format(*dice), value, 0.01, LINEAR_PROGRAM, partial(_hand_value, game, dice))
        for dice, value in values.items()
    ]


def _hand_value(game: str, dice: Dice) -> float:
    """Return the mean of both bounds: the opener against a best response, and as one."""
    hand = tabulate(make_game(game, players=2, dice=2), *dice)
    ends = np.array([float(ending.first == dice[0]) for ending in hand.endings])  # losing a die loses
    learning = Learner(hand)
    for _ in range(CLAIM_STEPS):
        learning.learn(ends)
    strategy = learning.strategy()
    return strategy.win_chance(ends, 0, best=True) - strategy.win_chance(ends, 1, best=True)


def game_claims(game: str, opens: float, bound: float) -> Sequence[Claim]:
    """Return the claims on a game with one die each, and on the tables for two dice each.

    Args:
        game: the game's name.
        opens: the opener's win rate with one die each.
        bound: the most exploitability of the tables of `dicegym values solve`, in win rate.
    """
    one, two = (make_game(game, players=2, dice=dice) for dice in (1, 2))
    return [
        Claim(
            "win rate of the opener, one die each", opens, 1e-4, LINEAR_PROGRAM,
            lambda: solution.values_at_once(one).hands.opens[1, 1],
        ),
        Claim(
            "exploitability of the equilibrium of two dice each, at most", bound, 0.0, SOLVED,
            partial(solution.recompute_exploitability, two, bound),
            f"{how_to_solve(two)} --to {bound:g}", at_most=True,
        ),
    ]  # fmt: skip
