"""What is done in a sandbox: a piece of work, what comes out of it, and the limits it keeps."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dicegym.bots import bot_files
from dicegym.bots.calls import Witness
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError, one_line
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.players.roster import Origin, Spec, load, resolve, ships
from dicegym.sandbox.heartbeat import Heartbeat, Reading
from dicegym.sandbox.readable import files_of
from dicegym.shipped import is_shipped

MOST_DATA, LARGEST_DATA = 5_000, 128 << 20
"""Files beyond its sources that make an entry what it is, and how much of them is read: of the rest, size and date
must do."""


class Sent(NamedTuple):
    """A player as bytes that any process makes the player of again, a copy for each job."""

    pickled: bytes

    def player(self, name: str) -> Player:
        """Return a copy of the player. Raises AgentError if what it is made of cannot be found in this process."""
        try:
            found: Player = pickle.loads(self.pickled)
        except Exception as error:  # whatever a player does when it is unpickled
            text = f"cannot be made again in the process that plays it: {type(error).__name__}: {one_line(error)}"
            raise AgentError(name, text) from error
        return found


Seal = tuple[tuple[str, str], ...]
"""Files of a bot, by their paths from its own file's folder, each with the SHA-256 of its bytes; its own file first."""


def seal_files(source: Source) -> tuple[Seal, dict[Path, bytes]]:
    """Return what a bot's files are, and their bytes, each read once. Raises BadFileError."""
    found = bot_files.gather(source.file, source.shared, source.hidden)
    folder = source.file.parent
    return tuple(
        (os.path.relpath(file, folder), hashlib.sha256(data).hexdigest()) for file, data in found.items()
    ), found


class Entry(NamedTuple):
    """One participant: what the reports call it, and where it comes from."""

    name: str
    origin: Origin | Sent
    seal: Seal = ()
    """What its files were when it was entered; empty: nobody has looked."""
    identity: str = ""
    """SHA-256, hexadecimal, of what it is made of: the files of a bot with all that it imports or may read there, a
    model's file, a player as it was handed over. Entries of one name and identity play the same."""
    content: str = ""
    """The identity of what was read from files, from which the dice of its matches follow too. Empty for a player that
    was handed over: its bytes are others in each process, and the caller has made it."""

    @property
    def trusted(self) -> bool:
        """Whether all its code ships with the package, unchanged, or was loaded by the caller already."""
        origin = self.origin
        if isinstance(origin, Player | Sent):
            return True
        if isinstance(origin, Path):
            return is_shipped(origin)
        if self.seal:
            return all(is_shipped(origin.file.parent / name, digest) for name, digest in self.seal)
        return ships(origin)

    def replace_player(self, player: Player) -> Entry:
        """Return the entry under its name with another player, which is trusted."""
        return self._replace(origin=_sent(self.name, player), seal=())

    def load(self, game: Game, seed: int) -> Player:
        """Return a fresh player that keeps one program for all its games. Raises AgentError."""
        origin = self.origin.player(self.name) if isinstance(self.origin, Sent) else self.origin
        return load(game, origin, self.name, keep=True, seed=seed)


def entry(game: Game, name: str, spec: Spec | Any, others: Collection[str] = ()) -> Entry:
    """Return the entry that ``spec`` names, as for `dicegym.agent`.

    A bot does not see the files of ``others``, which are the real paths of all entries' files and of their folders.

    A model is loaded here and enters as a player that needs NumPy alone: no job has to load PyTorch. Players, and the
    functions that they may be made of, need not be found in a module: what is local, or the script's own, is sent by
    value.

    Raises:
        AgentError: there is no such file, or none that may be read, or it is a model that does not fit the game or that
            NumPy cannot play.
        UnknownNameError, ParameterError: it names nothing, or is a Player that cannot be sent to a process.
    """
    origin = resolve(game, spec)
    made_of: tuple[object, ...] = ()
    try:
        if isinstance(origin, Path):
            made_of = "model", digest_of(origin)
            origin = load(game, origin, name)
        elif isinstance(origin, Source) and game.added_parameters:
            origin = load(game, origin, name)
        origin = _apart_from(origin, others) if isinstance(origin, Source) and others else origin
        seal = seal_files(origin)[0] if isinstance(origin, Source) else ()
    except (ModelError, BadFileError) as error:
        raise AgentError(name, str(error)) from error
    if isinstance(origin, Source):
        found = _identity("bot", origin.attribute, origin.arguments, seal, _data(game, origin, seal))
        return Entry(name, origin, seal, found, found)
    sent = _sent(name, origin)
    if made_of:
        return Entry(name, sent, (), _identity(*made_of), _identity(*made_of))
    return Entry(name, sent, identity=_identity("player", hashlib.sha256(sent.pickled).hexdigest()))


def _apart_from(source: Source, others: Collection[str]) -> Source:
    """Return a bot from which other entries are hidden: what it imports of them, and a folder of its name; see `entry`.

    Raises BadFileError.
    """
    own = os.path.realpath(source.file)
    root, data = os.path.dirname(own), os.path.splitext(own)[0]
    hidden = {os.path.basename(data)} if any(Path(one).is_relative_to(data) for one in others) else set()
    for file in map(os.path.realpath, seal_files(source)[1]):
        folders = itertools.takewhile(lambda folder: folder != Path(root), Path(file).parents)
        if file != own and any(str(one) in others for one in (file, *folders)):
            hidden.add(os.path.relpath(file, root))
    return source._replace(hidden=tuple(sorted(hidden)))


def _data(game: Game, source: Source, seal: Seal) -> list[tuple[str, str]]:
    """Return what a bot may read beyond its sources, such as weights: paths from its folder, each with a digest."""
    folder, known, size, found = source.file.parent, {name for name, _ in seal}, 0, []
    try:
        readable = files_of(game, source, MOST_DATA)
    except BadFileError:  # starting it says so
        return []
    for file in readable:
        name = os.path.relpath(file, folder)
        if name not in known:
            about = file.stat()
            size += about.st_size
            found.append((name, digest_of(file) if size <= LARGEST_DATA else f"{about.st_size} {about.st_mtime_ns}"))
    return found


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file's bytes, hexadecimal; empty if it cannot be read, as loading it says."""
    try:
        if not bot_files.lacking(file):
            with open(file, "rb") as opened:
                return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        pass
    return ""


def _identity(*made_of: object) -> str:
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def _sent(name: str, player: Player) -> Sent:
    """Return ``player`` ready to be sent. Raises ParameterError if it holds what cannot leave this process."""
    import cloudpickle  # comes with Gymnasium, whose vector environments send functions so

    try:
        return Sent(cloudpickle.dumps(player))
    except Exception as error:  # whatever a player does when it is pickled
        raise ParameterError(
            f"player {name!r} cannot be sent to the process that plays it ({type(error).__name__}: {one_line(error)}): "
            "let it make open files, locks and generators when it sits down (in `join`), or write it as a bot's file"
        ) from error


Load = Callable[[Entry, Game, int, Callable[[bool], str], Witness | None], Player]
"""From an entry, the game, the seed of its randomness, when it is in words, and who is told of its calls, to a fresh
player that keeps one program for all its games. It raises AgentError."""


class Context(NamedTuple):
    """What a job is done with."""

    heartbeat: Heartbeat
    """Records which entry is asked."""
    stray: Printed
    """Takes what is printed past the bots' own ``print``."""
    load: Load
    apart: Callable[[Entry], bool]
    """Whether an entry plays in a process of its own, whose time its referee takes."""


def here(heartbeat: Heartbeat, stray: Printed) -> Context:
    """Return what jobs are done with in this process, bots included."""
    return Context(heartbeat, stray, lambda entry, game, seed, *_: entry.load(game, seed), lambda entry: False)


class Job(Protocol):
    """A piece of work that asks untrusted entries. It is sent to a sandbox, and its result comes back as JSON."""

    @property
    def game(self) -> Game:
        """The game."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that are asked."""

    @property
    def facts(self) -> dict[str, Any]:
        """Plain values that decide its outcome beside game, players and limits (`dicegym.arena.storage`)."""

    def run(self, context: Context) -> Any:
        """Do it and return plain values. Raises AgentError if an entry fails; ``context.heartbeat`` knows which."""

    def without(self, failure: Failure) -> Job | None:
        """Return the job to do instead after ``failure`` ended this one, or None if that was its outcome."""

    def moment(self, reading: Reading) -> str:
        """Return in words when ``reading`` was taken, as "in game 3 against bacon"."""


class Failure(NamedTuple):
    """An entry failed, and the work ended there."""

    actor: int
    """Index into the job's entries."""
    reason: str
    game: int = 0
    """Number of the game, from 1, if it stopped or ended its process while it was asked or sat down; else 0."""
    turn: int = 0
    """Number of its decision in that game, from 1."""
