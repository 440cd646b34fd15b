"""Hosts, as the referee sees them: processes of bots, one for each entry, each in its own jail."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dicegym.bots.calls import Witness
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.engine.part import sibling_name
from dicegym.errors import AgentError, one_line
from dicegym.games.parts import INTERFACE, need
from dicegym.play.player import Player
from dicegym.sandbox import host as _host  # noqa: F401  # so that its bytecode is cached
from dicegym.sandbox import host_start, jail, scratch
from dicegym.sandbox.frames import MessageStream
from dicegym.sandbox.jobs import Entry, Seal, list_changed_data, seal_files
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.readable import visible_files
from dicegym.sandbox.remote import END_SECONDS, START_SECONDS, GoneError, IsolatedPlayer, Remote, StartError

CAN_FORK = hasattr(os, "fork")  # without fork, bots play in the referee's process, unprotected
MOST = 32
"""Hosts that a referee keeps between matches: 8 MB each, 15 with NumPy (measured). With more entries that play in turn,
each next one is the one that was just ended."""
_NO_ROOM = re.compile(
    r"bwrap: (Creating new namespace failed|No permissions to creat"
    r"|[^/]*: (Cannot allocate memory|No space left on device|Resource temporarily unavailable|Too many open files))"
)
"""Messages of bubblewrap if the machine has no room for another jail. None of them names a path of a bot."""
_PRELOADED = ("numpy",)
"""Modules that a host loads before it forks if its bot's text names them: loading them takes longer than a match."""


class HostProcess:
    """A host, started but not waited for.

    Unless it is jailed, its temporary folder is made in ``folder``; if that is empty, in the system's default place.
    Raises AgentError if the bot's files cannot be used, StartError if the machine has no room for a process.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        source: Source,
        limits: Limits,
        level: jail.Isolation,
        folder: str,
        seal: Seal = (),
    ) -> None:
        self.name = name
        self.limits = limits
        self._setup = _setup(game, name, source, limits, seal)
        self._ready = False
        self._children = 0
        inside = level is jail.Isolation.JAIL
        with contextlib.ExitStack() as begun:  # undone if the start fails, also by Ctrl-C
            try:
                self._errors = begun.enter_context(tempfile.TemporaryFile())
                self._folder = "" if inside else tempfile.mkdtemp(prefix="dicegym-bots-", dir=folder or None)
                begun.callback(scratch.throw_away, self._folder)
                ours, theirs = socket.socketpair()
                self.control = MessageStream(begun.enter_context(ours))
                with theirs:  # closed before sending, or the end of the process would go unnoticed
                    self._process = self._start(level, theirs.fileno())
                with contextlib.suppress(ConnectionError):  # it has ended; `wait_ready` reports why
                    self.control.send(self._setup)
            except OSError as error:
                raise StartError(name, error) from error
            begun.pop_all()

    def _start(self, level: jail.Isolation, control: int) -> subprocess.Popen[bytes]:
        """Start the process in a session of its own, which Ctrl-C does not reach: see `kill`."""
        self._setup["folder"] = self._folder or jail.TEMPORARY
        self._setup["files"] = 0 if self._folder else jail.MOST_FILES
        self._setup["free"] = level is jail.Isolation.NONE
        packages = host_start.packages_of(host_start.HOST, self._setup["interface"])
        program = [sys.executable, "-P", "-s", host_start.__file__, str(control), json.dumps(packages)]
        return subprocess.Popen(
            jail.command(level, program, self._setup["read"]),
            pass_fds=(control,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env=jail.environment(self._setup["folder"]),
            cwd=self._folder or "/",
            start_new_session=True,
        )

    def wait_ready(self) -> None:
        """Wait until it can fork children.

        Raises GoneError if it cannot, StartError if it takes too long or the machine has no room for its jail.
        """
        if self._ready:
            return
        why = "it did not answer"
        try:
            word, *reason = self.control.receive(START_SECONDS)
            self._ready, why = word == "ready", str(*reason)
        except TimeoutError:
            raise StartError(self.name, why) from None
        except (EOFError, OSError, ValueError):
            self._errors.seek(0)
            why = one_line(self._errors.read(2000).decode(errors="replace")) or why
        if _NO_ROOM.match(why):
            raise StartError(self.name, why)
        if not self._ready:
            raise GoneError(self.name, f"its process could not be started ({why})")

    def child(self, moment: Callable[[], str], witness: Witness | None = None) -> Remote:
        """Return a new child. Raises the errors of `Remote` and `wait_ready`."""
        self.wait_ready()
        self._children += 1
        return Remote(self.control, self._children, self.name, self.limits, moment, witness)

    @property
    def ended(self) -> bool:
        """Whether its process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End its process at once; `close` does the rest.

        Bubblewrap killed while starting leaves a process behind that waits forever. So a host that has not answered yet
        must end by itself, which it does when its socket closes.
        """
        if not self._ready:
            with contextlib.suppress(OSError):
                self.control.end.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
        self._process.kill()

    def close(self) -> None:
        """End the host and its children."""
        self.control.close()
        if self._folder:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS / 10)
        if self._process.poll() is None:
            self.kill()
            self._process.wait()
        self._errors.close()
        scratch.throw_away(self._folder)


_FOREVER = 1e9  # seconds that stand for an infinite limit, where the system needs a number


def _setup(game: Game, name: str, source: Source, limits: Limits, seal: Seal) -> dict[str, Any]:
    """Return the first message to a host, without what `HostProcess` adds; see `dicegym.sandbox.host.Setup`.

    Raises AgentError if the bot's files cannot be used, or have changed since it was entered.
    """
    interface = need(game, INTERFACE)
    module = sibling_name(game.spec.module, "interface")
    above = (paths for package, paths in host_start.packages_of(module).items() if module.startswith(f"{package}."))
    packages = [str(path) for paths in above for path in paths]
    try:
        now, texts = seal_files(source)
        if seal and now != seal:
            raise _changed_error(name, sorted({path for path, _ in {*seal} ^ {*now}}))
        files = visible_files(source, interface.ENTRY_FILES, texts)
    except BadFileError as error:
        raise AgentError(name, str(error)) from None
    beside = [] if packages else [str(Path(str(sys.modules[module].__file__)).parent)]
    return {
        "path": beside,
        "interface": module,
        "source": (str(source.file), *source[1:]),
        "name": name,
        "preload": [one for one in _PRELOADED if any(one.encode() in text for text in texts.values())],
        "texts": {os.path.realpath(file): text for file, text in texts.items()},
        "read": [*map(str, files), *beside, *packages],
        "system": list(jail.readable()),
        "bounds": {"memory": limits.memory, "cpu": math.ceil(min(limits.start_seconds + limits.seconds, _FOREVER)) + 1},
    }


def _changed_error(name: str, files: list[str]) -> AgentError:
    return AgentError(name, f"its files have changed since it was entered: {one_line(', '.join(files))}")


class Hosts:
    """The hosts of a referee or a server, for the entries that played last; see `HostProcess` for ``folder``."""

    def __init__(self, game: Game, limits: Limits, level: jail.Isolation, folder: str) -> None:
        self._game = game
        self._limits = limits
        self._level = level
        self._folder = folder
        self._hosts: OrderedDict[Entry, HostProcess] = OrderedDict()
        self._playing: list[tuple[Entry, IsolatedPlayer]] = []

    def apart(self, entry: Entry) -> bool:
        """Return whether an entry plays in another process."""
        return CAN_FORK and not entry.trusted and isinstance(entry.origin, Source)

    def prepare(self, entries: Iterable[Entry]) -> None:
        """Start the hosts of ``entries``, without waiting for them."""
        for entry in entries:
            if self.apart(entry):
                with contextlib.suppress(AgentError):  # `load` will raise it, when the entry at fault is known
                    self._host_of(entry)

    def _host_of(self, entry: Entry) -> HostProcess:
        """Return the running host of a bot; start it if necessary. Raises AgentError, StartError."""
        if entry in self._hosts and self._hosts[entry].ended:
            self.discard(entry)
        if entry not in self._hosts and isinstance(entry.origin, Source):
            self._hosts[entry] = HostProcess(
                self._game, entry.name, entry.origin, self._limits, self._level, self._folder, entry.seal
            )
        return self._hosts[entry]

    def load(
        self, entry: Entry, game: Game, seed: int, moment: Callable[[], str], witness: Witness | None = None
    ) -> Player:
        """Return a fresh player of an entry; see `dicegym.sandbox.jobs.Context.load`. Raises AgentError."""
        if not self.apart(entry):
            return entry.load(game, seed)
        player = self.seat(entry, seed, moment, witness)
        self._playing.append((entry, player))
        return player

    def seat(
        self, entry: Entry, seed: int, moment: Callable[[], str], witness: Witness | None = None
    ) -> IsolatedPlayer:
        """Return a copy of a bot in another process, to be ended by `end`. Raises AgentError, StartError."""
        may_write = self._level is jail.Isolation.NONE
        if not may_write and (changed := list_changed_data(entry)):
            raise _changed_error(entry.name, changed)
        host = self._host_of(entry)
        self._hosts.move_to_end(entry)
        remote = None
        try:
            remote = host.child(moment, witness)
            return IsolatedPlayer(remote, entry.name, self._game, seed, witness is not None)
        except (OSError, EOFError, ValueError) as error:
            self.discard(entry)
            if remote is None:  # the host failed, which runs no bot
                raise StartError(entry.name, error) from error
            raise GoneError(entry.name, f"its process could not be started ({one_line(error)})") from error

    def end(self, entry: Entry, player: IsolatedPlayer) -> None:
        """End a copy; if it left files, end its host and all other copies too."""
        clean = False
        with contextlib.suppress(OSError, EOFError, ValueError):  # the bot has damaged it
            clean = player.close()
        if not clean:
            self.discard(entry)

    def end_job(self) -> None:
        """End all players of the job, and all hosts except the `MOST` that played last."""
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
        """End all hosts."""
        for entry in list(self._hosts):
            self.discard(entry)

    def kill(self) -> None:
        """Kill the hosts' processes; other threads may call this too."""
        for host in list(self._hosts.values()):
            host.kill()
