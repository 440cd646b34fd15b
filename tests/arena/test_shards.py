"""Shards of a contest play each match once between them, and their stores together hold the whole contest."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Run

from dicegym.arena import contest
from dicegym.arena.shards import Shard, ShardEnd
from dicegym.arena.storage import Storage
from dicegym.errors import DamagedFileError, ParameterError

pytest.importorskip("sqlalchemy")
SEED = 5
ENTRIES = {
    "hog": ["always_roll", "bacon", "swap", "tuned"],
    "lucky": ["idle", "investor", "thrifty", "raider", "gambler"],
}


@pytest.mark.parametrize(
    "text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/99999999", "\N{SUPERSCRIPT ONE}/2"]
)
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ParameterError, match="is no shard: write which of how many"):
        Shard.of_text(text)


def test_every_key_is_one_shard_s() -> None:
    for number in range(50):
        assert sum(Shard(one, 7).holds(f"{number:064x}") for one in range(1, 8)) == 1
    assert Shard.of_text(" 2/8 ") == Shard(2, 8)


def held(game: str, store: Path, shard: str | None = None) -> str:
    """Return what a contest came to, as text."""
    storage = Storage(store, share=Shard.of_text(shard)) if shard else store
    return json.dumps(contest(game, ENTRIES[game], SEED, 1, games=2, store=storage).to_json())


@pytest.mark.parametrize(
    ("game", "apart"),
    [("hog", False), pytest.param("lucky", True, marks=pytest.mark.slow)],
    ids=["one store", "stores apart"],
)
def test_shards_come_to_the_whole(game: str, apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dicegym.arena.store.merging import merge

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    whole = held(game, tmp_path / "whole.sqlite")
    found, rounds, played = "", 0, 0
    while not found:  # a format of several rounds needs all shards for each of them
        rounds += 1
        for shard in ("1/2", "2/2"):
            try:
                found = held(game, tmp_path / (f"{shard[0]}.sqlite" if apart else "all.sqlite"), shard)
            except ShardEnd as end:
                played += end.played
        if apart:
            merge(tmp_path / "all.sqlite", [tmp_path / "1.sqlite", tmp_path / "2.sqlite"])
            for one in ("1", "2"):
                merge(tmp_path / f"{one}.sqlite", [tmp_path / "all.sqlite"])
        assert rounds < 10
    assert found == whole
    assert played
    assert held(game, tmp_path / "all.sqlite") == whole


@pytest.mark.slow
def test_stores_are_merged_once_and_stay_as_they_are(tmp_path: Path) -> None:
    from dicegym.arena.store.merging import Merged, merge
    from dicegym.arena.store.reading import StoreReader

    for shard in ("1/2", "2/2"):
        with pytest.raises(ShardEnd):
            held("hog", tmp_path / f"{shard[0]}.sqlite", shard)
    stores = [tmp_path / "1.sqlite", tmp_path / "2.sqlite"]
    merged = merge(tmp_path / "all.sqlite", stores)
    assert merged == Merged(matches=6, known=0, replayed=6, failed=0, other_rules=0)
    again = merge(tmp_path / "all.sqlite", stores, sample=1)
    assert again == Merged(matches=0, known=6, replayed=2, failed=0, other_rules=0)
    held("hog", tmp_path / "all.sqlite")
    held("hog", tmp_path / "whole.sqlite")
    games = []
    for name in ("all.sqlite", "whole.sqlite"):
        with StoreReader(tmp_path / name) as reader:
            contests = reader.contests()
            found = reader.whole(reader.matches(contests[-1].id))
            own = [(whole.match.key, *game[1:]) for whole in found for game in whole.games]
            games.append(sorted(map(str, own)))
    assert games[0] == games[1]


def test_what_cannot_be_merged(tmp_path: Path) -> None:
    from dicegym.arena.store.merging import merge

    (tmp_path / "text.sqlite").write_text("no database")
    for wrong, said in ((tmp_path / "none.sqlite", "there is no store"), (tmp_path / "text.sqlite", "text.sqlite")):
        with pytest.raises(ParameterError, match=said):
            merge(tmp_path / "all.sqlite", [wrong])
    os.link(tmp_path / "all.sqlite", tmp_path / "same.sqlite")
    with pytest.raises(ParameterError, match="cannot be put into itself"):
        merge(tmp_path / "all.sqlite", [tmp_path / "same.sqlite"])


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of contests of three games."""
    folder = tmp_path_factory.mktemp("honest")
    path = folder / "store.sqlite"
    contest("hog", ["bacon", "swap", "always_roll(5)"], 5, 1, games=2, store=path)
    contest("liarsdice", ["honest", "bluffer"], 5, 1, games=2, store=path)
    contest("lucky", ENTRIES["lucky"], 5, 1, format="one_table", games=1, store=path)
    return path


FORGED = {
    "UPDATE seats SET wins = wins + 1": "won",
    "UPDATE seats SET share = 'x'": "str where float stands",
    "UPDATE seats SET share = share + 0.5": "a share of",
    "UPDATE seats SET faults = 7": "faults",
    "UPDATE seats SET noted = -1": "faults",
    "UPDATE seats SET player = player + 100": "no seat",
    "DELETE FROM seats WHERE player = 1": "no seat",
    "UPDATE matches SET places = '[['": "damaged",
    "UPDATE matches SET places = '[[[1,2],2]]'": "places",
    "UPDATE matches SET number = -1": "number -1",
    "UPDATE matches SET games = 1": "games",
    "UPDATE matches SET games = 1e300": "float where int stands",
    "UPDATE matches SET seed = '1'": "key",
    "UPDATE matches SET seed = 'one'": "damaged",
    "UPDATE matches SET failure = '[0,\"it cheats\",1,1]'": "failed, and it has games",
    "UPDATE matches SET failure = '[[0]]'": "damaged",
    "UPDATE agents SET identity = 'f' || identity": "key",
    "UPDATE agents SET name = name || '2'": "key",
    "UPDATE games SET actions = '[3,3,3]'": "not over",
    "UPDATE games SET actions = '[1e400]'": "damaged",
    "UPDATE games SET actions = '[" + "9" * 40 + "]'": "whole numbers",
    "UPDATE games SET actions = replace(actions, ']', ',1]')": "over before its last action",
    "UPDATE games SET returns = '[1,1]' WHERE match = 1": "won",
    "UPDATE games SET seats = '[0,0]'": "game of",
    "UPDATE games SET seats = CASE seats WHEN '[0,1]' THEN '[1,0]' ELSE '[0,1]' END WHERE match = 1": "others sit",
    "DELETE FROM games WHERE number = 0": "games",
    "INSERT INTO misplays (match, player, game, turn, reason) VALUES (1, 0, 1, 1, 'x')": "faults",
    "UPDATE contests SET limits = '{}'": "key",
    "UPDATE rules SET parameters = '[]'": "object of JSON",
    "ALTER TABLE seats RENAME TO s; CREATE VIEW seats AS SELECT match, player, agent, 999 AS wins, share, faults, "
    "noted, printed FROM s": "it has a view seats",
    "CREATE TRIGGER t AFTER INSERT ON plays BEGIN DELETE FROM plays; END": "it has a trigger t",
}
"""What somebody may do to a store, and what is said of it."""


@pytest.mark.slow_after(6)
@pytest.mark.parametrize("done", FORGED)
def test_nothing_of_a_forged_store_is_taken(done: str, honest: Path, tmp_path: Path, run: Run) -> None:
    from dicegym.arena.store.merging import merge
    from dicegym.arena.store.reading import StoreReader

    forged, into = tmp_path / "forged.sqlite", tmp_path / "all.sqlite"
    shutil.copy(honest, forged)
    with closing(sqlite3.connect(forged)) as store, store:
        store.executescript(done)
    with pytest.raises(DamagedFileError, match=re.escape(FORGED[done])):
        merge(into, [forged])
    with StoreReader(into) as reader, reader.connection() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM matches").scalar() == 0
    assert run("arena", "verify", "--store", forged)[0] == 2


@pytest.mark.parametrize("sample", [None, 1])
def test_an_honest_store_is_taken(sample: int | None, honest: Path, tmp_path: Path, run: Run) -> None:
    from dicegym.arena.store.merging import Merged, merge

    before = honest.read_bytes()
    found = merge(tmp_path / "all.sqlite", [honest], sample)
    assert found == Merged(matches=5, known=0, replayed=sample or 5, failed=0, other_rules=0)
    assert honest.read_bytes() == before
    assert merge(tmp_path / "next.sqlite", [tmp_path / "all.sqlite"]).matches == 5, "what was merged is merged on"
    _, shown, _ = run("arena", "verify", "--store", honest)
    assert "has 5 matches: 5 replayed to the same end" in shown


def test_what_no_replay_shows_is_left_out(tmp_path: Path) -> None:
    from dicegym.arena.store.merging import merge

    store = tmp_path / "store.sqlite"
    contest("hog", ["bacon", "swap"], 5, 1, games=1, store=store)
    with closing(sqlite3.connect(store)) as opened, opened:
        opened.execute("DELETE FROM games")
        opened.execute("UPDATE seats SET wins = 0, share = 0, faults = 0, noted = 0, printed = NULL")
        opened.execute("UPDATE matches SET places = '[]', failure = '[0, \"ended its process\", 0, 0]'")
    assert merge(tmp_path / "all.sqlite", [store])[:4] == (0, 0, 0, 1)
    assert merge(tmp_path / "all.sqlite", [store], failed=True)[:4] == (1, 0, 0, 1)
    with closing(sqlite3.connect(store)) as opened, opened:
        opened.execute("UPDATE rules SET fingerprint = 'other'")
    assert merge(tmp_path / "others.sqlite", [store]).other_rules == 1
