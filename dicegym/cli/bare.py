"""Options that may stand without a value: ``--ray`` without an address, ``--tutor`` without a level."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand

RAY = "--ray"
TUTOR = "--tutor"


class Command(TyperCommand):
    """A command whose ``--ray`` and ``--tutor`` may stand without a value.

    What follows is the value if it looks like one and, of an address, is no file; else it is the next argument.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments as Typer does, an empty value put after an option without one."""
        for option, fits in ((RAY, is_address), (TUTOR, _is_level)):
            args = _with_values(args, option, fits) if option in args else args
        return super().parse_args(ctx, args)


def is_address(text: str) -> bool:
    """Return whether ``text`` can only be meant as the address of a cluster, right or wrong, and is no file."""
    from dicegym.arena.ray_executor import HERE, RUNNING

    if text in (HERE, RUNNING):
        return True
    return not os.path.exists(text) and ("://" in text or re.fullmatch(r"[\w.\-\[\]:]+:\d+", text) is not None)


def _is_level(text: str) -> bool:
    return bool(text) and not text.startswith("-")  # another word is refused with those that there are


def _with_values(args: list[str], option: str, fits: Callable[[str], bool]) -> list[str]:
    end = args.index("--") if "--" in args else len(args)
    whole: list[str] = []
    for number, one in enumerate(args):
        follows = args[number + 1] if number + 1 < end else ""
        bare = number < end and one == option and not fits(follows)
        whole.append(f"{option}=" if bare else one)
    return whole
