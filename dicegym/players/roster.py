"""The roster: find the agent that a user names, and make its player.

Each game has a folder of agents: files or folders of its original interface, and trained models ``name.zip``. Agents
are found by path and never imported by name. The folder of these folders is the first that exists of
``$DICEGYM_AGENTS``, ``agents/`` of a checkout, and ``dicegym/_agents`` of an installed wheel. A game from outside the
package has its agents in the folder ``agents`` beside its rules.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dicegym.bots.bot_files import gather, lacking, read
from dicegym.bots.bot_player import BotPlayer, LiveBot
from dicegym.bots.scan import BadFileError, text_of
from dicegym.bots.source import Source, locate, split
from dicegym.engine.game import Game
from dicegym.engine.part import folder_of
from dicegym.errors import AgentError, ModelError, ParameterError, unknown_argument, unknown_name
from dicegym.escape import describe_raised, one_line
from dicegym.games import game as make_game
from dicegym.games.parts import ADAPTER, INTERFACE, Interface, part
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Turn
from dicegym.players import model as models
from dicegym.players.batch_players import twin_numbers, twin_of
from dicegym.players.model_file import ModelFile, find_trained, shows_as_much
from dicegym.registry import is_shipped as is_own_game
from dicegym.shipped import is_shipped, shipped_folder

AGENTS_VARIABLE = "DICEGYM_AGENTS"
_CALL = re.compile(r"(?P<name>[^\s()]+)\s*\((?P<arguments>.*)\)", re.DOTALL)
OBSERVATION, MASK = ("observation", "obs"), ("mask", "action_mask")
"""Names of the two arguments of a function that is called as a learner is."""
SEARCHES = {"mcts": ("dicegym.analysis.mcts", "MctsPlayer"), "llm": ("dicegym.players.llm", "LlmPlayer")}
"""Agents that play every game, by search or with a language model: name -> (module, class), imported on use.

An agent of the same name in a game's folder takes precedence."""
Spec = Player | str | Path | Callable[..., Any]
"""What names an agent; see `agent`. Models in memory are accepted too."""
Origin = Source | Path | Player
"""The source of a bot, the path of a model, or a player itself."""


def agents_folder(game: Game | str) -> Path:
    """Return the folder that holds the agents of a game; it need not exist. Raises UnknownNameError."""
    spec = make_game(game).spec
    if not (spec.registered and is_own_game(spec.name)):
        return folder_of(spec.module) / "agents"
    if configured := os.environ.get(AGENTS_VARIABLE):
        return Path(os.path.expanduser(configured)) / spec.name
    return shipped_folder("agents") / spec.name


def entry_files(game: Game) -> tuple[str, ...]:
    """Return the names of bot files in the game's original interface, if it has one."""
    interface = part(game, INTERFACE)
    return () if interface is None else interface.ENTRY_FILES


def agent_names(game: Game | str) -> list[str]:
    """Return the names of the agents in a game's folder, in alphabetical order. Raises UnknownNameError.

    `SEARCHES`, whose moves take a thousand times as long, are left out, and so are models that were trained with other
    parameters. If the game has parameters that the original does not have, bots without a compiled twin are left out
    too.

    Example:
        >>> import dicegym
        >>> "bacon" in dicegym.agent_names("hog")
        True
    """
    game = make_game(game)
    found = _found(game)
    names = [name for name, path in found.items() if path.suffix != ".zip" or _has_parameters(game, path)]
    if game.added_parameters:
        names = [name for name in names if name in twin_numbers(game) or found[name].suffix == ".zip"]
    return sorted(names)


def _has_parameters(game: Game, model: Path) -> bool:
    """Return whether a model was trained with the parameters of the game, or ones that show less."""
    with contextlib.suppress(ModelError):  # loading the model reports it
        stated = ModelFile(model).facts.get("parameters")
        return not isinstance(stated, dict) or shows_as_much(game, stated)
    return True


def _found(game: Game) -> dict[str, Path]:
    """Return name -> path of every agent in the game's folder."""
    folder = agents_folder(game)
    entries = entry_files(game)
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith((".", "_")):
            continue
        is_folder = path.is_dir() and any((path / entry).is_file() for entry in entries)
        if is_folder or (path.is_file() and path.suffix in (".py", ".zip")):
            found.setdefault(path.stem if path.is_file() else path.name, path)
    return found


def agent(
    game: Game | str,
    spec: Spec | Any,
    *,
    keep: bool = False,
    seed: int = 0,
    temperature: float | None = None,
) -> Player:
    """Return the player that ``spec`` names.

    Args:
        game: a game or its name.
        spec: a Player (returned as it is), or

            * an agent's name, or ``name(8)``: the function ``name`` in the file is called with the integers;
            * ``mcts(1000)`` or ``mcts(1000, rollouts=random)`` for a search (`dicegym.analysis.mcts`);
            * ``llm(MODEL, base_url=URL)`` for a language model (`dicegym.players.llm`);
            * a path: a ``.py`` file, a folder, ``folder:file``, ``folder:file:function``, a model ``.zip``, or the
              folder of a training or of its seeds, which means the best model;
            * a Stable-Baselines3 model, or a ``torch.nn.Module`` from observations to a score for each action; it plays
              as its file would (`dicegym.players.model.temperature_for`);
            * a function ``(observation, mask)`` -> action, with these argument names (or ``obs``, ``action_mask``);
              it takes what the seat knows, float32[observation size], and the legal actions, bool[n_actions];
            * a function ``(turn)`` -> action, with this argument name (`dicegym.Turn`);
            * a function or class of the game's original interface, with any argument names.
        keep: play all games with one copy of the bot's program instead of a fresh one for each game.
        seed: the bot's random seed until it joins a game.
        temperature: overrides the temperature in a model's file: actions are drawn from softmax(logits / temperature),
            and 0 plays the best one.

    Raises:
        UnknownNameError: there is no such game, agent or file.
        ParameterError: ``spec`` is of none of these kinds, its arguments are not integers, the ``temperature`` is for
            an agent that is not a model file, or the bot is of a game that has other rules than the original.
        AgentError: the bot's file cannot be loaded.
        ModelError: the model does not fit the game, or cannot be read.
        DependencyError: a model needs a package that is not installed.

    Example:
        >>> import dicegym
        >>> dicegym.agent("hog", "always_roll(5)").name
        'always_roll(5)'
    """
    game = make_game(game)
    name = one_line(agent_name(game, spec))
    return load(game, resolve(game, spec), name, keep=keep, seed=seed, temperature=temperature)


def opponent(game: Game, spec: Spec | Any) -> Player:
    """Return the player that ``spec`` names, or its compiled twin (`dicegym.players.batch_players`) if it has one.

    Raises the errors of `agent`.
    """
    origin, name = resolve(game, spec), spec.strip() if isinstance(spec, str) else ""
    twin = twin_of(game, origin, name) if isinstance(origin, Source) and name in twin_numbers(game) else None
    return twin or load(game, origin, one_line(agent_name(game, spec)))


def is_strangers(game: Game, spec: Spec | Any) -> bool:
    """Return whether ``spec`` names a bot's file that does not ship with the package. Raises as `resolve` does."""
    origin = None if _is_given(spec) else resolve(game, spec)
    return isinstance(origin, Source) and not ships(origin)


def ships(source: Source) -> bool:
    """Return whether a bot's file and everything that it imports ship with the package, unchanged."""
    try:
        return is_shipped(source.file) and all(map(is_shipped, gather(source.file)))
    except BadFileError:
        return False


def load(
    game: Game,
    origin: Origin,
    name: str,
    *,
    keep: bool = False,
    seed: int = 0,
    temperature: float | None = None,
) -> Player:
    """Return the player for a result of `resolve`; see `agent` for the arguments and errors.

    In a game with parameters that the original does not have, the compiled twin replaces a bot's file.
    """
    if temperature is not None and isinstance(origin, Player | Source):
        what = "a bot" if isinstance(origin, Source) else "a player already"
        raise ParameterError(f"temperature={temperature!r} is for models in files, and {name} is {what}: leave it out")
    if isinstance(origin, Player):
        return origin
    if isinstance(origin, Source):
        if game.added_parameters and (twin := twin_of(game, origin, name)):
            return twin
        game.check_original(name)
        return BotPlayer(origin, name, game, keep, seed)
    model: Player = models.load(str(origin), game, temperature)
    model.name = name
    return model


def agent_name(game: Game | str, spec: Spec | Any) -> str:
    """Return the name of the agent ``spec`` in reports: its name as given, or the stem of its path.

    A file with the name of all bots of its game (``hog.py``) takes the name of its folder. Names after the path stay:
    ``mine:a.py`` and ``mine:b.py:play`` are mine:a and mine:b:play.
    """
    if isinstance(spec, Player):
        return spec.name
    if _is_given(spec):
        return _given_name(spec)
    text = _text(spec)
    if not _is_path(text):
        name, inside = _split_call(text)
        if name in SEARCHES and (searching := _searching(make_game(game), text)):
            return searching.name
        return text if inside is None else f"{name}({', '.join(map(str, _integers(inside, text)))})"
    if not os.path.exists(text):
        rest, source = split(os.path.expanduser(text), entry_files(make_game(game)))
        base = text.removesuffix("".join(f":{part}" for part in rest)) if source else text.partition(":")[0]
        if rest and base != text:
            return ":".join([agent_name(game, base), *(part.removesuffix(".py") for part in rest)])
        text = base
    path = Path(text)
    if path.name in entry_files(make_game(game)):
        return path.parent.name or path.stem
    return path.stem if path.suffix in (".py", ".zip") else os.path.basename(os.path.realpath(path))


def resolve(game: Game, spec: Spec | Any) -> Origin:
    """Return the bot's source, the absolute path of a model, or the player itself, without loading anything.

    Raises UnknownNameError, ParameterError, and AgentError for a missing file.
    """
    if isinstance(spec, Player):
        return spec
    if _is_given(spec):
        return _given_player(game, spec)
    text = _text(spec)
    if _is_path(text):
        model_path, mark, _ = text.partition(".zip:")
        file = os.path.expanduser(text)
        if mark and not (os.path.exists(file) or os.path.isdir(f"{os.path.expanduser(model_path)}.zip")):
            raise ParameterError(f"{text!r}: a model has no parts to choose from; write '{model_path}.zip'")
        return _at_path(game, file, text)
    name, inside = _split_call(text)
    agents = _found(game)
    if name not in agents:
        if searching := _searching(game, text):
            return searching
        if os.path.isdir(text):
            return _at_path(game, text, text)
        where = f"The agents are in {agents_folder(game)}; name a bot of your own by its path."
        raise unknown_name(f"agent of {game.spec.title}", text, [*sorted(agents), *SEARCHES], where)
    origin = _at_path(game, str(agents[name]), text)
    if inside is None:
        return origin
    if isinstance(origin, Path):
        raise ParameterError(f"{text!r}: {name} is a model, which takes no arguments; write {name!r}")
    return origin._replace(attribute=agents[name].stem, arguments=_integers(inside, text))


def find_model_file(game: Game, named: str, setting: str = "a model") -> str:
    """Return the file of the model ``named``: a trained agent of ``game``, or the file itself.

    Args:
        game: the game.
        named: an agent's name, also of a model for other parameters (loading its networks reports that), or the path of
            a file or of a training's folder (its best model).
        setting: the setting that names it, for errors.

    Raises:
        UnknownNameError: there is no such agent, or it is a bot, which has no networks.
        ModelError: it is a path without a file.
    """
    agents = _found(game)
    path = agents.get(named)
    if path is not None and path.suffix == ".zip":
        return str(path.absolute())
    trained = [name for name in agent_names(game) if agents[name].suffix == ".zip"]
    if path is None and (_is_path(named) or os.path.exists(named)):
        file = os.path.expanduser(named)
        file = str(find_trained(Path(file)) or file)
        if missing := lacking(file):
            takes = f"{setting} takes a model file, or the name of a trained agent of {game.spec.title}"
            raise ModelError(f"{missing}, and {takes}: {', '.join(trained) or 'it has no trained agents'}")
        return file
    bot = f"{named} is a bot, which has no networks. " if path is not None else ""
    what = f"trained agent of {game.spec.title} for {setting}"
    raise unknown_name(what, named, trained, f"{bot}A model of your own is named by its file.")


def _text(spec: object) -> str:
    """Return a name or path as text. Raises ParameterError for anything else."""
    if isinstance(spec, os.PathLike) and isinstance(path := os.fspath(spec), str) and path.strip():
        return path  # not stripped: a file's name may begin and end with anything
    if not isinstance(spec, str) or not spec.strip() or "\0" in spec:
        raise ParameterError(
            f"{spec!r} is not an agent: give an agent's name, name(numbers), a path to a .py file, folder or .zip "
            "model, a function, a model in memory, or a Player"
        )
    return spec.strip()


def _at_path(game: Game, path: str, spec: str) -> Source | Path:
    """Return the bot or model at a path, absolute; in the folder of a training that is the best model."""
    if path.endswith(".zip") and os.path.isfile(path):
        return Path(path).absolute()
    entries = entry_files(game)
    source = None if path.endswith(".zip") else locate(path, entries)
    if source is not None:
        return source._replace(file=source.file.absolute())
    if model := find_trained(Path(path)):
        return model.absolute()
    missing = f"{path} holds no {' or '.join(entries)}" if os.path.isdir(path) else lacking(path)
    raise AgentError(agent_name(game, spec), missing)


def looks_like_bot(interface: Interface, file: Path) -> bool:
    """Return whether a file looks like a bot of an interface; what cannot be read does not."""
    try:
        return interface.recognises(text_of(read(file)))
    except BadFileError:
        return False


def _split_call(text: str) -> tuple[str, str | None]:
    """Return ``name(arguments)`` as (name, arguments), and any other text as (text, None)."""
    match = _CALL.fullmatch(text)
    return (match["name"], match["arguments"]) if match else (text, None)


def _is_path(text: str) -> bool:
    name, inside = _split_call(text)
    if inside is not None and name in SEARCHES:  # its arguments may be URLs
        return False
    return text in (".", "..") or text.endswith((".py", ".zip")) or any(mark in text for mark in ("/", "\\", ":", "~"))


def _searching(game: Game, text: str) -> Player | None:
    """Return the player of `SEARCHES` for a text such as ``mcts`` or ``mcts(200, c=0.5)``; None for another agent.

    Raises ParameterError and UnknownNameError for invalid arguments.
    """
    name, inside = _split_call(text)
    if name not in SEARCHES or name in _found(game):
        return None
    module = importlib.import_module(SEARCHES[name][0])
    player: Callable[..., Player] = getattr(module, SEARCHES[name][1])
    known = list(inspect.signature(player).parameters)
    given: list[Any] = []
    named: list[tuple[str, Any]] = []
    for one in filter(None, map(str.strip, (inside or "").split(","))):
        key, mark, value = map(str.strip, one.partition("="))
        if not (mark and key.isidentifier()):
            given.append(_literal(one))
        elif key in known:
            named.append((key, _literal(value)))
        else:
            raise unknown_argument(name, key, known)
    taken = [*known[: len(given)], *(key for key, _ in named)]
    if len(given) > len(known) or len(set(taken)) < len(taken):
        raise ParameterError(
            f"{text!r}: the arguments of {name} are words and numbers, each given once: {', '.join(known)}, as in "
            f"'{module.EXAMPLE}'"
        )
    return player(*given, **dict(named))


def _literal(text: str) -> Any:
    """Return the value of a literal; any other text is a word."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _integers(arguments: str, spec: str) -> tuple[int, ...]:
    found = _literal(f"({arguments},)") if arguments.strip() else ()
    if not isinstance(found, tuple) or not all(type(value) is int and abs(value) < 1 << 63 for value in found):
        raise ParameterError(f"{spec!r}: the arguments of an agent are whole numbers, as in 'always_roll(8)'")
    return found


def _is_given(spec: object) -> bool:
    """Return whether ``spec`` is a model in memory, a function or a class, but not a `Player`."""
    return not isinstance(spec, Player) and (_is_model(spec) or callable(spec))


def _is_model(spec: object) -> bool:
    """Return whether ``spec`` is a model of Stable-Baselines3 or PyTorch, without importing them."""
    if hasattr(spec, "policy") and hasattr(spec, "predict"):
        return True
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(spec, torch.nn.Module)


def _given_name(spec: Any) -> str:
    named = spec if inspect.isroutine(spec) or inspect.isclass(spec) else type(spec)
    return str(getattr(named, "__name__", "function")).strip("<>")


def _given_player(game: Game, spec: Any) -> Player:
    """Return the player for a model, function or class in memory; see `agent`."""
    name = _given_name(spec)
    if _is_model(spec):
        return models.PolicyPlayer(spec, game, name, temperature=models.temperature_for(spec, game))
    if inspect.isclass(spec) and issubclass(spec, Player):
        raise ParameterError(f"{name} is a class of players: give one of its objects, {name}()")
    signature = None
    with contextlib.suppress(TypeError, ValueError):  # some builtins have no signature
        signature = inspect.signature(spec)
    parameters = signature.parameters.values() if signature else ()
    needed = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    is_pure = getattr(spec, "PURE", False) is True
    if len(needed) == 2 and needed[0] in OBSERVATION and needed[1] in MASK:
        return FunctionPlayer(functools.partial(_ask_learner, spec, name), name, is_pure)
    if needed == ["turn"]:
        return FunctionPlayer(spec, name, is_pure)
    if part(game, ADAPTER) is None:
        raise ParameterError(
            f"{name}({', '.join(needed)}) cannot play, as {game.spec.title} has no original bot interface: write a "
            "function of (observation, mask), with these names, that returns an action"
        )
    game.check_original(name)
    wanted = getattr(part(game, INTERFACE), "ARGUMENTS", None)
    if wanted is not None and signature and not inspect.isclass(spec) and not _accepts(signature, len(wanted)):
        raise ParameterError(
            f"{name}({', '.join(needed)}) does not take the arguments of agents of {game.spec.title}: write a function "
            f"of ({', '.join(wanted)}), as its original bots are, or of (observation, mask) or (turn), with these "
            "names, that returns an action"
        )
    return LiveBot(spec, name, game)


def _ask_learner(function: Callable[..., Any], name: str, turn: Turn) -> int:
    try:
        action: int = function(turn.observation, turn.mask)
    except Exception as error:
        raise AgentError(name, describe_raised(error)) from error
    return action


def _accepts(signature: inspect.Signature, n: int) -> bool:
    """Return whether a function with this signature can be called with ``n`` positional arguments."""
    try:
        signature.bind(*range(n))
    except TypeError:
        return False
    return True
