"""Entries that travel are on another machine what they are here, and what is said of them there is said as here."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dicegym
from dicegym.arena.cluster import connection, parcels
from dicegym.arena.cluster.connection import check_address, looks_like_address
from dicegym.arena.cluster.parcels import Packer, Unpacker, read, written
from dicegym.arena.match import Match
from dicegym.bots.source import Source
from dicegym.errors import DicegymError, ParameterError
from dicegym.players.roster import agent_names
from dicegym.registry import GAMES
from dicegym.sandbox.jobs import Entry, Failure, entry, sealed

BOT = "import tools\ndef final_strategy(score, opponent_score):\n    return 4\n"


@pytest.fixture
def game() -> dicegym.Game:
    return dicegym.game("hog")


def sent(game: dicegym.Game, entries: list[Entry], folder: Path) -> tuple[Match, Match, Unpacker, Packer]:
    """Return a match, what a node makes of it, and both sides."""
    packer = Packer(game, lambda parcel: parcel)
    match = Match(game, tuple(entries), 5, 1)
    data, stored = packer.pack(match)
    node = Unpacker(str(folder))
    for name, parcel in stored.items():
        node.take(name, parcel)
    there: Any = read(data, node.entry)
    return match, there, node, packer


def texts(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_a_bot_brings_along_what_it_may_read_and_nothing_else(game: dicegym.Game, tmp_path: Path) -> None:
    home, node = tmp_path / "home", tmp_path / "node"
    for folder in (home / "ann", node):
        folder.mkdir(parents=True)
    for name in ("ann.py", "tools.py", "ann.json", "ann/table.txt", "other.py", "other.json"):
        (home / name).write_text(BOT if name.endswith(".py") else name)
    one = entry(game, "ann", str(home / "ann.py"))
    _, there, _, _ = sent(game, [one], node)
    (arrived,) = there.entries
    assert isinstance(arrived.origin, Source)
    assert texts(arrived.origin.file.parent) == {
        "ann.py": BOT,
        "tools.py": BOT,
        "ann.json": "ann.json",
        "ann/table.txt": "ann/table.txt",
    }
    assert sealed(arrived.origin)[0] == one.seal == arrived.seal
    assert arrived._replace(origin=one.origin) == one
    assert not os.stat(arrived.origin.file).st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)


def test_a_folder_of_its_own_is_sent_whole_but_for_what_leads_out(game: dicegym.Game, tmp_path: Path) -> None:
    home, node = tmp_path / "home", tmp_path / "node"
    for folder in (home / "ben" / "deep", home / "ben" / "__pycache__", node):
        folder.mkdir(parents=True)
    for name in ("hog.py", "tools.py", "deep/weights.txt", "__pycache__/old.pyc"):
        (home / "ben" / name).write_text("x = 1\n")
    (home / "secret.txt").write_text("secret")
    (home / "ben" / "way_out").symlink_to(home / "secret.txt")
    os.mkfifo(home / "ben" / "pipe")
    _, there, _, _ = sent(game, [entry(game, "ben", str(home / "ben"))], node)
    assert set(texts(there.entries[0].origin.file.parent)) == {"hog.py", "tools.py", "deep/weights.txt"}


def test_a_link_to_a_bot_elsewhere_has_that_folder_s_helpers(game: dicegym.Game, tmp_path: Path) -> None:
    home, node = tmp_path / "home", tmp_path / "node"
    for folder in (home / "real", home / "sent", node):
        folder.mkdir(parents=True)
    (home / "real" / "hog.py").write_text(BOT)
    (home / "real" / "tools.py").write_text("x = 1\n")
    (home / "sent" / "hog.py").symlink_to(home / "real" / "hog.py")
    one = entry(game, "ann", str(home / "sent" / "hog.py"))
    _, there, _, _ = sent(game, [one], node)
    assert len(one.seal) == 2
    assert sealed(there.entries[0].origin)[0] == one.seal


@pytest.mark.parametrize("name", GAMES)
def test_agents_that_ship_are_found_there_by_their_paths(name: str, tmp_path: Path) -> None:
    game = dicegym.game(name)
    entries = [entry(game, one, one) for one in agent_names(game)[: game.players]]
    match, there, _, _ = sent(game, entries, tmp_path)
    assert there == match


def test_an_agent_that_is_another_one_there_is_no_fault_of_its_own(
    game: dicegym.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dicegym.sandbox.jobs.is_shipped", lambda path, digest: True)
    one = entry(game, "bacon", "bacon")._replace(seal=(("bacon.py", "0" * 64),))
    with pytest.raises(DicegymError, match="'bacon' is another one here"):
        sent(game, [one], tmp_path)


def test_a_player_arrives_as_it_was_handed_over(game: dicegym.Game, tmp_path: Path) -> None:
    one = entry(game, "model", "ppo")
    match, there, _, _ = sent(game, [one, one._replace(name="twin")], tmp_path)
    assert there == match


def test_texts_name_the_folder_where_files_came_from(game: dicegym.Game, tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "node"
    home.mkdir()
    away.mkdir()
    (home / "ann.py").write_text("x = 1\n")
    _, there, node, _ = sent(game, [entry(game, "ann", str(home / "ann.py"))], away)
    file = there.entries[0].origin.file
    said = {"printed": [f"I am {file}", ""], "number": [1, 2.5, None], "deep": {"in": f"{file.parent}"}}
    assert node.as_told_there(said) == {
        "printed": [f"I am {home / 'ann.py'}", ""],
        "number": [1, 2.5, None],
        "deep": {"in": str(home)},
    }
    assert node.as_told_there(Failure(0, f"raised {file}", 1, 2)) == Failure(0, f"raised {home / 'ann.py'}", 1, 2)


def test_a_job_that_was_done_in_another_form_comes_back_with_the_entries_of_here(
    game: dicegym.Game, tmp_path: Path
) -> None:
    home, away = tmp_path / "home", tmp_path / "node"
    home.mkdir()
    away.mkdir()
    (home / "ann.py").write_text("x = 1\n")
    match, there, node, packer = sent(game, [entry(game, "ann", str(home / "ann.py"))], away)
    assert packer.unpack(written(there, node.ticket)) == match


def test_a_file_that_is_gone_is_missed_there_as_here(game: dicegym.Game, tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "node"
    home.mkdir()
    away.mkdir()
    (home / "ann.py").write_text("x = 1\n")
    one = entry(game, "ann", str(home / "ann.py"))
    (home / "ann.py").unlink()
    _, there, _, _ = sent(game, [one], away)
    assert not there.entries[0].origin.file.exists()


@pytest.mark.parametrize(("limit", "value"), [("LARGEST", 10), ("MOST_FILES", 1)])
def test_a_bot_with_too_much_is_told_so(
    game: dicegym.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(parcels, limit, value)
    (tmp_path / "hog.py").write_text("x = 1\n")
    (tmp_path / "large.txt").write_text("1234567890")
    with pytest.raises(ParameterError, match="entry 'ann' cannot be sent"):
        Packer(game, lambda parcel: parcel).pack(Match(game, (entry(game, "ann", str(tmp_path / "hog.py")),), 0, 1))


@pytest.mark.parametrize("address", [None, "auto", "local", "host:6379", "ray://10.0.0.1:10001", "[::1]:6379"])
def test_addresses_of_clusters(address: str | None) -> None:
    assert check_address(address) == address
    assert address is None or looks_like_address(address)


@pytest.mark.parametrize("address", ["", "host", "host:", ":6379", "host:0", "host:70000", "http://a:80", "ray://a"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ParameterError, match="is no address of a Ray cluster"):
        check_address(address)


@pytest.mark.parametrize("text", ["", "bacon", "my/bots", "bot.py", "--json", "bots:hog", "a:b:c"])
def test_what_is_an_entry_and_no_address(text: str) -> None:
    assert not looks_like_address(text)


def test_a_file_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ann:1").touch()
    assert not looks_like_address("ann:1")


@pytest.mark.parametrize(
    ("listens", "match"), [(True, "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"), (False, "start one")]
)
def test_a_cluster_that_asks_for_a_token_is_told_from_none(
    listens: bool, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def knock(address: str) -> None:
        if not listens:
            raise ConnectionRefusedError("nobody")

    def turned_away(address: str, **options: Any) -> None:
        raise ConnectionError(f"Failed to connect to Ray cluster at {address}")

    monkeypatch.setattr(connection, "_knock", knock)
    with pytest.raises(DicegymError, match=match):
        connection._connect(SimpleNamespace(init=turned_away), "head:6379", None)
