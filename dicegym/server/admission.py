"""Access to the server: secrets of names, and host names and origins of browsers.

A web page can open WebSockets to any address, including addresses that only its user's machine reaches. The browser
names the page's origin in ``Origin``; programs do not send this header. Pages that are neither the server's own nor
allowed by its operator are refused. So are requests with an unknown ``Host``, since a page can point its own host name
to any address (DNS rebinding).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import itertools
import socket
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from dicegym.errors import ParameterError
from dicegym.escape import harmless
from dicegym.files import read_text

LONGEST_NAME = 40
SHORTEST_SECRET = 12  # characters: attempts are not slowed down, so a secret must be too long to guess


def fold_name(name: str) -> str:
    """Return the common form of all spellings of a name, such as ``anna``, ``ANNA`` and ``anna`` in full width."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def copy_names(name: str) -> Iterator[str]:
    """Yield ``name``, ``name-2``, ``name-3`` and so on."""
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


def name_fault(name: str) -> str:
    """Return why ``name`` is not allowed as a player's name; empty if it is."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters, and no space at either end"
    if harmless(name) != name:  # terminal controls, lone surrogates, or invisible characters
        return "a name has only printable characters"
    return ""


class Secrets:
    """Names, each with its owner's secret.

    Args:
        secrets: name -> secret.

    Raises:
        ParameterError: a name or secret is not allowed, or two names are equal or have the same secret.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        for name, secret in secrets.items():
            if fault := name_fault(name):
                raise ParameterError(f"name {name!r} in the secrets: {fault}")
            if len(secret) < SHORTEST_SECRET:
                raise ParameterError(
                    f"the secret of {name!r} is too short, so that others could guess it: give at least "
                    f"{SHORTEST_SECRET} characters, better twenty"
                )
        self._digests = {name: _digest(secret) for name, secret in secrets.items()}
        self._folded = {fold_name(name): name for name in secrets}
        for name in secrets:
            if (other := self._folded[fold_name(name)]) != name:
                raise ParameterError(f"{name!r} and {other!r} in the secrets are one name: rename one of them")
        if len(set(self._digests.values())) < len(self._digests):
            raise ParameterError("two names have the same secret, but some clients send only that: change one of them")

    @classmethod
    def read(cls, path: Path) -> Secrets:
        """Read a file of lines ``name:secret``; ``#`` begins a comment line.

        Raises ParameterError if the file is invalid. No error message shows a secret.
        """
        found: dict[str, str] = {}
        for number, line in enumerate(read_text(path, "give --secrets a file of lines name:secret").splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            name, colon, secret = (part.strip() for part in line.partition(":"))
            if not colon:
                raise ParameterError(f"--secrets {path}, line {number}: write name:secret")
            if name in found:
                raise ParameterError(f"--secrets {path}, line {number}: {name!r} has a secret already")
            found[name] = secret
        if not found:
            raise ParameterError(
                f"--secrets {path} names nobody, so nobody could log in with it: write lines name:secret"
            )
        return cls(found)

    def __bool__(self) -> bool:
        """Return whether any name has a secret."""
        return bool(self._digests)

    def __contains__(self, name: object) -> bool:
        """Return whether any spelling of a name has a secret."""
        return isinstance(name, str) and fold_name(name) in self._folded

    def owner(self, secret: str) -> str | None:
        """Return the name with this secret, or None.

        The time it takes does not depend on how close a guess is: all digests, of equal length, are compared in
        constant time.
        """
        given, found = _digest(secret), None
        for name, digest in self._digests.items():
            if hmac.compare_digest(given, digest):
                found = name
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


NETWORK = 64  # bits of an IPv6 address that name its network
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is reachable only from this machine."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def origin_of(address: str) -> str:
    """Return the key for limits per address: an IPv4 address, or the network of an IPv6 address.

    One client usually has all addresses of an IPv6 network.
    """
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


def host_of(text: str) -> tuple[str, int | None] | None:
    """Return the name or address, and the port, of a ``Host`` header; None if it is invalid."""
    try:
        parts = urlsplit(f"//{text.strip()}")
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    return parts.hostname.rstrip("."), port


def origin_of_page(text: str) -> tuple[str, str, int | None] | None:
    """Return the scheme, host and port of an ``Origin`` header; None if it has none, such as ``null``."""
    scheme, colon, rest = text.strip().lower().partition("://")
    found = host_of(rest)
    return (scheme, found[0], found[1] or PORTS.get(scheme)) if colon and found is not None else None


class Origins:
    """The hosts and origins that a WebSocket server accepts.

    Args:
        listens: the address that the server listens on.
        hosts: further host names, such as a proxy's.
        origins: origins of pages that may connect, such as ``https://example.org``.

    Raises:
        ParameterError: a host name or an origin is invalid.
    """

    def __init__(self, listens: str, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> None:
        self._own_alone = is_loopback(listens)
        self._named = {"localhost", listens.lower()}
        if not self._own_alone:
            own = socket.gethostname().lower()
            self._named |= {own, own.partition(".")[0], f"{own.partition('.')[0]}.local"}
        for host in hosts:
            found = host_of(host)
            if found is None or "://" in host:
                raise ParameterError(f"invalid --allow-host {host!r}: give a name such as yatzy.example.org")
            self._named.add(found[0])
        self._allowed = {origin_of_page(origin) for origin in origins}
        if None in self._allowed:
            raise ParameterError(f"invalid --allow-origin in {', '.join(origins)}: give one as https://example.org")

    def fault(self, hosts: Sequence[str], origins: Sequence[str]) -> str:
        """Return why a request with these ``Host`` and ``Origin`` headers is refused; empty if it is allowed."""
        served = host_of(hosts[0]) if len(hosts) == 1 else None
        if served is None:
            return "a request needs exactly one valid Host header"
        if not self._serves(served[0]):
            return (
                f"unknown host name {served[0]!a:.100}: connect by the server's address, or let its operator allow "
                "the name by --allow-host"
            )
        if not origins:
            return ""
        page = origin_of_page(origins[0]) if len(origins) == 1 else None
        if page is not None:
            scheme, host, port = page
            own = scheme in PORTS and (host, port) == (served[0], served[1] or PORTS[scheme])
            if own or page in self._allowed:
                return ""
        return f"pages of {origins[0]!a:.100} may not connect here: let the operator allow them by --allow-origin"

    def _serves(self, host: str) -> bool:
        """Return whether ``host`` names this server. Addresses are safe: only names can be pointed elsewhere."""
        if host in self._named:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self._own_alone
