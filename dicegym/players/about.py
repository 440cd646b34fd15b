"""What a bot's file or a model says of itself, without running it."""

from __future__ import annotations

import ast
from pathlib import Path

from dicegym import games
from dicegym.core import Game
from dicegym.errors import ModelError, ParameterError
from dicegym.players import policy
from dicegym.players.botfile import Source, locate
from dicegym.players.roster import resolve
from dicegym.registry import GAMES


def describe(game: Game, name: str) -> str:
    """Return one line about an agent: its file's first sentence, or how a model was trained."""
    found = resolve(game, name)
    if isinstance(found, Source):
        return _first_sentence(found.file)
    try:
        about = policy.facts(str(found))
        score = about.get("score") or {}
        measured = f", {score['value']:.4f} {score['measure']} against {score['opponent']}" if score else ""
        return f"{about['algorithm']} model, {about['timesteps']:,} steps{measured}"
    except (ModelError, KeyError, TypeError) as error:
        return f"a model that cannot be read: {error}"


def _first_sentence(file: Path) -> str:
    try:
        text = ast.get_docstring(ast.parse(file.read_bytes())) or ""
    except (OSError, SyntaxError, ValueError):
        return "(cannot be read)"
    sentence = " ".join(text.split("\n\n")[0].split()).partition(". ")[0]
    return sentence.removesuffix(".") or "(says nothing of itself)"


def game_of_file(file: str) -> str:
    """Return the name of the game whose original interface the bot in ``file`` is written for.

    Raises ParameterError unless exactly one game's adapter knows it. With a single game there is no question.
    """
    if len(GAMES) == 1:
        return GAMES[0]
    known = []
    for name in GAMES:
        adapter = games.game(name).adapter
        source = locate(file, adapter.ENTRY_FILES)
        if source is not None and adapter.recognises(source.file.read_text(errors="replace")):
            known.append(name)
    if len(known) != 1:
        raise ParameterError(f"{file} fits {' and '.join(known) or 'no game'}: say which one is meant with --game")
    return known[0]
