"""The conformance suite passes what is sound and refuses every kind of mistake with a message that helps."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import flawed.rules
import flawed.text
import numpy as np
import pytest
from flawed.rules import FLAW, SPEC
from variants import default_forms_always, each_game

import dicegym
from dicegym import checks
from dicegym.checks.facts import check_facts, check_identity
from dicegym.checks.game_checks import check_batch, check_branching
from dicegym.engine.game import Game
from dicegym.engine.spec import HEADER, Parameter
from dicegym.errors import AgentError, ConformanceError, DicegymError
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.turn import Turn


def short_games() -> list[Any]:
    """Return all forms as parameters of a test; Lucky, whose games are long by default, has a short one beside them."""
    lucky, found = dicegym.game("lucky"), default_forms_always()
    few = dicegym.game("lucky", players=3, rounds=10)
    short = [pytest.param(few, marks=one.marks) for one in found if one.values[0] == lucky]
    return [*short, *(pytest.param(lucky, marks=pytest.mark.slow) if one.values[0] == lucky else one for one in found)]


@pytest.mark.boundscheck
@pytest.mark.parametrize("game", short_games(), ids=repr)
def test_registered_games_conform(game: Game) -> None:
    checks.check_game(game, games=1)


@pytest.mark.nojit
@each_game
def test_random_players_conform(name: str) -> None:
    checks.check_agent(dicegym.game(name), RandomPlayer(), games=2)


@pytest.mark.nojit
def test_the_flawed_game_without_a_flaw_conforms() -> None:
    checks.check_game(Game(SPEC))
    checks.check_agent(Game(SPEC), RandomPlayer())


# --- games -------------------------------------------------------------------------------------------------

NOTICED = {
    "reset changes the key": "after reset, key is 1",
    "over at once": "a new game is over",
    "player out of range": "player 2 is to move",
    "nothing is legal": "has no legal action",
    "legal writes too far": "legal writes outside its 3 elements",
    "observe writes too far": r"observe\(seat 0\) writes outside its 2 elements",
    "observe writes before": r"observe\(seat 0\) writes outside its 2 elements",
    "returns writes too far": "returns writes outside its 2 elements",
    "observe forgets an element": r"observe\(seat 0\) leaves the elements \[1\]",
    "observe changes the state": r"observe\(seat 0\) changes the state",
    "observe is not finite": r"observe\(seat 1\) is not finite",
    "observe is above one": r"leaves 0\.\.1 at 'total'",
    "observe shows the key": r"observe\(seat 0\) changes with the key",
    "legal depends on the key": "legal changes with the key",
    "step refuses legal": r"step finds fault 1 with action 2 \(add 3\), and legal calls it legal",
    "step takes illegal": r"step takes action . \(add .\), and legal calls it illegal",
    "fault without a text": r"returns 2\. faults has 2 entries",
    "step changes a parameter": r"step\(.\) changes key",
    "never ends": "after 500 random decisions a game is not over",
    "an illegal action turns back time": "after 500 random decisions, some illegal, a game is not over",
    "random": "the same actions from the same state lead to different states",
    "both may win": "the returns of a game sum to 2",
    "view shows the key": r"view\(seat 0\) changes with the key",
    "view holds arrays": r"view\(seat 0\)\.total holds a int32",
    "view is unnamed": r"view\(seat 0\) is a tuple",
    "margins do not cancel": "which sum to",
    "margin is the loser's": "at the end margin writes",
    "scene is text": r"scene\(seat None\) is 'a total'",
    "scene changes the state": "view or scene changes the state",
    "scene shows the key": r"scene\(seat 0\) changes with the key",
}


@pytest.mark.parametrize("flaw", NOTICED)
def test_a_flaw_is_noticed(flaw: str) -> None:
    with pytest.raises(ConformanceError, match=NOTICED[flaw]) as caught:
        checks.check_game(Game(SPEC, flaw=FLAW[flaw]), games=1, longest=500)
    seen, _, remedy = str(caught.value).removesuffix(".").partition(". ")
    assert seen.startswith(f"dicegym.game(flawed.rules.SPEC, players=2, flaw={FLAW[flaw]}): ")
    assert remedy
    assert isinstance(caught.value, DicegymError)
    assert {*NOTICED, "none", "actions share a name"} == {*FLAW}, "every flaw is tried"


@pytest.mark.nojit
@pytest.mark.parametrize("names", [["add", "add", "add 3"], ["add 1", " ", "add 3"], ["add 1", "add 2", 3]])
def test_action_names_are_checked(names: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flawed.text, "NAMES", names)
    with pytest.raises(ConformanceError, match=r"action \d is called"):
        checks.check_game(Game(SPEC))


def changed(**facts: Any) -> Game:
    return Game(dataclasses.replace(SPEC, **facts))


def with_parameter(name: str, parameter: Parameter) -> dict[str, Any]:
    return {"parameters": {**SPEC.parameters, name: parameter}}


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"players": (0, 2)}, r"players is \(0, 2\)"),
        ({"players": (3, 2)}, None),  # refused by Game itself
        ({"n_actions": 0}, "n_actions is 0"),
        ({"faults": ("",)}, "faults is"),
        ({"faults": ("none", "bad")}, "faults is"),
        ({"faults": ("", "")}, "faults is"),
        ({"title": ""}, "title is empty"),
        ({"baseline": ""}, "baseline is empty"),
        ({"default_opponent": ""}, "default_opponent is empty"),
        ({"default_opponent": {}}, "default_opponent is empty"),
        ({"features": lambda parameters: {"total": 2, "to move": 0}}, "'to move' has length 0"),
        (with_parameter("flaw", Parameter(0, 0, 128, "too wide for int8")), "flaw=128 is allowed but does not fit"),
        (with_parameter("speed", Parameter(0, 0, 1, "nowhere")), None),
    ],
)
def test_a_wrong_fact_is_noticed(facts: dict[str, Any], message: str | None) -> None:
    if message is None:
        with pytest.raises((DicegymError, ValueError)):
            changed(**facts)
    else:
        with pytest.raises(ConformanceError, match=message):
            checks.check_game(changed(**facts))


HEAD = [("key", np.int64), *HEADER[1:], ("flaw", np.int8)]


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"state": np.dtype(HEAD)}, "field 0 of the record is not 'key' of uint64"),
        (with_parameter("flaw", Parameter(9, 0, 3, "")), "the default of 'flaw' is outside its range"),
        (with_parameter("speed", Parameter(0, 0, 1, "")), "'speed' is not a field"),
        (
            {"state": np.dtype([*SPEC.declared_record.descr, ("round", np.int16)])},
            "'round' of the record has the name of",
        ),
    ],
)
def test_a_wrong_record_is_noticed(facts: dict[str, Any], message: str) -> None:
    game = Game(SPEC)
    game.spec = dataclasses.replace(SPEC, **facts)
    with pytest.raises(ConformanceError, match=message):
        check_facts(game)


def test_a_fact_sheet_out_of_reach_is_noticed() -> None:
    with pytest.raises(ConformanceError, match="a pickled copy is"):
        check_identity(changed(name="elsewhere"))


@pytest.mark.parametrize("check", [check_identity, lambda game: check_batch(game, 0)])
def test_chance_from_outside_is_noticed_by_itself(check: Any) -> None:
    """`check_game` finds it earlier; these two must not rely on that."""
    with pytest.raises(ConformanceError, match=r"fingerprint changes|game \d of a batch differs"):
        check(Game(SPEC, flaw=FLAW["random"]))


@pytest.mark.nojit
def test_a_state_outside_the_record_is_noticed() -> None:
    """A game whose originals follow their copies."""

    class Haunted(Game):
        def new_game(self, seed: int = 0, episode: int = 0) -> np.ndarray:
            self.original = super().new_game(seed, episode)
            return self.original

        def step(self, state: Any, action: int) -> int:
            if state["turn"] == 1:
                self.original["total"] += 1
            return super().step(state, action)

    game = Haunted(SPEC)
    with pytest.raises(ConformanceError, match="playing a copy changes the original"):
        check_branching(game, game.new_game()[0], 0)


@pytest.mark.nojit
def test_copies_with_other_bytes_are_noticed() -> None:
    """As those of a record with gaps between its fields have."""

    class Torn:
        def __init__(self, state: Any) -> None:
            self.tobytes = state.tobytes
            self.state = state

        def __getitem__(self, name: str) -> Any:
            return self.state[name]

        def copy(self) -> Any:
            copy = self.state.copy()
            copy["last"] = 1
            return copy

    game = Game(SPEC)
    with pytest.raises(ConformanceError, match="a copy has other bytes than the original"):
        check_branching(game, Torn(game.new_game()[0]), 0)


# --- agents ------------------------------------------------------------------------------------------------

HOG = dicegym.game("hog", goal=30)


class Joining(Player):
    """A player made of its `join`."""

    def __init__(self, join: Any, name: str = "joining", pure: bool = False) -> None:
        self.join = join
        self.name = name
        self.pure = pure


class Forgetful(Player):
    """Keeps the memory of a game in the player: two games at once spoil it."""

    name = "forgetful"

    def join(self, game: Game, seat: int, seed: int) -> Any:
        self.asked = 0

        def act(turn: Turn) -> int:
            self.asked += 1
            return self.asked % 3

        return act


class Nostalgic(Player):
    """Remembers earlier games."""

    name = "nostalgic"

    def __init__(self) -> None:
        self.games = 0

    def join(self, game: Game, seat: int, seed: int) -> Any:
        self.games += 1
        number = self.games % 5
        return lambda turn: number


class Rows(Player):
    """Pure, with an `act_rows` of its own making."""

    name = "rows"
    pure = True

    def __init__(self, rows: Any) -> None:
        self.act_rows = rows

    def join(self, game: Game, seat: int, seed: int) -> Any:
        return lambda turn: turn.view.score % 3


def raises(turn: Turn) -> int:
    raise AgentError("raises", "never again")


def no_join(game: Game, seat: int, seed: int) -> Any:
    raise ZeroDivisionError("no such seat")


def spoil(turn: Turn) -> int:
    turn.record["scores"] = 99
    return 1


def spoil_game(turn: Turn) -> int:
    turn.game.blank["goal"] += 1
    return 1


def by_seed(game: Game, seat: int, seed: int) -> Any:
    return lambda turn: seed % 3


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("player", "message"),
    [
        (FunctionPlayer(raises), "it raises AgentError"),
        (FunctionPlayer(lambda turn: 12), r"it answers 12: a number of dice outside -1\.\.10"),
        (FunctionPlayer(lambda turn: -1), "it answers -1"),
        (FunctionPlayer(lambda turn: 5.0), r"answers 5\.0 of type float"),
        (FunctionPlayer(lambda turn: None), "answers None of type NoneType"),
        (FunctionPlayer(lambda turn: random.randrange(12)), "differently the second time"),
        (Nostalgic(), "differently the second time"),
        (Forgetful(), "side by side"),
        (Joining(no_join), "join raises ZeroDivisionError: no such seat"),
        (Joining(lambda game, seat, seed: 5), "join returns 5"),
        (FunctionPlayer(spoil), "changes the game while it is asked"),
        (FunctionPlayer(spoil_game), "changes the game while it is asked"),
        (Joining(by_seed, pure=True), "is declared pure"),
        (Rows(lambda game, states, rows, seats: np.zeros(len(rows), np.int64)), "is declared pure"),
        (Rows(lambda game, states, rows, seats: np.zeros(len(rows))), "act_rows answers 64 games"),
        (Rows(lambda game, states, rows, seats: np.zeros(3, np.int64)), "act_rows answers 64 games"),
        (Rows(lambda game, states, rows, seats: states["scores"][:, 0] % 3), "is declared pure"),
    ],
)
def test_a_broken_agent_is_noticed(player: Player, message: str) -> None:
    with pytest.raises(ConformanceError, match=message) as caught:
        checks.check_agent(dicegym.game("hog", goal=30), player)
    assert repr(player.name) in str(caught.value)


@pytest.mark.nojit
def test_sound_agents_pass() -> None:
    def rows(game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        return (states["scores"][rows, seats] % 3).astype(np.int64)

    checks.check_agent(HOG, Rows(rows))
    checks.check_agent(HOG, Joining(by_seed))
    checks.check_agent(HOG, FunctionPlayer(lambda turn: np.int64(6), pure=True))


@pytest.mark.nojit
def test_forms_reach_every_end_of_every_range() -> None:
    rules = dataclasses.replace(
        SPEC, players=(2, 5), parameters={"flaw": Parameter(3, 1, 9, ""), "last": Parameter(0, 0, 2, "")}
    )
    forms = [(form.players, form.parameters) for form in checks.forms(rules)]
    assert forms == [
        (2, {"flaw": 3, "last": 0}),
        (5, {"flaw": 3, "last": 0}),
        (2, {"flaw": 1, "last": 0}),
        (2, {"flaw": 9, "last": 0}),
        (2, {"flaw": 3, "last": 2}),
    ]
