"""Who may play under which name."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from dicegym.errors import ParameterError
from dicegym.escape import harmless
from dicegym.files import read_text

LONGEST_NAME = 40
SHORTEST_SECRET = 4


def fold_name(name: str) -> str:
    """Return what all spellings of one name have in common, such as ``anna``, ``ANNA`` and ``anna`` in full width."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def name_fault(name: str) -> str:
    """Return why nobody can be called ``name``, or nothing."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters, and no space at either end"
    if harmless(name) != name:  # what acts on terminals, halves of characters, and what cannot be seen
        return "a name has printable characters alone"
    return ""


class Secrets:
    """Names that belong to who knows their secret.

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
                raise ParameterError(f"--secrets {path}, line {number} is no 'name:secret'")
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
        raise ParameterError(f"--secrets {path} is no JSON: {error}") from None
    if not all(isinstance(secret, str) for secret in found.values()):
        raise ParameterError(f"--secrets {path} is no object of names and secrets, all of them texts")
    return dict(found)
