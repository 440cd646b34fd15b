"""The page of a contest that is stored, with as many of its games as there is room for, to be read there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dicegym.arena.compare.comparison import FORMAT
from dicegym.arena.pages.contest_page import (
    MOST_MATCHES,
    ContestPage,
    ShownGame,
    ShownMatch,
    contest_page,
    moment,
    page_title,
    winners,
)
from dicegym.arena.provenance import limits_in_words
from dicegym.arena.ratings import MatchPlaces
from dicegym.arena.replay import Replay
from dicegym.arena.replay.stored_replays import replay_from
from dicegym.arena.replay.telling import words
from dicegym.arena.report import Report, percent
from dicegym.arena.storage import default_store
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest, StoredMatch
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import DicegymError
from dicegym.pictures.naming import name_players
from dicegym.pictures.watched import tell_apart

BUDGET = 2_000_000
"""Characters of games on a page."""


def build_page(reader: StoreReader, contest: StoredContest, budget: int = BUDGET) -> ContestPage:
    """Return the page of a stored contest; of one that has not ended, as far as it got.

    Games can be read on it until there is no room: those of matches in which something went wrong first, then those
    between the entries that came first. All others name the command that shows them.

    Args:
        reader: of the store.
        contest: which.
        budget: characters of games.
    """
    report = build_report(reader, contest)
    matches = list(reader.matches(contest.id, last=MOST_MATCHES))
    places = {row["name"]: row["place"] for row in reader.standings(contest.id)}

    def interest(match: StoredMatch) -> tuple[bool, float, int]:
        return not any(match.faults), sum(places.get(name, len(places) + 1) for name in match.entries), match.id

    games = write_games(reader, sorted(matches, key=interest), budget)
    rows = [list_match(match, reader.name, games.get(match.id, ())) for match in matches]
    title = page_title(report.heading.partition(":")[0], contest.format)
    page = contest_page(title, report, places_to_rate(reader, contest), rows, max(contest.played, len(rows)))
    date = ("date", moment(contest.ended) if contest.ended else f"begun {moment(contest.began)}, not ended")
    return page._replace(report=page.report._replace(facts=[*page.report.facts, date]))


def places_to_rate(reader: StoreReader, contest: StoredContest) -> list[MatchPlaces]:
    """Return what ratings of a stored contest are computed from; of a comparison nothing, see `Comparison`."""
    return [] if contest.format == FORMAT else reader.match_places(contest.id)


def build_report(reader: StoreReader, contest: StoredContest) -> Report:
    """Return the report of a stored contest as it was shown; of one that has not ended, the results so far."""
    found = reader.report(contest.id)
    if found is not None:
        return found
    figures = sorted(reader.figures(contest.id), key=lambda row: (-row.shares / max(1, row.games), row.name))
    rows = [
        [
            row.name,
            *map(str, (row.matches, row.games, row.wins)),
            percent(row.shares / max(1, row.games)),
            str(row.faults),
        ]
        for row in figures
    ]
    of = f"{contest.played:,} of " if contest.planned > contest.played else ""
    matches = of + write_count(contest.planned if of else contest.played, "match")
    heading = f"{contest.game}: not ended, {matches} played, seed {contest.seed}"
    parameters = ", ".join(f"{name}={value}" for name, value in contest.parameters.items())
    facts = [
        ("game", f"{contest.game} ({parameters})"),
        ("seats", str(contest.players)),
        ("format", contest.format.replace("_", "-")),
        ("seed", str(contest.seed)),
        ("rules", contest.fingerprint),
        ("limits", limits_in_words(contest.limits)),
        ("versions", f"dicegym {contest.version}"),
    ]
    table = ("So far", ["Entry", "Matches", "Games", "Wins", "Games won", "Faults"], rows)
    return Report(heading, [table], words=["The same command again continues it."], facts=facts)


def list_match(match: StoredMatch, store: str = "", games: Sequence[ShownGame] = ()) -> ShownMatch:
    """Return a match as a row of a list.

    Args:
        match: from a store.
        store: the store's name, if the row says which command shows the games.
        games: those that can be read on the page.
    """
    given = "" if store == default_store() else f" --store {store}"
    failed = match.failed is not None
    return ShownMatch(
        str(match.id),
        match.entries,
        tuple("failed" if name == match.failed else "" for name in match.entries)
        if failed
        else tuple(map(str, match.wins)),
        winners(match.wins),
        0 if failed else match.games,
        sum(match.faults),
        "" if failed or not store else f"dicegym arena replay {match.id}{given}",
        games,
    )


def write_games(
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
    for whole in reader.whole(match for match in matches if match.failed is None):
        games = []
        for replay in (replay_from(whole, game) for game in whole.games):
            if replay.fingerprint not in tables:
                tables[replay.fingerprint] = _table(replay)
            games.append(write_game(replay, tables[replay.fingerprint]))
            budget -= len(games[-1].heading) + len(games[-1].text)
            if budget < 0:
                return found
        found[whole.match.id] = games
    return found


def write_game(replay: Replay, game: Game | None = None) -> ShownGame:
    """Return a game in words: every move, and the table at its end; or why it cannot be played again.

    Args:
        replay: the game that was played.
        game: as of `Replay.table`.
    """
    names = tell_apart(replay.seats)
    heading = f"Game {replay.number + 1}: {_outcome(names, replay.returns)}; seats: {', '.join(names)}"
    try:
        table = replay.table(game)
        lines, state = [], None
        for frame in replay.frames(table):
            lines += [f"{names[played.seat]}: {words(table, played)}" for played in frame.done]
            state = frame.state
        end = name_players(table.scene(state), names).text()
        return ShownGame(heading, "\n".join([*lines, "", end]))
    except DicegymError as error:
        return ShownGame(heading, str(error))


def _table(replay: Replay) -> Game | None:
    try:
        return replay.table()
    except DicegymError:  # the game does not exist any more, as each of its games will say
        return None


def _outcome(names: Sequence[str], returns: Sequence[float]) -> str:
    best = [name for name, value in zip(names, returns, strict=True) if value == max(returns)]
    return f"won by {best[0]}" if len(best) == 1 else f"shared by {', '.join(best)}"
