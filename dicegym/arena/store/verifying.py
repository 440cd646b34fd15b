"""Whether a store's matches are what they say: their games are played again, and all figures follow from them.

A replay shows that dice, seats, moves and results belong together by the rules, and the key that they are those of the
match. It does not show that a bot chose these moves, nor that an entry failed: only the bots can, in a match anew.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.match import MOST_INCIDENTS
from dicegym.arena.ratings.match_places import match_places
from dicegym.arena.store.opening import call_store
from dicegym.arena.store.schema import (
    CONTESTS,
    GAMES,
    MATCHES,
    MISPLAYS,
    PLAYS,
    RULES,
    SEATS,
    mapping_in,
    rows_by_match,
    those,
)
from dicegym.arena.store.stored_rows import PlayedGame, StoredRules, agents_in, game_from, rules_from
from dicegym.arena.work_keys import VERSION, digest, write_limits
from dicegym.columns import write_count
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

    Raises ValueError, TypeError and LookupError for what dicegym does not write.
    """
    numbers = list(connection.execute(sa.select(MATCHES.c.id).order_by(MATCHES.c.id)).scalars())
    drawn = set(numbers if sample is None else random.SystemRandom().sample(numbers, min(sample, len(numbers))))
    agents = agents_in(connection)
    rules = {row.id: rules_from(row) for row in connection.execute(sa.select(RULES))}
    games = {number: game_of_rules(one) for number, one in rules.items()}
    limits = {
        row.id: mapping_in(row.limits, (int, float, type(None)))
        for row in connection.execute(sa.select(CONTESTS.c.id, CONTESTS.c.limits))
    }
    done = 0
    for first in range(0, len(numbers), TOGETHER):
        some = numbers[first : first + TOGETHER]
        tables = [rows_by_match(connection, table, those(some)) for table in (SEATS, GAMES, MISPLAYS, PLAYS)]
        for match in connection.execute(sa.select(MATCHES).where(MATCHES.c.id.in_(some)).order_by(MATCHES.c.id)).all():
            seats, played, misplays, plays = (rows.get(match.id, []) for rows in tables)
            game, found = games[match.rules], MatchVerdict(match.id, failed=match.failure is not None)
            if game is None:
                found = found._replace(other_rules=True)
            else:
                who = [list(agents[seat.agent]) for seat in seats]
                # What was merged belongs to no contest yet: then the limits of any contest here will do, or the usual.
                known = [limits[play.contest] for play in plays] or [*limits.values(), write_limits(Limits())]
                wrong = _wrong_figures(match, rules[match.rules], seats, played, misplays)
                if not wrong and not _has_key(match, game, who, known):
                    wrong = "its key does not follow from its seed, games, entries, rules and the limits of a contest "
                    wrong += "here"
                if not wrong and match.id in drawn:
                    rows = [game_from(row, game.players) for row in played]
                    wrong = _wrong_games(game, int(match.seed), seats, rows)
                found = found._replace(wrong=wrong, replayed=match.id in drawn and not found.failed)
            yield found
            done += 1
            if progress is not None:
                progress(done, len(numbers), "matches verified")


def refuse_wrong(name: str, found: Iterable[Any], what: str = "match") -> None:
    """Raise DamagedFileError if something is wrong with a match or a result of a store.

    Args:
        name: of the store.
        found: verdicts on its matches, or on the results of its contests.
        what: "match" or "contest".
    """
    wrong = [one for one in found if one.wrong]
    if wrong:
        more = f", and of {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        said, instead = _REFUSALS[what]
        raise DamagedFileError(call_store(name), f"{said}: of {what} {wrong[0].id}{more}, {wrong[0].wrong}", instead)


_REFUSALS = {
    "match": ("does not hold what was played", "take nothing from it, and play its matches anew"),
    "contest": (
        "has saved what does not follow from its matches",
        "give the contest's own command again, which saves its results anew",
    ),
}


def game_of_rules(rules: StoredRules) -> Game | None:
    """Return the game of stored rules; None if its rules here are others."""
    try:
        game = make_game(rules.game, rules.players, **rules.parameters)
    except (DicegymError, TypeError):
        return None
    return game if game.fingerprint == rules.described["fingerprint"] else None


def _has_key(match: Any, game: Game, who: Sequence[Any], known: Iterable[Any]) -> bool:
    """Return whether a match has the key that `dicegym.arena.work_keys.key_of` gives it by some known limits."""
    rules = [game.name, game.players, dict(game.parameters), game.fingerprint]
    return any(
        match.key
        == digest([VERSION, rules, limits, who, {"kind": kind, "seed": int(match.seed), "games": match.games}])
        for limits in known
        for kind in KINDS
    )


def _wrong_figures(
    match: Any, rules: StoredRules, seats: Sequence[Any], games: Sequence[Any], misplays: Sequence[Any]
) -> str:
    """Return what cannot be of a match by what is stored of its games, in words; empty if nothing."""
    players = rules.players
    if [seat.player for seat in seats] != list(range(players)):
        return f"it has no seat for each of its {players} players"
    if match.number < 0 or match.games < 1:
        return f"number {match.number} with {write_count(match.games, 'game')}"
    if match.failure is not None:
        if Failure(*json.loads(match.failure)).actor not in range(players):
            return "nobody of it has failed"
        counted = any(seat.wins or seat.share or seat.faults or seat.noted for seat in seats)
        return "an entry failed, and it has games all the same" if games or counted else ""
    played = [game_from(row, players) for row in games]
    if [game.number for game in played] != list(range(match.games)):
        return f"it has {len(played)} of {write_count(match.games, 'game')}"
    shares = first_place_shares([game.returns for game in played])
    won = zip(seats, (shares == 1).sum(axis=0).tolist(), shares.sum(axis=0).tolist(), strict=True)
    for seat, wins, share in won:
        if seat.wins != wins or abs(seat.share - share) > 1e-6:
            told = f"{seat.wins} and {seat.share:g} are stored"
            return f"player {seat.player} won {write_count(wins, 'game')}, a share of {share:g}, and {told}"
        in_words = [one for one in misplays if one.player == seat.player]
        if not 0 <= seat.faults <= seat.noted or len(in_words) != min(seat.noted, MOST_INCIDENTS):
            told = f"{write_count(seat.noted, 'incident')}, {len(in_words)} of them in words"
            return f"player {seat.player} has {seat.faults} faults, and {told}"
    if any(one.player not in range(players) or not 0 < one.game <= match.games or one.turn < 0 for one in misplays):
        return "something went wrong in a game that it does not have"
    if json.loads(match.places) != json.loads(json.dumps(match_places((), [game.returns for game in played]).places)):
        return "its places are not those of its games"
    return ""


def _wrong_games(game: Game, seed: int, seats: Sequence[Any], played: Sequence[PlayedGame]) -> str:
    """Return what is otherwise when the games of a match are played again, in words; empty if nothing."""
    faults = [0] * game.players
    for one in played:
        told = f"game {one.number + 1}"
        order = seating(game_key(seed, one.number), game.players)
        if list(one.seats) != order:
            return f"{told}: others sit in its seats"
        states = game.new_game(seed, one.number)
        state = states[0]
        for action in one.actions:
            if state["over"]:
                return f"{told} is over before its last action"
            player = order[int(state["player"])]
            faults[player] += bool(game.step(state, action))
        if not state["over"]:
            return f"{told} is not over after its last action"
        returns = game.returns(state).tolist()
        if [returns[order.index(player)] for player in range(game.players)] != list(one.returns):
            return f"{told} has other results when it is played again"
    for seat in seats:
        if seat.faults < faults[seat.player]:
            return (
                f"player {seat.player} made {write_count(faults[seat.player], 'fault')}, and {seat.faults} are stored"
            )
    return ""
