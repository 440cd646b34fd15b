"""The private surroundings of a bot: its randomness, its print, its streams and its input."""

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
    """A bot's ``sys.stdout`` and ``sys.stderr``, which write to ``printed`` instead of the terminal."""

    encoding = "utf-8"

    def __init__(self, printed: Printed) -> None:
        self._printed = printed

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str, /) -> int:
        """Keep ``text`` and report it to the witness; return its length."""
        note_print(text)
        return self._printed.write(text)


def private_sys(stream: PrivateStream) -> types.ModuleType:
    """Return a copy of the module ``sys`` with other streams; what the bot assigns there stays there."""
    module = types.ModuleType("sys")
    vars(module).update(vars(sys), stdout=stream, stderr=stream, __stdout__=stream, __stderr__=stream)
    return module


def private_print(stream: PrivateStream) -> Callable[..., None]:
    """Return a ``print`` that writes to ``stream``, at once, instead of the terminal, and to files as usual."""

    def private(*values: object, file: Any = None, **options: Any) -> None:
        if file is None or file in (sys.stdout, sys.stderr) or isinstance(file, PrivateStream):
            text = io.StringIO(newline="")
            print(*values, **options, file=text)
            stream.write(text.getvalue())
        else:
            print(*values, **options, file=file)

    private.__name__ = private.__qualname__ = "print"
    return private


def no_input(prompt: object = "") -> NoReturn:
    """Replace ``input``. Raises EOFError."""
    raise EOFError("input() was called, and nobody is there to answer")


class PrivateRandom(random.Random):
    """The repeatable randomness of one bot, independent of all others.

    `as_module` returns a module ``random`` whose functions draw from it. Generators that the bot makes without a seed
    take theirs from it, and are seeded again whenever it is.
    """

    def __init__(self, seed: int = 0) -> None:
        self._next_seed = seed
        self._made = 0
        self._unseeded: weakref.WeakValueDictionary[int, random.Random] = weakref.WeakValueDictionary()
        super().__init__()

    def fresh(self) -> int:
        """Return a new seed of 64 bits, the next of SplitMix64."""
        self._next_seed = (self._next_seed + 0x9E3779B97F4A7C15) % 2**64
        z = self._next_seed
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed as `random.seed` does; without a value, from the bot's own randomness."""
        super().seed(self.fresh() if a is None else a, version)

    def reseed(self, seed: int) -> None:
        """Restart as if made with ``seed``, and so restart the unseeded generators made so far, in order."""
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
        generator = self._generator_class()
        vars(module).update({name: value for name, value in vars(random).items() if not name.startswith("__")})
        vars(module).update({name: getattr(self, name) for name in random.__all__ if hasattr(self, name)})
        vars(module).update(__all__=list(random.__all__), Random=generator, SystemRandom=generator, _inst=self)
        return module


def seed_numpy(seed: int) -> None:
    """Seed NumPy's global generator, if the bot's process has loaded NumPy."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))
