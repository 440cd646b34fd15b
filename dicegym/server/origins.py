"""Which web pages may speak to the server: those of addresses that the operator has named, and no others.

A browser lets any page open a WebSocket to any address, this machine's own too, and says in ``Origin`` whose page it
is; programs that are no browsers send no ``Origin``. A page can also have its own name lead to the server's address
(DNS rebinding): ``Host`` then is a name that is not the server's.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from dicegym.errors import ParameterError

NETWORK = 64
"""Bits of an IPv6 address that are one network's."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to ``host``."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def origin_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network of an IPv6 address, all of which one has."""
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


class PageOrigin(NamedTuple):
    """Where a page comes from."""

    scheme: str
    host: str
    port: int | None


def host_of(text: str) -> tuple[str, int | None] | None:
    """Return name or address, and port, of a ``Host`` header; None if it is none."""
    try:
        parts = urlsplit(f"//{text.strip()}")
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    return parts.hostname.rstrip("."), port


def place_of(text: str) -> PageOrigin | None:
    """Return the place that an ``Origin`` names; None if it names none (``null``, say)."""
    scheme, colon, rest = text.strip().partition("://")
    found = host_of(rest)
    if not colon or found is None:
        return None
    host, port = found
    return PageOrigin(scheme.lower(), host, port or PORTS.get(scheme.lower()))


class Origins:
    """Whom a WebSocket server takes.

    Args:
        listens: the address that the server listens on.
        hosts: further names of it, such as a proxy's.
        origins: pages that may connect, such as ``https://example.org``.

    Raises:
        ParameterError: one of these is no name, or no origin.
    """

    def __init__(self, listens: str, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> None:
        self._own_alone = is_loopback(listens)
        named = {"localhost", listens.lower()}
        if not self._own_alone:
            own = socket.gethostname().lower()
            named |= {own, own.partition(".")[0], f"{own.partition('.')[0]}.local"}
        for host in hosts:
            found = host_of(host)
            if found is None or "://" in host:
                raise ParameterError(f"--allow-host {host!r} is no name of a host: give one such as yatzy.example.org")
            named.add(found[0])
        self._named = frozenset(named)
        allowed = set()
        for origin in origins:
            place = place_of(origin)
            if place is None:
                raise ParameterError(
                    f"--allow-origin {origin!r} is no origin of web pages: give one such as https://example.org"
                )
            allowed.add(place)
        self._allowed = frozenset(allowed)

    def fault(self, hosts: Sequence[str], origins: Sequence[str]) -> str:
        """Return why a request with these ``Host`` and ``Origin`` headers is refused; empty if it is not."""
        served = host_of(hosts[0]) if len(hosts) == 1 else None
        if served is None:
            return "a request names the server in one Host header"
        if not self._serves(served[0]):
            return (
                f"this server is not known as {served[0]!a:.100}: connect by its address, or let its operator allow "
                "the name by --allow-host"
            )
        if not origins:
            return ""
        place = place_of(origins[0]) if len(origins) == 1 else None
        if place is None or (place not in self._allowed and not self._own_page(place, served)):
            return f"pages of {origins[0]!a:.100} may not connect here: let the operator allow them by --allow-origin"
        return ""

    def _serves(self, host: str) -> bool:
        """Return whether the server may be called so. No address can be a name that leads elsewhere."""
        if host in self._named:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self._own_alone

    @staticmethod
    def _own_page(place: PageOrigin, served: tuple[str, int | None]) -> bool:
        """Return whether a page is the server's own: it has the address that the request was sent to."""
        host, port = served
        return place.scheme in PORTS and place.host == host and place.port == (port or PORTS[place.scheme])
