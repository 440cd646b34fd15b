"""Contests: who plays whom, and what follows from a seed."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_up import SMALL, disorderly

import dicegym
from dicegym.arena import Limits, check, contest, play_match
from dicegym.arena.compare.comparing import PairedMatch
from dicegym.arena.entries import entries_of
from dicegym.arena.match import Match
from dicegym.arena.provenance import DATE_VARIABLE
from dicegym.arena.results import ContestResult
from dicegym.bots.export import export_source
from dicegym.bots.source import Source
from dicegym.cli import main
from dicegym.engine.dice import game_key, named_seed
from dicegym.engine.game import Game
from dicegym.engine.seats import seating
from dicegym.errors import AgentError, ParameterError, UnknownNameError
from dicegym.learning.evaluate import evaluate
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.printed import Printed
from dicegym.play.seeds import DRAWN_BITS, draw_seed
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, resolve
from dicegym.registry import GAMES
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import entry, here

pytestmark = pytest.mark.xdist_group("arena")

ENTRIES = ["always_roll(5)", "always_roll(8)", "bacon", "haphazard", "streak"]


@pytest.fixture(scope="module")
def game() -> Game:
    return dicegym.game("hog")


@pytest.fixture(scope="module")
def result() -> ContestResult:
    return contest("hog", ENTRIES, seed=11, workers=1)


# Matches


def test_seats_are_drawn_afresh_and_fairly() -> None:
    counts = Counter(tuple(seating(game_key(1, episode), 3)) for episode in range(3000))
    assert len(counts) == 6
    assert all(400 < count < 600 for count in counts.values())
    assert seating(5, 4) == seating(5, 4)


def test_a_match_counts_games(game: Game) -> None:
    players = [agent(game, name, keep=True) for name in ("always_roll(8)", "always_roll(-1)")]
    found = play_match(game, players, 0, 40)
    assert sum(found.wins) == 40
    assert found.shares == found.wins
    assert found.wins[0] > 35
    assert found.faults == (0, 0)
    assert {tuple(sorted(seats)) for seats in found.seats} == {(0, 1)}
    assert 8 < sum(seats[0] == 0 for seats in found.seats) < 32
    found = play_match(game, [FunctionPlayer(lambda turn: 99, "wild"), agent(game, "bacon")], 0, 5)
    assert found.faults == (5, 0)
    assert found.wins == (0, 5)


def gives_up(turn: Turn) -> int:
    raise AgentError("odd", "gave up")


def cheat(turn: Turn) -> int:
    turn.record["scores"][turn.seat] = 99
    return 1


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (gives_up, "gave up"),
        (cheat, "'odd': changed the game's record while choosing"),
        *((lambda turn, answer=answer: answer, "'odd': chose") for answer in (None, 2.5, "6", 2**80)),
    ],
)
def test_a_player_that_fails_is_named(game: Game, act: Act, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        play_match(game, [RandomPlayer(), FunctionPlayer(act, "odd")], 0, 1)


def test_a_player_that_writes_into_the_record_is_disqualified() -> None:
    """A player object is in the referee's process, and so can write there."""
    found = contest(SMALL, {"cheat": FunctionPlayer(cheat, "cheat"), "bacon": "bacon", "swap": "swap"}, workers=1)
    assert [bad.name for bad in found.disqualified] == ["cheat"]
    assert "changed the game's record while choosing" in found.disqualified[0].reason
    assert [match.entries for match in found.matches] == [("bacon", "swap")]


def test_a_bot_finds_nothing_of_the_game_in_its_process(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(
        "import gc, sys\n"
        "def final_strategy(score, opponent_score):\n"
        "    frame, found = sys._getframe(1), []\n"
        "    while frame:\n"
        "        found += frame.f_locals.values()\n"
        "        frame = frame.f_back\n"
        "    found += gc.get_objects()\n"
        "    for value in found:\n"
        "        if type(value).__name__ in ('Turn', 'Game', 'record', 'ndarray', 'Match', 'Remote'):\n"
        "            raise ValueError(type(value).__name__)\n"
        "    return 1\n"
        "PURE = False\n"
    )
    report = check(tmp_path / "cheat.py", "hog", Limits(seconds=0.2))
    late = ("took more than 0.2 s", "took more than 2 s by the clock")  # the latter where the machine has more to do
    assert report.reason.startswith(late), "it looks everywhere, finds nothing, and has no time for more"


def test_the_number_of_players_must_be_that_of_the_seats(game: Game) -> None:
    with pytest.raises(ParameterError, match="1 players cannot play"):
        play_match(game, [RandomPlayer()], 0, 1)


@pytest.mark.parametrize("name", [name for name in GAMES if dicegym.game(name).spec.players[1] > 1])
def test_a_changed_file_meets_new_dice(name: str, tmp_path: Path) -> None:
    """Knowing the dice of an earlier match gives no advantage to another file."""
    table = dicegym.game(name, players=max(2, dicegym.game(name).spec.players[0]))
    origin = resolve(table, table.spec.baseline)
    assert isinstance(origin, Source)
    text = origin.file.read_text()
    rivals = [entry(table, f"rival{number}", table.spec.baseline) for number in range(1, table.players)]
    seeds = []
    for folder, more in (("one", ""), ("same", ""), ("changed", "\n# another answer\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.py").write_text(text + more)
        ann = entry(table, "ann", str(tmp_path / folder / "ann.py"))
        orders = ((ann, *rivals), (*rivals[::-1], ann))
        found = {Match(table, order, 1, 9).seed for order in orders}
        assert len(found) == 1, "in whatever order they are named"
        assert Match(table, orders[0], 2, 9).seed not in found
        seeds += found
        assert {PairedMatch(table, order, 1, 9).seed for order in orders} == {named_seed("pairs", name, 1, 0)}
    assert seeds[0] == seeds[1]
    assert seeds[2] != seeds[0]


def test_of_players_that_are_handed_over_the_names_count(game: Game) -> None:
    """Their bytes differ between processes."""
    handed = [entry(game, one, FunctionPlayer(lambda turn: 1, one)) for one in ("a", "b")]
    assert Match(game, tuple(handed), 1, 9).seed == named_seed("match", "hog", 1, "a", "b")


# Contests


def test_everybody_plays_everybody_and_the_ranking_follows(result: ContestResult) -> None:
    assert [match.entries for match in result.matches] == [*itertools.combinations(sorted(ENTRIES), 2)]
    assert all(sum(match.wins) == result.details["games_per_match"] == 9 for match in result.matches)
    for line in result.standings:
        own = [match for match in result.matches if line.name in match.entries]
        won = sum(match.wins[match.entries.index(line.name)] > 4 for match in own)
        assert (line["wins"], line["losses"]) == (won, len(own) - won)
    merits = [(line["wins"], line["win_rate"]) for line in result.standings]
    assert merits == sorted(merits, reverse=True)
    assert [line.place for line in result.standings] == [1, 2, 3, 4, 5]
    rates = {line.name: line["win_rate"] for line in result.standings}
    assert rates["always_roll(5)"] == pytest.approx(0.5, abs=1e-9), "exact"
    assert rates["always_roll(8)"] == pytest.approx(0.630940, abs=1e-6)


def test_other_entries_change_no_match_and_another_seed_all() -> None:
    result = contest(SMALL, ENTRIES, seed=11, executors=disorderly())
    fewer = contest(SMALL, ["streak", "haphazard", "tuned"], seed=11, executors=disorderly())
    kept = {match.entries: match for match in result.matches}
    common = [match for match in fewer.matches if match.entries in kept]
    assert common == [kept["haphazard", "streak"]]
    other = contest(SMALL, ENTRIES, seed=12, executors=disorderly())
    assert other.matches != result.matches
    rates = [{line.name: line["win_rate"] for line in each.standings} for each in (result, other)]
    assert rates[0] == rates[1]


def test_a_contest_is_the_same_in_another_process_and_order_with_more_workers(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = contest(SMALL, ENTRIES, seed=11, workers=1)
    code = (
        "import json, dicegym; from dicegym.arena import contest\n"
        f"print(json.dumps(contest({SMALL!r}, {ENTRIES[::-1]!r}, seed=11, workers=2).to_json()))"
    )
    monkeypatch.setenv(DATE_VARIABLE, "0")
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONHASHSEED": "77"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == json.loads(json.dumps(result.to_json())) | {"date": "1970-01-01T00:00:00Z"}


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    contest(SMALL, ["bacon", "wild", "swap"], seed=0, workers=1, progress=lambda *what: told.append(what))
    assert [done for done, _, _ in told] == [1, 2, 3, 4, 5, 6]
    assert {total for _, total, _ in told} == {6}
    assert told[0][2] == "checked bacon"
    assert told[-1][2] == "swap - wild"


def test_players_and_plain_functions_take_part_if_they_can_be_sent() -> None:
    """Functions of the original interface, of observations, of a turn; local ones too."""
    number = 4  # of dice, known to functions that no module has

    class Local(Player):
        name = "local"

        def join(self, game: Game, seat: int, seed: int) -> Act:
            return lambda turn: number + 1

    def own(score: int, opponent_score: int) -> int:
        return number

    def seen(observation: object, mask: object) -> int:
        return number + 1

    def asked(turn: Turn) -> int:
        return number + 1

    def wrong(score: int, opponent_score: int) -> int:
        return 77

    four: list[Any] = [own, seen, asked, FunctionPlayer(lambda turn: number + 1, "five"), Local(), "always_roll(4)"]
    others: list[Any] = [wrong, lambda score, opponent_score: number + 1, RandomPlayer()]
    found = contest(SMALL, [*four, *others], seed=0, workers=2, games=2)
    rates = {row.name: row["win_rate"] for row in found.standings}
    assert rates.keys() == {"own", "seen", "asked", "five", "local", "always_roll(4)", "lambda", "uniform"}
    assert len({rates[name] for name in rates if name not in ("lambda", "uniform")}) == 1
    assert [bad.name for bad in found.disqualified] == ["wrong"]
    assert "returned 77" in found.disqualified[0].reason
    lock = threading.Lock()
    with pytest.raises(ParameterError, match="player 'held' cannot be sent to the process that plays it"):
        contest("hog", ["bacon", FunctionPlayer(lambda turn: int(lock.locked()), "held")], seed=0, workers=1)


@pytest.mark.slow
def test_a_script_may_bring_players_of_its_own(tmp_path: Path, root: Path) -> None:
    """A script cannot be imported elsewhere, and it has no main guard."""
    (tmp_path / "own.py").write_text(
        "from dicegym.arena import contest\n"
        "from dicegym.play.player import FunctionPlayer, Player\n"
        "class Mine(Player):\n"
        "    name = 'mine'\n"
        "    def join(self, game, seat, seed):\n"
        "        return choose\n"
        "def choose(turn):\n"
        "    return 6\n"
        "print(contest('hog', [Mine(), FunctionPlayer(choose, 'other'), 'bacon'], workers=1).disqualified)\n"
    )
    script = [sys.executable, str(tmp_path / "own.py")]
    environment = os.environ | {"PYTHONPATH": str(root)}
    run = subprocess.run(script, capture_output=True, text=True, check=False, timeout=100, env=environment)
    assert (run.returncode, run.stdout) == (0, "()\n"), run.stderr


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        (["bacon"], ParameterError, "fewer than 2"),
        ([], ParameterError, "fewer than 2"),
        ("bacon", ParameterError, "fewer than 2"),
        (["bacon", "bacon"], ParameterError, "two entries are called 'bacon'"),
        (["a/hog.py", "b/a.py"], ParameterError, "two entries are called 'a': a/hog.py and b/a.py"),
        (["bacon", "baccon"], UnknownNameError, "Did you mean 'bacon'"),
        (["bacon", 3], ParameterError, "3 is not an agent"),
        (["bacon", "no/such.py"], UnknownNameError, "there is no file no/such.py"),
        (["swap", "bacon.py"], UnknownNameError, "there is no file bacon.py"),
        ({"a": "bacon", "gone": "agents/hog/bacn.py"}, UnknownNameError, "there is no file agents/hog/bacn.py"),
    ],
)
def test_wrong_entries(
    entries: list[str], error: type[Exception], message: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is played."""
    monkeypatch.chdir(root)
    with pytest.raises(error, match=re.escape(message)):
        contest("hog", entries)


@pytest.mark.parametrize("seed", ["1", 1.5, -(1 << 70), 1 << 70])
def test_wrong_seeds(seed: Any) -> None:
    with pytest.raises(ParameterError, match="seed"):
        contest("hog", ["bacon", "wild"], seed=seed)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(({"seed": seed}, "the seed of an evaluation") for seed in (-1, 1 << 63, 0.5)),
        *(({"games": games}, "the number of games of an evaluation") for games in (0, 1e4)),
    ],
)
@pytest.mark.parametrize("exact", [True, False])
def test_wrong_evaluations(game: Game, wrong: dict[str, Any], message: str, exact: bool) -> None:
    with pytest.raises(ParameterError, match=message):
        evaluate(game, "bacon", exact=exact, **wrong)
    if not exact and "games" in wrong:
        assert evaluate(game, "bacon", games=2, exact=False, seed=(1 << 63) - 1).games == 2


def test_entries_can_be_named(game: Game) -> None:
    found = entries_of(game, {"x": "bacon", "a": "bacon"})
    assert [entry.name for entry in found.entries] == ["a", "x"]
    assert found.broken == []
    assert found.remarks == ("the same file: a, x",)


def test_models_play_in_contests_as_what_they_are_exported_as(tmp_path: Path) -> None:
    game = dicegym.game("hog")
    file = tmp_path / "ppo.py"
    file.write_text(export_source(dicegym.agent(game, "ppo"), game, "hog.py"))
    rivals = ["always_roll", "bacon"]
    bacon, *both = (
        one._replace(content="") for one in entries_of(game, {"b": "bacon", "m": "ppo", "x": str(file)}).entries
    )
    outcomes = []
    for one in both:  # under one name, and on dice that do not follow from the files
        match = Match(game, (bacon, one._replace(name="ppo")), 0, 9)
        outcomes.append(match.run(here(Heartbeat.private(), Printed())))
    assert outcomes[0] == outcomes[1]
    (tmp_path / "broken.zip").write_text("no model")
    result = contest(game, [str(tmp_path / "broken.zip"), *rivals], seed=0, workers=1)
    assert [bad.name for bad in result.disqualified] == ["broken"]
    assert len(result.matches) == 1


# --- contests whose seed nobody gives ---------------------------------------------------------------------------------


def test_drawn_seeds_are_large_and_differ() -> None:
    drawn = [draw_seed() for _ in range(200)]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= seed < 1 << DRAWN_BITS for seed in drawn)
    assert max(drawn) > 1 << DRAWN_BITS - 5
    assert all(seed == int(float(seed)) for seed in drawn)  # as programs read JSON that know one kind of number


def test_the_command_prints_its_seed_and_takes_it_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["tournament", "hog", "haphazard", "swap", "--parameter", "goal=20", "--workers", "1"]

    def held(*more: str) -> tuple[str, Any]:
        with pytest.raises(SystemExit) as end:
            main([*words, "-o", str(tmp_path / "x.json"), *more])
        assert end.value.code == 0
        return capsys.readouterr().out, json.loads((tmp_path / "x.json").read_text())

    text, plain = held()
    (seed,) = re.findall(r"seed (\d+)", text)
    assert plain["seed"] == int(seed)
    again, same = held("--seed", seed)
    assert again == text
    assert same["matches"] == plain["matches"]
