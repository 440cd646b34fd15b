"""Settings from files and from the command line: TOML in sections, checked, with errors that say what to write."""

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
"""Settings as TOML and JSON have them: values by section and key."""

NO_CONFIGURATION = "name a file of settings as in training/configs/, or leave out --config"
"""What to do about one that cannot be read."""
LARGEST = 1 << 20
"""Bytes of a file of settings."""
ANY_GAME = "default.toml"
"""The configuration of a game that has none of its own."""
WHOLE = ("opponents",)
"""Sections that mean something only as a whole."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key of TOML that needs no quotes."""
_ADAPTER = TypeAdapter(TrainingSettings)


def _declared(kind: Any) -> dict[str, FieldInfo]:
    return kind.__pydantic_fields__ if is_pydantic_dataclass(kind) else {}


SECTIONS = _declared(TrainingSettings)
"""What is declared of each section."""


def read_config(game: str, config: Path | None = None) -> TrainingSettings:
    """Return the settings in ``config``, by default those that ship for the game, or else for any game.

    A file that begins with ``base = "game"`` says only what is to be otherwise than in the game's own configuration:
    each of its settings takes the place of one there, and its ``[opponents]``, who share games out, that of them all;
    so does its ``[algorithm]`` if it names another one, whose arguments are its own.

    Args:
        game: a game's name.
        config: a file, or the name of one that ships in ``training/configs``, such as ``self_play``.

    Raises:
        UnknownNameError: there is no such game.
        ParameterError: there is no file ``config``, or it holds an invalid setting.
    """
    if game not in registry.GAMES:
        raise unknown_name("game", game, list(registry.GAMES))
    own = _configs() / f"{game}.toml"
    usual = own if own.is_file() else _configs() / ANY_GAME
    path = usual if config is None else config_file(config)
    plain = _plain(path)
    base = plain.pop("base", None)
    if base is not None:
        if base != "game":
            raise ParameterError(f'{path}: base={base!r} names nothing: write base = "game", or leave it out')
        plain = _on_top(_plain(usual), plain)
    return from_plain(plain, f"{path}: ")


def config_file(config: Path) -> Path:
    """Return the file that a configuration's name stands for, or the file itself. Raises ParameterError."""
    shipped = _configs() / f"{config.name}.toml"
    if not os.path.lexists(config) and len(config.parts) == 1 and shipped.is_file():
        return shipped
    if not os.path.lexists(config):
        known = ", ".join(sorted(file.stem for file in _configs().glob("*.toml")))
        raise ParameterError(f"there is no configuration {config}: give one with --config; there are {known}")
    return config


def lasting_name(config: str | Path | None) -> Path | None:
    """Return the name of a configuration that ships, else its absolute path. Raises ParameterError if it is missing."""
    if config is None:
        return None
    path = Path(config)
    return path.absolute() if config_file(path) == path else path


def _configs() -> Path:
    return shipped_folder("training") / "configs"


def _on_top(base: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with what was ``said`` in place of what stands there."""
    found = dict(base)
    for section, values in said.items():
        usual = base.get(section, {})
        whole = (
            section in WHOLE
            or not isinstance(values, dict)
            or values.get("name", usual.get("name")) != usual.get("name")
        )
        found[section] = values if whole else {**usual, **values}
    return found


def _plain(path: Path) -> dict[str, Any]:
    """Return what a file of settings says. Raises DamagedFileError."""
    text = read_text(path, NO_CONFIGURATION, LARGEST)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise DamagedFileError(path, f"is not TOML ({one_line(error)})", NO_CONFIGURATION) from None


def from_plain(plain: Mapping[str, Any], source: str = "") -> TrainingSettings:
    """Return the settings in ``plain``; those that are missing have their defaults.

    Args:
        plain: as of a TOML file, of ``settings.json`` or of a model's facts.
        source: where they come from, the beginning of error messages.

    Raises:
        UnknownNameError: a value is not one of the choices.
        ParameterError: there is no such setting, or a value is of another kind or out of range.
    """
    try:
        return _ADAPTER.validate_python(plain)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False)[0], plain, source) from None


def to_plain(settings: TrainingSettings) -> Plain:
    """Return what `from_plain` takes, of plain values alone; what is left to the algorithm is left out."""
    plain: Plain = {}
    for name in SECTIONS:
        section = getattr(settings, name)
        values = vars(section) if is_dataclass(section) else section  # vars: also what was added to an open section
        plain[name] = {key: copy.deepcopy(value) for key, value in values.items() if value is not None}
    return plain


def as_toml(value: Any) -> str:
    """Return a plain value as TOML on one line, as ``--set`` takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(_toml_pair(str(key), one) for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    # Unlike JSON, TOML has no surrogate pairs for what is beyond 16 bits, and calls infinity inf.
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def to_toml(settings: TrainingSettings) -> str:
    """Return settings as a file that `read_config` reads."""
    sections = {section: values for section, values in to_plain(settings).items() if values}
    lines = [[f"\n[{section}]", *starmap(_toml_pair, values.items())] for section, values in sections.items()]
    return "\n".join(chain.from_iterable(lines)) + "\n"


def _toml_pair(key: str, value: Any) -> str:
    return f"{key if _BARE.fullmatch(key) else as_toml(key)} = {as_toml(value)}"


def override(settings: TrainingSettings, overrides: Sequence[str]) -> TrainingSettings:
    """Return ``settings`` with each ``section.key=value``, or ``section={...}`` for a whole section, applied.

    Values are TOML; a bare word is a text. Raises as `from_plain` does.
    """
    plain = to_plain(settings)
    for text in overrides:
        name, _, value = text.partition("=")
        section, _, key = name.partition(".")
        if section not in plain or not value:
            known = ", ".join(plain)
            raise ParameterError(f"--set {text!r} sets nothing: write section.key=value with one of {known}")
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
    """What a run's folder says of the run."""

    command: list[str]
    """With which it was begun, by words."""
    settings: Plain
    finished: bool
    """Whether nothing was left to do when it ended, by these settings."""


def about_run(folder: Path) -> AboutRun:
    """Return what ``settings.json`` in a run's folder says. Raises DamagedFileError if the file is damaged."""
    path = folder / SETTINGS_FILE
    instead = (
        f"name the folder of a training; networks of a damaged one can begin a new run by --set "
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
        raise DamagedFileError(path, f"is not what a training writes ({why})", instead) from None


def write_about(folder: Path, about: AboutRun) -> None:
    """Write ``settings.json`` into a run's folder."""
    plain = {"command": shlex.join(about.command), "settings": about.settings, "finished": about.finished}
    write_text(folder / SETTINGS_FILE, json.dumps(plain, indent=1))


class SettingDescription(NamedTuple):
    """A setting, as people are told of it."""

    section: str
    key: str
    """Empty for a section whose keys are others' to name."""
    takes: str
    default: str
    """As TOML, or empty where it has no default."""
    meaning: str


def describe_settings() -> Iterator[SettingDescription]:
    """Yield every setting, section by section."""
    for section, about in SECTIONS.items():
        for key, one in (_settings_of(section) or {"": about}).items():
            value = one.get_default(call_default_factory=True) if key else None
            default = "" if value is None else json.dumps(value)  # which is TOML for what settings are made of
            yield SettingDescription(section, key, _takes(one), default, one.description or "")


def _settings_of(section: str) -> dict[str, FieldInfo]:
    """Return what a section declares, nothing if its keys are others' to name."""
    return _declared(SECTIONS[section].annotation) if section in SECTIONS else {}


def _takes(about: FieldInfo) -> str:
    if get_origin(about.annotation) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(about.annotation))
    return about.title or "any value"


def _refusal(problem: ErrorDetails, plain: Mapping[str, Any], source: str) -> DicegymError:
    """Return the error for what is wrong with ``plain``."""
    section, *keys = map(str, problem["loc"])
    if problem["type"] == "unexpected_keyword_argument":
        name = ".".join([section, *keys])
        kind, known = (f"[{section}] setting", list(_settings_of(section))) if keys else ("section", list(SECTIONS))
        return ParameterError(f"{source}{name} sets nothing: {unknown_name(kind, (keys or [section])[0], known)}")
    if not keys:
        return ParameterError(
            f"{source}{section}={plain[section]!r} is not a section: write {section}={{key=value}}, or "
            f"[{section}] in a file and its settings below"
        )
    key, about = keys[0], _settings_of(section).get(keys[0], SECTIONS[section])
    value = plain[section][key]
    if get_origin(about.annotation) is Literal and isinstance(value, str):
        return unknown_name(f"{section}.{key}", value, list(get_args(about.annotation)))
    return ParameterError(f"{source}{section}.{key}={value!r} cannot be used: give {_takes(about)}")
