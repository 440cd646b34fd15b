"""What runs in a referee's process: it loads the rules once, and then does one job after the other.

A referee holds the record, its key and the clocks. Untrusted bots play in processes of their own
(`dicegym.sandbox.hosts`); what plays in this one is trusted: agents that ship with the package, models, and players
that the caller made. They may still hang or end the process by accident, so the process that started this one watches
them by `Heartbeat`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection, wait
from typing import Any

from dicegym.bots.calls import Witness
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, ServiceError, one_line
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.printed import Printed
from dicegym.players import batch_players
from dicegym.sandbox import jail, scratch
from dicegym.sandbox.confinement import end_with
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.hosts import MOST, HostProcess
from dicegym.sandbox.jobs import Context, Entry, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import GoneError, IsolatedPlayer, StartError
from dicegym.signals import ENDING

CAN_FORK = hasattr(os, "fork")
"""Where there is no fork, bots play in the referee's process: nothing keeps them from it."""


def rehearse(game: Game) -> None:
    """Play one game, so that all kernels are in memory before anybody is timed."""
    state = play_game(game, [RandomPlayer()] * game.players)
    game.returns(state)
    game.observe(state, 0)  # models look and are told what is legal; bots play by a view
    game.legal(game.new_game()[0])
    batch_players.prepare(game)


class Hosts:
    """The hosts of a referee or a server: those of the entries that played last; see `HostProcess` for the folder."""

    def __init__(self, game: Game, limits: Limits, level: jail.Isolation, folder: str) -> None:
        self._game = game
        self._limits = limits
        self._level = level
        self._folder = folder
        self._hosts: OrderedDict[Entry, HostProcess] = OrderedDict()
        self._playing: list[tuple[Entry, IsolatedPlayer]] = []

    def apart(self, entry: Entry) -> bool:
        """Return whether an entry plays in a process of its own."""
        return CAN_FORK and not entry.trusted and isinstance(entry.origin, Source)

    def prepare(self, entries: Iterable[Entry]) -> None:
        """Begin to start what ``entries`` will need, without waiting for it."""
        for entry in entries:
            if self.apart(entry):
                with contextlib.suppress(AgentError):  # `load` will say so, when it is known whose turn it is
                    self._host_of(entry)

    def _host_of(self, entry: Entry) -> HostProcess:
        """Return the host of a bot, started if it is not there, or has ended. Raises AgentError, StartError."""
        if entry in self._hosts and self._hosts[entry].ended:
            self.discard(entry)
        if entry not in self._hosts and isinstance(entry.origin, Source):
            self._hosts[entry] = HostProcess(
                self._game, entry.name, entry.origin, self._limits, self._level, self._folder, entry.seal
            )
        return self._hosts[entry]

    def load(
        self, entry: Entry, game: Game, seed: int, moment: Callable[[bool], str], witness: Witness | None = None
    ) -> Player:
        """Return a fresh player of an entry; see `dicegym.sandbox.jobs.Context.load`. Raises AgentError."""
        if not self.apart(entry):
            return entry.load(game, seed)
        player = self.seat(entry, seed, moment, witness)
        self._playing.append((entry, player))
        return player

    def seat(
        self, entry: Entry, seed: int, moment: Callable[[bool], str], witness: Witness | None = None
    ) -> IsolatedPlayer:
        """Return a copy of a bot in a process of its own, to be ended by `end`. Raises AgentError, StartError."""
        host = self._host_of(entry)
        self._hosts.move_to_end(entry)
        remote = None
        try:
            remote = host.child(moment, witness)
            return IsolatedPlayer(remote, entry.name, self._game, seed, witness is not None)
        except (OSError, EOFError, ValueError) as error:
            self.discard(entry)
            if remote is None:  # its host, which runs no bot, has failed
                raise StartError(f"the process of {entry.name!r} could not be started ({one_line(error)})") from error
            raise GoneError(entry.name, f"its process could not be started ({one_line(error)})") from error

    def end(self, entry: Entry, player: IsolatedPlayer) -> None:
        """End a copy; if something is left of it, all that its host has started ends."""
        clean = False
        with contextlib.suppress(OSError, EOFError, ValueError):  # its bot has done something to it
            clean = player.close()
        if not clean:
            self.discard(entry)

    def end_job(self) -> None:
        """End what played, and all hosts but those that may be wanted again."""
        for entry, player in self._playing:
            self.end(entry, player)
        self._playing = []
        while len(self._hosts) > MOST:
            self.discard(next(iter(self._hosts)))

    def discard(self, entry: Entry) -> None:
        """End the host of an entry, if there is one."""
        if (host := self._hosts.pop(entry, None)) is not None:
            host.close()

    def close(self) -> None:
        """End all of them."""
        for entry in list(self._hosts):
            self.discard(entry)

    def kill(self) -> None:
        """End their processes at once, from another thread than that which uses them."""
        for host in list(self._hosts.values()):
            host.kill()


def outcome(job: Job, heartbeat: Heartbeat, hosts: Hosts) -> dict[str, Any]:
    """Do a job; return {"value": ...}, {"ended": why the run ends}, or {"actor": ..., "reason": ...} of the fault."""
    stray = Printed()
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = stray
    try:
        hosts.prepare(job.entries)
        return {"value": job.run(Context(heartbeat, stray, hosts.load, hosts.apart))}
    except GoneError as error:
        return {"actor": heartbeat.blamed, "reason": error.reason, "gone": True}
    except AgentError as error:
        return {"actor": heartbeat.blamed, "reason": error.reason}
    except StartError as error:  # the job is done again
        return {"actor": -1, "reason": one_line(error)}
    except ServiceError as error:
        return {"ended": one_line(error)}
    except DicegymError as error:
        return {"actor": heartbeat.blamed, "reason": one_line(error)}
    except BaseException as error:  # a contest must continue, and a player can break anything in this process
        return {"actor": heartbeat.blamed, "reason": f"broke its process: {type(error).__name__}: {one_line(error)}"}
    finally:
        sys.stdout, sys.stderr = streams
        heartbeat.rest()
        hosts.end_job()


def keep(conn: Connection, cells: Any, game: Game, limits: Limits, level: jail.Isolation, folder: str) -> None:
    """Serve jobs that come through ``conn`` as pickles until it is closed; see `Hosts` for the last three arguments.

    Each is answered by what `outcome` returned, as JSON.
    """
    end_with(os.getppid())
    for number in ENDING:  # which reach the whole group: the parent decides, and programs that start here are as usual
        signal.signal(number, lambda *_: None)
    heartbeat = Heartbeat(cells)
    hosts = Hosts(game, limits, level, folder)
    watcher = threading.Thread(target=_end_with_caller, args=(hosts, folder), daemon=True)
    watcher.start()
    gc.freeze()  # what the fork server made: a collection that looks at it would copy all of its memory
    rehearse(game)
    gc.collect()
    gc.freeze()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    multiprocessing.current_process().daemon = False  # may a player have children: all that it starts ends with it
    try:
        with contextlib.suppress(EOFError, OSError):  # the caller has closed the pipe, or has gone
            conn.send_bytes(b"ready")
            while True:
                job: Job = pickle.loads(conn.recv_bytes())
                heartbeat.reset()
                answer = json.dumps(outcome(job, heartbeat, hosts)).encode()
                conn.send_bytes(answer)
    finally:
        hosts.close()
        if _caller_is_gone(0):
            watcher.join()


def _caller_is_gone(seconds: float | None = None) -> bool:
    """Return whether the process that hands over jobs has ended, after waiting so long for that (None: for ever)."""
    caller = multiprocessing.parent_process()
    return caller is not None and bool(wait([caller.sentinel], seconds))


def _end_with_caller(hosts: Hosts, folder: str) -> None:
    """End this process as soon as the caller has ended, in whatever way: its jobs' results have no reader then.

    A match may take minutes, and between two of them alone would it be noticed. `end_with` is about the server that
    has forked this process, and that lives as long as this one does.
    """
    if _caller_is_gone():
        hosts.kill()
        if folder:
            scratch.throw_away(folder)
        os._exit(1)
