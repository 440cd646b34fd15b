"""Recorded games are replayed to the byte, by their own rules or not at all."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flawed.rules import SPEC
from variants import each_game

import dicegym
from dicegym.arena.match import play_match
from dicegym.arena.replay import (
    Replay,
    ReplayIncident,
    from_json,
    load,
    moments,
    record_replay,
    replay_of,
    save,
    to_json,
)
from dicegym.arena.replay.page import page
from dicegym.arena.replay.replay import result_lines
from dicegym.engine.game import Game
from dicegym.errors import AgentError, DamagedFileError, ParameterError, ReplayError, UnknownNameError
from dicegym.pictures.naming import name_players
from dicegym.pictures.watched import tell_apart
from dicegym.play.drive import Referee
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.turn import Turn


def clumsy(game: Game) -> Player:
    """Return a player that often acts illegally, and that fails where the rules name a price."""
    chance = np.random.default_rng(1)

    def act(turn: Turn) -> int:
        kind = chance.integers(8)
        if kind == 0 and game.spec.forfeit is not None:
            raise AgentError("clumsy", "no idea")
        if kind == 1:
            return game.n_actions + 3
        mask = turn.mask
        return int(chance.choice(np.flatnonzero(~mask if kind == 2 and not mask.all() else mask)))

    return FunctionPlayer(act, "clumsy")


def table(game: Game) -> list[Player]:
    """Return a player for each seat, the first one clumsy."""
    return [clumsy(game), *(RandomPlayer() for _ in range(game.players - 1))]


@functools.cache
def hog() -> Replay:
    """Return a short game of Hog in which a name is markup."""
    game, seed = dicegym.game("hog", goal=20), 3
    players = [FunctionPlayer(lambda turn: 4, "<b>three</b>"), FunctionPlayer(lambda turn: 6, "five")]
    result = play_match(game, players, seed, 1)
    return replace(replay_of(game, [player.name for player in players], seed, result), id="7.1")


@each_game
@pytest.mark.parametrize("seed", range(3))
def test_every_record_on_the_way_is_the_one_of_then(name: str, seed: int) -> None:
    game = dicegym.game(name)
    players = table(game)
    referee = Referee(game, game.new_game(seed, 5), players)
    records = [referee.states.tobytes()]
    with pytest.warns() if game.spec.forfeit is not None else pytest.MonkeyPatch.context():
        for _ in referee.moves():
            records.append(referee.states.tobytes())
    replay = Replay(
        name,
        game.players,
        game.parameters,
        seed,
        5,
        tuple(player.name for player in players),
        tuple(referee.actions),
        tuple(game.returns(referee.state).tolist()),
        rules={"fingerprint": game.fingerprint},
    )
    assert [states.tobytes() for states in replay.states()] == records
    again = from_json(json.loads(json.dumps(to_json(replay))))
    assert again == replay
    assert [states.tobytes() for states in again.states()] == records
    *_, last = replay.frames()
    assert last.state.tobytes() == records[-1]
    assert last.over


@each_game
def test_games_of_matches_are_played_again(name: str) -> None:
    """Seats are drawn for each game, faults are where they were made, and each seat sees its own view."""
    game = dicegym.game(name)
    players = table(game)
    names = [f"{player.name} {number}" for number, player in enumerate(players)]
    result = play_match(game, players, 11, 2)
    seen = 0
    for number in range(2):
        replay = replay_of(game, names, 11, result, number)
        frames = list(replay.frames())
        assert tuple(game.returns(frames[-1].state).tolist()) == replay.returns
        assert [names[player] for player in result.seats[number]] == list(replay.seats)
        for incident in replay.incidents:
            assert replay.seats[incident.seat] == "clumsy 0"
            wrong = [
                played
                for frame in frames
                for played in frame.done
                if (played.seat, played.turn) == (incident.seat, incident.turn)
            ]
            assert [played.reason for played in wrong] == [incident.reason]
            assert wrong[0].fault or wrong[0].action == game.spec.forfeit
            seen += 1
    assert seen == len(result.incidents) > 0
    with pytest.raises(ParameterError, match="no game 2 in a match of 2"):
        replay_of(game, names, 11, result, 2)
    names = tell_apart(replay.seats)
    for seat in (None, *range(game.players)):
        shown = list(moments(replay, seat))
        assert [moment.scene for moment in shown] == [
            name_players(game.scene(one.state, seat), names) for one in frames
        ]
        assert [moment.over for moment in shown] == [one.over for one in frames]
        for moment, frame in zip(shown, frames, strict=True):
            told = {names.index(line.partition(": ")[0]) for line in moment.done}
            known = {one.seat for one in frame.done if seat in (None, one.seat) or one.public}
            assert told == known
    with pytest.raises(ParameterError, match=f"give 0 to {game.players - 1}"):
        list(moments(replay, game.players))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda one: {"actions": one.actions[:-1]}, "is not over after its last action"),
        (lambda one: {"actions": (*one.actions, 2)}, r"is over after \d+ of its \d+ actions"),
        (lambda one: {"returns": one.returns[::-1]}, "scores -?1, but -?1 was stored"),
        (lambda one: {"number": 4, "seed": 8}, "cannot be replayed"),
    ],
)
def test_what_was_changed_is_not_played(changed: Any, words: str) -> None:
    replay = hog()
    other = replace(replay, **changed(replay))
    with pytest.raises(ReplayError, match=words) as caught:
        list(other.frames())
    assert "Its rules have not changed" in str(caught.value)
    with pytest.raises(ReplayError):
        other.states()


# --- rules that have changed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"fingerprint": "0123456789abcdef", "dicegym": "0.0.7"}, r"rules 0123456789abcdef \(dicegym 0\.0\.7\), and "),
        *(
            (rules, "was recorded under rules")
            for rules in ({}, {"fingerprint": "x\x1b[31m", "dicegym": "1\x1b"}, {"fingerprint": 7, "dicegym": ["x"]})
        ),
    ],
)
def test_a_game_recorded_under_other_rules_is_refused_and_says_which(rules: dict[str, Any], words: str) -> None:
    replay = replace(hog(), rules=rules)
    with pytest.raises(ReplayError, match=words) as caught:
        replay.states()
    assert f"and these are {replay.table().fingerprint} " in str(caught.value)
    assert str(caught.value).isprintable(), "whatever others wrote"


def test_a_game_that_is_not_registered_is_replayed_in_memory(tmp_path: Path) -> None:
    game = dicegym.game(SPEC)
    state, actions = game.new_state(4), list[int]()
    while not state.over:
        actions.append(state.legal_actions()[-1])
        state.step(actions[-1])
    recorded = record_replay(game, ["one", "other"], 4, actions)
    assert recorded.states()[-1][0].tobytes() == state.record.tobytes()
    save(recorded, tmp_path / "game.json")
    with pytest.raises(UnknownNameError, match="no game 'flawed'"):
        load(tmp_path / "game.json").states()


def test_a_game_that_is_gone_is_named() -> None:
    replay = hog()
    with pytest.raises(UnknownNameError, match="no game 'hogg'"):
        replace(replay, game="hogg").states()
    for name in ("sides", "players", "self", "name"):
        with pytest.raises(UnknownNameError, match=f"no parameter {name!r}.*Hog has none of that name now"):
            replace(replay, parameters={"goal": 20, name: 2}).states()
    with pytest.raises(ParameterError, match="goal"):
        replace(replay, parameters={"goal": 2}).states()


# --- what each seat was shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "public"), [("hog", False), ("lucky", False), ("liarsdice", True), ("yatzy", True)])
def test_choices_are_public_where_everybody_sees_them(name: str, public: bool) -> None:
    game = dicegym.game(name)
    players = [RandomPlayer() for _ in range(game.players)]
    replay = replay_of(game, [player.name for player in players], 1, play_match(game, players, 1, 1))
    assert {played.public for frame in replay.frames() for played in frame.done} == {public}


def test_a_seat_is_not_told_what_was_wrong_elsewhere() -> None:
    incidents = (ReplayIncident(0, 1, "secret of 0"), ReplayIncident(1, 1, "secret of 1"), ReplayIncident(0, 0, "late"))
    replay = replace(hog(), incidents=incidents)
    everything = "\n".join([*result_lines(replay), *(line for one in moments(replay) for line in one.done)])
    assert everything.count("secret of 0") == everything.count("secret of 1") == 2
    assert "in move 1, its decision 1: " in everything
    assert "beside its decisions: late" in everything
    own = "\n".join([*result_lines(replay, 1), *(line for one in moments(replay, 1) for line in one.done)])
    assert "secret of 0" not in own
    assert "late" not in own
    assert own.count("secret of 1") == 2


def test_what_a_player_was_asked_is_for_its_own_seat_where_its_move_is_public() -> None:
    """Notes quote questions with the dice in hand; the fault itself is public."""
    game = dicegym.game("liarsdice")
    result = play_match(game, [clumsy(game), RandomPlayer()], 4, 1)
    replay = replay_of(game, ["clumsy", "random"], 4, result)
    faulty = replay.incidents[0].seat
    replay = replace(replay, incidents=(replay.incidents[0]._replace(reason="asked with dice 66"),))
    for seat, count in ((None, 2), (faulty, 2), (1 - faulty, 0)):
        told = [*result_lines(replay, seat), *(line for one in moments(replay, seat) for line in one.done)]
        assert sum("dice 66" in line for line in told) == count
        assert ("dice 66" in page(replay, seat)) == bool(count)
        assert any("taken as liar)" in line or "before any bid)" in line for line in told)


# --- files -----------------------------------------------------------------------------------------------------------


def test_files_hold_all_of_it(tmp_path: Path) -> None:
    replay = replace(hog(), incidents=(ReplayIncident(1, 2, "raised\nsomething"),))
    save(replay, tmp_path / "game.json")
    assert load(tmp_path / "game.json") == replay
    before = (tmp_path / "game.json").read_bytes()
    save(load(tmp_path / "game.json"), tmp_path / "game.json")
    assert (tmp_path / "game.json").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "replay"},
        {"version": 2},
        {"game": 3},
        {"players": "2"},
        {"players": 3},
        {"players": True},
        {"parameters": {"goal": "20"}},
        {"parameters": []},
        {"seats": ["a"]},
        {"seats": ["a", 7]},
        {"actions": [1.5]},
        {"actions": [True]},
        {"actions": [1 << 63]},
        {"returns": ["1", "2"]},
        {"incidents": [{"seat": 2, "turn": 1, "reason": ""}]},
        {"incidents": [{"seat": 0, "turn": 1}]},
        {"incidents": [[]]},
        {"rules": "none"},
        {"seed": None},
        {"number": 10**40},
        {"number": -1},
        {"actions": [10**40]},
        {"returns": [10**400, 0]},
    ],
    ids=str,
)
def test_files_that_hold_something_else_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(json.dumps(to_json(hog()) | change))
    with pytest.raises(DamagedFileError, match=r"holds no replay|is no JSON"):
        load(tmp_path / "game.json")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "1" * 10_000, "[]", "null"])
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(text)
    with pytest.raises(DamagedFileError, match=r"as `dicegym arena replay ID -o FILE\.json` writes it"):
        load(tmp_path / "game.json")
