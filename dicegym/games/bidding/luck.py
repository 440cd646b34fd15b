"""Luck in a game of hidden dice for two: in the dice, in the draws of players, and at the showdown.

If both strategies are known, each action and each showdown is compared with its expectation over all rolls
(`dicegym.games.bidding.solving.hand_tree`). These are the "imaginary observations" and known policies of AIVAT (Burch,
Schmid, Moravcik, Morrill and Bowling, AAAI 2018), for both sides. Known are pure players, models that draw (they are
asked for probabilities), and the shipped bots that draw. Between two pure players the whole of a hand is worked out,
and no luck is left in a result.

Of other players only the actions are known, and no luck is found in their games.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.bidding.solving.hand import HandEndings, Mixture, Policy, Start, start_of, starts_of
from dicegym.games.bidding.solving.hand_tree import ExpectationTree, PublicPoint
from dicegym.games.bidding.twins import DRAWS, MOST_WAYS
from dicegym.games.parts import CHANCE, TWINS, need
from dicegym.games.worth import Meter
from dicegym.play.player import Player, draws_openly
from dicegym.players.batch_players import TwinPlayer

WHOLE = (0.0,)
"""The least probability of a point in a tree between two pure players: all points are kept, some hundreds."""
THRESHOLDS = (1e-2, 1e-3, 3e-4, 1e-4)
"""The same if a player draws, so that a hand has too many points: lowered until the tree has `ENOUGH` moves."""
ENOUGH, MOST = 1500, 1 << 20
"""Moves of a tree: about how many are wanted, and the most."""
PAIRS_KEPT = 6
"""The number of cached pairs of players."""
STILL = 1e-12
"""Values of hands that lead back to more dice have converged if they change by less."""


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games between two, None for more; see `dicegym.games.parts.Values.meter`."""
    return _Meter(game, players, np.asarray(seats, np.int64)) if game.players == 2 else None


def policy(game: Game, player: Player) -> Policy | None:
    """Return a player's strategy, or None if it cannot be known."""
    drawing: Any = need(game, TWINS)
    if isinstance(player, TwinPlayer) and player.name in drawing.DRAWING:
        bot = list(drawing.DRAWING).index(player.name)

        def ask_twin(records: np.ndarray) -> Mixture:
            script = np.zeros((3, DRAWS), np.int64)
            actions, chances = np.zeros((len(records), MOST_WAYS), np.int64), np.zeros((len(records), MOST_WAYS))
            drawing.write_choices(records, bot, script, actions, chances)
            rows, columns = np.nonzero(chances)
            named, places = np.unique(actions[rows, columns], return_inverse=True)
            found = np.zeros((len(records), len(named)))
            np.add.at(found, (rows, places), chances[rows, columns])
            found /= found.sum(axis=1, keepdims=True)  # exactly 1 for an action that does not depend on the draws
            return Mixture(named, found)

        return ask_twin
    if draws_openly(player):
        return lambda records: Mixture(np.arange(game.n_actions), player.chances(game, records))

    def ask_player(records: np.ndarray) -> Mixture:
        chosen = player.act_rows(game, records, np.arange(len(records)), records["player"].astype(np.int64))
        actions, places = np.unique(chosen, return_inverse=True)
        return Mixture(actions, np.eye(len(actions))[places])

    return ask_player if player.pure else None


class Pair:
    """The win probability of the player in seat 0 in all hands between two players.

    Args:
        game: a game for two.
        policies: their strategies, by seat.
        thresholds: the least probability of a point in a tree, tried in turn until it has `ENOUGH` moves.
    """

    def __init__(self, game: Game, policies: Sequence[Policy], thresholds: Sequence[float]) -> None:
        starts = starts_of(int(game.parameters["dice"]))
        self.trees = {start: _grow_tree(HandEndings(game, start), policies, thresholds) for start in starts}
        self.values: dict[Start, float] = dict.fromkeys(self.trees, 0.5)
        change = 1.0
        while change > STILL:
            change = 0.0
            for start, tree in self.trees.items():
                now = self.of(start, tree.expected)
                change = max(change, abs(now - self.values[start]))
                self.values[start] = now

    def value(self, start: Start) -> float:
        """Return the win probability of seat 0 from the beginning of a hand, or at the end of the game."""
        if start.first == 0 or start.second == 0:
            return float(start.first > 0)
        return self.values[start]

    def of(self, start: Start, outcomes: np.ndarray) -> float:
        """Return the win probability of seat 0 in a hand, from the probabilities of its ends."""
        ends = self.trees[start].hand.ends
        return float(outcomes[: len(ends)] @ np.array([self.value(end) for end in ends]))


def _grow_tree(hand: HandEndings, policies: Sequence[Policy], thresholds: Sequence[float]) -> ExpectationTree:
    """Return the tree of the first threshold with enough moves, or of the last."""
    for least in thresholds:
        tree = ExpectationTree(hand, policies, least, MOST)
        if tree.moves >= ENOUGH:
            break
    return tree


@lru_cache(maxsize=PAIRS_KEPT)
def _pair(game: Game, first: Player, second: Player) -> Pair | None:
    """Return the hands between two players; None if a strategy is unknown."""
    policies = [found for one in (first, second) if (found := policy(game, one)) is not None]
    return Pair(game, policies, WHOLE if first.pure and second.pure else THRESHOLDS) if len(policies) == 2 else None


class _Meter:
    """Adds up luck from the expectations at each point; see `dicegym.games.worth.Meter`."""

    def __init__(self, game: Game, players: Sequence[Player | None], seats: np.ndarray) -> None:
        self._game, self._players, self._seats = game, players, seats
        decided = need(game, CHANCE).undo(None, game.new_game()[0])
        self._draws_opener = not {*decided} <= {*range(game.players)}
        self.luck = np.zeros(seats.shape)
        self._points: dict[int, tuple[Pair, Start, PublicPoint]] = {}  # by row: the players, the hand, the point in it

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        for row in rows.tolist():
            first, second = (self._players[one] for one in self._seats[row].tolist())
            pair = None if first is None or second is None else _pair(self._game, first, second)
            if pair is None:
                continue
            start = start_of(states[row])
            self._points[row] = pair, start, pair.trees[start].root
            if self._draws_opener:
                self._add(row, pair.value(start) - sum(pair.value(start._replace(opener=one)) for one in (0, 1)) / 2)

    def _add(self, row: int, won: float) -> None:
        """Count luck of seat 0."""
        self.luck[row, 0] += won
        self.luck[row, 1] -= won

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note the actions played; see `Meter.add`."""
        ended = after["over"][rows] | (after["finished"][rows] != before["finished"][rows])
        for row, action, is_over in zip(rows.tolist(), actions.tolist(), ended.tolist(), strict=True):
            if row not in self._points:
                continue
            pair, start, point = self._points[row]
            played = point.tree.follow(point, action)
            if played is None:
                player = self._players[int(self._seats[row, int(before[row]["player"])])]
                raise AgentError(
                    "a player" if player is None else player.name,
                    f"played {action}, which is not its choice by its probabilities: a player that draws or remembers "
                    "must not say PURE",
                )
            found = pair.of(start, played.outcomes)
            self._add(row, found - pair.of(start, played.expected))
            if played.point is not None:
                self._points[row] = pair, start, played.point
            if is_over:
                now = start_of(after[row])
                self._add(row, pair.value(now) - found)
                if not after["over"][row]:
                    self._points[row] = pair, now, pair.trees[now].root
