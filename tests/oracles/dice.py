"""The keyed dice once more, in plain Python integers.

Written from the description of the mixer (SplitMix64 with the constants of Stafford's variant 13), with
none of the fixed-width arithmetic that the kernels rely on.
"""

from __future__ import annotations

from functools import lru_cache

MODULUS = 2**64
GOLDEN = 0x9E3779B97F4A7C15
KEY_SALT = 0xD1B54A32D192ED03


def mix(value: int) -> int:
    value %= MODULUS
    value = (value ^ value // 2**30) * 0xBF58476D1CE4E5B9 % MODULUS
    value = (value ^ value // 2**27) * 0x94D049BB133111EB % MODULUS
    return value ^ value // 2**31


def splitmix64(start: int, number: int) -> int:
    """Return output ``number`` (0, 1, ...) of the published generator started at ``start``."""
    return mix(start + (number + 1) * GOLDEN)


@lru_cache(maxsize=16)
def turn_stream(key: int, seat: int, turn: int) -> int:
    return mix(mix(key ^ KEY_SALT) + GOLDEN * (seat * 2**40 + turn))


def draw(key: int, seat: int, turn: int, number: int, n: int) -> int:
    return splitmix64(turn_stream(key, seat, turn), number) // 2**32 * n // 2**32


def die(key: int, seat: int, turn: int, number: int, sides: int) -> int:
    return 1 + draw(key, seat, turn, number, sides)


def game_key(seed: int, episode: int) -> int:
    """The key of episode e is output e of a generator started at the mixed seed."""
    return splitmix64(mix(seed), episode)
