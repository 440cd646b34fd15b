"""How much one visitor, and one address, may ask for: requests, what costs the machine something, and large bodies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from starlette.requests import Request

from dicegym.errors import DicegymError
from dicegym.server.admission import LOOPBACK, origin_of
from dicegym.server.budget import Purse
from dicegym.server.origins import is_loopback

REMEMBERED = 8192
"""Visitors and addresses of which it is known what they spent lately."""
CLASSROOM = 20
"""An address may have so many times what a visitor may: a class sits behind one."""
SMALL_BODY = 64 * 1024
"""Bytes that a request's body may have where nothing else is said."""


class TooOftenError(DicegymError):
    """Somebody asked for the same thing too often.

    Attributes:
        wait: seconds until it may be asked for again.
    """

    def __init__(self, words: str, wait: float) -> None:
        super().__init__(words)
        self.wait = wait


class TooLargeError(DicegymError):
    """A request's body is larger than what is taken there."""


class TooSlowError(DicegymError):
    """A request's body came so slowly that it was not waited for."""


class Rate(NamedTuple):
    """How often something may be asked for by one visitor."""

    what: str
    """In words: ``games begun``."""
    per_minute: float
    at_once: float
    """So many before the rate counts."""


REQUESTS = Rate("requests", 3000, 600)
"""Of one visitor: pages that poll ask once a second, and a page loads half a dozen files."""


class VisitorLimits:
    """What visitors and addresses have spent.

    Args:
        clock: in seconds.

    Attributes:
        bodies: the largest body in bytes by the beginning of a path; the longest that fits counts.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.bodies: dict[str, int] = {}
        self._clock = clock
        self._purses: dict[tuple[str, str], Purse] = {}

    def pay(self, request: Request, rate: Rate) -> None:
        """Count that something is asked for. Raises TooOftenError if a visitor, or an address, did so too often."""
        address = origin_of(request.client.host) if request.client else ""
        many = CLASSROOM * (LOOPBACK if is_loopback(address) else 1)
        for who, times in ((f"visitor {request.state.visitor}", 1), (f"address {address}", many)):
            purse = self._purse(who, rate, times)
            if not purse.pay(1):
                purse.give(1)  # who keeps trying does not have to wait the longer
                wait = (1 - purse.left) * 60 / (rate.per_minute * times)
                raise TooOftenError(
                    f"too many {rate.what}: {rate.per_minute:g} a minute are taken of one visitor; "
                    f"try again in {_seconds(wait)}",
                    wait,
                )

    def largest(self, path: str) -> int:
        """Return how many bytes a body may have that is sent to a path."""
        fitting = [start for start in self.bodies if path == start or path.startswith(start.rstrip("/") + "/")]
        return self.bodies[max(fitting, key=len)] if fitting else SMALL_BODY

    def _purse(self, who: str, rate: Rate, times: int) -> Purse:
        key = (who, rate.what)
        purse = self._purses.pop(key, None)
        if purse is None:
            purse = Purse(rate.per_minute * times / 60, rate.at_once * times, self._clock)
        self._purses[key] = purse  # who came last stands last
        if len(self._purses) > REMEMBERED:
            del self._purses[next(iter(self._purses))]
        return purse


def _seconds(wait: float) -> str:
    whole = max(1, math.ceil(wait))
    return f"{whole} second{'s' * (whole != 1)}"
