"""What a match comes to does not depend on where its bots play: trusted beside the referee, or apart in any way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dicegym
from benchmarks.contest import ENTRIES, entries, trusted
from benchmarks.isolation import working_levels
from dicegym.arena import Limits, contest
from dicegym.arena.check import Check
from dicegym.arena.match import Match
from dicegym.registry import GAMES
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.jobs import Entry, entry
from dicegym.sandbox.worker import Hosts, outcome


def done(game: dicegym.Game, job: Any, level: Isolation, folder: Path) -> dict[str, Any]:
    hosts = Hosts(game, Limits(), level, str(folder))
    try:
        return outcome(job, Heartbeat.private(), hosts)
    finally:
        hosts.close()


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", list(GAMES))
def test_a_match_gives_the_same_wherever_its_bots_play(name: str, tmp_path: Path) -> None:
    game = dicegym.game(name)
    copies = entries(name, tmp_path / "bots")
    agents = trusted(name, copies)
    assert len(copies) == ENTRIES >= game.players
    names = [Path(copy).stem for copy in copies[: game.players]]

    def match(whose: dict[str, str]) -> Match:
        return Match(game, tuple(entry(game, one, whose[one]) for one in names), 7, 2)

    expected = done(game, match(agents), Isolation.NONE, tmp_path)["value"]
    apart = match({Path(copy).stem: copy for copy in copies})
    assert not any(one.trusted for one in apart.entries)
    for level in working_levels():
        assert done(game, apart, level, tmp_path) == {"value": expected}, level


def test_a_check_gives_the_same_wherever_its_bot_plays(tmp_path: Path) -> None:
    game = dicegym.game("lucky")
    copy = entries(game.name, tmp_path / "bots")[0]

    def checked(who: Entry, level: Isolation) -> dict[str, Any]:
        found = done(game, Check(game, (who,), 3, Limits()), level, tmp_path)["value"]
        return {key: found[key] for key in ("questions", "answers", "printed", "remarks")}

    name = Path(copy).stem
    expected = checked(entry(game, name, trusted(game.name, [copy])[name]), Isolation.NONE)
    for level in working_levels():
        assert checked(entry(game, name, copy), level) == expected


@pytest.mark.slow
def test_a_contest_gives_the_same_tables_at_every_isolation(tmp_path: Path) -> None:
    game = dicegym.game("hog")
    copies = entries(game.name, tmp_path / "bots")
    # Dice follow from the entries' contents, so that copies are compared with themselves.
    expected = contest(game, copies, seed=5, games=20, isolation=Isolation.NONE)
    for level in working_levels():
        found = contest(game, copies, seed=5, games=20, isolation=level)
        assert found.standings == expected.standings
        assert found.matches == expected.matches
