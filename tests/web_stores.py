"""Stores of contests for tests of pages: a small one that was really held, and what others make of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from made_up import disorderly

import dicegym
from dicegym import arena

ENTRIES = ("bacon", "ham", "swap")
HOSTILE = (
    "<script>document.title='run'</script>",
    '"><img src=x onerror="document.title=\'run\'">',
    "{{ 7 * 191 }}{% for x in y %}",
    "\u202egnp.exe\u202c' OR 1=1 --",
    "</title></script><svg onload=document.title='run'>" + "long " * 800,
)
"""Names and messages of people who mean harm."""


def held_store(path: Path) -> None:
    """Hold a small contest, and keep it in a store."""
    arena.contest(dicegym.game("hog", goal=40), list(ENTRIES), 3, executors=disorderly(ahead=1), games=4, store=path)
    with closing(sqlite3.connect(path)) as store, store:
        for match, player, reason in ((1, 0, HOSTILE[0]), (2, 1, HOSTILE[4])):
            incidents = json.dumps([[player, 1, 1, reason]])
            change = "UPDATE matches SET outcome = json_set(outcome, '$.incidents', json(?)) WHERE id = ?"
            store.execute(change, (incidents, match))
            store.execute("UPDATE seats SET noted = 1 WHERE match = ? AND player = ?", (match, player))


def renamed(source: Path, target: Path, names: Mapping[str, str]) -> None:
    """Copy a store in which entries are called otherwise."""
    shutil.copy(source, target)
    with closing(sqlite3.connect(target)) as store, store:
        for old, new in names.items():
            store.execute("UPDATE agents SET name = ? WHERE name = ?", (new, old))
        for table, column in (("contests", "report"), ("contests", "result")):
            for row, text in store.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                told = json.dumps(_renamed(json.loads(text), names))
                store.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (told, row))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_renamed(part, names) for part in value]
    if isinstance(value, dict):
        return {key: _renamed(part, names) for key, part in value.items()}
    return value


def multiplied(path: Path, times: int) -> None:
    """Give the contest of a store many times its matches, which came out as its own."""
    with closing(sqlite3.connect(path)) as store, store:
        own = [number for (number,) in store.execute("SELECT id FROM matches ORDER BY id")]
        for copy in range(1, times):
            for number in own:
                other = number + copy * len(own)
                store.execute(
                    "INSERT INTO matches SELECT ?, key || ?, rules, batch, seed, number, games, places, failure, "
                    "outcome, actions FROM matches WHERE id = ?",
                    (other, f"-{copy}", number),
                )
                store.execute(
                    "INSERT INTO seats SELECT ?, player, agent, wins, share, faults, noted FROM seats WHERE match = ?",
                    (other, number),
                )
                store.execute("INSERT INTO plays SELECT contest, ? FROM plays WHERE match = ?", (other, number))


def reopened(path: Path, planned: int = 5) -> None:
    """Make a contest one that has not ended."""
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("UPDATE contests SET ended = NULL, planned = ?", (planned,))


def ended(path: Path) -> None:
    """Let it end."""
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("UPDATE contests SET ended = began")
