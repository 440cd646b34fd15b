"""The opponents in a batch of games: who sits where, and how each is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.loops import UNKNOWN
from dicegym.envs.batch_kernels import ASK, PLAY, WAIT, OpponentArrays, Share, play_others
from dicegym.play.drive import Audience, join_table
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.batch_players import Tabulated, TwinPlayer, situations
from dicegym.players.pool import Pool


class Opponents:
    """Plays every seat except the learner's in a batch of games.

    The compiled loop plays compiled bots and, where a game numbers its situations, the known answers of pure players.
    Other pure players are asked once for all games that wait for them (`Player.act_rows`). Any other player sits down
    in each game and is asked game by game.

    Args:
        game: the game.
        states: the records of all games, updated while they are played.
        pool: games that begin in the compiled loop draw their opponents from it; None: only `sit` seats players.

    Attributes:
        who: int16[n, players], the player in each seat, as an index into the known players; -1: none of ours.
        watched: bool[n], games with a follower, who is told after each decision; may be replaced by a view.
    """

    def __init__(self, game: Game, states: np.ndarray, pool: Pool | None = None) -> None:
        n = len(states)
        self.game = game
        self.who = np.full((n, game.players), -1, np.int16)
        self.watched = np.zeros(n, np.bool_)
        self._states = states
        self._pool = pool
        self._pool_sits = _sits(pool)
        self._players: list[Player] = []  # all that have or may draw a seat
        self._acts: dict[int, dict[int, Act]] = {}  # row -> seat -> how to ask a player that answers game by game
        self._audiences: dict[int, Audience] = {}  # row -> the followers among them
        self._situations = situations(game)
        self._tables: dict[int, Tabulated] = {}  # index of a player -> its answers
        self._arrays: OpponentArrays | None = None  # made anew when players come or go

    @property
    def seating(self) -> bool:
        """Whether a new game may need `seat`: a player draws or remembers, or did in the game before."""
        return self._pool_sits or bool(self._acts)

    @property
    def arrays(self) -> OpponentArrays:
        """The players, as the compiled loop needs them."""
        if self._arrays is None:
            members = [self._index(player) for player in self._pool.players] if self._pool else []
            codes = np.array([self._code(index) for index in range(len(self._players))], np.int64)
            tables = np.full((len(self._tables), max(1, self._situations)), UNKNOWN, np.int32)
            for row, table in zip(tables, self._tables.values(), strict=True):
                row[:] = table.answers
                table.answers = row  # from now on it writes where the loop reads
            bounds = self._pool.bounds if self._pool else np.zeros(0, np.int64)
            self._arrays = OpponentArrays(codes, tables, np.array(members, np.int64), bounds)
        return self._arrays

    def _index(self, player: Player) -> int:
        for index, known in enumerate(self._players):
            if known is player:
                return index
        self._players.append(player)
        self._arrays = None
        return len(self._players) - 1

    def _code(self, index: int) -> int:
        player = self._players[index]
        if isinstance(player, TwinPlayer):
            return player.number
        if not (self._situations and player.pure):
            return ASK
        if index not in self._tables:
            self._tables[index] = Tabulated(self.game, player, self._situations)
        return -2 - list(self._tables).index(index)

    def set_pool(self, pool: Pool) -> None:
        """Draw from ``pool`` in new games; forget players that neither sit nor can be drawn."""
        self._pool = pool
        self._pool_sits = _sits(pool)
        for player in pool.players:
            self._index(player)
        wanted = {id(player) for player in pool.players}
        seated = set(np.unique(self.who[self.who >= 0]).tolist())
        kept = [i for i, player in enumerate(self._players) if i in seated or id(player) in wanted]
        moved = np.full(len(self._players) + 1, -1, np.int16)  # the last entry is for -1
        moved[kept] = np.arange(len(kept))
        self.who[...] = moved[self.who]
        self._players = [self._players[index] for index in kept]
        self._tables = {int(moved[i]): table for i, table in self._tables.items() if moved[i] >= 0}
        self._arrays = None

    def sit(self, row: int, key: int, players: dict[int, Player]) -> None:
        """Seat ``players`` (seat -> player) in the game that begins in ``row`` with ``key``."""
        self.place(row, players)
        self.seat(row, key)

    def place(self, row: int, players: dict[int, Player]) -> None:
        """Give ``players`` (seat -> player) their seats in ``row``, before `seat`."""
        self.who[row] = -1
        for seat, player in players.items():
            self.who[row, seat] = self._index(player)

    def seat(self, row: int, key: int) -> None:
        """Seat the players in ``row`` that draw or remember, in the game with ``key``."""
        self._acts.pop(row, None)
        self._audiences.pop(row, None)
        taken = {seat: self._players[index] for seat, index in enumerate(self.who[row].tolist()) if index >= 0}
        live = {seat: player for seat, player in taken.items() if not player.at_once}
        if live:
            acts = self._acts[row] = join_table(self.game, live, key)
            if audience := Audience(self.game, self._states[row], acts):
                self._audiences[row] = audience
        self.watched[row] = row in self._audiences

    def state_dict(self) -> dict[str, Any]:
        """Return the seats as indices (-1: nobody) by row and seat, and the players that these number."""
        return {"who": self.who.copy(), "players": list(self._players)}

    def load_state_dict(self, state: dict[str, Any], keys: np.ndarray) -> None:
        """Seat everybody as they sat, in the games with ``keys`` (one a row)."""
        self._players = list(state["players"])
        self._tables = {}
        self._acts.clear()
        self._audiences.clear()
        self._arrays = None
        self.who[...] = state["who"]
        live = [index for index, player in enumerate(self._players) if not player.at_once]
        for row in np.flatnonzero(np.isin(self.who, live).any(axis=1)).tolist():
            self.seat(row, int(keys[row]))

    def play_out(self) -> None:
        """Play all games to their ends, once `sit` has filled every seat."""
        n = len(self._states)
        rows, waiting = np.arange(n), np.empty(n, np.int64)
        actions, tasks, nobody = np.zeros(n, np.int64), np.full(n, WAIT, np.int8), np.full(n, -1)
        codes, tables = self.arrays[:2]
        while count := play_others(
            Share(rows, actions, tasks, waiting[: len(rows)]), self._states, self.watched, self.who, codes, tables
        ):
            rows = waiting[:count].copy()
            actions, tasks = self.answers(rows, nobody)

    def tell(self, row: int) -> None:
        """Tell the followers of a game what has happened in it."""
        if row in self._audiences:
            self._audiences[row].tell()

    def answer(self, row: int) -> int:
        """Ask the player to move in a game; see `answers`."""
        state = self._states[row]
        seat = int(state["player"])
        index = int(self.who[row, seat])
        if self._players[index].at_once:
            return int(self._rows_of(index)(np.array([row]), np.array([seat]))[0])
        return self._acts[row][seat](Turn(self.game, state, seat))

    def answers(self, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ask the player to move in each of ``rows``, after telling followers of the games.

        Returns:
            Actions (int64) and tasks (int8): WAIT where the learner (``seats[row]``) is to move or the game is over.

        Raises AgentError if a player fails and the rules do not say what that costs.
        """
        states = self._states
        for row in rows.tolist() if self._audiences else ():
            self.tell(row)
        movers = states["player"][rows].astype(np.int64)
        asked = ~states["over"][rows] & (movers != seats[rows])
        actions = np.zeros(len(rows), np.int64)
        who = self.who[rows, movers]
        for index in np.unique(who[asked]).tolist():
            at = np.flatnonzero(asked & (who == index))
            if self._players[index].at_once:
                actions[at] = self._rows_of(index)(rows[at], movers[at])
                continue
            for k in at.tolist():
                row, seat = int(rows[k]), int(movers[k])
                actions[k] = self._acts[row][seat](Turn(self.game, states[row], seat))
        return actions, np.where(asked, PLAY, WAIT).astype(np.int8)

    def _rows_of(self, index: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Return how a pure player is asked for an action for each row."""
        if index in self._tables:
            table = self._tables[index]
            return lambda rows, seats: table.act_rows(self._states, rows, seats)
        player = self._players[index]
        return lambda rows, seats: player.act_rows(self.game, self._states, rows, seats)


def _sits(pool: Pool | None) -> bool:
    """Return whether a player of the pool has to sit down before a game continues."""
    return pool is not None and any(not player.at_once for player in pool.players)
