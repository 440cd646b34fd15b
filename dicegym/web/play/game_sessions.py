"""The games of all visitors: started, restored after a restart, and dropped from memory when many are open."""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dicegym.analysis.valuers import threshold
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DamagedFileError, ParameterError, UnknownNameError
from dicegym.play.player import Player
from dicegym.play.seeds import draw_seed
from dicegym.players.roster import agent_name
from dicegym.players.sitting import Warn, draw_seat, usual_rivals, usual_seats
from dicegym.web.context import Web
from dicegym.web.play.advice import Advice
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.rivals import SharedPlayers, make_table, rival_of
from dicegym.web.play.saved_games import TableSheet, read_sheet, share_game

GAMES_PER_VISITOR = 20
MOST_VISITORS = 10_000
"""Visitors whose games are stored, the latest ones."""
MOST_IN_MEMORY = 400
"""Tables in memory. Beyond, the least recently used are dropped, and restored from their files on request."""
AGENT_THREADS = 4
LONGEST_SEED = 2**63 - 1
ID = re.compile(r"[A-Za-z0-9_-]{16}")
"""An unguessable id of a table."""


class NewGame(BaseModel):
    """A game to start."""

    model_config = ConfigDict(extra="forbid")

    game: str
    players: int | None = None
    """Seats, the person's included (default: the usual number, or one more than the opponents)."""
    against: list[str] = []
    """Strengths or agents for the other seats, repeated if there are fewer (default: the usual ones)."""
    seat: int | None = None
    """The person's seat, from 0 (default: drawn by the seed)."""
    seed: int | None = None
    """The seed of the dice (default: drawn)."""
    tutor: str = ""
    """The level of mistakes from which the tutor warns; empty: no tutor."""
    parameters: dict[str, int] = {}


class GameSessions:
    """The tables of all visitors of one server.

    Each game is stored in ``games/VISITOR/ID.json``, written atomically, so a restart loses nothing.
    """

    def __init__(self, web: Web) -> None:
        self.web = web
        self.folder = web.settings.folder / "games"
        self.folder.mkdir(mode=0o700, exist_ok=True)  # names of its folders are cookies of visitors
        self.advice = Advice(web.work, web.slow)
        self.shared_players = SharedPlayers()
        self._lock = threading.RLock()
        self._open: OrderedDict[Path, PlayedTable] = OrderedDict()
        self._threads = ThreadPoolExecutor(AGENT_THREADS, "play")
        web.on_stop.append(lambda: self._threads.shutdown(wait=False, cancel_futures=True))

    def begin(self, visitor: str, wanted: NewGame, models: Mapping[str, Path] | None = None) -> PlayedTable:
        """Start a game.

        ``models`` maps names of opponents to files of models, which the server trusts.

        Raises:
            UnknownNameError: an unknown game, parameter, opponent or level.
            ParameterError: a number out of range, or too many opponents.
            GettingReadyError: the game is still being compiled.
        """
        self.web.readiness.check(wanted.game)
        named = [name for name in wanted.against if name]
        table = make_table(wanted.game, wanted.players, wanted.parameters)
        if wanted.players is None:
            table = make_table(wanted.game, usual_seats(table, len(named)), wanted.parameters)
        table = share_game(table)
        if len(named) > table.players - 1:
            raise ParameterError(
                f"{len(named)} opponents do not fit at a table of {table.players}: name {table.players - 1} at most"
            )
        asked = named or usual_rivals(table)
        others = [asked[number % len(asked)] for number in range(table.players - 1)]
        agents = [str(models[one]) if models and one in models else rival_of(table, one) for one in others]
        if wanted.tutor:
            threshold(wanted.tutor, "win rate")  # raises for an unknown level
        seed, seat = wanted.seed, wanted.seat
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
            tutor=wanted.tutor,
            drawn=[seed is None, seat is None],
            fingerprint=table.fingerprint,
        )
        return self._start(sheet)

    def another(self, sheet: TableSheet) -> PlayedTable:
        """Start another game with the same players. Drawn seeds and seats are drawn again; a given seed rises by 1."""
        seed_drawn, seat_drawn = sheet.drawn
        seed = draw_seed() if seed_drawn else min(sheet.seed + 1, LONGEST_SEED)
        seat = draw_seat(seed, sheet.players) if seat_drawn else sheet.seat
        return self._start(sheet.fresh(secrets.token_urlsafe(12), seed, seat))

    def _start(self, sheet: TableSheet) -> PlayedTable:
        folder = self.folder / sheet.visitor
        folder.mkdir(exist_ok=True)
        self._keep(sheet)
        for old in _newest(folder)[GAMES_PER_VISITOR:]:
            old.unlink(missing_ok=True)
        if secrets.randbelow(100) == 0:
            for left in _newest(self.folder)[MOST_VISITORS:]:
                shutil.rmtree(left, ignore_errors=True)
        return self.find(sheet.visitor, sheet.id)

    def find(self, visitor: str, id: str) -> PlayedTable:
        """Return a table of a visitor, restored if it is not in memory. Raises UnknownNameError."""
        path = self._path(visitor, id)
        table = self._open.get(path)
        if table is None:
            if not ID.fullmatch(id) or not path.is_file():
                raise UnknownNameError(
                    "unknown game: it is too old, or another visitor started it (a cookie tells visitors apart). Start "
                    "another game"
                )
            table = self._table(read_sheet(path))
        with self._lock:  # short: the event loop takes this lock, too
            table = self._open.setdefault(path, table)
            self._open.move_to_end(path)
            while len(self._open) > MOST_IN_MEMORY and not next(iter(self._open.values())).busy:
                self._open.popitem(last=False)
        table.restore()
        return table

    def is_open(self, visitor: str, id: str) -> bool:
        """Return whether a table is in memory, so that `find` returns at once."""
        return self._path(visitor, id) in self._open

    def of(self, visitor: str) -> Iterator[TableSheet]:
        """Yield the stored games of a visitor, the latest first."""
        for path in _newest(self.folder / visitor):
            with contextlib.suppress(DamagedFileError):
                yield read_sheet(path)

    def _table(self, sheet: TableSheet) -> PlayedTable:
        self.web.readiness.check(sheet.game)

        def load_players(game: Game) -> list[Player]:
            return [self.shared_players.player(game, agent) for agent in sheet.agents]

        def load_tutor() -> Warn | None:
            return self.advice.warner(sheet.table(), sheet.tutor)

        return PlayedTable(sheet, load_players, self._keep, self._threads.submit, load_tutor)

    def _keep(self, sheet: TableSheet) -> None:
        sheet.write(self._path(sheet.visitor, sheet.id))

    def _path(self, visitor: str, id: str) -> Path:
        return self.folder / visitor / f"{id}.json"


def _newest(folder: Path) -> list[Path]:
    """Return the entries of a folder, the latest first, without hidden ones, which are unfinished files."""
    found = []
    for path in folder.glob("[!.]*"):
        with contextlib.suppress(FileNotFoundError):  # another request deleted it
            found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)]
