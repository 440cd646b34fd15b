"""Read settings from TOML files and from the command line, validate them, and write them."""

from __future__ import annotations

import copy
import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import is_pydantic_dataclass
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from dicegym import registry
from dicegym.errors import DamagedFileError, DicegymError, ParameterError, unknown_name
from dicegym.escape import one_line
from dicegym.files import read_text, write_text
from dicegym.learning.run_folder import SETTINGS_FILE
from dicegym.learning.training_settings import TrainingSettings
from dicegym.shipped import shipped_folder

Plain = dict[str, dict[str, Any]]
"""Settings as plain values, by section and key."""

NO_CONFIGURATION = "name a file of settings as in training/configs/, or leave out --config"
"""What to do about a file that cannot be read."""
LARGEST = 1 << 20
"""Most bytes of a file of settings."""
ANY_GAME = "default.toml"
"""The configuration for games without a file of their own."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A TOML key that may be written without quotes."""
_ADAPTER = TypeAdapter(TrainingSettings)


def _fields_of(kind: Any) -> dict[str, FieldInfo]:
    return kind.__pydantic_fields__ if is_pydantic_dataclass(kind) else {}


SECTIONS = _fields_of(TrainingSettings)


def read_config(game: str, config: Path | None = None) -> TrainingSettings:
    """Return the settings in ``config``; by default those that ship for the game, or for any game.

    A file with ``base = "game"`` changes the game's own configuration: its settings replace single ones there. Its
    ``[opponents]`` replace the whole section, and so does an ``[algorithm]`` with another name.

    Args:
        game: a game's name.
        config: a file, or a name from ``training/configs``, such as ``self_play``.

    Raises:
        UnknownNameError: there is no such game.
        ParameterError: ``config`` does not exist, or holds an invalid setting.
    """
    if game not in registry.GAMES:
        raise unknown_name("game", game, list(registry.GAMES))
    own = _configs() / f"{game}.toml"
    usual = own if own.is_file() else _configs() / ANY_GAME
    path = usual if config is None else config_file(config)
    plain = _read_toml(path)
    base = plain.pop("base", None)
    if base is not None:
        if base != "game":
            raise ParameterError(f'{path}: base={base!r} is invalid: write base = "game", or leave it out')
        plain = _merge(_read_toml(usual), plain)
    return from_plain(plain, f"{path}: ")


def config_file(config: Path) -> Path:
    """Return the file of a configuration, given by its path or its name. Raises ParameterError if it is missing."""
    if os.path.lexists(config):
        return config
    shipped = {file.stem: file for file in sorted(_configs().glob("*.toml"))}
    if str(config) in shipped:
        return shipped[str(config)]
    raise ParameterError(f"there is no configuration {config}: give one with --config; there are {', '.join(shipped)}")


def lasting_name(config: str | Path | None) -> Path | None:
    """Return a shipped configuration's name as it is, any other path as absolute. Raises as `config_file` does."""
    if config is None:
        return None
    path = Path(config)
    return path.absolute() if config_file(path) == path else path


def _configs() -> Path:
    return shipped_folder("training") / "configs"


def _merge(base: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``changes``, as `read_config` says."""
    merged = dict(base)
    for section, values in changes.items():
        usual = base.get(section, {})
        replaces = section == "opponents" or not isinstance(values, dict)
        replaces = replaces or values.get("name", usual.get("name")) != usual.get("name")
        merged[section] = values if replaces else {**usual, **values}
    return merged


def _read_toml(path: Path) -> dict[str, Any]:
    text = read_text(path, NO_CONFIGURATION, LARGEST)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise DamagedFileError(path, f"is not TOML ({one_line(error)})", NO_CONFIGURATION) from None


def from_plain(plain: Mapping[str, Any], source: str = "") -> TrainingSettings:
    """Return the settings in ``plain``; missing ones have their defaults.

    Args:
        plain: values from a TOML file, from ``settings.json`` or from a model's facts.
        source: where they come from; error messages begin with it.

    Raises:
        UnknownNameError: a value is not one of the choices.
        ParameterError: there is no such setting, or a value has the wrong type or is out of range.
    """
    try:
        return _ADAPTER.validate_python(plain)
    except ValidationError as error:
        raise _error_of(error.errors(include_url=False)[0], plain, source) from None


def to_plain(settings: TrainingSettings) -> Plain:
    """Return settings as plain values for `from_plain`, without those that are left to the algorithm."""
    plain: Plain = {}
    for name in SECTIONS:
        section = getattr(settings, name)
        values = vars(section) if is_dataclass(section) else section  # vars also has what was added to an open section
        plain[name] = {key: copy.deepcopy(value) for key, value in values.items() if value is not None}
    return plain


def as_toml(value: Any) -> str:
    """Return a plain value as TOML on one line, for ``--set``."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(_toml_pair(str(key), one) for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    # Unlike JSON, TOML has no surrogate pairs for characters beyond 16 bits, and writes infinity as inf.
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def to_toml(settings: TrainingSettings) -> str:
    """Return settings as the text of a file for `read_config`."""
    sections = {section: values for section, values in to_plain(settings).items() if values}
    lines = [[f"\n[{section}]", *starmap(_toml_pair, values.items())] for section, values in sections.items()]
    return "\n".join(chain.from_iterable(lines)) + "\n"


def _toml_pair(key: str, value: Any) -> str:
    return f"{key if _BARE.fullmatch(key) else as_toml(key)} = {as_toml(value)}"


def override(settings: TrainingSettings, overrides: Sequence[str]) -> TrainingSettings:
    """Return ``settings`` with each ``section.key=value``, or ``section={...}`` for a whole section, applied.

    Values are TOML; anything else is a text. Raises as `from_plain` does.
    """
    plain = to_plain(settings)
    for text in overrides:
        name, _, value = text.partition("=")
        section, _, key = name.partition(".")
        if section not in plain or not value:
            raise ParameterError(f"--set {text!r} sets nothing: write section.key=value with one of {', '.join(plain)}")
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            parsed = value
        if key:
            plain[section][key] = parsed
        else:
            plain[section] = parsed
        settings = from_plain(plain, f"--set {text!r}: ")
        plain = to_plain(settings)
    return settings


class AboutRun(NamedTuple):
    """The content of ``settings.json`` in a run's folder."""

    command: list[str]
    """The words of the command that started it."""
    settings: Plain
    finished: bool
    """Whether it ended with nothing left to do by these settings."""


def about_run(folder: Path) -> AboutRun:
    """Read ``settings.json`` in a run's folder. Raises DamagedFileError if it is damaged."""
    path = folder / SETTINGS_FILE
    instead = (
        f"name the folder of a training; a new run can start from the networks of a damaged one with --set "
        f"run.start_from={folder / 'best.zip'}"
    )
    text = read_text(path, instead, LARGEST)
    try:
        plain = json.loads(text)
        command, settings = shlex.split(plain["command"]), plain["settings"]
        if not all(isinstance(section, dict) for section in settings.values()):
            raise TypeError("settings without sections")
        return AboutRun(command, settings, plain.get("finished") is True)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else one_line(error, 120)
        raise DamagedFileError(path, f"was not written by a training ({why})", instead) from None


def write_about(folder: Path, about: AboutRun) -> None:
    """Write ``settings.json`` into a run's folder."""
    plain = {"command": shlex.join(about.command), "settings": about.settings, "finished": about.finished}
    write_text(folder / SETTINGS_FILE, json.dumps(plain, indent=1))


class SettingDescription(NamedTuple):
    """A setting as the table of settings shows it."""

    section: str
    key: str
    """Empty for a section with free keys."""
    takes: str
    default: str
    """As TOML; empty without a default."""
    meaning: str


def describe_settings() -> Iterator[SettingDescription]:
    """Yield every setting, section by section."""
    for section, about in SECTIONS.items():
        for key, one in (_settings_of(section) or {"": about}).items():
            value = one.get_default(call_default_factory=True) if key else None
            default = "" if value is None else json.dumps(value)  # which is TOML for the types of settings
            yield SettingDescription(section, key, _takes(one), default, one.description or "")


def _settings_of(section: str) -> dict[str, FieldInfo]:
    """Return the settings of a section by key; none if its keys are free."""
    return _fields_of(SECTIONS[section].annotation)


def _takes(about: FieldInfo) -> str:
    if get_origin(about.annotation) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(about.annotation))
    return about.title or "any value"


def _error_of(problem: ErrorDetails, plain: Mapping[str, Any], source: str) -> DicegymError:
    """Return the error for a problem that pydantic found in ``plain``."""
    section, *keys = map(str, problem["loc"])
    if problem["type"] == "unexpected_keyword_argument":
        name = ".".join([section, *keys])
        kind, known = (f"[{section}] setting", list(_settings_of(section))) if keys else ("section", list(SECTIONS))
        return ParameterError(f"{source}{name} sets nothing: {unknown_name(kind, (keys or [section])[0], known)}")
    if not keys:
        return ParameterError(
            f"{source}{section}={plain[section]!r} is not a section: write {section}={{key=value}}, or in a file "
            f"[{section}] with its settings below"
        )
    key, about = keys[0], _settings_of(section).get(keys[0], SECTIONS[section])
    value = plain[section][key]
    if get_origin(about.annotation) is Literal and isinstance(value, str):
        return unknown_name(f"{section}.{key}", value, list(get_args(about.annotation)))
    return ParameterError(f"{source}{section}.{key}={value!r} cannot be used: give {_takes(about)}")
