"""Shards of a contest play each match once between them, and their stores together hold the whole contest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dicegym.arena import contest
from dicegym.arena.executors import local
from dicegym.arena.shards import Shard, ShardEnd, sharded
from dicegym.arena.storage import Storage
from dicegym.errors import ParameterError

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
    executors = local(1)
    storage = Storage(store)
    if shard:
        executors = sharded(executors, shard)
        storage = storage._replace(share=Shard.of_text(shard))
    return json.dumps(contest(game, ENTRIES[game], SEED, games=2, store=storage, executors=executors).to_json())


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
    assert merged == Merged(matches=6, examinations=4, known=0)
    assert merge(tmp_path / "all.sqlite", stores) == Merged(matches=0, examinations=0, known=6)
    held("hog", tmp_path / "all.sqlite")
    held("hog", tmp_path / "whole.sqlite")
    games = []
    for name in ("all.sqlite", "whole.sqlite"):
        with StoreReader(tmp_path / name) as reader:
            contests = reader.contests()
            found = list(reader.matches(contests[-1].id))
            keys = {match.id: match.key for match in found}
            own = [(keys[game.match], *game[1:]) for game in reader.games(list(keys))]
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
