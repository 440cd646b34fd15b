"""Settings in sections: read from a TOML file, overridden one by one on the command line."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from dicegym.errors import ParameterError

ALSO = {float: (float, int), list: (list, dict), dict: (list, dict)}
"""What a value of a type may be replaced by besides its own kind; a network's layers are a list, or one a network."""

Settings = dict[str, dict[str, Any]]


def read_settings(path: Path, sections: Sequence[str], example: Path) -> Settings:
    """Return the settings in a TOML file. Raises ParameterError unless it has all ``sections``, as ``example`` does."""
    try:
        settings = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is no TOML: {error}") from None
    missing = [name for name in sections if not isinstance(settings.get(name), dict)]
    if missing:
        raise ParameterError(f"{path} lacks [{'], ['.join(missing)}]: start from {example}")
    return settings


def override(settings: Settings, overrides: Sequence[str], open_sections: Collection[str] = ()) -> Settings:
    """Return ``settings`` with each ``section.key=value``, or ``section={...}`` for a whole section, applied.

    Values are TOML; a bare word is a string. Only ``open_sections`` take keys that they have not.

    Raises ParameterError for what sets nothing, or a value of another kind.
    """
    settings = copy.deepcopy(settings)
    for text in overrides:
        name, _, value = text.partition("=")
        section, _, key = name.partition(".")
        if section not in settings or not value:
            raise ParameterError(
                f"--set {text!r} sets nothing: write section.key=value with one of {', '.join(settings)}"
            )
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value
        if not key and isinstance(parsed, dict):
            settings[section] = parsed
        elif key in settings[section]:
            kind = type(settings[section][key])
            kinds = ALSO.get(kind, (kind,))
            if not isinstance(parsed, kinds):
                raise ParameterError(
                    f"--set {text!r} gives {key} {parsed!r}: it takes such as {settings[section][key]!r}"
                )
            settings[section][key] = parsed
        elif key and section in open_sections:
            settings[section][key] = parsed
        else:
            known = ", ".join(settings[section])
            raise ParameterError(f"--set {text!r} sets nothing: [{section}] has {known}")
    return settings
