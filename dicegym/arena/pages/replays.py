"""Games of stored matches in words, as many as a page has room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dicegym.arena.pages.page import ShownGame
from dicegym.arena.replay import Replay
from dicegym.arena.replay.stored import replay_from
from dicegym.arena.replay.telling import words
from dicegym.arena.store.reading import PlayedGame, StoredMatch, StoredMisplay, StoreReader
from dicegym.engine.game import Game
from dicegym.errors import DicegymError
from dicegym.pictures.naming import named
from dicegym.pictures.watched import told_apart

BUDGET = 2_000_000
"""Characters of games on a page."""
AT_ONCE = 100
"""Matches whose games are read in one go."""


def shown_games(
    reader: StoreReader, matches: Iterable[StoredMatch], budget: int = BUDGET
) -> dict[int, list[ShownGame]]:
    """Return the games of matches, by the number of the match, until there is no room for another match.

    Args:
        reader: of the store that has them.
        matches: those that are to be seen first come first.
        budget: characters.
    """
    found: dict[int, list[ShownGame]] = {}
    tables: dict[str, Game | None] = {}  # by fingerprint
    waiting = [match for match in matches if match.failed is None]
    for first in range(0, len(waiting), AT_ONCE):
        some = waiting[first : first + AT_ONCE]
        for match, replays in _replays(reader, some):
            games = []
            for replay in replays:
                if replay.fingerprint not in tables:
                    tables[replay.fingerprint] = _table(replay)
                games.append(shown_game(replay, tables[replay.fingerprint]))
                budget -= len(games[-1].heading) + len(games[-1].text)
                if budget < 0:
                    return found
            found[match] = games
    return found


def shown_game(replay: Replay, game: Game | None = None) -> ShownGame:
    """Return a game in words: every move, and the table at its end; or why it cannot be played again.

    Args:
        replay: the game that was played.
        game: as of `Replay.table`.
    """
    names = told_apart(replay.seats)
    heading = f"Game {replay.number + 1}: {_outcome(names, replay.returns)}; seats: {', '.join(names)}"
    try:
        table = replay.table(game)
        lines, state = [], None
        for frame in replay.frames(table):
            lines += [f"{names[played.seat]}: {words(table, played)}" for played in frame.done]
            state = frame.state
        end = named(table.scene(state), names).text()
        return ShownGame(heading, "\n".join([*lines, "", end]))
    except DicegymError as error:
        return ShownGame(heading, str(error))


def _table(replay: Replay) -> Game | None:
    try:
        return replay.table()
    except DicegymError:  # there is no such game any more, as each of its games will say
        return None


def _outcome(names: Sequence[str], returns: Sequence[float]) -> str:
    best = [name for name, value in zip(names, returns, strict=True) if value == max(returns)]
    return f"won by {best[0]}" if len(best) == 1 else f"shared by {', '.join(best)}"


def _replays(reader: StoreReader, matches: Sequence[StoredMatch]) -> Iterator[tuple[int, Iterator[Replay]]]:
    """Yield the games of each match, in the order of the matches."""
    numbers = [match.id for match in matches]
    rules = reader.rules(numbers)
    games: dict[int, list[PlayedGame]] = {}
    for game in reader.games(numbers):
        games.setdefault(game.match, []).append(game)
    noted: dict[tuple[int, int], list[StoredMisplay]] = {}
    for misplay in reader.misplays(numbers):
        noted.setdefault((misplay.match, misplay.game - 1), []).append(misplay)
    for match in matches:
        yield (
            match.id,
            (
                replay_from(rules[match.id], match, game, noted.get((match.id, game.number), ()))
                for game in games.get(match.id, [])
            ),
        )
