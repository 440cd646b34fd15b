"""Export of players as files in their game's original bot interface."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots import bot_files
from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.network import ACTIVATIONS, Network
from dicegym.bots.scan import text_of
from dicegym.bots.transcription import HELPERS, pack_array, transcribe
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line
from dicegym.escape import docstring
from dicegym.games import game as make_game
from dicegym.games.parts import ADAPTER, INTERFACE, defines, need, part
from dicegym.play.player import Player

TABLE_SUFFIX = ".table"
"""Suffix of a data file next to a bot's file."""
_SOURCE = '''"""{heading}

Made by `dicegym export`; needs NumPy alone.
"""

{helpers}

# What a player sees of a state and may do in it.

{kernels}

# What this player knows of the state.

FIELDS = {fields}
PARAMETERS = {parameters}


def known_state():
    found = {{name: np.zeros(shape, np.int64) if shape else 0 for name, shape in FIELDS.items()}}
    return types.SimpleNamespace(**(found | PARAMETERS))


# The network: weights, biases, and what follows them.

LAYERS = [
{layers}
]


def chosen(state, seat):
    seen = np.zeros({size}, np.float32)
    observe(state, seat, seen)
    mask = np.zeros({n_actions}, np.bool_)
    legal(state, mask)
    x = seen[None].astype(np.float64)
    for weight, bias, activation in LAYERS:
        x = x @ weight + bias
        if activation:
            x = activation(x)
    scores = np.where(mask, x[0], -np.inf)
{choice}


# The interface.

{interface}
'''
_BEST = "    return int(scores.argmax())"
_DRAWN = """    # Drawn from softmax(scores / {temperature!r}) over what is legal.
    bounds = np.exp((scores - scores.max()) / {temperature!r}).cumsum()
    action = int((bounds <= random.random() * bounds[-1]).sum())
    return min(action, int(np.flatnonzero(mask)[-1]))"""
_SAYS_PURE = re.compile(r"^PURE = True.*\n+", re.MULTILINE)


def export_forms(game: Game) -> tuple[str, ...]:
    """Return the file names for exported bots of a game; empty if there is no export."""
    interface = part(game, INTERFACE)
    return interface.ENTRY_FILES if interface is not None and defines(game, ADAPTER, "export") else ()


def export_source(player: Player, game: Game | str, form: str) -> str:
    """Return the source of a bot that plays as ``player`` does.

    Args:
        player: any player; a model that draws uses the randomness of the bot's process (`random`, which hosts seed).
        game: the game with its parameters, or its name.
        form: the file name of the original interface, such as ``hog.py``.

    Raises:
        ParameterError: the game has no such form, or the player cannot be exported.
        AgentError, ModelError: the player cannot play the game.

    Example:
        >>> import dicegym
        >>> from dicegym.agents import export_source
        >>> game = dicegym.game("hog")
        >>> "def final_strategy" in export_source(dicegym.agent(game, "bacon"), game, "hog.py")
        True
    """
    game = make_game(game)
    forms = export_forms(game)
    if not forms:
        raise ParameterError(f"players of {game.spec.title} cannot be exported as bots: use the model itself")
    if form not in forms:
        where = f", and write the text to {form}" if os.path.basename(form) != form else ""
        raise ParameterError(f"{game.spec.title} has no bots called {form!r}: export as {' or '.join(forms)}{where}")
    game.check_original(form)
    return need(game, ADAPTER).export(player, game, form)


def table_beside(player: Player) -> Path | None:
    """Return the data file of a bot of one file, with its name and the suffix ``.table``, or None.

    The source of the bot (`export_source`) needs it.
    """
    if not isinstance(player, BotPlayer) or player.source.arguments is not None:
        return None
    found = player.source.file.with_suffix(TABLE_SUFFIX)
    return found if found.is_file() else None


def network_source(player: Player, game: Game, interface: str, *functions: Callable[..., Any]) -> str:
    """Return the source of a bot with the network of ``player`` and the kernels that observe for it.

    Args:
        player: a model; a bot of one file is returned as it is.
        game: the game with its parameters.
        interface: the source of the original interface's entry point. It may use ``known_state()`` (all fields of
            the record zero except the parameters; arrays as int64), ``chosen(state, seat)`` (a legal action, the best
            or a drawn one) and ``functions``. A line ``PURE = True`` is removed if the player draws.
        *functions: of the game, for the interface; see `dicegym.bots.transcription.transcribe`.

    Raises:
        ParameterError: the player is neither a model nor a bot whose file plays alone.
        ModelError: the model was trained on another game.
    """
    if isinstance(player, BotPlayer) and player.source.arguments is None:
        return _own_source(player)
    model: Any = player  # a `dicegym.players.model.PolicyPlayer`, whose module imports this folder
    network = getattr(model, "policy", None)
    if not isinstance(network, Network):
        raise ParameterError(f"{player.name!r} cannot be exported: it is neither a model nor a bot of one file")
    model.check_fit(game)
    kernels = game.spec.kernels
    activations = {layer.activation: ACTIVATIONS[layer.activation] for layer in network.layers[:-1]}
    names = {"": None} | {kind: function.__name__ for kind, function in activations.items()}
    layers = "\n".join(
        f"    ({_weights(layer.weight)}, {_weights(layer.bias)}, {names[layer.activation]}),"
        for layer in network.layers
    )
    draws = model.temperature > 0
    return _SOURCE.format(
        heading=docstring(f"The choices of {player.name} in {game.spec.title}{', drawn' if draws else ''}."),
        helpers=HELPERS.replace("import types\n", "import random\nimport types\n") if draws else HELPERS,
        kernels=transcribe(kernels.observe, kernels.legal, *functions, *activations.values()),
        fields={name: game.spec.declared_record[name].shape for name in game.spec.declared_record.names or ()},
        parameters=game.all_parameters,
        layers=layers,
        size=game.observation_size,
        n_actions=game.n_actions,
        choice=_DRAWN.format(temperature=model.temperature) if draws else _BEST,
        interface=(_SAYS_PURE.sub("\n", interface) if draws else interface).strip(),
    )


def _own_source(player: BotPlayer) -> str:
    """Return the text of a bot's file. Raises ParameterError if the file alone does not play as the bot."""
    file, attribute, _, shared, hidden = player.source
    (_, data), *helpers = bot_files.gather(file, shared, hidden).items()
    if helpers or attribute is not None:
        why = f"imports {one_line(helpers[0][0].name)}" if helpers else f"is {attribute} in {one_line(file.name)}"
        raise ParameterError(f"{player.name!r} cannot be exported, as it {why}: give a bot that plays as one file")
    return text_of(data)


def _weights(array: np.ndarray) -> str:
    """Return an expression for weights; they were trained in float32."""
    return f"{pack_array(array.astype(np.float32))}.astype(np.float64)"
