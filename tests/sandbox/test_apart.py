"""A bot plays the same in another process as in its referee's process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dicegym
from benchmarks.contest import ENTRIES, entries, trusted
from benchmarks.isolation import working_levels
from dicegym import shipped
from dicegym.arena import Limits, contest
from dicegym.arena.check import Check
from dicegym.arena.match import Match
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.players.roster import AGENTS_VARIABLE, agent_names, agents_folder, resolve
from dicegym.registry import GAMES
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.hosts import Hosts
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.jobs import Entry, entry
from dicegym.sandbox.sandbox import Sandbox
from dicegym.sandbox.worker import outcome, rehearse


def outcomes(game: Game, sandbox: Sandbox, entries: list[Entry]) -> list[Any]:
    """Return the outcomes of matches of each entry against the next ones."""
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
    beside = [Entry(one, resolve(game, one)) for one in agent_names(game)]
    beside = [one for one in beside if isinstance(one.origin, Source)]
    strange = []
    for one in beside:
        assert isinstance(one.origin, Source)
        inside = one.origin.file.relative_to(agents_folder(game).absolute())
        strange.append(Entry(one.name, one.origin._replace(file=tmp_path / "copied" / inside)))
    assert all(one.trusted for one in beside)
    assert not any(one.trusted for one in strange)
    with Sandbox(game, 2, isolation="process") as sandbox:
        found = outcomes(game, sandbox, strange)
        assert all(isinstance(one, dict) for one in found), found
        assert found == outcomes(game, sandbox, beside)


def copied_agents(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the folder ``agents`` of the checkout by a copy, and return it."""
    copy = folder / "agents"
    shutil.copytree(shipped.shipped_folder("agents"), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(shipped, "shipped_folder", lambda name: folder / name)
    monkeypatch.setenv(AGENTS_VARIABLE, str(copy))
    return copy


def test_the_manifest_names_what_ships() -> None:
    """``make manifest`` writes it anew."""
    assert shipped.MANIFEST.read_text() == shipped.manifest_text()


@pytest.mark.parametrize("name", GAMES)
def test_only_what_ships_unchanged_is_trusted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game(name)
    folder = copied_agents(tmp_path, monkeypatch) / name
    programs = [one for one in agent_names(game) if isinstance(resolve(game, one), Source)]
    assert all(entry(game, one, one).trusted for one in programs)
    assert all(Entry(one, resolve(game, one)).trusted for one in agent_names(game)), "their files were not checked"
    assert entry(game, "loaded", dicegym.agent(game, game.spec.baseline)).trusted, "the caller has loaded it already"
    baseline = resolve(game, game.spec.baseline)
    assert isinstance(baseline, Source)
    shutil.copy(baseline.file, folder / "placed.py")
    assert not entry(game, "placed", "placed").trusted, "neither its place nor another file's content is a proof"
    baseline.file.write_text(baseline.file.read_text() + "\nimport aside\n")
    (folder / "aside.py").write_text("")
    for changed in (entry(game, "changed", game.spec.baseline), Entry("changed", baseline)):
        assert not changed.trusted
    hidden = next(one for one in programs if one != game.spec.baseline)
    source = resolve(game, hidden)
    assert isinstance(source, Source)
    assert not Entry(hidden, source, (*entry(game, hidden, hidden).seal, ("aside.py", "0" * 64))).trusted, "a helper"
    rehearse(game)


def test_a_report_names_the_entries_beside_the_referee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied_agents(tmp_path, monkeypatch) / "hog"
    shutil.copy(folder / "bacon.py", folder / "placed.py")
    found = contest("hog", ["bacon", "placed", "taught"], seed=1, workers=1, games=1, isolation="process")
    facts = dict(found.report().facts)
    assert facts["beside the referee"] == "bacon, taught"
    assert facts["isolation"].startswith("process")


def done(game: Game, job: Any, level: Isolation, folder: Path) -> dict[str, Any]:
    hosts = Hosts(game, Limits(), level, str(folder))
    try:
        return outcome(job, Heartbeat.private(), hosts)
    finally:
        hosts.close()


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", list(GAMES))
def test_a_match_gives_the_same_wherever_its_bots_play(name: str, tmp_path: Path) -> None:
    """Trusted bots beside the referee, and untrusted ones at each isolation."""
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
    game = dicegym.game("lucky", players=3, rounds=10)
    copy = entries(game.name, tmp_path / "bots")[0]

    def checked(who: Entry, level: Isolation) -> dict[str, Any]:
        found = done(game, Check(game, (who,), 3, Limits()), level, tmp_path)["value"]
        return {key: found[key] for key in ("questions", "answers", "printed", "remarks")}

    name = Path(copy).stem
    expected = checked(entry(game, name, trusted(game.name, [copy])[name]), Isolation.NONE)
    for level in working_levels():
        assert checked(entry(game, name, copy), level) == expected
