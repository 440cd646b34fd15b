"""What is searched: for each setting a range or a list of values, from a file, from options, or as is usual.

In TOML, by the names that ``dicegym train --set`` has::

    [space]
    "algorithm.learning_rate" = { low = 1e-4, high = 3e-3, log = true }
    "algorithm.n_epochs" = { low = 2, high = 8 }
    "network.net_arch" = { choices = [[64, 64], [256, 256], { pi = [256], vf = [128] }] }

A range between whole numbers is one of whole numbers; ``log`` draws as evenly between 1 and 10 as between 10 and 100.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.errors import DamagedFileError, ParameterError, unknown_name
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.configuration import LARGEST, override
from dicegym.learning.settings import TrainingSettings

USUAL: dict[str, dict[str, Any]] = {
    "algorithm.learning_rate": {"low": 1e-4, "high": 3e-3, "log": True},
    "algorithm.ent_coef": {"low": 1e-3, "high": 1.0, "log": True},
    "algorithm.gae_lambda": {"low": 0.3, "high": 1.0},
    "algorithm.n_epochs": {"low": 2, "high": 8},
    "network.net_arch": {"choices": [[64, 64], [128, 128], [256, 256]]},
}
"""What matters most to PPO in games of dice, and is searched where nothing is said."""
_INSTEAD = "write it as `dicegym.learning.tuning.space` says, with a section [space]"
_KEYS = ("low", "high", "log", "choices")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HOW = "write {low=..., high=...}, with log=true for a range over several powers of ten, or {choices=[...]}"


def as_toml(value: Any) -> str:
    """Return a plain value as TOML on one line, as ``--set`` takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {as_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def settings_as_toml(plain: Mapping[str, Mapping[str, Any]]) -> str:
    """Return settings (`dicegym.learning.configuration.to_plain`) as a file for ``--config``."""
    lines = []
    for section, values in plain.items():
        if values:
            lines += [f"[{section}]", *(f"{_key(key)} = {as_toml(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


class Dimension(NamedTuple):
    """One setting that is searched."""

    name: str
    """``section.key``."""
    low: float = 0.0
    high: float = 0.0
    """Both ends of a range, which belong to it."""
    log: bool = False
    choices: tuple[str, ...] = ()
    """Values as TOML; none: it is a range."""

    @property
    def whole(self) -> bool:
        """Whether it is a range of whole numbers."""
        return not self.choices and isinstance(self.low, int) and isinstance(self.high, int)

    def suggest(self, trial: Any) -> str:
        """Return the value that an Optuna trial tries, as TOML."""
        if self.choices:
            return str(trial.suggest_categorical(self.name, list(self.choices)))
        if self.whole:
            return str(trial.suggest_int(self.name, self.low, self.high, log=self.log))
        return repr(float(trial.suggest_float(self.name, self.low, self.high, log=self.log)))

    def parameter(self, value: Any) -> Any:
        """Return a value of the setting as Optuna has it; None if it does not lie in here."""
        if self.choices:
            return as_toml(value) if as_toml(value) in self.choices else None
        number = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        return value if number and self.low <= value <= self.high else None

    def ends(self) -> list[str]:
        """Return the values that have to be possible, as TOML."""
        return list(self.choices) or [as_toml(self.low), as_toml(self.high)]

    def to_plain(self) -> dict[str, Any]:
        """Return what `space_of` takes of it."""
        if self.choices:
            return {"choices": [tomllib.loads(f"value = {one}")["value"] for one in self.choices]}
        return {"low": self.low, "high": self.high} | ({"log": True} if self.log else {})

    def words(self) -> str:
        """Return it for people."""
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.low:g} to {self.high:g}" + (", on a logarithmic scale" if self.log else "")


def space_of(plain: Mapping[str, Any], source: str = "") -> list[Dimension]:
    """Return what is to be searched.

    Args:
        plain: by ``section.key``, as in the module's docstring.
        source: where it comes from, the beginning of error messages.

    Raises ParameterError for what is neither a range nor a list of values.
    """
    if not plain:
        raise ParameterError(f"{source}nothing is to be searched: {_INSTEAD}")
    return [_dimension(name, said, source) for name, said in plain.items()]


def _dimension(name: str, said: Any, source: str) -> Dimension:
    wrong = ParameterError(f"{source}{name} = {one_line(said, 100)} is nothing to search: {_HOW}")
    if not isinstance(said, Mapping):
        raise wrong
    for key in said:
        if key not in _KEYS:
            raise unknown_name(f"{source}part of {name}", key, list(_KEYS))
    if "choices" in said:
        values = said["choices"]
        if len(said) > 1 or not isinstance(values, list) or not values:
            raise wrong
        return Dimension(name, choices=tuple(dict.fromkeys(map(as_toml, values))))
    low, high, log = said.get("low"), said.get("high"), said.get("log", False)
    if isinstance(low, bool) or isinstance(high, bool) or not isinstance(log, bool):
        raise wrong
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        raise wrong
    if not low < high or (log and low <= 0):
        where = " above 0" if log else ""
        raise ParameterError(f"{source}{name}: low={low} and high={high} span nothing{where}: {_HOW}")
    return Dimension(name, low, high, log)


def read_space(path: Path) -> list[Dimension]:
    """Return the search space in a file. Raises ParameterError (DamagedFileError) for what is none."""
    text = read_text(path, _INSTEAD, LARGEST)
    try:
        plain = tomllib.loads(text)["space"]
    except (tomllib.TOMLDecodeError, KeyError, RecursionError, ValueError) as error:
        raise DamagedFileError(path, f"is no search space ({one_line(error)})", _INSTEAD) from None
    if not isinstance(plain, Mapping):
        raise DamagedFileError(path, "is no search space", _INSTEAD)
    return space_of(plain, f"{path}: ")


def given_space(texts: Sequence[str]) -> list[Dimension]:
    """Return the search space of options, each ``section.key={...}``. Raises ParameterError."""
    plain = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            plain[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            raise ParameterError(f"--search {text!r} cannot be read: {_HOW}") from None
    return space_of(plain, "--search ")


def check_space(space: Sequence[Dimension], settings: TrainingSettings) -> None:
    """Raise ParameterError or UnknownNameError if a setting that is searched cannot be what it is to be."""
    for dimension in space:
        for end in dimension.ends():
            override(settings, [f"{dimension.name}={end}"])


def present(space: Sequence[Dimension], plain: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return settings as a point of the space, as Optuna has it; None if they do not lie in it."""
    found = {}
    for dimension in space:
        section, _, key = dimension.name.partition(".")
        found[dimension.name] = dimension.parameter(plain.get(section, {}).get(key))
    return None if None in found.values() else found
