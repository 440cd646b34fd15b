"""A match: the same entries play some games, with seats drawn again for each.

Words: a *fault* is an action that the rules do not allow. An *incident* is one thing that a player did wrong in a game
and that the rules handled: a fault or a missing answer. Reports call it a *misplay* (`dicegym.arena.match_rows`).
A *failure* ends the work in the sandbox (`dicegym.sandbox.jobs.Failure`). Then the player is *dismissed* from the rest
of the match if the game can continue without it, and *disqualified* from the contest otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import AgentError
from dicegym.games import game as make_game
from dicegym.games.worth import first_place_shares
from dicegym.play.drive import Referee
from dicegym.play.player import Player, Usage
from dicegym.play.printed import Printed
from dicegym.play.turn import Act, Follower, Turn
from dicegym.players.batch_players import play_tables, tables_alone
from dicegym.sandbox.heartbeat import LOADING, PLAYING, Heartbeat, Reading
from dicegym.sandbox.jobs import Context, Entry, Failure
from dicegym.sandbox.remote import NOT_ASKED

MOST_INCIDENTS = 20
"""Incidents of one player in one match that are kept with their reasons; all are counted."""


class Incident(NamedTuple):
    """Something that a player did wrong and that the rules of the game handled."""

    player: int
    """Index of the player in the match."""
    game: int
    """Number of the game in the match, from 1."""
    turn: int
    """Number of the player's decision in that game, from 1; 0: while it sat down or watched."""
    reason: str


class MatchResult(NamedTuple):
    """The result of a match; all tuples are by player, in the order given."""

    wins: tuple[int, ...]
    """Games won alone."""
    shares: tuple[float, ...]
    """Games won; players that share a first place share the game."""
    faults: tuple[int, ...]
    """Illegal and missing answers that the rules handled."""
    seats: tuple[tuple[int, ...], ...]
    """For each game, which player sat where."""
    returns: tuple[tuple[float, ...], ...]
    """For each game, the sum of rewards of each player."""
    incidents: tuple[Incident, ...]
    """What went wrong, in order: the first `MOST_INCIDENTS` of each player."""
    noted: tuple[int, ...] = ()
    """The number of all incidents of each player."""
    printed: tuple[str, ...] = ()
    """The beginning of each player's output, from its loading on."""
    actions: tuple[tuple[int, ...], ...] = ()
    """For each game, all actions in their order, forfeits included. Applied to ``game.new_game(seed, number)`` they
    give the same game."""
    usages: tuple[Usage | None, ...] = ()
    """Counts of each player that counts its answers, as language models do; empty if none does."""


def play_match(
    game: Game | str,
    players: Sequence[Player],
    seed: int,
    games: int,
    heartbeat: Heartbeat | None = None,
    stray: Printed | None = None,
    dismissals: Sequence[Failure] = (),
    apart: Sequence[bool] = (),
) -> MatchResult:
    """Play games number 0 .. ``games - 1`` of ``seed`` between ``players``, in this process.

    A player fails if it raises AgentError or answers nonsense. The match continues with the action that the rules name
    (``forfeit`` on the fact sheet). Any other exception ends the match.

    Args:
        game: the game, with as many seats as players, or its name.
        players: all distinct objects, as players may keep state.
        seed: names the games; any integer.
        games: how many.
        heartbeat: records which player is asked.
        stray: receives what bots print past their own ``print``.
        dismissals: players that ended or blocked their process; from that decision on they fail without being asked.
        apart: which players play in another process, where their referee takes their time; default: none.

    Raises:
        AgentError: a player changed the record itself, or failed where the rules name no price.
        ParameterError: the number of players differs from the number of seats, or ``games`` is less than 1.

    Example:
        >>> import dicegym
        >>> from dicegym.contest import play_match
        >>> game = dicegym.game("hog")
        >>> match = play_match(game, [dicegym.agent(game, name) for name in ("bacon", "swap")], seed=1, games=3)
        >>> len(match.seats), sum(match.shares)
        (3, 3.0)
    """
    game, n = make_game(game), len(players)
    games = whole_number("games", games, 1, MOST, "the number of games of a match")
    heartbeat, stray = heartbeat or Heartbeat.private(), stray or Printed()
    course = _Course(game, players, seed, heartbeat, stray, dismissals, apart or [False] * n)
    seats, gained, actions = [], [], []
    before = [player.usage for player in players]
    tabled = not dismissals and tables_alone(game, players)
    for order, moves, returns in course.play_tables(games) if tabled else course.play(games):
        seats.append(tuple(order))
        actions.append(tuple(moves))
        by_player = dict(zip(order, returns, strict=True))
        gained.append(tuple([by_player[player] for player in range(n)]))
        if returns.count(best := max(returns)) == 1:
            heartbeat.count_win(order[returns.index(best)])
    shares = first_place_shares(np.array(gained).reshape(-1, n))
    usages = tuple(
        None if one is None or other is None else Usage(*(b - a for a, b in zip(one, other, strict=True)))
        for one, other in zip(before, [player.usage for player in players], strict=True)
    )
    wins, won = np.add.reduce(shares == 1, axis=0).tolist(), np.add.reduce(shares, axis=0).tolist()
    printed = [one.text for one in course.printed]
    fields = wins, won, course.faults, seats, gained, course.incidents, course.noted, printed, actions
    return MatchResult._make([*map(tuple, fields), usages if any(usages) else ()])


_Played = tuple[Sequence[int], Sequence[int], list[float]]
"""A game: which player sat where, all actions, and the sum of rewards of each seat."""


@dataclass
class _Course:
    """What the games of a match share, as given to `play_match`, and what went wrong in them."""

    game: Game
    players: Sequence[Any]
    seed: int
    heartbeat: Heartbeat
    stray: Printed
    dismissals: Sequence[Failure]
    apart: Sequence[bool]

    def __post_init__(self) -> None:
        self.printed = [Printed() if player.printed is None else player.printed for player in self.players]
        self.faults, self.noted = [0] * len(self.players), [0] * len(self.players)
        self.incidents: list[Incident] = []

    def note(self, player: int, game: int, turn: int, reason: str) -> None:
        """Count an incident, and keep the first ones."""
        self.noted[player] += 1
        if self.noted[player] <= MOST_INCIDENTS:
            self.incidents.append(Incident(player, game, turn, reason))

    def fault(self, player: int, game: int, turn: int, reason: str) -> None:
        """Count an illegal or missing answer."""
        self.faults[player] += 1
        self.note(player, game, turn, reason)

    def play(self, games: int) -> Iterator[_Played]:
        """Play one game after another."""
        for number in range(games):
            self.heartbeat.note(PLAYING, number)
            referee = _MatchReferee(self, number)
            state = referee.play()
            yield referee.order, referee.actions, self.game.returns(state).tolist()

    def play_tables(self, games: int) -> Iterator[_Played]:
        """Play the same games where all players have tables."""
        current = -1

        def acting(number: int, player: int) -> None:
            nonlocal current
            if number != current:  # one move for the watcher, or a game without end would have no limit
                current = number
                self.heartbeat.note(PLAYING, number)
                self.heartbeat.act(player)

        for number, found in enumerate(play_tables(self.game, self.players, self.seed, games, acting)):
            for seat, turn, fault in found.faults:
                self.fault(found.order[seat], number + 1, turn, self.game.spec.faults[fault])
            yield found.order, found.actions, found.returns


class _MatchReferee(Referee):
    """Plays one game of a match: charges time to players, keeps their output, and refuses tampering.

    Its ``players`` are by seat. All numbers of players here are those of the match: ``order[seat]``.
    """

    def __init__(self, course: _Course, number: int) -> None:
        states: np.ndarray = course.game.new_game(course.seed, number)
        self.order = seating(int(states[0]["key"]), len(course.players))
        self.number = number + 1
        self._course, self._apart, self._stray = course, course.apart, course.stray  # looked up at each decision
        heartbeat = course.heartbeat
        self._act_of = [heartbeat.hand_over if away else heartbeat.act for away in course.apart]
        self._asked = [0] * len(course.players)
        self._record = states.tobytes
        self._before = b""
        super().__init__(course.game, states, [course.players[player] for player in self.order], self.order)

    def sit(self, seat: int, seed: int) -> Act:
        player = self.order[seat]
        self._act_of[player](player, 0)
        act = super().sit(seat, seed)
        self._hear(player)
        for dismissal in self._course.dismissals:
            if dismissal.actor == player and dismissal.game <= self.number:
                act = self._until(dismissal, act)
        return act

    def _until(self, dismissal: Failure, act: Act) -> Act:
        """Return ``act`` until the decision of ``dismissal``, and a failure from there on."""

        def play_until_dismissal(turn: Turn) -> int:
            now = self.number, self._asked[dismissal.actor]
            if now < (dismissal.game, dismissal.turn):
                return act(turn)
            first = now <= (dismissal.game, max(1, dismissal.turn))
            reason = dismissal.reason if first else NOT_ASKED
            raise AgentError(turn.game.spec.title, reason)

        # Until then it explains itself as before.
        vars(play_until_dismissal)["explain"] = getattr(act, "explain", None)
        return play_until_dismissal

    def ask(self, seat: int, turn: Turn) -> int:
        player = self.order[seat]
        self._asked[player] = number = self._asked[player] + 1
        self._act_of[player](player, number)
        if not self._apart[player]:
            self._before = self._record()
        return super().ask(seat, turn)

    def handle_failure(self, seat: int, error: AgentError) -> int:
        if self.game.spec.forfeit is None:
            raise error
        return self.game.spec.forfeit

    def note_answer(self, seat: int) -> None:
        if not self._apart[self.order[seat]] and self._record() != self._before:
            raise AgentError(self.players[seat].name, "changed the game's record while choosing")
        if self._stray.count:
            self._hear(self.order[seat])

    def _hear(self, player: int) -> None:
        """Keep what ``player`` has printed past its own ``print``."""
        if self._stray.count:
            self._course.printed[player].write(self._stray.text)
            self._stray.clear()

    def note_fault(self, seat: int, reason: str) -> None:
        player = self.order[seat]
        self._course.fault(player, self.number, self._asked[player], reason)

    def tell(self, follower: Follower, turn: Turn) -> None:
        player = self.order[turn.seat]
        self._act_of[player](player, 0)
        try:
            follower.follow(turn)
        except AgentError as error:
            if error.reason != NOT_ASKED:  # noted already
                self._course.note(player, self.number, 0, error.reason)
        self._hear(player)


@dataclass(frozen=True)
class Match:
    """A match as a job for a sandbox.

    The games depend only on the contest's seed, and on the names and files of the entries. A changed file plays with
    new dice, so knowing the dice of an earlier match gives no advantage.
    """

    game: Game
    entries: tuple[Entry, ...]
    contest_seed: int
    games: int
    dismissals: tuple[Failure, ...] = ()
    number: int = 0
    """Number among the matches of the same entries, from 0; each number has its own dice."""

    @property
    def seed(self) -> int:
        """The seed of the games, independent of the order of the entries."""
        number = (self.number,) if self.number else ()
        entries = sorted((entry.name, entry.content) for entry in self.entries)
        who = [part for entry in entries for part in entry if part]
        return named_seed("match", self.game.name, self.contest_seed, *who, *number)

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entries and limits; see `Job.facts`."""
        return {"kind": "match", "seed": self.seed, "games": self.games}

    def run(self, context: Context) -> dict[str, Any]:
        """Load every entry and play; see `Job.run`."""
        heartbeat, game = context.heartbeat, self.game
        players = []
        heartbeat.note(LOADING, 0)
        apart = [context.apart(entry) for entry in self.entries]

        def moment() -> str:
            return self.moment(heartbeat.read()._replace(actor=heartbeat.blamed))

        for i, entry in enumerate(self.entries):
            (heartbeat.hand_over if apart[i] else heartbeat.act)(i)
            players.append(context.load(entry, game, named_seed("load", self.seed, entry.name), moment, None))
        return play_match(
            game, players, self.seed, self.games, heartbeat, context.stray, self.dismissals, apart
        )._asdict()

    def without(self, failure: Failure) -> Match | None:
        """Return the match in which the failed entry is no longer asked; None if the rules disqualify it."""
        if self.game.spec.forfeit is None or not failure.game:
            return None
        others = tuple(other for other in self.dismissals if other.actor != failure.actor)
        before = [other for other in self.dismissals if other.actor == failure.actor]
        if any((failure.game, failure.turn) >= (other.game, other.turn) for other in before):
            return None  # it stopped its process although it was not asked
        return replace(self, dismissals=(*others, failure))  # clocks differ: it may fail earlier than last time

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        others = ", ".join(entry.name for i, entry in enumerate(self.entries) if i != reading.actor)
        if reading.phase == LOADING:
            return f"while it was loaded for the match against {others}"
        turn = f", turn {reading.turn}" if reading.turn else ""
        return f"in game {reading.number + 1} of {self.games} against {others}{turn}"
