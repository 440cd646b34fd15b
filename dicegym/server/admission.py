"""How many connections come from one address: at once, and new ones a minute.

A network of IPv6 (its first 64 bits) counts as one address, since whoever has one has all of them. This machine's own
addresses are for who runs the server: there are no limits for them at once, and wide ones a minute.
"""

from __future__ import annotations

import ipaddress
import time
from collections import Counter
from collections.abc import Callable

from dicegym.server.budget import Purse
from dicegym.server.origins import is_loopback

PER_ADDRESS = 64
"""Connections at once from one address."""
PER_MINUTE = 120
"""New connections a minute from one address; for this machine itself `LOOPBACK` times as many."""
LOOPBACK = 25
REMEMBERED = 4096
"""Addresses of which it is known when they last came."""
NETWORK = 64
"""Bits of an IPv6 address that are one network's."""


def origin_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        if not found.is_loopback:
            return str(ipaddress.ip_network((found, NETWORK), strict=False))
    return str(found)


class Admission:
    """Counts connections by their origin, as `origin_of` tells it.

    Args:
        per_address: connections at once.
        per_minute: new connections a minute.
        clock: in seconds.
    """

    def __init__(
        self,
        per_address: int = PER_ADDRESS,
        per_minute: int = PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.per_address = per_address
        self.per_minute = per_minute
        self.present: Counter[str] = Counter()
        """Connections by origin."""
        self._clock = clock
        self._recent: dict[str, Purse] = {}

    def enters(self, origin: str) -> bool:
        """Count a connection, until `leaves` takes it back; return whether it does not come too soon after others."""
        self.present[origin] += 1
        purse = self._recent.pop(origin, None)
        if purse is None:
            most = self.per_minute * (LOOPBACK if is_loopback(origin) else 1)
            purse = Purse(most / 60, most, self._clock)
        self._recent[origin] = purse  # who came last stands last
        if len(self._recent) > REMEMBERED:
            del self._recent[next(iter(self._recent))]
        if purse.pay(1):
            return True
        purse.give(1)  # who keeps trying does not have to wait the longer
        return False

    def leaves(self, origin: str) -> None:
        """Count no more a connection that `enters` has counted."""
        self.present[origin] -= 1
        if not self.present[origin]:
            del self.present[origin]

    def crowded(self, origin: str) -> bool:
        """Return whether there are more connections from an origin than one may have."""
        return self.present[origin] > self.per_address and not is_loopback(origin)
