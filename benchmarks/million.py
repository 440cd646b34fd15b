"""A store of as many matches as nobody plays to see how fast it is read, written as a contest writes them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from dicegym.arena.ratings.match_places import match_places
from dicegym.arena.storage import Settings
from dicegym.arena.store.book import begin
from dicegym.arena.store.schema import AGENTS, CONTESTS, FIELDS, MATCHES, PLAYS, SEATS
from dicegym.arena.store.store import ContestStore, add, now_in_words, number_of_rules
from dicegym.engine.game import Game
from dicegym.sandbox.limits import Limits

AT_ONCE = 50_000
"""Matches in a transaction."""
SPREAD = 1.0
"""Standard deviation of the entries' strengths, in logits."""
ACTIONS = 14
"""Of a game: as many as one of Hog has between good players."""


def make_store(file: Path, game: Game, matches: int, entries: int, seed: int = 0) -> int:
    """Write a contest of ``matches`` matches of one game, between two of ``entries`` entries each; return its number.

    Everybody meets everybody equally often, as far as that goes; who wins is drawn by strengths that are drawn too. The
    actions are none of a game, so that none of these can be played again.
    """
    generator = np.random.default_rng(seed)
    strengths = generator.normal(0, SPREAD, entries)
    with ContestStore(file) as store:
        settings = Settings(game, "round_robin", {"games": 1}, Limits())
        agents = [
            {"name": f"entry {number}", "identity": f"{number:064x}", "kind": "bot", "files": "{}"}
            for number in range(1, entries + 1)
        ]
        with store.writing() as connection:
            contest = begin(connection, settings, seed)
            rules = number_of_rules(connection, game)
            add(connection, AGENTS, agents, ["name", "identity"])
            numbers = list(connection.execute(sa.select(AGENTS.c.id).order_by(AGENTS.c.id)).scalars())
            fields = [{"contest": contest, "agent": agent, "given": "", "withdrawn": 0} for agent in numbers]
            add(connection, FIELDS, fields, ["contest", "agent"])
        pairs = itertools.cycle(itertools.combinations(range(entries), 2))
        for first in range(1, matches + 1, AT_ONCE):
            some = list(itertools.islice(pairs, min(AT_ONCE, matches + 1 - first)))
            chances = 1 / (1 + np.exp([strengths[b] - strengths[a] for a, b in some]))
            won = (generator.random(len(some)) < chances).tolist()
            with store.writing() as connection:
                who = [(numbers[a], numbers[b]) for a, b in some]
                columns = "id key rules batch seed number games places outcome actions"
                _add(connection, MATCHES, columns, _matches(first, won, rules))
                _add(connection, SEATS, "match player agent wins share faults noted", _seats(first, won, who))
                _add(connection, PLAYS, "contest match", ((contest, first + i) for i in range(len(won))))
        ended = {"ended": now_in_words(), "planned": matches}
        with store.writing() as connection:
            connection.execute(CONTESTS.update().where(CONTESTS.c.id == contest).values(ended))
    return contest


def _add(connection: sa.Connection, table: sa.Table, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Put rows of values for ``columns`` into a table of a file: five times as fast as by dicts."""
    names = [table.c[name].name for name in columns.split()]
    cursor: Any = connection.connection.cursor()  # takes whatever can be iterated
    listed, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    cursor.executemany(f'INSERT INTO "{table.name}" ({listed}) VALUES ({marks})', rows)
    cursor.close()


def _matches(first: int, won: list[bool], rules: int) -> Iterator[tuple[Any, ...]]:
    places = {one: _brief(match_places((), [_returns(one)]).places) for one in (False, True)}
    keys = np.random.default_rng(first).bytes(32 * len(won)).hex()
    told = {one: _brief({"seats": [[0, 1]], "returns": [_returns(one)], "incidents": []}) for one in (False, True)}
    actions = _brief([[6] * ACTIONS])
    for i, one in enumerate(won):
        key = keys[64 * i : 64 * i + 64]
        yield first + i, key, rules, "0", str(first + i), 0, 1, places[one], told[one], actions


def _seats(first: int, won: list[bool], agents: list[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
    for i, (one, who) in enumerate(zip(won, agents, strict=True)):
        for player, agent in enumerate(who):
            wins = int(one == (player == 0))
            yield first + i, player, agent, wins, float(wins), 0, 0


def _returns(won: bool) -> list[float]:
    """Return what both players get when the first has won or not."""
    return [1.0, -1.0] if won else [-1.0, 1.0]


def _brief(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
