"""All tables of a server of pages: begun, found again after a restart, dropped from memory when idle, put away."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DamagedFileError, DicegymError, ParameterError, UnknownNameError
from dicegym.play.player import Player
from dicegym.play.seeds import draw_seed
from dicegym.players.roster import agent_name
from dicegym.players.sitting import Warn, draw_seat, usual_rivals, usual_seats
from dicegym.web.context import Web, remove_oldest
from dicegym.web.forms import sign
from dicegym.web.play.advice import Advice
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.rivals import Guests, make_table, rival_of
from dicegym.web.play.saved_games import ID, TableSheet, read_sheet, share_game

OF_A_VISITOR = 20
"""Games in a visitor's list; of more, those are put away that are over, then those left alone for longest."""
OF_ALL = 5000
"""The same for all visitors together."""
PUT_AWAY = 20_000
"""Games that are kept after they were put away or are over; of more, the oldest are gone for good."""
IN_MEMORY = 400
IDLE = 1800.0
"""Seconds after which a table is dropped from memory that nobody has looked at."""
THREADS = 4
"""In which other players think."""
LONGEST_SEED = 2**63 - 1


class NotYoursError(DicegymError):
    """A game is somebody else's."""

    status = 403


class PlayHall:
    """All tables of one server.

    Each game is a file ``ID.json`` in the folder ``games``, written whole or not at all; those that were put away lie
    in its folder ``away``, and are found by their address too. So a restart loses nothing.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        self.web = web
        self.folder = web.folder("games")
        self.away = self.folder / "away"
        self.away.mkdir(exist_ok=True)
        self.advice = Advice(web.work, web.slow)
        self._guests = Guests()
        self._lock = threading.RLock()
        self._open: OrderedDict[str, tuple[PlayedTable, float]] = OrderedDict()
        self._sheets: dict[str, TableSheet] | None = None
        self._threads = ThreadPoolExecutor(THREADS, "play")
        web.on_stop.append(self.close)

    def close(self) -> None:
        """Let nobody begin to think any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def begin(
        self,
        visitor: str,
        game: str,
        *,
        players: int | None = None,
        rivals: list[str] | None = None,
        seat: int | None = None,
        seed: int | None = None,
        tutor: str = "",
        parameters: Mapping[str, Any] | None = None,
        models: Mapping[str, Path] | None = None,
    ) -> PlayedTable:
        """Begin a game.

        Args:
            visitor: the player.
            game: its name.
            players: seats (default: as many as suit the named opponents, or the game).
            rivals: the others, in the order of their seats; fewer than there are seats are taken in turn (default: the
                usual ones).
            seat: the person's (default: drawn by the seed).
            seed: of the game (default: drawn).
            tutor: from which level on it warns; empty: never.
            parameters: of the game.
            models: files that some of ``rivals`` stand for, which the server trusts to be models.

        Raises:
            UnknownNameError: an unknown game, parameter, opponent or level.
            ParameterError: a number is out of range, or too many opponents are named.
            GettingReadyError: the game is being compiled.
        """
        self.web.readiness.check(game)
        given = dict(parameters or {})
        named = [name for name in rivals or [] if name]
        table = make_table(game, players, given)
        if players is None:
            table = make_table(game, usual_seats(table, len(named)), given)
        table = share_game(table)
        if len(named) > table.players - 1:
            raise ParameterError(
                f"{len(named)} opponents do not fit at a table of {table.players}: name {table.players - 1} at most"
            )
        asked = named or usual_rivals(table)
        others = [asked[number % len(asked)] for number in range(table.players - 1)]
        found = models or {}
        agents = [str(found[one]) if one in found else rival_of(table, one) for one in others]
        if tutor:
            self.advice.check(table, tutor)
        number = draw_seed() if seed is None else whole_number("seed", seed, 0, LONGEST_SEED, "the seed of a game")
        if seat is not None:
            whole_number("seat", seat, 0, table.players - 1, f"your seat in {table!r}")
        sheet = TableSheet(
            id=secrets.token_urlsafe(12),
            visitor=visitor,
            game=table.name,
            players=table.players,
            parameters={name: int(value) for name, value in table.parameters.items()},
            seed=number,
            seat=draw_seat(number, table.players) if seat is None else seat,
            rivals=others,
            agents=agents,
            called=[agent_name(table, agent) for agent in agents],
            tutor=tutor,
            drawn=[seed is None, seat is None],
            fingerprint=table.fingerprint,
        )
        return self._begun(sheet)

    def another(self, sheet: TableSheet) -> PlayedTable:
        """Begin another game among the same; what was drawn is drawn anew, another seed is one higher."""
        seed_drawn, seat_drawn = sheet.drawn
        seed = draw_seed() if seed_drawn else min(sheet.seed + 1, LONGEST_SEED)
        seat = draw_seat(seed, sheet.players) if seat_drawn else sheet.seat
        fresh = sheet.fresh(secrets.token_urlsafe(12), seed, seat)
        return self._begun(fresh)

    def _begun(self, sheet: TableSheet) -> PlayedTable:
        with self._lock:
            self._keep(sheet)
            self._put_oldest_away(sheet.visitor)
            table = self._table(sheet)
        table.lay()
        return table

    def find(self, id: str) -> PlayedTable:
        """Return a table, laid again if it is not in memory. Raises UnknownNameError."""
        with self._lock:
            self._drop_idle()
            if id in self._open:
                table, _ = self._open[id]
                self._open[id] = table, time.monotonic()
                self._open.move_to_end(id)
                return table
            table = self._table(self._read(id))
        table.lay()
        return table

    def key(self, sheet: TableSheet) -> str:
        """Return what a program shows that began a game, in place of a visitor's cookie."""
        return sign(self.web, "play", sheet.id)

    def own(self, id: str, visitor: str, key: str = "") -> PlayedTable:
        """Return a table of a visitor, or of a program that has its key.

        Raises NotYoursError if it is somebody else's, UnknownNameError as `find`.
        """
        table = self.find(id)
        if table.sheet.visitor != visitor and not secrets.compare_digest(key.encode(), self.key(table.sheet).encode()):
            raise NotYoursError(
                "this game was begun by another visitor, and is private; your games are known by a cookie, so allow "
                "cookies if it is yours"
            )
        return table

    def find_watched(self, id: str, key: str) -> PlayedTable:
        """Return a table whose player lets others watch. Raises UnknownNameError unless the key is the right one."""
        table = self.find(id)
        if not table.sheet.watch or not secrets.compare_digest(table.sheet.watch, key):
            raise UnknownNameError("this game is not shared any more: ask for a new link")
        return table

    def of(self, visitor: str) -> list[TableSheet]:
        """Return what a visitor has begun and has not put away, the newest first."""
        with self._lock:
            found = [sheet for sheet in self._all().values() if sheet.visitor == visitor]
        return sorted(found, key=lambda sheet: -sheet.changed)

    def put_away(self, table: PlayedTable) -> None:
        """Take a game out of the visitor's list; its address still leads to it."""
        with self._lock:
            self._away(table.sheet)
            self._open.pop(table.sheet.id, None)

    def _table(self, sheet: TableSheet) -> PlayedTable:
        self.web.readiness.check(sheet.game)
        table = PlayedTable(
            sheet,
            lambda game: self._seated(game, sheet),
            self._keep,
            self._threads.submit,
            lambda: self._warner(sheet),
        )
        self._open[sheet.id] = table, time.monotonic()
        return table

    def _seated(self, game: Game, sheet: TableSheet) -> list[Player]:
        return [self._guests.player(game, agent) for agent in sheet.agents]

    def _warner(self, sheet: TableSheet) -> Warn | None:
        return self.advice.warner(sheet.table(), sheet.tutor)

    def _path(self, id: str) -> Path:
        return self.folder / f"{id}.json"

    def _read(self, id: str) -> TableSheet:
        """Return what is kept of a game; one that was put away is taken up again."""
        if ID.fullmatch(id):
            for path in (self._path(id), self.away / f"{id}.json"):
                if path.is_file():
                    return read_sheet(path)
        raise UnknownNameError("unknown game; it may be too old. Begin another one")

    def _keep(self, sheet: TableSheet) -> None:
        """Write a game; a game that was put away is in the list again."""
        path = self._path(sheet.id)
        sheet.write(path)
        (self.away / path.name).unlink(missing_ok=True)
        with self._lock:
            self._all()[sheet.id] = sheet

    def _all(self) -> dict[str, TableSheet]:
        """Return what is kept of all games that are not put away, read when first asked for."""
        if self._sheets is None:
            self._sheets = {}
            for path in self.folder.glob("*.json"):
                with contextlib.suppress(DamagedFileError):
                    sheet = read_sheet(path)
                    self._sheets[sheet.id] = sheet
        return self._sheets

    def _put_oldest_away(self, visitor: str) -> None:
        """Keep within the limits."""
        own = [sheet for sheet in self._all().values() if sheet.visitor == visitor]
        for some, most in ((own, OF_A_VISITOR), (list(self._all().values()), OF_ALL)):
            if len(some) > most:
                for sheet in sorted(some, key=lambda one: (not one.over, one.changed))[: len(some) - most]:
                    self._away(sheet)

    def _away(self, sheet: TableSheet) -> None:
        path = self._path(sheet.id)
        with contextlib.suppress(FileNotFoundError):
            path.replace(self.away / path.name)
        self._all().pop(sheet.id, None)
        if secrets.randbelow(100) == 0:
            remove_oldest(self.away, PUT_AWAY)

    def _drop_idle(self) -> None:
        """Forget tables that are kept in files."""
        until = time.monotonic() - IDLE
        for id, (table, seen) in list(self._open.items()):
            if len(self._open) <= IN_MEMORY and seen > until:
                return
            if not table.busy:
                del self._open[id]
