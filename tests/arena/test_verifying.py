"""Matches of a store are what they say, or it is said what they are not: without anybody who plays."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.arena.match import Match, play_match
from dicegym.arena.provenance import EntryRecord
from dicegym.arena.storage import Settings
from dicegym.arena.store import merging, verifying
from dicegym.arena.store.book import Book
from dicegym.arena.store.merging import Merged, merge
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.store import ContestStore
from dicegym.arena.store.verifying import MatchVerdict, verdicts
from dicegym.errors import DamagedFileError
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Turn
from dicegym.sandbox.jobs import Failure, entry
from dicegym.sandbox.limits import Limits

GAMES = 6
MATCHES = 5
"""Of the last of them an entry has ended by failing."""


def clumsy(seed: int, often: float) -> Player:
    """A player of Liar's Dice that draws its answers, and often answers with what is no action."""
    chance = np.random.default_rng(seed)

    def act(turn: Turn) -> int:
        return -1 if chance.random() < often else int(chance.choice(np.flatnonzero(turn.mask)))

    return FunctionPlayer(act, f"clumsy {seed}")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a contest in which both entries have made faults."""
    path, game = tmp_path_factory.mktemp("honest") / "store.sqlite", dicegym.game("liarsdice")
    entries = entry(game, "ann", "honest"), entry(game, "ben", "bluffer")
    with ContestStore(path) as store:
        book = Book(store, Settings(game, "round_robin", {}, Limits()), 7)
        book.enter([EntryRecord(one.name, one.name, "bot", {}, False) for one in entries], entries)
        for number in range(MATCHES - 1):
            match = Match(game, entries, 7, GAMES, number=number)
            found = play_match(game, [clumsy(number, 0.05), clumsy(9, 0.2)], match.seed, GAMES)
            book.keep(match, found._asdict() | {"incidents": [list(incident) for incident in found.incidents]})
        book.keep(Match(game, entries, 7, GAMES, number=MATCHES), Failure(1, "ended its process", 0, 0))
        book.close()
    return path


def found_in(path: Path, sample: int | None = None) -> list[MatchVerdict]:
    with StoreReader(path) as reader, reader.connection() as connection:
        return list(verdicts(connection, sample))


@pytest.mark.parametrize("together", [1, 2, 500])
def test_honest_matches_are_found_right(together: int, honest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "TOGETHER", together)
    right = [MatchVerdict(number, "", True) for number in range(1, MATCHES)]
    assert found_in(honest) == [*right, MatchVerdict(MATCHES, failed=True)]
    with closing(sqlite3.connect(honest)) as store:
        faulty = {player for (player,) in store.execute("SELECT player FROM misplays")}
    assert faulty == {0, 1}


def test_a_sample_is_replayed_and_the_figures_of_all_are_compared(honest: Path, tmp_path: Path) -> None:
    assert sum(one.replayed for one in found_in(honest, 0)) == 0
    assert sum(one.replayed for one in found_in(honest, MATCHES)) == MATCHES - 1
    assert sum(one.replayed for one in found_in(honest, 1)) <= 1
    assert not any(one.wrong for one in found_in(forged(honest, tmp_path, "UPDATE games SET actions = '[1]'"), 0))


FORGED = {
    "UPDATE seats SET share = share + 0.00001 WHERE player = 1 AND match = 1": "a share of",
    "UPDATE seats SET wins = wins + 1 WHERE player = 1 AND match = 1": "player 1 won",
    "UPDATE misplays SET player = 1 - player WHERE match = 1": "of them in words",
    "DELETE FROM misplays WHERE id = (SELECT max(id) FROM misplays WHERE match = 1)": "of them in words",
    "UPDATE seats SET faults = 0 WHERE match = 1": "faults, and 0 are stored",
    "UPDATE seats SET faults = noted + 1 WHERE match = 1": "faults, and",
    f"UPDATE misplays SET game = {GAMES + 1} WHERE match = 1": "in a game that it does not have",
    "UPDATE misplays SET game = 0 WHERE match = 1": "in a game that it does not have",
    "UPDATE misplays SET turn = -1 WHERE match = 1": "in a game that it does not have",
    "UPDATE games SET actions = '[1,2]' WHERE match = 1 AND number = 5": "game 6",
    "UPDATE games SET number = number + 1 WHERE match = 1 AND number = 5": "games",
    "UPDATE matches SET key = 'f' || key WHERE id = 1": "its key does not follow",
    "UPDATE matches SET places = '[]' WHERE id = 1": "its places are not",
}


def forged(honest: Path, folder: Path, statement: str) -> Path:
    path = folder / "forged.sqlite"
    shutil.copy(honest, path)
    with closing(sqlite3.connect(path)) as store, store:
        store.execute(statement)
    return path


@pytest.mark.parametrize("done", FORGED)
def test_one_forged_match_is_found(done: str, honest: Path, tmp_path: Path) -> None:
    first, *others = found_in(forged(honest, tmp_path, done))
    assert FORGED[done] in first.wrong
    assert not any(one.wrong for one in others)


@pytest.mark.parametrize("returns", ["[NaN,1.0]", "[1e999,1.0]", '["x",1.0]', "[1.0]", "[true,1.0]"])
def test_returns_that_are_no_numbers_of_the_players_are_damage(returns: str, honest: Path, tmp_path: Path) -> None:
    path = forged(honest, tmp_path, f"UPDATE games SET returns = '{returns}' WHERE match = 1")
    with StoreReader(path) as reader, pytest.raises(DamagedFileError, match="is damaged"):
        list(reader.whole([reader.match(1)]))


@pytest.mark.parametrize(
    ("done", "words"),
    [
        ("UPDATE matches SET failure = replace(failure, '[1', '[2')", "nobody of it has failed"),
        ("UPDATE seats SET wins = 1", "an entry failed, and it has games all the same"),
        ("UPDATE seats SET share = 1", "an entry failed, and it has games all the same"),
        ("UPDATE seats SET faults = 1", "an entry failed, and it has games all the same"),
        ("UPDATE seats SET noted = 1", "an entry failed, and it has games all the same"),
    ],
)
def test_what_a_failed_match_says_is_looked_at(done: str, words: str, honest: Path, tmp_path: Path) -> None:
    column = "id" if "matches" in done else "match"
    *others, last = found_in(forged(honest, tmp_path, f"{done} WHERE {column} = {MATCHES}"))
    assert (last.failed, last.replayed) == (True, False)
    assert words in last.wrong
    assert not any(one.wrong for one in others)


@pytest.mark.parametrize("together", [1, 2, 500])
def test_matches_are_merged_with_all_that_belongs_to_them(
    together: int, honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "TOGETHER", together)
    into = tmp_path / "into.sqlite"
    merge(into, [honest], failed=True)
    with closing(sqlite3.connect(into)) as store, store:  # so that other numbers are given the next time
        store.execute("DELETE FROM seats WHERE match = 2")
        store.execute("DELETE FROM games WHERE match = 2")
        store.execute("DELETE FROM misplays WHERE match = 2")
        store.execute("DELETE FROM matches WHERE id = 2")
    told: list[tuple[int, int]] = []
    found = merge(into, [honest, honest], progress=lambda done, of, _: told.append((done, of)))
    assert found == Merged(matches=1, known=2 * (MATCHES - 1) - 1, replayed=2 * (MATCHES - 1), failed=2, other_rules=0)
    assert told == 2 * [(number, MATCHES) for number in range(1, MATCHES + 1)]
    rows = []
    for path in (honest, into):
        with closing(sqlite3.connect(path)) as store:
            named = "SELECT key, {} FROM {} JOIN matches ON matches.id = match ORDER BY key, {}"
            seats = "SELECT key, player, name, wins, share, faults, noted, printed FROM seats JOIN matches ON "
            seats += "matches.id = match JOIN agents ON agents.id = agent ORDER BY key, player"
            games = named.format("games.number, seats, returns, actions", "games", "games.number")
            misplays = named.format("player, game, turn, reason", "misplays", "misplays.id")
            rows.append([store.execute(asked).fetchall() for asked in (seats, games, misplays)])
    assert rows[0] == rows[1]
