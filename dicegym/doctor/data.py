"""What lies on disk: the store of contests, solved tables, and the agents that ship."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from dicegym.arena.storage import VARIABLE, default_store
from dicegym.doctor.diagnosis import BROKEN, LACKING, OK, Diagnosis
from dicegym.errors import install_command
from dicegym.games.solved import FOLDER_VARIABLE, tables_root
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder


def store() -> list[Diagnosis]:
    """Return whether the store of contests that commands would use here can be read, and its schema."""
    where = default_store()
    if "://" in where:
        return [_server()]
    path = Path(where)
    if not path.exists():
        words = f"{path.resolve()} is not there"
        return [Diagnosis("store", "", OK, f"{words}: the first contest makes it")]
    try:
        from dicegym.arena.store.schema import SCHEMA
    except ImportError as error:
        return [
            Diagnosis("store", "", LACKING, f"{path} cannot be read without {error.name}", install_command("arena"))
        ]
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.5)) as connection:
            row = connection.execute("select value from about where name = 'schema'").fetchone()
    except sqlite3.Error as error:
        advice = f"name another one by --store or {VARIABLE}, or move it away"
        return [Diagnosis("store", "", BROKEN, f"{path} is no store of contests ({error})", advice)]
    found = str(row[0]) if row else "none"
    size = path.stat().st_size / (1 << 20)
    if found != SCHEMA:
        newer = found.isdecimal() and int(found) > int(SCHEMA)
        advice = "update dicegym" if newer else "the next contest that is stored brings it up to date"
        words = f"{path} has schema {found}, and {SCHEMA} is what this version writes"
        return [Diagnosis("store", "", BROKEN if newer or not row else OK, words, advice)]
    return [Diagnosis("store", "", OK, f"{path}, {size:.1f} MiB, schema {found}")]


def tables() -> list[Diagnosis]:
    """Return which tables are solved and kept."""
    root = tables_root()
    if not root.is_dir():
        return [
            Diagnosis(
                "tables", "", OK, f"nothing is solved yet in {root}; `dicegym values solve --list` shows what can be"
            )
        ]
    found = sorted(one for one in root.glob("*/*") if one.is_dir())
    if not os.access(root, os.W_OK):
        return [
            Diagnosis("tables", "", BROKEN, f"{root} cannot be written", f"let {FOLDER_VARIABLE} name another folder")
        ]
    size = sum(one.stat().st_size for one in root.rglob("*") if one.is_file()) / (1 << 20)
    named = ", ".join(f"{one.parent.name.partition('-')[0]} {one.name}" for one in found) or "none"
    return [Diagnosis("tables", "", OK, f"{len(found)} in {root} ({size:.0f} MiB): {named}")]


def trained_models() -> list[Diagnosis]:
    """Return whether the agents that ship are there."""
    folder = shipped_folder("agents")
    missing = [game for game in GAMES if not any((folder / game).glob("*.py"))]
    ours = [game for game in missing if (folder.parent / "games" / game).exists()]
    if not folder.is_dir() or ours:
        words = f"{folder} lacks agents of {', '.join(ours) or 'all games'}"
        return [Diagnosis("agents", "", BROKEN, words, "install dicegym again")]
    models = len(list(folder.glob("*/*.zip")))
    return [Diagnosis("agents", "", OK, f"{len(list(folder.glob('*/*.py')))} bots and {models} models in {folder}")]


def _server() -> Diagnosis:
    """Return whether a store on a PostgreSQL server can be asked at all; it is not connected with."""
    try:
        import psycopg
    except ImportError as error:
        words = f"{VARIABLE} names a PostgreSQL server, and its driver cannot be loaded ({error})"
        return Diagnosis("store", "", BROKEN, words, install_command("postgres"))
    return Diagnosis("store", "", OK, f"{VARIABLE} names a PostgreSQL server; driver psycopg {psycopg.__version__}")
