"""How players, valuers among them, are asked for many games at once: what each would play, and how likely.

Players are asked for all games in one call where they can be (`dicegym.play.player.Player.at_once`). Others sit down in
each game when it is their turn, and know nothing of what happened before.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.analysis.kernels.rollout_kernels import uniforms
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, FaultWarning, ParameterError
from dicegym.games.hidden import list_hidden_fields
from dicegym.games.keyboard import STRENGTHS
from dicegym.games.parts import KEYBOARD, part
from dicegym.games.worth import ActionValues, BatchValuer, Valuer
from dicegym.play.player import Player, answer, draws_openly, sit_down
from dicegym.play.turn import Act, Turn
from dicegym.players.batch_players import twin_numbers
from dicegym.players.roster import opponent

SLIP = 0.1
"""How often a player is supposed to choose any legal action instead: another player may sit there."""
MOST_SEEN = 200_000
"""Policies that are kept, of as many things that a player may know."""
DRAWS = 16
"""Times that a player that draws is asked what it would do, to estimate how likely it acts so."""


def values_of(valuer: Valuer, states: np.ndarray) -> np.ndarray:
    """Return what each state is worth to each seat: float64[states, players]."""
    if isinstance(valuer, BatchValuer):
        return valuer.values_rows(states)
    seats = range(valuer.game.players)
    return np.array([[valuer.value(state, seat) for seat in seats] for state in states]).reshape(-1, len(seats))


def stack_values(found: Sequence[ActionValues], n_actions: int) -> ActionValues:
    """Return what actions are worth in several states as one: arrays of float64[states, n_actions]."""
    values, errors = (np.array([one[column] for one in found], np.float64).reshape(-1, n_actions) for column in (0, 1))
    behind = [one.behind for one in found if one.behind is not None]
    return ActionValues(values, errors, np.array(behind) if behind and len(behind) == len(found) else None)


def policies_of(valuer: Valuer, states: np.ndarray) -> np.ndarray:
    """Return how a valuer supposes that the player to move plays in each state: float64[states, n_actions]."""
    in_rows = getattr(valuer, "policy_rows", None)
    found: np.ndarray = in_rows(states) if in_rows is not None else np.array([valuer.policy(state) for state in states])
    return found


def usual_policy(game: Game) -> str:
    """Return the agent that plays games on by default: the strongest compiled one of `Keyboard.OPPONENTS`.

    Games in which none of these is compiled name their baseline.
    """
    keyboard, compiled = part(game, KEYBOARD), twin_numbers(game)
    offered = [] if keyboard is None else [keyboard.OPPONENTS.get(strength, "") for strength in reversed(STRENGTHS)]
    return next((name for name in offered if name in compiled), game.spec.baseline)


class ValuerPlayer(Player):
    """Plays as a valuer supposes: draws from its `policy`, by the key of the game, as compiled twins do.

    Args:
        valuer: whose policy it is.
    """

    at_once = True

    def __init__(self, valuer: Valuer) -> None:
        self.name = valuer.name
        self.valuer = valuer
        self._seen: dict[bytes, np.ndarray] = {}

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser that draws by ``seed``."""
        generator = np.random.default_rng(seed)

        def act(turn: Turn) -> int:
            return int(generator.choice(game.n_actions, p=self.valuer.policy(turn.record)))

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        chances = self.chances(game, states[rows]).cumsum(axis=1)
        drawn = _drawn(game, states[rows])
        actions: np.ndarray = (chances < (drawn * chances[:, -1])[:, None]).sum(axis=1)
        return actions

    def chances(self, game: Game, states: np.ndarray) -> np.ndarray:
        """Return how likely each action is: float64[states, n_actions]. The same knowledge is asked once."""
        told = states.copy()
        told["key"] = 0
        for seat in np.unique(states["player"]).tolist():
            others = [other for other in range(game.players) if other != seat]
            its = states["player"] == seat
            for name in list_hidden_fields(game):
                for other in others:
                    told[name][its, other] = 0
        texts = [row.tobytes() for row in record_bytes(told)]
        new = list({text: row for row, text in enumerate(texts) if text not in self._seen}.items())
        if new:
            found = policies_of(self.valuer, states[[row for _, row in new]])
            if len(self._seen) > MOST_SEEN:
                self._seen = {}
                return self.chances(game, states)
            self._seen.update({text: policy for (text, _), policy in zip(new, found, strict=True)})
        return np.stack([self._seen[text] for text in texts])


def record_bytes(states: np.ndarray) -> np.ndarray:
    """Return records as uint8[records, bytes], in place if they lie in a row."""
    return np.ascontiguousarray(states).view(np.ndarray).view(np.uint8).reshape(len(states), -1)


def _drawn(game: Game, states: np.ndarray) -> np.ndarray:
    """Return a number of 0..1 for each record, which depends on all of it: float64[states]."""
    raw = game.drawing_bytes(states)
    words = np.zeros((len(raw), -(-raw.shape[1] // 8) * 8), np.uint8)
    words[:, : raw.shape[1]] = raw
    found = np.empty(len(raw))
    uniforms(words.view(np.uint64), found)
    return found


def policy_player(game: Game, named: Any, trust: bool = False) -> Player:
    """Return the player that plays games on: one that is named, a compiled twin where there is one, or a valuer's.

    Args:
        game: the game.
        named: an agent's name or path, a `Player`, or a valuer of the game.
        trust: as of `dicegym.agent`.

    Raises:
        UnknownNameError, ParameterError, AgentError, ModelError, DependencyError: as `dicegym.agent` does.
    """
    if hasattr(named, "action_values"):
        if named.game != game:
            raise ParameterError(f"{named.name} knows {named.game!r}, and not {game!r}")
        return ValuerPlayer(named)
    return opponent(game, named, trust=trust)


class SideBySide:
    """Games that are played at the same time, and their players.

    Args:
        game: the game.
        players: by seat.
    """

    def __init__(self, game: Game, players: Sequence[Player]) -> None:
        self._game, self._players = game, players
        self._acts: dict[tuple[int, int], Act] = {}

    def step(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Let the player to move in each game ``states[rows[k]]`` choose, and play that."""
        seats = states["player"][rows].astype(np.int64)
        faults = np.empty(len(rows), np.int64)
        for seat in np.unique(seats).tolist():
            its = rows[seats == seat]
            loops.step_rows(states, its, self._actions(states, its, seat), faults)

    def _actions(self, states: np.ndarray, rows: np.ndarray, seat: int) -> np.ndarray:
        """Return what one seat chooses in each of some games: int64[rows]."""
        game, player = self._game, self._players[seat]
        if player.at_once:
            return player.act_rows(game, states, rows, np.full(len(rows), seat, np.int64))
        actions = np.empty(len(rows), np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FaultWarning)
            for place, row in enumerate(rows.tolist()):
                if (row, seat) not in self._acts:
                    seed = named_seed("rollout", int(states["key"][row]), seat)
                    self._acts[row, seat] = sit_down(player, game, seat, seed)
                actions[place] = answer(self._acts[row, seat], Turn(game, states[row], seat), player)
        return actions


def likelihoods(player: Player, game: Game, states: np.ndarray, action: int) -> np.ndarray | None:
    """Return how likely ``player`` is to choose ``action`` in each state: float64[states]; None if that is not known.

    Args:
        player: the one that is asked.
        game: the game.
        states: records in which the same seat is to move; they are not changed.
        action: one of the ``n_actions``.
    """
    if isinstance(player, ValuerPlayer):
        exactly: np.ndarray = player.chances(game, states)[:, action]
        return exactly
    if not player.at_once:
        return None
    legal = int(game.legal(states[0]).sum())
    if draws_openly(player):
        openly: np.ndarray = player.chances(game, states)[:, action]
        return (1 - SLIP) * openly + SLIP / max(legal, 1)
    rows = np.arange(len(states))
    seats = np.full(len(states), states["player"][0], np.int64)
    found = np.zeros(len(states))
    asked = states.copy()
    draws = 1 if player.pure else DRAWS
    try:
        for number in range(draws):
            asked["key"] = named_seed("likelihood", number)
            found += player.act_rows(game, asked, rows, seats) == action
    except AgentError:
        return None
    return (1 - SLIP) * found / draws + SLIP / max(legal, 1)
