"""Matches of a store are what they say, or it is said what they are not: without anybody who plays."""

from __future__ import annotations

import json
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
from dicegym.arena.store.book import Book
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
    with StoreReader(path) as reader:
        return list(verdicts(reader, sample))


def test_honest_matches_are_found_right(honest: Path) -> None:
    right = [MatchVerdict(number, "", True) for number in range(1, MATCHES)]
    assert found_in(honest) == [*right, MatchVerdict(MATCHES, failed=True)]
    with closing(sqlite3.connect(honest)) as store:
        faulty = {player for (player,) in store.execute("SELECT player FROM seats WHERE faults > 0")}
    assert faulty == {0, 1}


def test_a_sample_is_replayed_and_the_figures_of_all_are_compared(honest: Path, tmp_path: Path) -> None:
    assert sum(one.replayed for one in found_in(honest, 0)) == 0
    assert sum(one.replayed for one in found_in(honest, MATCHES)) == MATCHES - 1
    assert sum(one.replayed for one in found_in(honest, 1)) <= 1
    assert not any(
        one.wrong
        for one in found_in(forged(honest, tmp_path, "UPDATE matches SET actions = replace(actions, '1', '2')"), 0)
    )


FORGED = {
    "UPDATE seats SET share = share + 0.00001 WHERE player = 1 AND match = 1": "are stored",
    "UPDATE seats SET wins = wins + 1 WHERE player = 1 AND match = 1": "its players won",
    "UPDATE matches SET outcome = json_set(outcome, '$.incidents', json('[]')) WHERE id = 1": "fewer incidents",
    "UPDATE seats SET faults = 0 WHERE match = 1": "faults, and 0 are stored",
    "UPDATE matches SET actions = json_set(actions, '$[5]', json('[1,2]')) WHERE id = 1": "game 1.6",
    "UPDATE matches SET outcome = json_set(outcome, '$.seats[5]', json_array(json_extract(outcome, '$.seats[5][1]'), "
    "json_extract(outcome, '$.seats[5][0]'))) WHERE id = 1": "others sit in its seats",
    "UPDATE matches SET games = games + 1 WHERE id = 1": "games",
    "UPDATE matches SET key = 'f' || key WHERE id = 1": "its key does not follow",
    "UPDATE matches SET seed = '8' || seed WHERE id = 1": "its key does not follow",
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
    outcome = json.dumps({"seats": [[0, 1]], "returns": [0]}).replace("[0]", f"[{returns}]")
    path = forged(honest, tmp_path, f"UPDATE matches SET outcome = '{outcome}' WHERE id = 1")
    with StoreReader(path) as reader, pytest.raises(DamagedFileError, match="is damaged"):
        list(reader.whole([reader.match(1)]))


@pytest.mark.parametrize(
    ("done", "words"),
    [
        ("UPDATE seats SET wins = 1", "an entry failed, and it has games all the same"),
        ("UPDATE seats SET share = 1", "an entry failed, and it has games all the same"),
        ("UPDATE seats SET faults = 1", "an entry failed, and it has games all the same"),
    ],
)
def test_what_a_failed_match_says_is_looked_at(done: str, words: str, honest: Path, tmp_path: Path) -> None:
    *others, last = found_in(forged(honest, tmp_path, f"{done} WHERE match = {MATCHES}"))
    assert (last.failed, last.replayed) == (True, False)
    assert words in last.wrong
    assert not any(one.wrong for one in others)
