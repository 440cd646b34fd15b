"""An observation in words: its parts by name and place, what they say, and what the rules page says of them."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.observation_forms import Form
from dicegym.errors import ParameterError

LINE = 100
"""Characters to a line of a table; a longer meaning continues below."""
SHOWN = 32
"""Characters of values that a table shows; all of them are in `DescribedPart.values`."""


class DescribedPart(NamedTuple):
    """One part of an observation."""

    name: str
    start: int
    """Its first place; ``observation[start:stop]`` is the part."""
    stop: int
    values: tuple[float, ...]
    read: Any
    """What the values say in whole numbers, if the game declares how the part is read
    (`dicegym.engine.observation_forms`): of a one-hot its number or None, of ones how many they are, of flags the
    numbers of those that are 1. Else the values.
    """
    meaning: str
    """The words of the rules page; empty where it has none."""

    @property
    def places(self) -> str:
        """The places in words: ``4`` or ``4..13``."""
        return str(self.start) if self.stop == self.start + 1 else f"{self.start}..{self.stop - 1}"


class Description(list[DescribedPart]):
    """The parts of an observation in order. ``str`` makes a table of it."""

    def __getitem__(self, which: Any) -> Any:
        """Return a part by its number or its name."""
        if not isinstance(which, str):
            return super().__getitem__(which)
        for part in self:
            if part.name == which:
                return part
        raise KeyError(f"there is no part {which!r}: the parts are {', '.join(part.name for part in self)}")

    def __str__(self) -> str:
        """Return a table: places, name, what is read, meaning."""
        rows = [(part.places, part.name, _shown(part.read)) for part in self]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        left = sum(widths) + 2 * len(widths)
        lines = []
        for row, part in zip(rows, self, strict=True):
            head = "".join(f"{text:<{width}}  " for text, width in zip(row, widths, strict=True))
            words = textwrap.wrap(part.meaning, max(20, LINE - left)) or [""]
            lines.append((head + words[0]).rstrip())
            lines += [" " * left + more for more in words[1:]]
        return "\n".join(lines)


def _shown(read: Any) -> str:
    if isinstance(read, list | tuple):
        inner = [f"[{_shown(one)}]" if isinstance(one, list) else _shown(one) for one in read]
        text = " ".join(inner) or "none"
        return text if len(text) <= SHOWN else text[: SHOWN - 3].rstrip() + "..."
    return "none" if read is None else f"{read:.4g}" if isinstance(read, float) else str(read)


def describe(observation: Any, features: Mapping[str, int], forms: Mapping[str, Form], rules: str = "") -> Description:
    """Return what an observation says.

    Args:
        observation: float[size]: one observation.
        features: its parts in order, each with its length (``game.features``).
        forms: how some of them are read; the others are numbers.
        rules: the dotted name of the module whose docstring has the table of their meanings.

    Raises:
        ParameterError: ``observation`` has another shape or holds no numbers.
    """
    size = sum(features.values())
    try:
        values = np.asarray(observation, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"an observation of type {type(observation).__name__} cannot be described: "
            f"give the {size} numbers, of a dict observation['observation']"
        ) from None
    if values.shape != (size,):
        raise ParameterError(
            f"an observation of shape {values.shape} cannot be described: give one of shape ({size},), "
            f"of a batch one row"
        )
    meanings = _meanings(rules) if rules else {}
    found = Description()
    start = 0
    for name, length in features.items():
        part = values[start : start + length]
        written: tuple[float, ...] = tuple(part.astype(np.float32).tolist())
        form = forms.get(name)
        plain = form is not None and form.fits(part)
        read = form.read(part) if form is not None and plain else written if length > 1 else written[0]
        found.append(DescribedPart(name, start, start + length, written, read, meanings.get(name, "")))
        start += length
    return found


def _meanings(rules: str) -> dict[str, str]:
    """Return part -> meaning from the table below "Observation" in a module's docstring; nothing without that table."""
    page = importlib.import_module(rules).__doc__ or ""  # Python may leave docstrings out
    section = re.search(r"^Observation\b.*\n((?:(?: .*)?\n|$)*)", page, re.MULTILINE)
    lines = section[1].splitlines() if section else []
    borders = [number for number, line in enumerate(lines) if re.fullmatch(r"\s*=+(\s+=+)+\s*", line)]
    if len(borders) < 3:
        return {}
    columns = [match.start() for match in re.finditer("=+", lines[borders[0]])]
    found: dict[str, str] = {}
    name = ""
    for line in lines[borders[1] + 1 : borders[2]]:
        name = line[: columns[1]].strip() or name
        found[name] = f"{found.get(name, '')} {line[columns[-1] :].strip()}".strip()
    return found
