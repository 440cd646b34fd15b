"""What luck was worth in a game of hidden dice for two: the dice, what players drew, and what the showdown brought.

Where it is known how both play, each action and each showdown is compared with what all rolls together could expect
there, by both players' ways (`dicegym.games.bidding.solving.hand_tree`): "imaginary observations" and known policies of
AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AAAI 2018), for both sides. Known are players that draw and
remember nothing and models that draw (they are asked), and the shipped bots that draw (their probabilities are known).
Between two that draw nothing the whole of a hand is worked out, and no luck is left in a result at all.

Of anybody else nothing is known but its actions. Then the rolls alone are luck: they are worth what they would be
between the players that are known, and the game's baseline in place of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.part import Part
from dicegym.errors import AgentError
from dicegym.games.bidding.solving.hand_rules import Mixture, Policy, Start, number_of_roll, start_of, starts_of
from dicegym.games.bidding.solving.hand_tree import HandTree, Node
from dicegym.games.bidding.twins import DRAWS, MOST_WAYS
from dicegym.games.parts import CHANCE, need
from dicegym.games.worth import Meter
from dicegym.play.player import Player, draws_openly
from dicegym.players.batch_players import TwinPlayer
from dicegym.players.roster import opponent

POINTS, POINTS_DRAWN = 20_000, 1500
"""Public points of a hand that are thought of beforehand: all there are between bots that draw nothing, which are some
hundreds; with one that draws there is no end of them."""
PAIRS_KEPT = 6
"""Pairs of players of whom what was worked out is kept."""
STILL = 1e-12
"""Change of values below which they stand, where hands lead back to more dice."""


class DrawnChoices(Protocol):
    """A ``twins.py`` of a game of hidden dice: what those of its bots that draw may play, and how likely."""

    DRAWING: Sequence[str]
    """Names of their compiled twins."""

    def write_choices(
        self, states: np.ndarray, bot: int, script: np.ndarray, actions: np.ndarray, chances: np.ndarray
    ) -> None:
        """Write what a bot may play in each state; a kernel.

        Args:
            states: records in which somebody is to move.
            bot: its number in ``DRAWING``.
            script: int64[3, DRAWS], for notes; see `dicegym.games.bidding.twins`.
            actions: int64[states, MOST_WAYS], written: what it plays by each way in which its draws can fall.
            chances: float64[states, MOST_WAYS], written: how likely they fall so; the rest of a row stays.
        """


DRAWN_CHOICES: Part[DrawnChoices] = Part(DrawnChoices, "twins", "that says how likely bots draw what")


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
    """Return a meter for games between two, None for more; see `dicegym.games.parts.Values.meter`."""
    return _Meter(game, players, np.asarray(seats, np.int64)) if game.players == 2 else None


def policy(game: Game, player: Player) -> Policy | None:
    """Return what can be asked how a player chooses with each of many rolls; None if it cannot be known."""
    drawing = need(game, DRAWN_CHOICES)
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
            found /= found.sum(axis=1, keepdims=True)  # exactly 1 where one thing is played, however draws fall
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
    """What hands between two players are worth to the one in seat 0: its probability to win the game.

    Args:
        game: for two.
        policies: how they play, by seat.
        points: about how many public points of each hand are thought of beforehand.
    """

    def __init__(self, game: Game, policies: Sequence[Policy], points: int) -> None:
        dice = int(game.parameters["dice"])
        self.trees = {start: HandTree(game, start, policies, points) for start in starts_of(dice)}
        self.values: dict[Start, float] = dict.fromkeys(self.trees, 0.5)
        change = 1.0
        while change > STILL:
            change = 0.0
            for start, tree in self.trees.items():
                now = float(
                    sum(chance * self.value(end) for chance, end in zip(tree.root.outcomes, tree.ends, strict=False))
                )
                change = max(change, abs(now - self.values[start]))
                self.values[start] = now
        self._by_rolls: dict[Start, np.ndarray] = {}
        self._ends = {start: np.array([self.value(end) for end in tree.ends]) for start, tree in self.trees.items()}

    def value(self, start: Start) -> float:
        """Return how likely seat 0 wins from the beginning of a hand, or at the end."""
        if start.first == 0 or start.second == 0:
            return float(start.first > 0)
        return self.values[start]

    def luck_of_rolls(self, start: Start, state: Any) -> float:
        """Return by how much the rolls with which a hand has begun are better for seat 0 than all rolls are."""
        if start not in self._by_rolls:
            tree = self.trees[start]
            worth = tree.by_rolls(lambda outcome: self.value(tree.ends[outcome]))
            self._by_rolls[start] = worth - float((worth * tree.chances_of_rolls()).sum())
        first, second = (number_of_roll(start[seat], state["hands"][seat], int(state["faces"])) for seat in (0, 1))
        return float(self._by_rolls[start][first, second])

    def of(self, start: Start, outcomes: np.ndarray) -> float:
        """Return how likely seat 0 wins if a hand that began so has these probabilities to end in what it can."""
        ends = self._ends[start]
        if len(ends) < len(self.trees[start].ends):  # one that was thought of later
            ends = self._ends[start] = np.array([self.value(end) for end in self.trees[start].ends])
        return float(outcomes[: len(ends)] @ ends)


@lru_cache(maxsize=PAIRS_KEPT)
def _pair(game: Game, first: Player, second: Player) -> Pair:
    policies = [found for one in (first, second) if (found := policy(game, one)) is not None]
    return Pair(game, policies, POINTS if first.pure and second.pure else POINTS_DRAWN)


class _Point(NamedTuple):
    """Where a game stands."""

    pair: Pair
    start: Start
    node: Node | None
    """None: of a player nothing is known but its actions, and the rolls alone are luck."""


class _Meter:
    """Adds up luck by what both players of a game could expect at each point; see `dicegym.games.worth.Meter`."""

    def __init__(self, game: Game, players: Sequence[Player | None], seats: np.ndarray) -> None:
        self._game, self._players, self._seats = game, players, seats
        self._known = [player is not None and policy(game, player) is not None for player in players]
        decided = need(game, CHANCE).undo(None, game.new_game()[0])
        self._draws_opener = not {*decided} <= {*range(game.players)}
        self.luck = np.zeros(seats.shape)
        self._points: dict[int, _Point] = {}

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Note that games have begun; see `Meter.begin`."""
        pairs: dict[tuple[int, ...], Pair] = {}
        for row in rows.tolist():
            seated = tuple(self._seats[row].tolist())
            if seated not in pairs:
                pairs[seated] = self._pair_of(seated)
            pair, start = pairs[seated], start_of(states[row])
            self._points[row] = self._dealt(row, pair, start, states[row])
            if self._draws_opener:
                self._add(row, pair.value(start) - sum(pair.value(start._replace(opener=one)) for one in (0, 1)) / 2)

    def _pair_of(self, seated: tuple[int, ...]) -> Pair:
        """Return what hands between the two are worth, the baseline in the place of one of whom nothing is known."""
        first, second = (
            player if (player := self._players[one]) is not None and self._known[one] else self._baseline
            for one in seated
        )
        return _pair(self._game, first, second)

    @property
    def _baseline(self) -> Player:
        return opponent(self._game, self._game.spec.baseline)

    def _dealt(self, row: int, pair: Pair, start: Start, state: Any) -> _Point:
        """Return the position of a game in which a hand has begun; count its rolls if nothing else counts."""
        if all(self._known[one] for one in self._seats[row].tolist()):
            return _Point(pair, start, pair.trees[start].root)
        self._add(row, pair.luck_of_rolls(start, state))
        return _Point(pair, start, None)

    def _add(self, row: int, won: float) -> None:
        """Count what luck was worth to seat 0."""
        self.luck[row, 0] += won
        self.luck[row, 1] -= won

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Note what has been played; see `Meter.add`."""
        ended = after["over"][rows] | (after["finished"][rows] != before["finished"][rows])
        for row, action, is_over in zip(rows.tolist(), actions.tolist(), ended.tolist(), strict=True):
            pair, start, node = self._points[row]
            now = start_of(after[row])
            if node is None:
                if is_over and not after["over"][row]:
                    self._points[row] = self._dealt(row, pair, now, after[row])
                continue
            child = pair.trees[start].look(node).get(action)
            if child is None:
                raise self._unforeseen(row, before[row], action)
            found = pair.of(start, child.outcomes)
            luck = found - pair.of(start, node.expected)
            self._points[row] = _Point(pair, start, child)
            if is_over:
                luck += pair.value(now) - found
                if not after["over"][row]:
                    self._points[row] = self._dealt(row, pair, now, after[row])
            self._add(row, luck)

    def _unforeseen(self, row: int, state: Any, action: int) -> AgentError:
        seat = int(state["player"])
        player = self._players[int(self._seats[row, seat])]
        name = "a player" if player is None else player.name
        return AgentError(
            name, f"played {action} where it had said that it would not: one that draws or remembers must not say PURE"
        )
