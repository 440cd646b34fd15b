"""Jobs of a sandbox, the entries that take part in them, and their outcomes."""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import itertools
import json
import os
import pickle
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Protocol

from dicegym.bots import bot_files
from dicegym.bots.calls import Witness
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError, one_line
from dicegym.games.parts import INTERFACE, need
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.players.roster import Origin, Spec, load, resolve, ships
from dicegym.sandbox.heartbeat import Heartbeat, Reading
from dicegym.sandbox.readable import files_of, owns_folder
from dicegym.shipped import is_shipped

MOST_DATA, LARGEST_DATA = 5_000, 512 << 20
"""Largest number of files that identify an entry (further ones are ignored), and of their bytes that are hashed.
Further files are identified by size and date: a stranger's sparse file of a terabyte takes no space."""


class Sent(NamedTuple):
    """A pickled player; each job makes a copy of it."""

    pickled: bytes

    def player(self, name: str) -> Player:
        """Return a copy of the player. Raises AgentError if it cannot be unpickled in this process."""
        try:
            found: Player = pickle.loads(self.pickled)
        except Exception as error:  # unpickling runs any code of the player
            text = f"cannot be unpickled in the process that plays it: {type(error).__name__}: {one_line(error)}"
            raise AgentError(name, text) from error
        return found


Seal = tuple[tuple[str, str], ...]
"""(path relative to the folder of the bot's file, SHA-256 of the bytes) of files; of sources, the bot's file first."""


def seal_files(source: Source) -> tuple[Seal, dict[Path, bytes]]:
    """Return the seal of a bot and the bytes of its files, each read once. Raises BadFileError."""
    found = bot_files.gather(source.file, source.shared, source.hidden)
    folder = source.file.parent
    seal = ((os.path.relpath(file, folder), hashlib.sha256(data).hexdigest()) for file, data in found.items())
    return tuple(seal), found


class Entry(NamedTuple):
    """One participant: its name in reports, and its origin."""

    name: str
    origin: Origin | Sent
    seal: Seal = ()  # its files when it was entered; empty: not checked
    identity: str = ""
    """SHA-256, hexadecimal, of a bot's files with all that it imports or may read, of a model's file, or of a pickled
    player. Entries with the same name and identity play the same."""
    content: str = ""
    """The identity if it was read from files; it also determines the dice of the entry's matches. Empty for pickled
    players: their bytes differ in each process."""
    data: Seal = ()
    """The data files of a bot that must not change either, such as weights."""

    @property
    def trusted(self) -> bool:
        """Whether all its code ships with the package, unchanged, or was already loaded by the caller."""
        origin = self.origin
        if isinstance(origin, Player | Sent):
            return True
        if isinstance(origin, Path):
            return is_shipped(origin)
        if self.seal:
            return all(is_shipped(origin.file.parent / name, digest) for name, digest in self.seal)
        return ships(origin)

    def replace_player(self, player: Player) -> Entry:
        """Return an entry with this name and another, trusted player."""
        return self._replace(origin=_sent(self.name, player), seal=())

    def load(self, game: Game, seed: int) -> Player:
        """Return a new player that uses one program for all its games. Raises AgentError."""
        origin = self.origin.player(self.name) if isinstance(self.origin, Sent) else self.origin
        return load(game, origin, self.name, keep=True, seed=seed)


def entry(game: Game, name: str, spec: Spec | Any, others: Sequence[str] = ()) -> Entry:
    """Return the entry for ``spec``, given as for `dicegym.agent`.

    A bot cannot read the files of ``others``: the sorted real paths of all entries' files and of the folders of bots.

    A model is loaded here and becomes a player that needs only NumPy, so that jobs need not load PyTorch. Players and
    their functions need not be importable: local ones, and those of the script, are sent by value.

    Raises:
        AgentError: the file does not exist or is not readable, or the model does not fit the game or cannot be played
            by NumPy.
        UnknownNameError, ParameterError: there is no such agent, or a Player cannot be sent to a process.
    """
    origin = resolve(game, spec)
    content = ""
    try:
        if isinstance(origin, Path):
            content = _identity("model", digest_of(origin))
        if isinstance(origin, Path) or (isinstance(origin, Source) and game.added_parameters):
            origin = load(game, origin, name)
        if isinstance(origin, Source):
            origin = _apart_from(game, origin, others) if others else origin
            seal, texts = seal_files(origin)
            data = _data(game, origin, seal)
            content = _identity("bot", origin.attribute, origin.arguments, seal, data)
            named = tuple(one for one in data if _is_named(one[0], texts.values()))
            return Entry(name, origin, seal, content, content, named)
    except (ModelError, BadFileError) as error:
        raise AgentError(name, str(error)) from error
    sent = _sent(name, origin)
    return Entry(name, sent, (), content or _identity("player", hashlib.sha256(sent.pickled).hexdigest()), content)


def _inside(folder: str, others: Sequence[str]) -> Sequence[str]:
    """Return those of the sorted paths ``others`` that are in a folder."""
    top = os.path.join(folder, "")
    return others[bisect.bisect_left(others, top) : bisect.bisect_left(others, f"{top}{chr(sys.maxunicode)}")]


def _apart_from(game: Game, source: Source, others: Sequence[str]) -> Source:
    """Return a bot that cannot read other entries: imported files of theirs, and those in what it could read otherwise.

    Raises BadFileError.
    """
    own = os.path.realpath(source.file)
    root, data = os.path.dirname(own), os.path.splitext(own)[0]
    if owns_folder(source, need(game, INTERFACE).ENTRY_FILES):
        roots = {root, os.path.realpath(source.file.parent)}  # two if its file is a link
        below = ((one, folder) for folder in roots for one in _inside(folder, others))
        hidden = {os.path.relpath(one, folder) for one, folder in below if one not in (own, *roots)}
    else:
        hidden = {os.path.basename(data)} if data in others or _inside(data, others) else set()
    for file in map(os.path.realpath, seal_files(source)[1]):
        folders = itertools.takewhile(lambda folder: folder != Path(root), Path(file).parents)
        if file != own and any(str(one) in others for one in (file, *folders)):
            hidden.add(os.path.relpath(file, root))
    return source._replace(hidden=tuple(sorted(hidden)))


def _data(game: Game, source: Source, seal: Seal) -> list[tuple[str, str]]:
    """Return (path from its folder, digest) of each file that a bot may read beyond its sources, such as weights."""
    known = {name for name, _ in seal}
    try:
        readable = files_of(game, source, MOST_DATA)
    except BadFileError:  # starting it will raise the error
        return []
    found, size = [], 0
    for file in readable:
        name = os.path.relpath(file, source.file.parent)
        if name not in known:
            size += file.stat().st_size
            found.append((name, digest_of(file) if size <= LARGEST_DATA else _dated(file)))
    return found


def _dated(file: Path) -> str:
    """Return size and date of a file; empty if it is missing."""
    with contextlib.suppress(OSError):
        about = file.stat()
        return f"{about.st_size} {about.st_mtime_ns}"
    return ""


def _is_named(data: str, texts: Collection[bytes]) -> bool:
    """Return whether a bot's texts name the suffix of a data file, or its name if it has none, at the end of a text.

    Its folder may also contain what people write during a contest: logs, results, notebooks. ``math.log(2)`` and
    ``np.outer`` name neither ``train.log`` nor ``nohup.out``.
    """
    word = (PurePath(data).suffix or PurePath(data).name).encode()
    return any(word + quote in text for text in texts for quote in (b'"', b"'"))


def list_changed_data(entry: Entry) -> list[str]:
    """Return the data files of a bot that have changed since it was entered, as in ``entry.data``."""
    if not isinstance(entry.origin, Source):
        return []
    folder = entry.origin.file.parent
    return [name for name, old in entry.data if (_dated if " " in old else digest_of)(folder / name) != old]


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; empty if it cannot be read, which loading it will report."""
    try:
        if not bot_files.lacking(file):
            about = os.stat(file)
            return _digest(str(file), about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    except OSError:
        pass
    return ""


@functools.lru_cache(maxsize=2 * MOST_DATA)
def _digest(file: str, *version: int) -> str:
    """Return the SHA-256 of a file; ``version`` changes with it. Referees ask before each match. Raises OSError."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _identity(*made_of: object) -> str:
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _sent(name: str, player: Player) -> Sent:
    """Return a pickled player. Raises ParameterError if it cannot be pickled."""
    import cloudpickle  # a dependency of Gymnasium, whose vector environments send functions with it

    try:
        return Sent(cloudpickle.dumps(player))
    except Exception as error:  # pickling runs any code of the player
        raise ParameterError(
            f"player {name!r} cannot be sent to the process that plays it ({type(error).__name__}: {one_line(error)}): "
            "make open files, locks and generators in its `join` method, or write it as a bot's file"
        ) from error


Load = Callable[[Entry, Game, int, Callable[[], str], Witness | None], Player]
"""(entry, game, seed of its randomness, function that returns the present moment in words, witness of its calls) -> new
player that uses one program for all its games. Raises AgentError."""


class Context(NamedTuple):
    """What a job needs from the process that does it."""

    heartbeat: Heartbeat  # records the acting entry
    stray: Printed  # receives output that bots do not print by their own ``print``
    load: Load
    apart: Callable[[Entry], bool]
    """Whether an entry plays in another process, whose time the referee measures."""


def here(heartbeat: Heartbeat, stray: Printed) -> Context:
    """Return a context for jobs whose bots play in this process."""
    return Context(heartbeat, stray, lambda entry, game, seed, *_: entry.load(game, seed), lambda entry: False)


class Job(Protocol):
    """Work that asks untrusted entries. A sandbox receives it as a pickle and returns its value as JSON."""

    @property
    def game(self) -> Game:
        """The game."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The participating entries."""

    @property
    def facts(self) -> dict[str, Any]:
        """Plain values that determine its outcome with game, entries and limits (`dicegym.arena.storage`)."""

    def run(self, context: Context) -> Any:
        """Do it and return plain values. Raises AgentError if entry ``context.heartbeat.blamed`` fails."""

    def without(self, failure: Failure) -> Job | None:
        """Return the job to do instead after ``failure``; None: the failure is the outcome."""

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken, in words such as "in game 3 against bacon"."""


class Failure(NamedTuple):
    """An entry's failure, which ended the job."""

    actor: int  # index into the job's entries
    reason: str
    game: int = 0  # number of the game, from 1, in which its process stopped or ended; otherwise 0
    turn: int = 0  # number of its decision in that game, from 1
