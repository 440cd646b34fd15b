"""Logging in to a Yatzy server: LOGIN and WELCOME, and how clients of the original are told from others."""

from __future__ import annotations

from typing import Any

from dicegym.games.yatzy.protocol_words import BAD_LOGIN, LOGIN, WELCOME, CommandError, in_short, word_of


def login_message(secret: str | None = None, name: str | None = None, client: str | None = None) -> dict[str, Any]:
    """Return what a client says first; see `login_of`.

    Args:
        secret: to be known by.
        name: to play under.
        client: the program, for people. A secret alone is how clients of the original log in (`original_login`): one
            that wants to hear more than they do says something more.
    """
    given = {"playerName": name, "secret": secret, "client": client}
    return {"key": LOGIN} | {key: value for key, value in given.items() if value is not None}


def secret_of(message: object) -> str:
    """Return the secret in a LOGIN. Raises CommandError."""
    if word_of(message) != LOGIN:
        raise CommandError(BAD_LOGIN, f"log in first: send {login_message('...')}")
    secret = message.get("secret") if isinstance(message, dict) else None
    if type(secret) is not str:
        raise CommandError(BAD_LOGIN, f"{in_short(secret)} is no secret: send {login_message('...')}")
    return secret


def login_of(message: object) -> tuple[str | None, str | None]:
    """Return the name and the secret in a LOGIN, each None if it is not there. Raises CommandError.

    Original clients send a secret alone, which the server knows whose it is (`original_login`); ``playerName`` is ours,
    for servers where names are free.
    """
    if word_of(message) != LOGIN or not isinstance(message, dict):
        raise CommandError(BAD_LOGIN, f"log in first: send {login_message('...')}")
    found = message.get("playerName"), message.get("secret")
    for value in found:
        if value is not None and type(value) is not str:
            raise CommandError(BAD_LOGIN, f"{in_short(value)} is no text: send {login_message('...')}")
    return found


def original_login(message: object) -> bool:
    """Return whether a LOGIN is one of the original's clients: a secret and nothing more, the command under "key"."""
    return isinstance(message, dict) and set(message) == {"key", "secret"} and message["key"] == LOGIN


def welcome_message(name: str, rating: int) -> dict[str, Any]:
    """Return the WELCOME that tells a client under which name it plays; standings know it by that alone."""
    return {"key": WELCOME, "playerName": name, "rating": rating}


def welcomed(message: object) -> str:
    """Return the name in a WELCOME. Raises CommandError."""
    name = message.get("playerName") if isinstance(message, dict) and word_of(message) == WELCOME else None
    if type(name) is not str:
        raise CommandError(BAD_LOGIN, f"{in_short(message)} is no {WELCOME}")
    return name
