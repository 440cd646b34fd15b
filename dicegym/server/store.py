"""What the server remembers: every finished game and every rating, in one SQLite file.

A game and the ratings that it changed are one transaction, and it is on the disk before anybody is told the result: a
server that is killed has lost no game that it announced and holds none by half. Games in progress are not stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout
from sqlalchemy.dialects.sqlite import insert

import dicegym
from dicegym.errors import ParameterError
from dicegym.server.results import ForcedTurn, GameResult, PlayerRating, SeatResult

SCHEMA = "1"
"""Changes when the tables do."""

_tables = sa.MetaData()
ABOUT = sa.Table(
    "about", _tables, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
)  # "schema" and "game"
RUNS = sa.Table(
    "runs",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("began", sa.Text, nullable=False),
    sa.Column("seed", sa.Text, nullable=False),  # as given or drawn, decimal
    sa.Column("version", sa.Text, nullable=False),  # of dicegym
)
RATINGS = sa.Table(
    "ratings",
    _tables,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("rating", sa.Float, nullable=False),
    sa.Column("games", sa.Integer, nullable=False),
    sa.Column("wins", sa.Integer, nullable=False),  # first places, shared ones included
)
GAMES = sa.Table(
    "games",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run", sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # within the run
    sa.Column("seed", sa.Text, nullable=False),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    sa.Column("ended", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("actions", sa.Text, nullable=False),  # JSON list: played in this order they give the game again
    sa.UniqueConstraint("run", "number"),
)
RESULTS = sa.Table(
    "results",
    _tables,
    sa.Column("game", sa.ForeignKey("games.id"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    sa.Column("name", sa.ForeignKey("ratings.name"), nullable=False, index=True),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("before", sa.Float, nullable=False),  # rating
    sa.Column("after", sa.Float, nullable=False),
)
INCIDENTS = sa.Table(
    "incidents",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("game", sa.ForeignKey("games.id"), nullable=False, index=True),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("turn", sa.Integer, nullable=False),  # number of the seat's decision, from 1
    sa.Column("reason", sa.Text, nullable=False),
)


class Store:
    """An open store.

    Args:
        path: the file; made if it does not exist.
        game: the name of the game whose results it holds.

    Raises:
        ParameterError: the file cannot be used: it is no such store, belongs to another game, has another schema, or
            another server has it open.
    """

    def __init__(self, path: Path, game: str) -> None:
        self.path = path
        self._lock = _locked(path)
        self._engine = sa.create_engine(f"sqlite:///{path}", poolclass=sa.pool.StaticPool)
        sa.event.listen(self._engine, "connect", _prepare)
        self._run = 0
        try:
            self._open(game)
        except (sa.exc.DatabaseError, OSError) as error:
            reason = getattr(error, "orig", None) or error
            self.close()
            raise ParameterError(f"{path} cannot be used for results ({reason}): give another --database") from None
        except ParameterError:
            self.close()
            raise

    def _open(self, game: str) -> None:
        with self._engine.begin() as connection:
            found = sa.inspect(connection).get_table_names()
            if found and "about" not in found:
                raise ParameterError(f"{self.path} is a database of something else: give another --database")
            _tables.create_all(connection)
            if not found:
                facts = {"schema": SCHEMA, "game": game}
                connection.execute(ABOUT.insert(), [{"name": name, "value": facts[name]} for name in facts])
            about = {str(row.name): str(row.value) for row in connection.execute(sa.select(ABOUT))}
        if about.get("schema") != SCHEMA:
            raise ParameterError(
                f"{self.path} has schema {about.get('schema')}, and this version of dicegym writes {SCHEMA}: "
                "give another --database, or use the version that wrote it"
            )
        if about.get("game") != game:
            raise ParameterError(f"{self.path} holds results of {about.get('game')}: give {game} another --database")

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()
        self._lock.release()

    def begin_run(self, seed: int) -> int:
        """Take note that a server has started with this seed; return the number of its run, from 1."""
        with self._engine.begin() as connection:
            row = {"began": _now(), "seed": str(seed), "version": dicegym.__version__}
            self._run = int(connection.execute(RUNS.insert().values(row)).inserted_primary_key[0])  # type: ignore[index]  # an insert of one row has one
        return self._run

    def ratings(self) -> dict[str, PlayerRating]:
        """Return what is known of each name."""
        columns = (RATINGS.c.name, RATINGS.c.rating, RATINGS.c.games, RATINGS.c.wins)
        with self._engine.connect() as connection:
            return {name: PlayerRating(*rest) for name, *rest in connection.execute(sa.select(*columns))}

    def finished(self) -> int:
        """Return the number of games stored."""
        with self._engine.connect() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(GAMES)).scalar_one())

    def results(self) -> Iterator[GameResult]:
        """Yield every game, in the order in which they were stored."""
        with self._engine.connect() as connection:
            games = connection.execute(sa.select(GAMES).order_by(GAMES.c.id)).all()
            for game in games:
                places = connection.execute(
                    sa.select(RESULTS.c.name, RESULTS.c.total, RESULTS.c.place, RESULTS.c.before, RESULTS.c.after)
                    .where(RESULTS.c.game == game.id)
                    .order_by(RESULTS.c.seat)
                ).all()
                incidents = connection.execute(
                    sa.select(INCIDENTS.c.seat, INCIDENTS.c.turn, INCIDENTS.c.reason)
                    .where(INCIDENTS.c.game == game.id)
                    .order_by(INCIDENTS.c.id)
                ).all()
                yield GameResult(
                    game.number,
                    int(game.seed),
                    game.seconds,
                    tuple(json.loads(game.actions)),
                    tuple(SeatResult(*row) for row in places),
                    tuple(ForcedTurn(*row) for row in incidents),
                )

    def write(self, results: Sequence[GameResult]) -> None:
        """Store games, all or none, with the ratings they led to; later ones count."""
        with self._engine.begin() as connection:
            for result in results:
                self._write(connection, result)

    def _write(self, connection: sa.Connection, result: GameResult) -> None:
        for place in result.places:
            first = int(place.place == 1)
            row = {"name": place.name, "rating": place.after, "games": 1, "wins": first}
            changed = {"rating": place.after, "games": RATINGS.c.games + 1, "wins": RATINGS.c.wins + first}
            connection.execute(insert(RATINGS).values(row).on_conflict_do_update(index_elements=["name"], set_=changed))
        game = connection.execute(
            GAMES.insert().values(
                run=self._run,
                number=result.number,
                seed=str(result.seed),
                ended=_now(),
                seconds=round(result.seconds, 3),
                actions=json.dumps(result.actions, separators=(",", ":")),
            )
        ).inserted_primary_key[0]  # type: ignore[index]  # an insert of one row has one
        connection.execute(
            RESULTS.insert(),
            [{"game": game, "seat": seat} | place._asdict() for seat, place in enumerate(result.places)],
        )
        if result.incidents:
            connection.execute(INCIDENTS.insert(), [{"game": game} | found._asdict() for found in result.incidents])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _prepare(connection: Any, _: object) -> None:
    """Have every commit on the disk when it returns."""
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"):
        connection.execute(f"PRAGMA {setting}")


def _locked(path: Path) -> FileLock:
    """Return a lock on a file beside ``path``, which says until it is released that the store is in use."""
    lock = FileLock(path.with_name(path.name + "-lock"), blocking=False)
    try:
        path.parent.stat()  # the lock would make a folder that is missing, and so hide a slip of the pen
        lock.acquire()
    except Timeout:
        raise ParameterError(f"{path} is in use by another server: stop that, or give another --database") from None
    except OSError as error:
        raise ParameterError(f"{path} cannot be used for results ({error.strerror}): give another --database") from None
    return lock
