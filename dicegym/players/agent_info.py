"""Descriptions of agents, and the game that an agent plays, read from files without running programs."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

from dicegym.bots.bot_files import lacking, read
from dicegym.bots.scan import BadFileError, docstring, text_of
from dicegym.bots.source import Source, locate
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError, UnknownNameError, unknown_name
from dicegym.escape import one_line
from dicegym.games import game as make_game
from dicegym.games import loadable
from dicegym.games.parts import INTERFACE, part
from dicegym.play.player import Player
from dicegym.players.model_file import ModelFile, find_trained
from dicegym.players.roster import agent_names, resolve

LONGEST = 400
"""Shown characters of a model's own words."""


def describe_agent(game: Game, name: str) -> str:
    """Return one line about an agent: the first sentence of its file, or a model's training."""
    found = resolve(game, name)
    if not isinstance(found, Path):
        sentence = " ".join(agent_card(game, name).split("\n\n")[0].split()).partition(". ")[0]
        return sentence.removesuffix(".") or "(no description)"
    try:
        about = ModelFile(found).facts
        score = about.get("score") or {}
        measured = f", {score['value']:.4f} {score['measure']} against {score['opponent']}" if score else ""
        return one_line(f"{about['algorithm']} model, {about['timesteps']:,} steps{measured}", LONGEST)
    except (ModelError, LookupError, TypeError, ValueError, OverflowError) as error:
        return f"a model that cannot be read: {one_line(error, LONGEST)}"


def agent_card(game: Game, name: str) -> str:
    """Return the docstring of an agent's file, or a model's card, or an empty text.

    Raises UnknownNameError and AgentError as `agent` does.
    """
    found = resolve(game, name)
    try:
        if isinstance(found, Player):
            return inspect.getdoc(type(found)) or ""
        if isinstance(found, Source):
            return inspect.cleandoc(docstring(read(found.file)))
        card = found.with_suffix(".md")
        return text_of(read(card)) if card.is_file() else ""
    except BadFileError:
        return ""


def game_for(spec: str, **parameters: int) -> Game:
    """Return the game that an agent plays, by a model's facts, or a bot's file or name.

    Args:
        spec: an agent as for `agent`.
        **parameters: of the game. A model knows its own; only its number of ``players`` can be changed.

    Raises:
        ParameterError: the agent fits no game or several, or ``parameters`` come with a model.
        UnknownNameError: there is no such agent or parameter.
        ModelError: the model cannot be read, or was trained on other rules.
    """
    path = Path(os.path.expanduser(spec))
    model = path if spec.endswith(".zip") else find_trained(path)
    if model is None:
        name = game_of_file(spec)
        try:
            origin = resolve(make_game(name), spec)
        except AgentError:  # loading it reports the missing file
            origin = None
        if not isinstance(origin, Path):
            return make_game(name, **parameters)
        model = origin
    trained_on = ModelFile(str(model)).game
    if parameters.keys() - {"players"}:
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        raise ParameterError(f"{spec} is a model, which knows its parameters: leave out {given}")
    return make_game(trained_on.name, **{"players": trained_on.players, **trained_on.parameters, **parameters})


def game_of_file(file: str) -> str:
    """Return the game whose original interface the bot in ``file`` uses, or that has an agent of this name.

    Raises ParameterError unless exactly one game fits, UnknownNameError for an unknown name.
    """
    path = Path(os.path.expanduser(file))
    if path.suffix == ".py" and ":" not in file and not os.path.isdir(path) and (reason := lacking(path)):
        raise ParameterError(reason)
    known = [name for name in loadable() if _fits(make_game(name), file)]
    if not known and locate(path, ()) is None and not path.suffix and not os.path.isdir(path):
        names = {agent for name in loadable() for agent in agent_names(make_game(name))}
        raise unknown_name("agent of any game", file, sorted(names))
    if len(known) != 1:
        if known:
            raise ParameterError(f"{file} matches the interfaces of {' and '.join(known)}: choose one by --game")
        raise ParameterError(f"{file} matches no game's interface: add --game GAME to see what is missing")
    return known[0]


def _fits(game: Game, file: str) -> bool:
    """Return whether ``file`` is a bot of ``game`` by its text, or the name of its model or agent."""
    try:
        source = resolve(game, file)
    except (AgentError, UnknownNameError):
        return False
    if not isinstance(source, Source):
        return True
    interface = part(game, INTERFACE)
    try:
        return interface is not None and interface.recognises(text_of(read(source.file)))
    except BadFileError as error:
        raise AgentError(source.file.name, str(error)) from None
