"""What a bot takes for the world and has to itself: its randomness, its print, its streams and its input."""

from __future__ import annotations

import io
import random
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from dicegym.bots.calls import note_print
from dicegym.play.printed import Printed


class PrivateStream(io.TextIOBase):
    """What a bot finds as ``sys.stdout`` and ``sys.stderr``: it writes to ``printed`` instead of the terminal."""

    encoding = "utf-8"

    def __init__(self, printed: Printed) -> None:
        self._printed = printed

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str, /) -> int:
        """Keep ``text``, and let the witness note it; return its length."""
        note_print(text)
        return self._printed.write(text)


class PrivateSys(types.ModuleType):
    """What a bot finds as the module ``sys``: everybody's, but for the streams.

    What the bot assigns stays here: no bot takes the terminal from others.
    """

    def __init__(self, printed: Printed) -> None:
        super().__init__("sys", sys.__doc__)
        self.stdout = self.stderr = self.__stdout__ = self.__stderr__ = PrivateStream(printed)

    def __getattr__(self, name: str) -> Any:
        """Return everybody's."""
        return getattr(sys, name)

    def __dir__(self) -> list[str]:
        """Return the names of everybody's."""
        return dir(sys)


def private_print(printed: Printed) -> Callable[..., None]:
    """Return a ``print`` that writes to ``printed`` instead of the terminal, and to files as usual."""

    def private(*values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, **rest: Any) -> None:
        if file is None or file in (sys.stdout, sys.stderr) or isinstance(file, PrivateStream):
            between, last = " " if sep is None else sep, "\n" if end is None else end
            text = between.join(map(str, values)) + last
            printed.write(text)
            note_print(text)
        else:
            print(*values, sep=sep, end=end, file=file, **rest)

    private.__name__ = private.__qualname__ = "print"
    return private


def no_input(prompt: object = "") -> NoReturn:
    """Stand in for ``input``: nobody is there to answer. Raises EOFError."""
    raise EOFError("input() was called, and nobody is there to answer")


class PrivateRandom(random.Random):
    """The randomness of one bot: repeatable, and apart from everybody else's.

    `as_module` wraps it as a module ``random``, all of whose functions draw from it. Generators that the bot
    makes without a seed are seeded from it, and anew whenever it is reseeded.
    """

    def __init__(self, seed: int = 0) -> None:
        self._next_seed = seed
        self._made = 0
        self._unseeded: weakref.WeakValueDictionary[int, random.Random] = weakref.WeakValueDictionary()
        super().__init__()

    def fresh(self) -> int:
        """Return a new seed of 64 bits; the seeds are SplitMix64's sequence from the given one on."""
        self._next_seed = (self._next_seed + 0x9E3779B97F4A7C15) % 2**64
        z = self._next_seed
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed as `random.seed` does; without a value, from the bot's own randomness instead of the system's."""
        super().seed(self.fresh() if a is None else a, version)

    def reseed(self, seed: int) -> None:
        """Begin again as if made with ``seed``, and so do the unseeded generators made so far, in order."""
        self._next_seed = seed
        self.seed()
        for _, generator in sorted(self._unseeded.items()):
            generator.seed()

    def _generator_class(self) -> type[random.Random]:
        owner = self

        class Random(random.Random):
            def __init__(self, x: Any = None) -> None:
                if x is None:
                    owner._made += 1
                    owner._unseeded[owner._made] = self
                super().__init__(x)

            def seed(self, a: Any = None, version: int = 2) -> None:
                super().seed(owner.fresh() if a is None else a, version)

        Random.__module__ = "random"
        Random.__qualname__ = "Random"
        return Random

    def as_module(self) -> types.ModuleType:
        """Return a module that replaces ``random``."""
        module = types.ModuleType("random", random.__doc__)
        module.__all__ = list(random.__all__)  # type: ignore[attr-defined]  # modules take any name
        module.__dict__.update({name: value for name, value in vars(random).items() if not name.startswith("__")})
        for name in random.__all__:
            if hasattr(self, name):
                setattr(module, name, getattr(self, name))
        generator = self._generator_class()
        module.Random = module.SystemRandom = generator  # type: ignore[attr-defined]  # likewise
        module._inst = self  # type: ignore[attr-defined]  # likewise
        return module


def seed_numpy(seed: int) -> None:
    """Seed NumPy's global generator, in a process that a bot has to itself, if it has loaded NumPy."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))
