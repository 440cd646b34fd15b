"""By which rules a game was played: described part by part, so that two versions can say in what they differ.

A fingerprint (`Game.fingerprint`) says that something differs; whoever stores games keeps `described` beside them,
which says what. A few thousand characters hold the rules page, hashes of the rules' functions, and what 64 games of
random decisions show, field by field of the record and part by part of the observation.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.arena.provenance import package_version
from dicegym.arena.replay.code import code_of
from dicegym.engine.game import Game
from dicegym.engine.spec import GameSpec
from dicegym.escape import one_line

FORM = 1
"""Of what `described` returns: raised when a key means something else, not when one is added."""
GAMES, DECISIONS = 64, 256
"""Random games that are looked at, and decisions in each; finished ones begin anew, as in `Game.fingerprint`."""
UNTIL = tuple(1 << power for power in range(DECISIONS.bit_length()))
"""After so many decisions each it is noted what the games have shown so far."""
SLIPS, SLIP_GAMES = 8, 8
"""Decisions at which illegal actions are tried, and games in which they are."""
DIGITS = 12
MOST_LINES = 6
"""Lines of the rules page, and names of functions, that a message quotes."""


class Difference(NamedTuple):
    """Something in which the rules of a stored game are not those of today."""

    text: str
    """In words, as a line of a list."""
    plays: bool
    """Whether games come out otherwise for it; else it is about what is shown, or about the code alone."""


def described(game: Game) -> dict[str, Any]:
    """Return the rules of a game part by part, as values that JSON can hold; a few thousand characters.

    A process looks at each game once, as for `Game.fingerprint`, and with the same caveat: that takes a tenth of a
    second or more, and every new store asks for it.

    ============  ====================================================================================================
    key           meaning
    ============  ====================================================================================================
    form          `FORM`
    dicegym       version of the package
    game          name, also ``players`` and ``parameters``
    fingerprint   `Game.fingerprint`
    actions       how many `Discrete` ones there are
    faults        the texts of the fact sheet
    observation   part -> its length
    page          the rules page; empty where Python leaves docstrings out
    code          function or constant of the rules -> hash (`dicegym.arena.replay.code`)
    shown         field of the record, ``legal actions`` and ``results`` -> hashes of what random games show of it
                  until decision 1, 2, 4, ... `DECISIONS`
    slips         illegal action -> hash of what it leads to
    observed      part of the observation -> hash of what random games show of it
    ============  ====================================================================================================
    """
    key = game.sameness
    if key not in _described:
        _described[key] = game.spec, _describe(game)
    return copy.deepcopy(_described[key][1])


_described: dict[tuple[Any, ...], tuple[GameSpec[Any], dict[str, Any]]] = {}
"""What this process has found of games. Their specifications are held, so that no other one gets an id of theirs."""


def _describe(game: Game) -> dict[str, Any]:
    """Return what `described` does, looked at now."""
    shown, observed = _random_games(game)
    page = importlib.import_module(game.spec.module).__doc__
    return {
        "form": FORM,
        "dicegym": package_version(),
        "game": game.name,
        "players": game.players,
        "parameters": dict(game.parameters),
        "fingerprint": game.fingerprint,
        "actions": game.n_actions,
        "faults": list(game.spec.faults[1:]),
        "observation": dict(game.features),
        "page": inspect.cleandoc(page) if page else "",
        "code": code_of(game.spec.module),
        "shown": shown,
        "slips": _slips(game),
        "observed": observed,
    }


class _Digests:
    """What random games show of several things, hashed as they go on."""

    def __init__(self) -> None:
        self._running: dict[str, Any] = {}
        self.until: dict[str, list[str]] = {}

    def take(self, name: str, values: np.ndarray) -> None:
        """Add values; whole numbers of any width count alike."""
        wide = values.astype("<f8" if values.dtype.kind == "f" else "<i8" if values.dtype.kind != "u" else "<u8")
        running = self._running.setdefault(name, hashlib.sha256())
        running.update(repr(wide.shape).encode() + wide.tobytes())

    def note(self) -> None:
        """Keep the hashes as they are now."""
        for name, running in self._running.items():
            self.until.setdefault(name, []).append(running.hexdigest()[:DIGITS])


def _random_games(game: Game) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return ``shown`` and ``observed`` of `described`."""
    batch = game.batch(GAMES, seed=0)
    shown, observed = _Digests(), _Digests()
    ends = np.cumsum(list(game.features.values()))[:-1]
    for time in range(DECISIONS):
        for part, values in zip(game.features, np.split(batch.observations, ends, axis=1), strict=True):
            observed.take(part, values)
        shown.take("legal actions", batch.masks)
        batch.step(batch.random_actions(time))
        for field in (name for name in game.spec.state.names or () if name != "key"):  # which is no rule's
            shown.take(field, np.asarray(batch.states[field]))
        shown.take("results", batch.results[batch.overs])
        if time + 1 in UNTIL:
            shown.note()
    observed.note()
    return shown.until, {part: digests[-1] for part, digests in observed.until.items()}


def _slips(game: Game) -> dict[str, str]:
    """Return ``slips`` of `described`: random games do not try what is not allowed."""
    kinds: dict[str, int | None] = {"no action": -1, "an action too high": game.n_actions, "an action not legal": None}
    if game.spec.forfeit is not None:
        kinds["no answer"] = game.spec.forfeit
    found = {kind: hashlib.sha256() for kind in kinds}
    fields = game.spec.state.names or ()
    batch = game.batch(SLIP_GAMES, seed=0)
    for time in range(SLIPS):
        for row in range(SLIP_GAMES):
            illegal = np.flatnonzero(~batch.masks[row])
            for kind, wanted in kinds.items():
                action = wanted if wanted is not None else int(illegal[0]) if len(illegal) else None
                if action is not None:
                    states = batch.states[row : row + 1].copy()
                    fault = game.step(states[0], action)
                    found[kind].update(repr((fault, [states[0][name].tolist() for name in fields])).encode())
        batch.step(batch.random_actions(time))
    return {kind: digest.hexdigest()[:DIGITS] for kind, digest in found.items()}


def differences(kept: Mapping[str, Any], game: Game) -> list[Difference]:
    """Return in what the rules that `described` once told of are not those of ``game`` today; those that play first.

    ``kept`` may lack any of the keys, and is somebody else's text: what it says is shown, and never run.
    """
    now = _describe(game)  # and not what the process once found: who compares may have patched the rules
    shown = [*_of_shown(_mapping(kept, "shown"), now["shown"])]
    alike = not any(one.plays for one in shown)
    found = [
        *shown,
        *_of_slips(_mapping(kept, "slips"), now["slips"]),
        *_of_facts(kept, now),
        *_of_observation(kept, now, alike),
        *_of_page(str(kept.get("page", "")), now["page"]),
        *_of_code(_mapping(kept, "code"), now["code"]),
    ]
    return sorted(found, key=lambda one: not one.plays)


def plays_alike(kept: Mapping[str, Any], game: Game, found: list[Difference]) -> bool:
    """Return whether games that were played by ``kept`` are played alike today, as far as `described` can tell."""
    if kept.get("fingerprint") == game.fingerprint:
        return True
    return bool(_mapping(kept, "shown")) and not any(one.plays for one in found)


def _mapping(kept: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = kept.get(key)
    return found if isinstance(found, Mapping) else {}


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_LINES} more" if len(names) > MOST_LINES else ""
    return ", ".join(one_line(name, 80) for name in names[:MOST_LINES]) + more


def _of_shown(kept: Mapping[str, Any], now: Mapping[str, list[str]]) -> Iterator[Difference]:
    """Yield when random games first differ, and in what."""
    for place, until in enumerate(UNTIL):
        names = [
            name
            for name, digests in now.items()
            if isinstance(old := kept.get(name), list) and len(old) == len(digests) and old[place] != digests[place]
        ]
        if names:
            since = UNTIL[place - 1] + 1 if place else 1
            when = f"decision {until}" if since == until else f"one of the decisions {since} to {until}"
            yield Difference(f"random games differ from {when} on, in: {_listed(names)}", True)
            return
    if kept:
        for fields, word in ((now.keys() - kept.keys(), "is new"), (kept.keys() - now.keys(), "is gone")):
            for name in sorted(fields):
                yield Difference(f"field of the record: {one_line(name, 80)} {word}", False)


def _of_slips(kept: Mapping[str, Any], now: Mapping[str, str]) -> Iterator[Difference]:
    names = [kind for kind, digest in now.items() if kept.get(kind, digest) != digest]
    if names:
        yield Difference(f"what follows on these is not the same: {_listed(names)}", True)


def _of_facts(kept: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    if kept.get("actions", now["actions"]) != now["actions"]:
        yield Difference(f"actions: {one_line(kept['actions'], 80)}, here {now['actions']}", True)
    old = kept.get("faults", now["faults"])
    for word, texts, others in (("were", old, now["faults"]), ("are here", now["faults"], old)):
        if isinstance(texts, list) and isinstance(others, list):
            gone = [str(text) for text in texts if text not in others]
            if gone:
                yield Difference(f"faults there {word}: {_listed(gone)}", False)


def _of_observation(kept: Mapping[str, Any], now: Mapping[str, Any], alike: bool) -> Iterator[Difference]:
    """Yield which parts of the observation have changed; what they hold only where the games are ``alike``."""
    old, new = _mapping(kept, "observation"), now["observation"]
    digests = _mapping(kept, "observed")
    if not old:
        return
    for part, length in new.items():
        if part not in old:
            yield Difference(f"observation: part {part!r} is new", False)
        elif old[part] != length:
            yield Difference(
                f"observation: part {part!r} has {length} numbers, and had {one_line(old[part], 20)}", False
            )
        elif alike and digests.get(part, now["observed"][part]) != now["observed"][part]:
            yield Difference(f"observation: part {part!r} shows other numbers", False)
    yield from (
        Difference(f"observation: part {one_line(part, 80)!r} is gone", False) for part in old if part not in new
    )


def _of_page(old: str, new: str) -> Iterator[Difference]:
    """Yield the lines of the rules page that have changed."""
    if not old or not new or old == new:
        return
    lines = [
        f"{line[0]} {one_line(line[1:], 120)}"
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
        if re.match(r"[-+](?![-+]{2}\s)\s*\S", line)
    ]
    more = f"\n      and {len(lines) - MOST_LINES} lines more" if len(lines) > MOST_LINES else ""
    if lines:
        quoted = "".join(f"\n      {line}" for line in lines[:MOST_LINES])
        yield Difference(f"the rules page (- then, + here):{quoted}{more}", False)


def _of_code(old: Mapping[str, Any], new: Mapping[str, str]) -> Iterator[Difference]:
    if old and new:
        changed = [name for name in new if name in old and old[name] != new[name]]
        for names, word in (
            (changed, "changed"),
            ([name for name in new if name not in old], "new"),
            ([name for name in old if name not in new], "gone"),
        ):
            if names:
                yield Difference(f"code of the rules, {word}: {_listed(names)}", False)
