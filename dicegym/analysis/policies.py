"""How games are played on from a state: by players, or as a valuer supposes; and how likely either is to act so.

A rollout plays thousands of games at once, so players are asked for all of them in one call where they can be
(`dicegym.play.player.Player.at_once`). Others sit down in each game when it is theirs to move, and know nothing of what
was before.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dicegym.analysis.kernels.playing_on import uniforms
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, FaultWarning, ParameterError
from dicegym.games.hidden import hidden_fields
from dicegym.games.keyboard import STRENGTHS
from dicegym.games.parts import KEYBOARD, part
from dicegym.games.worth import Valuer
from dicegym.play.player import Player, answer, draws_openly, sit_down
from dicegym.play.turn import Act, Turn
from dicegym.players.twins import opponent, twin_numbers

SLIP = 0.1
"""How often a player is supposed to do anything that is allowed instead: who sits there may be another one."""
MOST_SEEN = 200_000
"""Policies that are kept, of as many things that a player may know."""
DRAWS = 16
"""Times that a player that draws is asked what it would do, to estimate how likely it acts so."""


def usual_policy(game: Game) -> str:
    """Return the agent that plays games on unless another is named: the strongest that people are offered, if compiled.

    Else it is the game's baseline. What a state is worth depends on who plays on, and a weak player misses the point.
    """
    keyboard = part(game, KEYBOARD)
    strongest = "" if keyboard is None else keyboard.OPPONENTS.get(STRENGTHS[-1], "")
    return strongest if strongest in twin_numbers(game) else game.spec.baseline


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
        """Return how likely each action is: float64[states, n_actions]. Those who know the same are asked for once."""
        told = states.copy()
        told["key"] = 0
        for seat in np.unique(states["player"]).tolist():
            others = [other for other in range(game.players) if other != seat]
            its = states["player"] == seat
            for name in hidden_fields(game):
                for other in others:
                    told[name][its, other] = 0
        texts = [row.tobytes() for row in record_bytes(told)]
        new = list({text: row for row, text in enumerate(texts) if text not in self._seen}.items())
        if new:
            asked = states[[row for _, row in new]]
            in_rows = getattr(self.valuer, "policy_rows", None)
            found = in_rows(asked) if in_rows is not None else [self.valuer.policy(state) for state in asked]
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


def choose_rows(
    player: Player, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray, acts: dict[int, Act]
) -> np.ndarray:
    """Return the action of ``player`` in each game ``states[rows[k]]``, in which seat ``seats[k]`` is to move.

    ``acts`` keeps those who have sat down in a game, by its row; it is empty at first.
    """
    if player.at_once:
        return player.act_rows(game, states, rows, seats)
    actions = np.empty(len(rows), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaultWarning)
        for place, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            at = row * game.players + seat
            if at not in acts:
                acts[at] = sit_down(player, game, seat, named_seed("rollout", int(states["key"][row]), seat))
            actions[place] = answer(acts[at], Turn(game, states[row], seat), player)
    return actions


def likelihoods(player: Player, game: Game, states: np.ndarray, action: int) -> np.ndarray | None:
    """Return how likely ``player`` is to choose ``action`` in each state: float64[states]; None if that is not known.

    Args:
        player: who is asked.
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
