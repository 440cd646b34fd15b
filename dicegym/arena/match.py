"""A match: the same entries play some games, seats drawn afresh for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dicegym.bots.surroundings import Printed
from dicegym.engine.dice import HOST_SEAT, drawn, named_seed, private_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, one_line
from dicegym.play.audience import Audience
from dicegym.play.player import Player, sit_down, whole
from dicegym.play.turn import Act, Turn
from dicegym.sandbox.heartbeat import LOADING, PLAYING, Beat, Reading
from dicegym.sandbox.jobs import Entry, Fault, Watch

_SEATING_TURN = 1  # of the host; environments draw seats and opponents in turn 0


MOST_INCIDENTS = 20
"""Incidents of one player in one match that are kept in words; all are counted."""


class Incident(NamedTuple):
    """Something that a player did wrong, which the rules of the game dealt with."""

    player: int
    """Index of the player in the match."""
    game: int
    """Number of the game in the match, from 1."""
    turn: int
    """Number of the player's decision in that game, from 1; 0: while it sat down or watched."""
    reason: str


class Silence(NamedTuple):
    """A player that ended or stopped its process: it is not asked again in this match, and fails each time."""

    player: int
    game: int
    """As in `Incident`: from here on."""
    turn: int
    reason: str


class Result(NamedTuple):
    """What a match came to; all tuples by player, in the order in which the players were given."""

    wins: tuple[int, ...]
    """Games won alone."""
    shares: tuple[float, ...]
    """Games won, a shared first place shared out."""
    faults: tuple[int, ...]
    """Answers that were illegal or none at all, which the rules of the game dealt with."""
    seats: tuple[tuple[int, ...], ...]
    """For each game which player sat where."""
    returns: tuple[tuple[float, ...], ...]
    """For each game the sum of rewards of each player."""
    incidents: tuple[Incident, ...]
    """What went wrong, in order; of each player the first `MOST_INCIDENTS`."""


def seating(key: int, players: int) -> list[int]:
    """Return which player sits in each seat of the game with this key: a uniformly random permutation."""
    order = list(range(players))
    for last in range(players - 1, 0, -1):
        other = drawn(key, HOST_SEAT, _SEATING_TURN, last, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class _Log:
    """What went wrong in a match."""

    def __init__(self, players: int) -> None:
        self.faults = [0] * players
        self.incidents: list[Incident] = []
        self._noted = [0] * players

    def note(self, player: int, game: int, turn: int, reason: str) -> None:
        """Keep an incident in words, unless the player has had many."""
        self._noted[player] += 1
        if self._noted[player] <= MOST_INCIDENTS:
            self.incidents.append(Incident(player, game, turn, reason))

    def fault(self, player: int, game: int, turn: int, reason: str) -> None:
        """Count a bad answer."""
        self.faults[player] += 1
        self.note(player, game, turn, reason)


def play_match(
    game: Game,
    players: Sequence[Player],
    seed: int,
    games: int,
    beat: Beat | None = None,
    stray: Printed | None = None,
    silences: Sequence[Silence] = (),
) -> Result:
    """Play games number 0 .. ``games - 1`` of ``seed`` between ``players``, here and now.

    A player that fails (raises, answers nonsense) is taken to have played the action that the rules say
    (``forfeit`` on the fact sheet), and the match goes on.

    Args:
        game: the game, with as many seats as players.
        players: each distinct, as one that keeps state does so for itself.
        seed: names the games; any integer.
        games: how many.
        beat: told who is asked.
        stray: takes what is printed past the bots' own ``print``.
        silences: players that are not asked any more from some decision on.

    Raises:
        AgentError: a player changed the record behind the game's back; or, in a game whose rules do not say what
            that costs, it failed, or printed while it was asked.
        ParameterError: the number of players is not that of the seats.
    """
    n = len(players)
    if n != game.players:
        raise ParameterError(f"{n} players cannot play {game!r}, which has {game.players} seats")
    beat, stray = beat or Beat.private(), stray or Printed()
    log = _Log(n)
    wins, shares, seats, gained = [0] * n, [0.0] * n, [], []
    watches = tuple(Watch(player, stray) for player in players)
    for number in range(games):
        beat.note(PLAYING, number)
        states = game.new_game(seed, number)
        order = seating(int(states[0]["key"]), n)
        silent = [silence for silence in silences if silence.game <= number + 1]
        _play(game, states, players, order, watches, beat, log, number + 1, silent)
        seats.append(tuple(order))
        returns = game.returns(states[0]).tolist()
        gained.append(tuple(returns[order.index(player)] for player in range(n)))
        first = [player for player in range(n) if gained[-1][player] == max(returns)]
        for player in first:
            shares[player] += 1 / len(first)
        if len(first) == 1:
            wins[first[0]] += 1
    return Result(tuple(wins), tuple(shares), tuple(log.faults), tuple(seats), tuple(gained), tuple(log.incidents))


def _play(
    game: Game,
    states: Any,
    players: Sequence[Player],
    order: Sequence[int],
    watches: Sequence[Watch],
    beat: Beat,
    log: _Log,
    number: int,
    silent: Sequence[Silence],
) -> None:
    """Play one game of a match: the one in ``states``, an array of one record."""
    state, over, mover = states[0], states["over"], states["player"]  # views: cheaper to read than the record
    key, record, step, act_of = int(state["key"]), states.tobytes, game.spec.kernels.step, beat.act
    forfeit, faults = game.spec.forfeit, game.spec.faults
    acts, turns, asked = [], [], [0] * len(players)
    for seat, player in enumerate(order):
        act_of(player, 0)
        act = sit_down(players[player], game, seat, private_seed(key, seat))
        for silence in silent:
            if silence.player == player:
                act = _silent_from(act, silence, number, asked)
        acts.append(act)
        turns.append(Turn(game, state, seat, order))
    audience = Audience(game, state, dict(enumerate(acts)), order)
    while not over[0]:
        seat = int(mover[0])
        player = order[seat]
        asked[player] = turn = asked[player] + 1
        act_of(player, turn)
        before, reason = record(), ""
        try:
            action = whole(acts[seat](turns[seat]), players[player])
        except AgentError as error:
            if forfeit is None:
                raise
            action, reason = forfeit, error.reason
        if record() != before:
            raise AgentError(players[player].name, "changed the game's record while choosing")
        if watches[player].printed:
            text = f"printed {one_line(watches[player].printed, 60)!r} while choosing"
            if forfeit is None:
                raise AgentError(players[player].name, text)
            watches[player].begin()
            log.note(player, number, turn, f"{text}, which costs nothing")
        fault = step(state, action)
        if fault or reason:
            log.fault(player, number, turn, reason or faults[fault])
        for follower, what in audience.due() if audience else ():
            player = order[what.seat]
            act_of(player, 0)
            try:
                follower.follow(what)
            except AgentError as error:
                log.note(player, number, 0, error.reason)


def _silent_from(act: Act, silence: Silence, number: int, asked: Sequence[int]) -> Act:
    """Return ``act`` until the decision of ``silence``, and a failure from there on."""

    def silent(turn: Turn) -> int:
        now = number, asked[silence.player]
        if now >= (silence.game, silence.turn):
            first = now <= (silence.game, max(1, silence.turn))
            raise AgentError(turn.game.spec.title, silence.reason if first else "is not asked any more in this match")
        return act(turn)

    return silent


@dataclass(frozen=True)
class Match:
    """A match as a job for a sandbox. Its games follow from the contest's seed and the entries' names alone."""

    game: Game
    entries: tuple[Entry, ...]
    contest_seed: int
    games: int
    silences: tuple[Silence, ...] = ()

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
        found = play_match(self.game, players, self.seed, self.games, beat, stray, self.silences)
        return found._asdict() | {"incidents": [list(incident) for incident in found.incidents]}

    def without(self, fault: Fault) -> Match | None:
        """Return the same match in which the entry at fault is not asked any more; None if the rules strike it."""
        if self.game.spec.forfeit is None or not fault.game:
            return None
        silence = Silence(fault.actor, fault.game, fault.turn, fault.reason)
        others = tuple(other for other in self.silences if other.player != fault.actor)
        before = [other for other in self.silences if other.player == fault.actor]
        if any((fault.game, fault.turn) >= (other.game, other.turn) for other in before):
            return None  # it stopped its process although it is not asked any more
        return replace(self, silences=(*others, silence))  # earlier than last time, if clocks tell another story

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        others = ", ".join(entry.name for i, entry in enumerate(self.entries) if i != reading.actor)
        if reading.phase == LOADING:
            return f"while it was loaded for the match against {others}"
        turn = f", turn {reading.turn}" if reading.turn else ""
        return f"in game {reading.number + 1} of {self.games} against {others}{turn}"
