"""Whether a store's matches are what they say: their games are played again, and all figures follow from them.

A replay shows that dice, seats, moves and results belong together by the rules, and the key that they are those of the
match. It does not show that a bot chose these moves, nor that an entry failed: only the bots can, in a match anew.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dicegym.arena.match import MOST_INCIDENTS
from dicegym.arena.replay.stored_replays import replay_from
from dicegym.arena.store.opening import call_store
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import PlayedGame, StoredRules, WholeMatch
from dicegym.arena.work_keys import VERSION, digest, write_limits
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.errors import DamagedFileError, DicegymError, ReplayError
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.games.worth import first_place_shares
from dicegym.sandbox.limits import Limits

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
    reader: StoreReader, sample: int | None = None, progress: Progress | None = None
) -> Iterator[MatchVerdict]:
    """Yield what is found out about all matches of a store, by their numbers.

    Args:
        reader: of the store.
        sample: so many matches, drawn at random, are played again; of all others the figures are compared with what is
            stored of their games. None: all are.
        progress: told of matches.

    Raises DamagedFileError for what dicegym does not write.
    """
    numbers = [match.id for match in reader.matches()]
    drawn = set(numbers if sample is None else random.SystemRandom().sample(numbers, min(sample, len(numbers))))
    limits = [contest.limits for contest in reader.contests()] or [write_limits(Limits())]
    games: dict[str, Game | None] = {}
    for done, whole in enumerate(reader.whole(reader.matches()), 1):
        match, fingerprint = whole.match, str(whole.rules.described["fingerprint"])
        known = f"{whole.rules.game} {fingerprint}"
        if known not in games:
            games[known] = _game_of(whole.rules)
        game, failed = games[known], match.failed is not None
        found = MatchVerdict(match.id, failed=failed, other_rules=game is None)
        if game is not None:
            wrong = _wrong_figures(whole) or ("" if _has_key(whole, game, limits) else _NO_KEY)
            replayed = match.id in drawn and not failed
            found = found._replace(
                wrong=wrong or (_wrong_games(whole, game) if replayed else ""),
                replayed=replayed,
            )
        yield found
        if progress is not None:
            progress(done, len(numbers), "matches verified")


_NO_KEY = "its key does not follow from its seed, games, entries, rules and the limits of a contest here"


def refuse_wrong(name: str, found: Iterable[MatchVerdict]) -> None:
    """Raise DamagedFileError if something is wrong with a match of the store ``name``."""
    wrong = [one for one in found if one.wrong]
    if wrong:
        more = f", and of {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        said = f"does not hold what was played: of match {wrong[0].id}{more}, {wrong[0].wrong}"
        raise DamagedFileError(call_store(name), said, "take nothing from it, and play its matches anew")


def _game_of(rules: StoredRules) -> Game | None:
    """Return the game of stored rules; None if its rules here are others."""
    try:
        game = make_game(rules.game, rules.players, **rules.parameters)
    except (DicegymError, TypeError):
        return None
    return game if game.fingerprint == rules.described["fingerprint"] else None


def _has_key(whole: WholeMatch, game: Game, known: Iterable[object]) -> bool:
    """Return whether a match has the key that `dicegym.arena.work_keys.key_of` gives it by some known limits."""
    match, rules = whole.match, [game.name, game.players, dict(game.parameters), game.fingerprint]
    who = [list(one) for one in zip(match.entries, match.identities, strict=True)]
    facts = [{"kind": kind, "seed": match.seed, "games": match.games} for kind in KINDS]
    return any(match.key == digest([VERSION, rules, limits, who, one]) for limits in known for one in facts)


def _wrong_figures(whole: WholeMatch) -> str:
    """Return what cannot be of a match by what is stored of its games, in words; empty if nothing."""
    match, games, players = whole.match, whole.games, whole.rules.players
    if len(match.entries) != players:
        return f"it has no seat for each of its {players} players"
    if match.failed is not None:
        counted = any((*match.wins, *match.shares, *match.faults))
        return "an entry failed, and it has games all the same" if games or counted else ""
    if len(games) != match.games:
        return f"it has {len(games)} of {match.games} games"
    shares = first_place_shares([game.returns for game in games])
    wins, won = tuple((shares == 1).sum(axis=0).tolist()), shares.sum(axis=0).tolist()
    if match.wins != wins or any(abs(a - b) > 1e-6 for a, b in zip(match.shares, won, strict=True)):
        return f"its players won {wins}, shares of {won}; {match.wins} and {match.shares} are stored"
    told = Counter(one.name for one in whole.misplays)
    if any(told[name] < min(faults, MOST_INCIDENTS) for name, faults in zip(match.entries, match.faults, strict=True)):
        return "it has fewer incidents in words than faults"
    return ""


def _wrong_games(whole: WholeMatch, game: Game) -> str:
    """Return what is otherwise when the games of a match are played again, in words; empty if nothing."""
    faults: Counter[int] = Counter()
    for one in whole.games:
        if list(one.seats) != seating(game_key(whole.match.seed, one.number), game.players):
            return f"game {one.number + 1}: others sit in its seats"
        try:
            replay_from(whole, one).check(game)
        except ReplayError as error:
            return str(error)
        faults.update(_faults_in(whole, one, game))
    for player, stored in enumerate(whole.match.faults):
        if stored < faults[player]:
            return f"{whole.match.entries[player]} made {faults[player]} faults, and {stored} are stored"
    return ""


def _faults_in(whole: WholeMatch, played: PlayedGame, game: Game) -> Iterator[int]:
    """Yield the player of each action of a game that is against its rules."""
    state = game.new_game(whole.match.seed, played.number)[0]
    for action in played.actions:
        player = played.seats[int(state["player"])]
        if game.step(state, action):
            yield player
