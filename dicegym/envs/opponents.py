"""The opponents of a batch of games: who plays where, and their moves until the learner is asked again."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym import loops
from dicegym.core import Game
from dicegym.envs.seating import Seating
from dicegym.players import Act, Audience, Player, Turn, join_table


class Opponents:
    """Plays every seat but the learner's in a batch of games.

    Pure players are asked once for all games that wait for them (`Player.act_rows`); any other player sits
    down in each game and is asked game by game.

    Args:
        game: the game.
        states: the records of all games, which change while they are played.
    """

    def __init__(self, game: Game, states: np.ndarray) -> None:
        n = len(states)
        self.game = game
        self._states = states
        self._waiting = np.zeros(n, np.int64)
        self._players: list[Player] = []  # all who sit anywhere, or are to
        self._who = np.full((n, game.players), -1, np.int64)  # index into _players; -1: nobody of ours
        self._acts: dict[int, dict[int, Act]] = {}  # row -> seat -> who to ask, for players that are not pure
        self._audiences: dict[int, Audience] = {}  # row -> those of them who follow the game

    def _index(self, player: Player) -> int:
        for index, known in enumerate(self._players):
            if known is player:
                return index
        self._players.append(player)
        return len(self._players) - 1

    def join(self, seating: Seating, rows: np.ndarray, keys: np.ndarray, seats: np.ndarray) -> None:
        """Seat opponents in the games that begin in ``rows`` with ``keys`` (uint64, one a row)."""
        only = seating.pool.only
        if only is not None and only.pure:  # nothing to draw and nobody to sit down
            self._who[rows] = self._index(only)
            if self._acts:
                for row in rows.tolist():
                    self._acts.pop(row, None)
                    self._audiences.pop(row, None)
            return
        for row, key in zip(rows.tolist(), keys.tolist(), strict=True):
            self.sit(row, key, seating.opponents(key, int(seats[row])))

    def sit(self, row: int, key: int, players: dict[int, Player]) -> None:
        """Seat ``players`` (seat -> player) in the game that begins in ``row`` with ``key``."""
        self._who[row] = -1
        for seat, player in players.items():
            self._who[row, seat] = self._index(player)
        live = {seat: player for seat, player in players.items() if not player.pure}
        acts = self._acts[row] = join_table(self.game, live, key)
        self._audiences.pop(row, None)
        if audience := Audience(self.game, self._states[row], acts):
            self._audiences[row] = audience

    def forget_unused(self, seating: Seating) -> None:
        """Drop players that neither sit in a game nor belong to the pool any more."""
        used = set(np.unique(self._who[self._who >= 0]).tolist())
        used |= {self._index(player) for player in seating.pool.players}
        kept = sorted(used)
        moved = np.full(len(self._players), -1, np.int64)
        moved[kept] = np.arange(len(kept))
        self._who = np.where(self._who >= 0, moved[self._who], -1)
        self._players = [self._players[index] for index in kept]

    def state_dict(self) -> dict[str, Any]:
        """Return who sits where: indices (-1: nobody) by row and seat, and the players they count."""
        return {"who": self._who.copy(), "players": list(self._players)}

    def load_state_dict(self, state: dict[str, Any], keys: np.ndarray, seats: np.ndarray) -> None:
        """Seat everybody as they sat, in the games with ``keys`` and learners in ``seats`` (one a row)."""
        self._players = list(state["players"])
        self._acts, self._audiences = {}, {}
        for row, indices in enumerate(state["who"].tolist()):
            taken = {s: self._players[i] for s, i in enumerate(indices) if i >= 0 and s != seats[row]}
            if any(not player.pure for player in taken.values()):
                self.sit(row, int(keys[row]), taken)
        self._who = state["who"].copy()

    def play(self, rows: np.ndarray, seats: np.ndarray) -> None:
        """Play in each of ``rows`` until its learner (``seats[row]``; -1: none) is to move or its game is over."""
        states = self._states
        faults = np.empty(len(rows), np.int64)
        self._tell(rows)
        while n := loops.others_to_move(states, rows, seats, self._waiting):
            rows = self._waiting[:n].copy()
            actions = self._choose(rows, states["player"][rows].astype(np.int64))
            loops.step_rows(states, rows, actions, faults)
            self._tell(rows)

    def _tell(self, rows: np.ndarray) -> None:
        """Tell the followers in ``rows`` what has happened."""
        if self._audiences:
            for row in rows.tolist():
                if row in self._audiences:
                    self._audiences[row].tell()

    def _choose(self, rows: np.ndarray, movers: np.ndarray) -> np.ndarray:
        states = self._states
        who = self._who[rows, movers]
        if len(self._players) == 1 and self._players[0].pure:
            return self._players[0].act_rows(self.game, states, rows, movers)
        actions = np.empty(len(rows), np.int64)
        for index in np.unique(who).tolist():
            at = np.flatnonzero(who == index)
            if self._players[index].pure:
                actions[at] = self._players[index].act_rows(self.game, states, rows[at], movers[at])
                continue
            for k in at.tolist():
                row, seat = int(rows[k]), int(movers[k])
                actions[k] = self._acts[row][seat](Turn(self.game, states[row], seat))
        return actions
