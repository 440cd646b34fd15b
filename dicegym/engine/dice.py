"""Keyed dice: a die is a function of (game key, seat, turn, number), not a draw from a shared stream.

So a player that rolls more dice does not change anybody's later dice, a copied game rolls the same dice, and nothing
visible reveals future dice. All randomness of a game comes from here.

The mixer is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014; constants: Stafford's variant 13). Each turn of each seat is a SplitMix64 sequence that starts at a mixed
point.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.engine.jit import COMPILED, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_KEY_SALT = np.uint64(0xD1B54A32D192ED03)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE, _S27, _S30, _S31, _S32, _S40 = (np.uint64(n) for n in (1, 27, 30, 31, 32, 40))
_LOW_64 = (1 << 64) - 1

HOST_SEAT = 254
"""The seat number for draws of a game's host; `dicegym.engine.seats` lists them."""
FINE = 1 << 31
"""Weights are compared with a number drawn below this, so shares are exact to 5e-10."""
BOT_SEATS = 128
"""The compiled bot of seat s draws as seat ``BOT_SEATS + s``, so its draws are never the game's dice."""


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """Silence NumPy's overflow warning for arithmetic modulo 2**64, with compilation off."""
    return function if COMPILED else np.errstate(over="ignore")(function)


@_wrapping
@kernel
def mix(value):
    """Return the SplitMix64 finaliser of a uint64, a bijection in which each input bit affects every output bit."""
    z = np.uint64(value)
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@_wrapping
@kernel
def turn_stream(key, seat, turn):
    """Return the uint64 that determines all dice of one turn of one seat; outside kernels use `draw_number`.

    Seats below 256 and turns below 2**40 never share a stream within a game.
    """
    index = (np.uint64(seat) << _S40) + np.uint64(turn)
    return mix(mix(np.uint64(key) ^ _KEY_SALT) + _GOLDEN * index)


@_wrapping
@kernel
def draw(stream, number, n):
    """Return draw ``number`` (0, 1, ...) of a turn's stream as an integer in 0..n-1, for 1 <= n < 2**32.

    It is floor(h * n / 2**32), where h are the upper 32 bits of the mixed value. So each outcome has probability 1/n up
    to an error below 2**-32.
    """
    mixed = mix(stream + _GOLDEN * np.uint64(number + 1))
    return np.int64(((mixed >> _S32) * np.uint64(n)) >> _S32)


@kernel
def bot_stream(key, seat, time):
    """Return the uint64 that determines the draws of the compiled bot in ``seat`` at its decision ``time``."""
    return turn_stream(key, np.int64(BOT_SEATS) + np.int64(seat), time)


@kernel
def die(stream, number, sides):
    """Return die ``number`` (0, 1, ...) of a turn: a face in 1..sides, for ``sides`` below 2**32."""
    return 1 + draw(stream, number, sides)


@_wrapping
@kernel
def key_of(seed, episode):
    """Return the uint64 key of game number ``episode`` (0, 1, ...) under a uint64 ``seed``: see `game_key`."""
    return mix(mix(np.uint64(seed)) + _GOLDEN * (np.uint64(episode) + _ONE))


def game_key(seed: int, episode: int) -> int:
    """Return the 64-bit key of game number ``episode`` (0, 1, ...) played under ``seed``.

    Seeds count modulo 2**64. The same pair gives the same game in every environment, batch and tournament.
    """
    return int(key_of(np.uint64(seed & _LOW_64), np.uint64(episode)))


@kernel
def _draw_number(key, seat, turn, number, n):
    return draw(turn_stream(key, seat, turn), number, n)


def draw_number(key: int, seat: int, turn: int, number: int, n: int) -> int:
    """Return `draw` ``number`` below ``n`` of one turn of one seat, for code that is not compiled."""
    return int(_draw_number(np.uint64(key), seat, turn, number, n))


def named_seed(*parts: object) -> int:
    """Return a 64-bit seed, a hash of the text of all ``parts``, the same on every machine."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def private_seed(key: int, seat: int) -> int:
    """Return the seed for the private randomness of the agent in ``seat``.

    It is a cryptographic hash, so that an agent that recovers its seed learns nothing about the game's dice.
    """
    return named_seed("agent", key, seat)
