"""What a bot's file, a model and the page of a game's rules say of themselves, without running anything."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from dicegym import games
from dicegym.bots import files
from dicegym.bots.scan import BadFileError, docstring, text_of
from dicegym.bots.source import Source, locate
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError, UnknownNameError, one_line, unknown_name
from dicegym.games.parts import INTERFACE, part
from dicegym.players.model_file import ModelFile
from dicegym.players.roster import agent_names, agents_folder, entry_files, resolve
from dicegym.registry import GAMES

LONGEST = 400
"""Characters that are told of what somebody else has written."""


def describe(game: Game, name: str) -> str:
    """Return one line about an agent: its file's first sentence, or how a model was trained."""
    found = resolve(game, name)
    if isinstance(found, Source):
        return _first_sentence(found.file)
    try:
        file = ModelFile(str(found))
        if file.is_plain:
            return f"a {file.algorithm} model, as Stable-Baselines3 saved it"
        about = file.facts
        score = about.get("score") or {}
        measured = f", {score['value']:.4f} {score['measure']} against {score['opponent']}" if score else ""
        return one_line(f"{about['algorithm']} model, {about['timesteps']:,} steps{measured}", LONGEST)
    except (ModelError, LookupError, TypeError, ValueError) as error:
        return f"a model that cannot be read: {one_line(error, LONGEST)}"


def card(game: Game, name: str) -> str:
    """Return all that an agent says of itself: the docstring of its file, or the card beside a model; empty if nothing.

    Raises UnknownNameError and AgentError as `dicegym.agent` does.
    """
    found = resolve(game, name)
    if isinstance(found, Source):
        try:
            return inspect.cleandoc(docstring(files.read(found.file)))
        except BadFileError:
            return ""
    beside = Path(str(found)).with_suffix(".md")
    try:
        return text_of(files.read(beside)) if beside.is_file() else ""
    except BadFileError:
        return ""


def rules_page(name: str) -> str:
    """Return what stands at the top of a game's rules. Raises UnknownNameError."""
    return inspect.cleandoc(sys.modules[games.spec(name).module].__doc__ or "") + "\n"


def _first_sentence(file: Path) -> str:
    try:
        text = inspect.cleandoc(docstring(files.read(file)))
    except BadFileError:
        return "(cannot be read)"
    sentence = " ".join(text.split("\n\n")[0].split()).partition(". ")[0]
    return sentence.removesuffix(".") or "(says nothing of itself)"


def game_for(spec: str, **parameters: int) -> Game:
    """Return the game that an agent plays: a model says it, a bot's file or an agent's name tells it.

    Args:
        spec: an agent as for `dicegym.agent`.
        **parameters: of the game; a model knows its own, and can be asked to sit at a table of other ``players``.

    Raises:
        ParameterError: it fits no game or several, or ``parameters`` are given with a model.
        UnknownNameError: there is no such agent or parameter.
        ModelError: the model cannot be read, or was trained on other rules.
    """
    if spec.endswith(".zip"):
        model = Path(spec).expanduser()
    else:
        name = game_of_file(spec)
        found = _model(games.game(name), spec)
        if found is None:
            return games.game(name, **parameters)
        model = found
    trained_on = ModelFile(model).game
    if parameters.keys() - {"players"}:
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        raise ParameterError(f"{spec} is a model, which says itself what it plays: leave out {given}")
    return games.game(trained_on.name, **{"players": trained_on.players, **trained_on.parameters, **parameters})


def _model(game: Game, spec: str) -> Path | None:
    """Return the path of the model that ``spec`` names, or None if it names none."""
    try:
        found = resolve(game, spec)
    except AgentError:  # a missing file is the affair of whoever loads it
        return None
    return found if isinstance(found, Path) else None


def game_of_file(file: str) -> str:
    """Return the name of the game whose original interface the bot in ``file`` is written for.

    An agent's name is that game's which has an agent of this name. Raises ParameterError unless exactly one
    game knows it, UnknownNameError for a name that none knows. With a single game there is no question.
    """
    if len(GAMES) == 1:
        return GAMES[0]
    path = Path(file).expanduser()
    if path.suffix == ".py" and ":" not in file and not path.is_dir() and (reason := files.lacking(path)):
        raise ParameterError(reason)
    known = [name for name in games.loadable() if _knows(games.game(name), file)]
    if len(known) > 1:  # a whole course project, say, holds a function that other games' bots have too
        known = [name for name in known if _is_named_for(games.game(name), file)] or known
    if not known and path.is_dir():
        called = sorted({entry for name in games.loadable() for entry in entry_files(games.game(name))})
        raise ParameterError(
            f"the folder {file} holds no bot of any game, which would be called {', '.join(called[:-1])} or "
            f"{called[-1]}: name a file in it; `dicegym tournament GAME FOLDER` takes a folder of many"
        )
    if not known and locate(Path(file).expanduser(), ()) is None and not Path(file).suffix:
        names = {agent for name in games.loadable() for agent in agent_names(games.game(name))}
        raise unknown_name("agent of any game", file, sorted(names))
    if not known:
        raise ParameterError(f"{file} fits no game: say which one is meant with --game, and hear what it misses")
    if len(known) != 1:
        raise ParameterError(f"{file} fits {' and '.join(known)}: say which one is meant with --game")
    return known[0]


def _text(file: Path) -> str:
    try:
        return text_of(files.read(file))
    except BadFileError as error:
        raise AgentError(file.name, str(error)) from None


def _is_named_for(game: Game, file: str) -> bool:
    """Return whether a bot is called as those of ``game`` are, or lies among its agents."""
    path = Path(file).expanduser()
    source = locate(path, entry_files(game))
    if source is None:
        return False
    return source.file.name in entry_files(game) or agents_folder(game).resolve() in source.file.resolve().parents


def _knows(game: Game, file: str) -> bool:
    """Return whether ``file`` is a bot of ``game`` by its text, or the name of one of its agents."""
    source = locate(Path(file).expanduser(), entry_files(game))
    if source is not None:
        interface = part(game, INTERFACE)
        return interface is not None and interface.recognises(_text(source.file))
    try:
        resolve(game, file)
    except (AgentError, UnknownNameError):
        return False
    return True


BORDER = re.compile(r"\s*=+( +=+)*")
TERM = re.compile(r"([A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}): ")


def title_of(page: str) -> tuple[str, str]:
    """Return what a game is called, and what it is: the first line of its page."""
    title, _, kind = page.strip().partition("\n")[0].partition(": ")
    return title, kind


def sections(page: str) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of each section of a rules page: a paragraph at the margin, and what belongs to it."""
    _, _, text = page.strip().partition("\n\n")
    for block in re.split(r"\n\n(?=[A-Z])", f"\n\n{text}"):
        first, _, rest = block.strip("\n").partition("\n")
        title, colon, tail = first.partition(": ")
        if colon:
            tail = tail[:1].upper() + tail[1:]
            indented = rest.startswith("    ")
            yield title, f"{tail}\n\n{inspect.cleandoc(rest)}" if indented else f"{tail}\n{rest}"
        elif rest.startswith("    "):
            yield first, inspect.cleandoc(rest)
        elif first:
            head, _, more = f"{first}\n{rest}".partition(" ")
            yield head.rstrip(",:"), f"{head} {more}"


def apart(text: str) -> str:
    """Return ``text`` with a blank line below each table and above each line such as "Hog wild: the dice ...".

    A rules page leaves them out, as it is read as it stands.
    """
    lines: list[str] = []
    borders = 0  # of a table: above the heads, below them, and at the end
    for line in text.splitlines():
        if borders == 3 and line:
            lines.append("")
        borders = 0 if borders == 3 else borders
        term = TERM.match(line) if borders == 0 else None
        if term:
            lines += ["", f"**{term[1]}**{line[term.end(1) :]}"]
        else:
            lines.append(line)
        borders += BORDER.fullmatch(line) is not None
    return "\n".join(lines)
