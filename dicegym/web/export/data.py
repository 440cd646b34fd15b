"""What a page needs of a game and of a model, as scripts that it loads: data, and the game's rules translated."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine.game import Game
from dicegym.web.export.screens import Screen, help_of, open_to
from dicegym.web.export.translate.games import TranslatedGame
from dicegym.web.export.translate.program import packed


def facts(game: Game, translated: TranslatedGame) -> dict[str, Any]:
    """Return what there is to say of a game, as JSON can hold it."""
    low, high = game.spec.players
    tables = {players: _table(game, players) for players in range(low, high + 1)}
    return {
        "name": game.name,
        "title": game.spec.title,
        "actions": game.n_actions,
        "observation": {players: table.observation_size for players, table in tables.items()},
        "players": [low, high, game.players],
        "parameters": game.all_parameters,
        "faults": list(game.spec.faults),
        "help": help_of(game),
        "open": sorted(open_to(game)),
        "names": [game.action_name(action) for action in range(game.n_actions)],
        "twins": translated.twins,
        "fingerprint": game.fingerprint,
    }


def _table(game: Game, players: int) -> Game:
    return Game(game.spec, players, **game.parameters)


def game_script(game: Game, translated: TranslatedGame, screen: Screen) -> str:
    """Return the script that puts a game into ``dicegym.games``."""
    told = literal(facts(game, translated))
    constants = literal(packed(translated.script.constants))
    shown = literal(packed(screen.constants))
    return (
        f"(dicegym.games ??= {{}})[{literal(game.name)}] = {{\nfacts: {told},\nconstants: {constants},\n"
        f"rules($c) {{\n{translated.script.code}\n}},\nshown: {shown},\nscreen($c, py) {{\n{screen.code}\n}}}};\n"
    )


def network_data(network: Network, temperature: float = 0.0) -> dict[str, Any]:
    """Return a network, and at which temperature it is drawn from, as `dicegym.network` of engine.js takes it.

    Its weights have been float32 all along.
    """
    arrays = [array.astype(np.float32) for layer in network.layers for array in (layer.weight, layer.bias)]
    how = {"activations": [layer.activation for layer in network.layers], "temperature": temperature}
    return {**how, **packed(tuple(arrays))}


def model_script(name: str, game: Game, network: Network, temperature: float = 0.0) -> str:
    """Return the script that puts a model, played at ``temperature``, into ``dicegym.models``."""
    data = literal(network_data(network, temperature))
    return f"(dicegym.models ??= {{}})[{literal(f'{game.name}/{name}')}] = {data};\n"


def literal(value: Any) -> str:
    """Return a value as JavaScript, which no end of an element and no comment can stand in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
