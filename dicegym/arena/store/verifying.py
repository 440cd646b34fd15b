"""Whether a store's matches are what they say: their games are played again, and all figures follow from them.

A replay shows that dice, seats, moves and results belong together by the rules, and the key that they are those of the
match. It does not show that a bot chose these moves, nor that an entry failed: only the bots can, in a match anew.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from dicegym.arena.keys import VERSION, digest, written
from dicegym.arena.match import MOST_INCIDENTS
from dicegym.arena.ratings.places import match_places
from dicegym.arena.store.selecting import agents_in, game_from, mapping_in, rules_from
from dicegym.arena.store.stored import PlayedGame, StoredRules
from dicegym.arena.store.tables import CONTESTS, GAMES, MATCHES, MISPLAYS, PLAYS, RULES, SEATS
from dicegym.arena.store.trouble import called
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.errors import DamagedFileError, DicegymError
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.games.worth import first_place_shares
from dicegym.sandbox.jobs import Failure
from dicegym.sandbox.limits import Limits

TOGETHER = 500
"""Matches that are in memory at once."""
KINDS = ("match", "pairs")
"""Of jobs whose outcomes are matches."""


class MatchVerdict(NamedTuple):
    """What is found out about a match."""

    id: int
    key: str
    wrong: str = ""
    """What cannot be, in words; empty: nothing."""
    replayed: bool = False
    failed: bool = False
    """An entry ended it by failing, which no replay can show."""
    other_rules: bool = False
    """It was played by rules that are not those of today, so that it cannot be played again."""


def verdicts(
    connection: sa.Connection, sample: int | None = None, progress: Progress | None = None
) -> Iterator[MatchVerdict]:
    """Yield what is found out about all matches of a store, by their numbers.

    Args:
        connection: to the store, in a transaction that lasts until the last one is asked for.
        sample: so many matches, drawn at random, are played again; of all others the figures are compared with what is
            stored of their games. None: all are.
        progress: told of matches.

    Raises ValueError, TypeError and LookupError for what nobody writes.
    """
    numbers = list(connection.execute(sa.select(MATCHES.c.id).order_by(MATCHES.c.id)).scalars())
    drawn = set(numbers if sample is None else random.SystemRandom().sample(numbers, min(sample, len(numbers))))
    verifier = _Verifier(connection)
    for done, number in enumerate(numbers):
        if done % TOGETHER == 0:
            verifier.read(numbers[done : done + TOGETHER])
        yield verifier.verdict(number, number in drawn)
        if progress is not None:
            progress(done + 1, len(numbers), "matches verified")


def refuse_wrong(name: str, found: Iterable[MatchVerdict]) -> None:
    """Raise DamagedFileError if something is wrong with a match of the store that is called so."""
    wrong = [one for one in found if one.wrong]
    if wrong:
        more = f", and of {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        raise DamagedFileError(
            called(name),
            f"does not hold what was played: of match {wrong[0].id}{more}, {wrong[0].wrong}",
            "take nothing from it, and play its matches anew",
        )


class _Verifier:
    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._agents = agents_in(connection)
        self._rules = {row.id: rules_from(row) for row in connection.execute(sa.select(RULES))}
        self._games: dict[int, Game | None] = {}
        self._limits = {
            row.id: mapping_in(row.limits, (int, float, type(None)))
            for row in connection.execute(sa.select(CONTESTS.c.id, CONTESTS.c.limits))
        }
        self._rows: dict[str, dict[int, list[Any]]] = {}
        self._matches: dict[int, Any] = {}

    def read(self, numbers: Sequence[int]) -> None:
        """Read all of some matches."""
        ask = self._connection.execute
        self._matches = {row.id: row for row in ask(sa.select(MATCHES).where(MATCHES.c.id.in_(numbers)))}
        for table, order in ((SEATS, "player"), (GAMES, "number"), (MISPLAYS, "id"), (PLAYS, "contest")):
            asked = sa.select(table).where(table.c.match.in_(numbers)).order_by(table.c.match, table.c[order])
            rows = ask(asked).all()
            self._rows[table.name] = {
                match: list(own) for match, own in itertools.groupby(rows, key=lambda row: row.match)
            }

    def verdict(self, number: int, replay: bool) -> MatchVerdict:
        match = self._matches[number]
        rules = self._rules[match.rules]
        game = self._game(match.rules, rules)
        seats, games, misplays, plays = (
            self._rows[table.name].get(number, []) for table in (SEATS, GAMES, MISPLAYS, PLAYS)
        )
        found = MatchVerdict(number, match.key, failed=match.failure is not None)
        if game is None:
            return found._replace(other_rules=True)
        wrong = _wrong_figures(match, rules, seats, games, misplays)
        if not wrong and not self._has_key(match, game, seats, plays):
            wrong = "its key does not follow from its seed, games, entries, rules and the limits of a contest here"
        if not wrong and replay:
            wrong = _wrong_games(game, int(match.seed), seats, [game_from(row, game.players) for row in games])
        return found._replace(wrong=wrong, replayed=replay and match.failure is None)

    def _game(self, number: int, rules: StoredRules) -> Game | None:
        if number not in self._games:
            self._games[number] = game_of_rules(rules)
        return self._games[number]

    def _has_key(self, match: Any, game: Game, seats: Sequence[Any], plays: Sequence[Any]) -> bool:
        """Return whether a match has the key that `dicegym.arena.keys.key_of` gives it."""
        who = [list(self._agents[seat.agent]) for seat in seats]
        rules = [game.name, game.players, dict(game.parameters), game.fingerprint]
        # What was merged belongs to no contest yet: then the limits of any contest here will do, or the usual ones.
        of_contests = [self._limits[play.contest] for play in plays] or [*self._limits.values(), written(Limits())]
        return any(
            match.key
            == digest([VERSION, rules, limits, who, {"kind": kind, "seed": int(match.seed), "games": match.games}])
            for limits in of_contests
            for kind in KINDS
        )


def game_of_rules(rules: StoredRules) -> Game | None:
    """Return the game of stored rules; None if its rules here are others."""
    try:
        game = make_game(rules.game, rules.players, **rules.parameters)
    except (DicegymError, TypeError):
        return None
    return game if game.fingerprint == rules.described["fingerprint"] else None


def _wrong_figures(
    match: Any, rules: StoredRules, seats: Sequence[Any], games: Sequence[Any], misplays: Sequence[Any]
) -> str:
    """Return what cannot be of a match by what is stored of its games, in words; empty if nothing."""
    players = rules.players
    if [seat.player for seat in seats] != list(range(players)):
        return f"it has no seat for each of its {players} players"
    if match.number < 0 or match.games < 1:
        return f"number {match.number} with {match.games} games"
    counted = [(seat.wins, seat.share, seat.faults, seat.noted) for seat in seats]
    if match.failure is not None:
        failure = Failure(*json.loads(match.failure))
        if failure.actor not in range(players):
            return "nobody of it has failed"
        return "an entry failed, and it has games all the same" if games or any(map(any, counted)) else ""
    played = [game_from(row, players) for row in games]
    if [game.number for game in played] != list(range(match.games)):
        return f"it has {len(played)} of {match.games} games"
    for seat, wins, share in zip(seats, *_results(played, players), strict=True):
        if seat.wins != wins or abs(seat.share - share) > 1e-6:
            told = f"{seat.wins} and {seat.share:g} are stored"
            return f"player {seat.player} won {wins} games, a share of {share:g}, and {told}"
        in_words = [one for one in misplays if one.player == seat.player]
        if not 0 <= seat.faults <= seat.noted or len(in_words) != min(seat.noted, MOST_INCIDENTS):
            told = f"{seat.noted} incidents, {len(in_words)} of them in words"
            return f"player {seat.player} has {seat.faults} faults, and {told}"
    if any(one.player not in range(players) or not 0 < one.game <= match.games or one.turn < 0 for one in misplays):
        return "something went wrong in a game that it does not have"
    if json.loads(match.places) != json.loads(json.dumps(match_places((), [game.returns for game in played]).places)):
        return "its places are not those of its games"
    return ""


def _results(games: Iterable[PlayedGame], players: int) -> tuple[list[int], list[float]]:
    """Return the games that each player won alone, and those with shared ones shared out."""
    shares = first_place_shares(np.array([game.returns for game in games]).reshape(-1, players))
    return (shares == 1).sum(axis=0).tolist(), shares.sum(axis=0).tolist()


def _wrong_games(game: Game, seed: int, seats: Sequence[Any], played: Sequence[PlayedGame]) -> str:
    """Return what is otherwise when the games of a match are played again, in words; empty if nothing."""
    faults = [0] * game.players
    for one in played:
        called = f"game {one.number + 1}"
        order = seating(game_key(seed, one.number), game.players)
        if list(one.seats) != order:
            return f"{called}: others sit in its seats"
        states = game.new_game(seed, one.number)
        state = states[0]
        for action in one.actions:
            if state["over"]:
                return f"{called} is over before its last action"
            player = order[int(state["player"])]
            faults[player] += bool(game.step(state, action))
        if not state["over"]:
            return f"{called} is not over after its last action"
        returns = game.returns(state).tolist()
        if [returns[order.index(player)] for player in range(game.players)] != list(one.returns):
            return f"{called} has other results when it is played again"
    for seat in seats:
        if seat.faults < faults[seat.player]:
            return f"player {seat.player} made {faults[seat.player]} faults, and {seat.faults} are stored"
    return ""
