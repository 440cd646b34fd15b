"""A store of contests: what was entered, played and found, in one SQLite file or a PostgreSQL database.

Contests that are held write to it through a `dicegym.arena.store.book.Book`, one each; who asks reads through
`dicegym.arena.store.reading`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from dicegym.arena.keys import rules_of, written
from dicegym.arena.provenance import package_version
from dicegym.arena.storage import DEFAULT, Settings, make_default_folder
from dicegym.arena.store.opening import WRITES, engine_at, location_of, wait_while_locked
from dicegym.arena.store.schema import create_tables, in_words, is_new, read_in_words
from dicegym.arena.store.tables import CONTESTS, RULES
from dicegym.engine.game import Game
from dicegym.errors import ParameterError


class Begun(NamedTuple):
    """A contest that is held, as it stands in the store."""

    id: int
    seed: int
    run: int
    """How many times it has been begun or gone on with, this time included."""


class ContestStore:
    """An open store.

    Args:
        where: path of a file, made if it does not exist, or the URL of a PostgreSQL database.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.

    Raises:
        ParameterError: it cannot be used: it is something else, damaged, of a later schema, or out of reach.
        DependencyError: it is on a server, and what speaks to that is not installed.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        location = location_of(where)
        self.name, self.path = location.name, location.path
        self._engine = engine_at(location, waits=True)
        try:
            with self.in_words():
                self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        if self.path is not None:
            make_default_folder(self.path)
            _check_place(self.path)
        with self.writing() as connection:
            if is_new(connection, self.name):
                create_tables(connection)
        if self.path is not None:
            with contextlib.closing(self._engine.raw_connection()) as raw:  # not before: others' files are not touched
                wait_while_locked(lambda: raw.cursor().execute("PRAGMA journal_mode=WAL"), self.name)

    def __enter__(self) -> ContestStore:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    @contextlib.contextmanager
    def in_words(self) -> Iterator[None]:
        """Make a ParameterError of whatever the database has against what is done within."""
        with in_words(self.name):
            yield

    def connected(self) -> sa.Connection:
        """Return a connection of its own, for whoever keeps something as long as it lasts."""
        with self.in_words():
            return self._engine.connect()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that changes nothing; what goes wrong is said in words."""
        with read_in_words(self.name), self._engine.connect() as connection:
            if self.path is None:
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction, which is kept unless something is raised within."""
        connected = self._engine.connect
        with self.in_words(), connected().execution_options(**{WRITES: True}) as connection, connection.begin():
            if self.path is None:
                # A server that loses power may lose the last second; who is killed loses nothing.
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                write_alone(connection)
            yield connection

    def compact(self) -> None:
        """Give back the room of what has been removed; a server does that by itself."""
        if self.path is not None:
            with contextlib.closing(self._engine.raw_connection()) as raw:
                wait_while_locked(lambda: raw.cursor().execute("VACUUM"), self.name)
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def latest(self, settings: Settings, seed: int | None = None) -> Begun | None:
        """Return the latest contest with these settings, and this seed if one is given; None if there is none."""
        with self.reading() as connection:
            return self.latest_of(connection, settings, seed)

    def latest_of(self, connection: sa.Connection, settings: Settings, seed: int | None) -> Begun | None:
        """Return what `latest` does, in a transaction that goes on."""
        same = sa.select(CONTESTS.c.id, CONTESTS.c.seed, CONTESTS.c.run)
        same = same.where(CONTESTS.c.settings == settings.digest)
        if seed is not None:
            same = same.where(CONTESTS.c.seed == str(seed))
        found = connection.execute(same.order_by(CONTESTS.c.id.desc()).limit(1)).first()
        return None if found is None else Begun(found.id, int(found.seed), found.run)

    def begin(self, connection: sa.Connection, settings: Settings, seed: int) -> Begun:
        """Begin a contest, in a transaction that goes on."""
        row = {
            "label": settings.label,
            "rules": self.rules(connection, settings.game),
            "format": settings.format,
            "options": json.dumps(settings.options),
            "limits": json.dumps(written(settings.limits)),
            "settings": settings.digest,
            "seed": str(seed),
            "began": now_in_words(),
            "version": package_version(),
            "run": 1,
            "planned": 0,
        }
        number = connection.execute(CONTESTS.insert().values(row)).inserted_primary_key
        return Begun(int(number[0]), seed, 1)  # type: ignore[index]  # an insert of one row has one

    def take_up(self, connection: sa.Connection, contest: Begun) -> Begun:
        """Go on with a contest, in a transaction that goes on."""
        values = {"run": CONTESTS.c.run + 1, "ended": None, "version": package_version()}
        here = CONTESTS.c.id == contest.id
        connection.execute(CONTESTS.update().where(here).values(values))
        return contest._replace(run=connection.execute(sa.select(CONTESTS.c.run).where(here)).scalar_one())

    def rules(self, connection: sa.Connection, game: Game) -> int:
        """Return the number of the rules of ``game`` in the store, where they are put if they are not there."""
        return number_of_rules(connection, game)


def number_of_rules(connection: sa.Connection, game: Game) -> int:
    """Return the number of the rules of ``game`` in a store, where they are put if they are not there."""
    name, players, parameters, fingerprint = rules_of(game)
    row = {"game": name, "players": players, "parameters": json.dumps(parameters), "fingerprint": fingerprint}
    same = sa.select(RULES.c.id).filter_by(**row)
    found = connection.execute(same).scalar()
    if found is None:
        add(connection, RULES, [row | {"version": package_version()}], ["game", "players", "parameters", "fingerprint"])
        found = connection.execute(same).scalar_one()
    return int(found)


def write_alone(connection: sa.Connection) -> None:
    """Wait until nobody else writes to a store on a server, and have others wait until the transaction ends.

    So two that store the same matches and checks at once, in whatever order, do not meet; a file has that by itself.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(0)))


def _check_place(path: Path) -> None:
    """Raise ParameterError if no file can be at ``path``: SQLite would only say that it cannot open it."""
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it, such as {path / DEFAULT}")
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be made, as there is no folder {path.parent}: make it first")


def add(
    connection: sa.Connection,
    table: sa.Table,
    rows: Sequence[dict[str, Any]],
    keys: Sequence[str],
    changed: Sequence[str] = (),
) -> None:
    """Put rows into a table; where one with the same ``keys`` is there, change what is named of it, or nothing."""
    if not rows:
        return
    new = upsert(connection, table)
    if changed:
        new = new.on_conflict_do_update(index_elements=keys, set_={name: new.excluded[name] for name in changed})
    else:
        new = new.on_conflict_do_nothing(index_elements=keys)
    connection.execute(new, rows)


def upsert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an insert that can be told what to do about rows that are there."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def now_in_words() -> str:
    """Return the time in UTC, as stores keep it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
