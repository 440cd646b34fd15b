"""Access to the server: secrets of names, and the hosts and origins of browsers.

A page in a browser can open WebSockets to any address, also to one that only its user's machine reaches, and the
browser says in ``Origin`` whose page it is. Programs send no such header. Pages that are neither the server's own nor
allowed by its operator are refused. So are requests that call the server by a name that it does not have, as a page
may let its own name lead to any address.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import json
import socket
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from dicegym.errors import ParameterError
from dicegym.escape import harmless
from dicegym.files import read_text

LONGEST_NAME = 40
SHORTEST_SECRET = 4


def fold_name(name: str) -> str:
    """Return what all spellings of one name have in common, such as ``anna``, ``ANNA`` and ``anna`` in full width."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def name_fault(name: str) -> str:
    """Return why ``name`` cannot be a player's name; empty if it can."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters, and no space at either end"
    if harmless(name) != name:  # what acts on terminals, halves of characters, and what cannot be seen
        return "a name has printable characters alone"
    return ""


class Secrets:
    """Names, each with the secret that its owner logs in by.

    Args:
        secrets: name -> secret.

    Raises:
        ParameterError: a name or secret cannot be used, or two names have the same secret.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        for name, secret in secrets.items():
            fault = name_fault(name)
            if fault:
                raise ParameterError(f"name {name!r} in the secrets: {fault}")
            if len(secret) < SHORTEST_SECRET:
                raise ParameterError(
                    f"the secret of {name!r} is too short: give at least {SHORTEST_SECRET} characters, better twenty"
                )
        self._digests = {name: _digest(secret) for name, secret in secrets.items()}
        self._folded = {fold_name(name): name for name in secrets}
        for name in secrets:
            if (other := self._folded[fold_name(name)]) != name:
                raise ParameterError(f"{name!r} and {other!r} in the secrets are one name: rename one of them")
        if len(set(self._digests.values())) < len(self._digests):
            raise ParameterError("two names have the same secret, which is all that some clients log in by: change one")

    @classmethod
    def read(cls, path: Path) -> Secrets:
        """Return what a file says: lines ``name:secret`` (``#`` begins a comment line), or a JSON object.

        Raises ParameterError if it cannot be read so. No message shows a secret.
        """
        text = read_text(path, "give --secrets a file of lines name:secret")
        if text.lstrip().startswith("{"):
            return cls(_from_json(path, text))
        found: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, colon, secret = (part.strip() for part in line.partition(":"))
            if not colon:
                raise ParameterError(f"--secrets {path}, line {number}: write name:secret")
            if name in found:
                raise ParameterError(f"--secrets {path}, line {number}: {name!r} has a secret already")
            found[name] = secret
        return cls(found)

    def __contains__(self, name: object) -> bool:
        """Return whether a name belongs to somebody, however it is spelled."""
        return isinstance(name, str) and fold_name(name) in self._folded

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._digests)

    def owner(self, secret: str) -> str | None:
        """Return whose secret it is, None for nobody's.

        The time this takes says nothing about how close a guess came: digests of equal length are compared in constant
        time, and all of them, wherever one fits.
        """
        given, found = _digest(secret), None
        for name, digest in self._digests.items():
            if hmac.compare_digest(given, digest):
                found = name
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _from_json(path: Path, text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"--secrets {path} cannot be read as JSON: {error}") from None
    if not all(isinstance(secret, str) for secret in found.values()):
        raise ParameterError(f"--secrets {path}: write one JSON object of names and secrets, all of them texts")
    return dict(found)


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
    """Return name or address, and port, of a ``Host`` header; None if it cannot be read."""
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
    """The hosts and origins that a WebSocket server accepts.

    Args:
        listens: the address that the server listens on.
        hosts: further names of it, such as a proxy's.
        origins: pages that may connect, such as ``https://example.org``.

    Raises:
        ParameterError: one of these is not a name, or not an origin.
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
                raise ParameterError(
                    f"--allow-host {host!r} is not the name of a host: give one such as yatzy.example.org"
                )
            named.add(found[0])
        self._named = frozenset(named)
        allowed = set()
        for origin in origins:
            place = place_of(origin)
            if place is None:
                raise ParameterError(
                    f"--allow-origin {origin!r} is not an origin of web pages: give one such as https://example.org"
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
