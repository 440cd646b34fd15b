"""A bot plays the same in a process of its own as in its referee's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena.match import Match
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.players.roster import agent_names, agents_folder, resolve
from dicegym.registry import GAMES
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.sandbox import Sandbox


def outcomes(game: Game, sandbox: Sandbox, entries: list[Entry]) -> list[Any]:
    """Return what matches come to in which each entry meets the next ones."""
    tables = [tuple(entries[(i + j) % len(entries)] for j in range(game.players)) for i in range(len(entries))]
    found = {
        tuple(one.name for one in job.entries): result
        for job, result in sandbox.run([Match(game, table, 1, 1) for table in tables])
    }
    return [found[names] for names in sorted(found)]


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_shipped_agents_play_the_same_as_strangers(name: str, tmp_path: Path) -> None:
    game = dicegym.game(name)
    if game.players < 2:
        pytest.skip("nobody to play with")
    shutil.copytree(agents_folder(game), tmp_path / "copied")
    trusted = [Entry(one, resolve(game, one)) for one in agent_names(game)]
    trusted = [one for one in trusted if isinstance(one.origin, Source)]
    strange = []
    for one in trusted:
        assert isinstance(one.origin, Source)
        inside = one.origin.file.relative_to(agents_folder(game).absolute())
        strange.append(Entry(one.name, one.origin._replace(file=tmp_path / "copied" / inside)))
    assert all(one.trusted for one in trusted)
    assert not any(one.trusted for one in strange)
    with Sandbox(game, 2, isolation="process") as sandbox:
        found = outcomes(game, sandbox, strange)
        assert all(isinstance(one, dict) for one in found), found
        assert found == outcomes(game, sandbox, trusted)
