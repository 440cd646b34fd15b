"""A match: the same entries play some games, seats drawn afresh for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dicegym.arena.beat import LOADING, PLAYING, Beat, Reading
from dicegym.arena.jobs import Entry, Watch
from dicegym.core import Game
from dicegym.dice import HOST_SEAT, drawn, named_seed, private_seed
from dicegym.errors import AgentError, ParameterError
from dicegym.players import Player, Turn, whole
from dicegym.players.botfile import one_line
from dicegym.players.private import Printed

_SEATING_TURN = 1  # of the host; environments draw seats and opponents in turn 0


class Result(NamedTuple):
    """What a match came to; all tuples by player, in the order in which the players were given."""

    wins: tuple[int, ...]
    """Games won alone."""
    shares: tuple[float, ...]
    """Games won, a shared first place shared out."""
    faults: tuple[int, ...]
    """Illegal actions, which the rules of the game dealt with."""
    seats: tuple[tuple[int, ...], ...]
    """For each game which player sat where."""


def seating(key: int, players: int) -> list[int]:
    """Return which player sits in each seat of the game with this key: a uniformly random permutation."""
    order = list(range(players))
    for last in range(players - 1, 0, -1):
        other = drawn(key, HOST_SEAT, _SEATING_TURN, last, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def play_match(
    game: Game, players: Sequence[Player], seed: int, games: int, beat: Beat | None = None, stray: Printed | None = None
) -> Result:
    """Play games number 0 .. ``games - 1`` of ``seed`` between ``players``, here and now.

    Args:
        game: the game, with as many seats as players.
        players: each distinct, as one that keeps state does so for itself.
        seed: names the games; any integer.
        games: how many.
        beat: told who is asked.
        stray: takes what is printed past the bots' own ``print``.

    Raises:
        AgentError: a player failed, or while it was asked it printed or changed the record behind the game's back.
        ParameterError: the number of players is not that of the seats.
    """
    n = len(players)
    if n != game.players:
        raise ParameterError(f"{n} players cannot play {game!r}, which has {game.players} seats")
    beat, stray = beat or Beat.private(), stray or Printed()
    watches = [Watch(player, stray) for player in players]
    wins, shares, faults, seats = [0] * n, [0.0] * n, [0] * n, []
    act_of, step, watch_all = beat.act, game.rules.kernels.step, tuple(watches)
    for number in range(games):
        beat.note(PLAYING, number)
        states = game.new_game(seed, number)
        state, over, mover = states[0], states["over"], states["player"]  # views: cheaper to read than the record
        key, record = int(state["key"]), states.tobytes
        order = seating(key, n)
        seats.append(tuple(order))
        acts, turns = [], []
        for seat, player in enumerate(order):
            act_of(player)
            acts.append(players[player].join(game, seat, private_seed(key, seat)))
            turns.append(Turn(game, state, seat))
        while not over[0]:
            seat = int(mover[0])
            player = order[seat]
            act_of(player)
            before = record()
            action = acts[seat](turns[seat])
            if record() != before:
                raise AgentError(players[player].name, "changed the game's record while choosing")
            if watch_all[player].printed:
                text = one_line(watch_all[player].printed, 60)
                raise AgentError(players[player].name, f"printed {text!r} while choosing")
            if step(state, whole(action, players[player])):
                faults[player] += 1
        returns = game.returns(state).tolist()
        first = [order[seat] for seat in range(n) if returns[seat] == max(returns)]
        for player in first:
            shares[player] += 1 / len(first)
        if len(first) == 1:
            wins[first[0]] += 1
    return Result(tuple(wins), tuple(shares), tuple(faults), tuple(seats))


@dataclass(frozen=True)
class Match:
    """A match as a job for a sandbox. Its games follow from the contest's seed and the entries' names alone."""

    game: Game
    entries: tuple[Entry, ...]
    contest_seed: int
    games: int

    @property
    def seed(self) -> int:
        """The seed of the games, whatever the order of the entries."""
        return named_seed("match", self.game.name, self.contest_seed, *sorted(entry.name for entry in self.entries))

    @property
    def known(self) -> bool:
        """True: entries are checked before they play."""
        return True

    def run(self, beat: Beat, stray: Printed) -> dict[str, Any]:
        """Load every entry afresh and play; see `Job.run`."""
        players = []
        beat.note(LOADING, 0)
        for i, entry in enumerate(self.entries):
            beat.act(i)
            players.append(entry.load(self.game, named_seed("load", self.seed, entry.name)))
        return play_match(self.game, players, self.seed, self.games, beat, stray)._asdict()

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        others = ", ".join(entry.name for i, entry in enumerate(self.entries) if i != reading.actor)
        if reading.phase == LOADING:
            return f"while it was loaded for the match against {others}"
        return f"in game {reading.number + 1} of {self.games} against {others}"
