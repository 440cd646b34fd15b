"""A person's game: commands, what is told and what stays hidden, for every game."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from variants import each_game

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.controls import MOST_LISTED, NumberedControls, list_of, match_action
from dicegym.games.keyboard import STRENGTHS, Place, count, list_names, percent
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.players.prompts import observation_text
from dicegym.players.sitting import AGAIN, QUIT, WIDTH, Sitting, controls_of, wrap_lines

LONGEST = 3000
"""Answers after which a game must have ended."""


def ends_at_once(question: str) -> str:
    raise EOFError


def sit(
    game: Game, answers: Sequence[str] | Callable[[str], str], rivals: Sequence[Player] | None = None, seed: int = 1
) -> tuple[Sitting, list[str]]:
    """Return a person's game in seat 0, and the list in which its screen is kept."""
    shown: list[str] = []
    typed = iter(answers) if not callable(answers) else None

    def ask(question: str) -> str:
        shown.append(question)
        return answers(question) if callable(answers) else next(typed)

    if rivals is None:
        rivals = [RandomPlayer() for _ in range(game.players - 1)]
    return Sitting(game, rivals, 0, seed, ask, shown.append), shown


class Chooser:
    """Types the number in brackets of some allowed action, and leaves when the game is over."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.asked = 0

    def __call__(self, question: str) -> str:
        if not question.startswith("your move"):
            return "quit"
        self.asked += 1
        assert self.asked < LONGEST
        return f"[{self.generator.choice(self.legal)}]"

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Learn what is allowed whenever the person is asked."""
        ask = Sitting.ask

        def watched(sitting: Sitting, seat: int, turn: Turn) -> int:
            self.legal = np.flatnonzero(turn.mask)
            return ask(sitting, seat, turn)

        monkeypatch.setattr(Sitting, "ask", watched)


@each_game
@pytest.mark.parametrize("players", ["fewest", "most"])
def test_a_whole_game_is_told_within_the_screen(name: str, players: str, monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = dicegym.game(name).spec.players
    game = dicegym.game(name, players=max(low, 2) if players == "fewest" else high)
    chooser = Chooser(3)
    chooser.watch(monkeypatch)
    sitting, shown = sit(game, chooser)
    assert sitting.play() == QUIT
    lines = "\n".join(shown).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert any("win" in line or "share the first place" in line for line in lines[-30:])
    assert not any("None" in line or "np." in line or "  wins" in line for line in lines)


def hidden_changed(game: Game, state: Any, seat: int, generator: np.random.Generator) -> Any:
    """Return a copy of a record in which all that the person in ``seat`` may not know is something else."""
    other = state.copy()
    keyboard = controls_of(game)
    for field in game.spec.private - keyboard.OPEN:
        for rival in range(game.players):
            if rival != seat:
                other[field][rival] = generator.permutation(other[field][rival]) if other[field][rival].ndim else 1
    for field in game.spec.secret:
        other[field] = 0
    other["key"] = generator.integers(1 << 60)
    return other


@each_game
def test_nothing_hidden_is_shown(name: str) -> None:
    """Other dice in the cups of others, other orders and another key: the same screen."""
    game = dicegym.game(name, players=dicegym.game(name).spec.players[1])
    keyboard, generator = controls_of(game), np.random.default_rng(5)
    names = tuple(f"rival {seat}" for seat in range(game.players))
    changed = 0
    for seed in range(2):
        state = game.new_game(seed)[0]
        for _ in range(25):
            if state["over"]:
                break
            seat = int(state["player"])
            place = Place(game, seat, names)
            other = hidden_changed(game, state, seat, generator)
            changed += other.tobytes() != state.tobytes()
            for full in (False, True):
                assert keyboard.table(place, state, full) == keyboard.table(place, other, full)
            before = state.copy()
            action = int(generator.choice(np.flatnonzero(game.legal(state))))
            game.step(state, action)
            for watcher in {seat, (seat + 1) % game.players, int(generator.integers(game.players))}:
                place = Place(game, watcher, names)
                told = keyboard.tell(place, before, action, state, "", False)
                veiled = [hidden_changed(game, record, watcher, generator) for record in (before, state)]
                for record, original in zip(veiled, (before, state), strict=True):
                    record["key"] = original["key"]  # what was rolled in the open is worked out by it
                assert keyboard.tell(place, veiled[0], action, veiled[1], "", False) == told
    assert changed


@each_game
def test_faults_of_others_are_told_or_passed_over(name: str) -> None:
    """Whatever a bot answers, the person reads on."""
    game = dicegym.game(name, players=max(2, dicegym.game(name).spec.players[0]))
    wild = iter(np.random.default_rng(2).integers(-3, 2 * game.n_actions, 10**5).tolist())
    chooser = FunctionPlayer(lambda turn: next(wild), "wild")
    legal: list[str] = []

    def ask(question: str) -> str:
        return "quit" if not question.startswith("your move") or len(legal) > 200 else legal.append("x") or next(moves)

    def any_move() -> Iterator[str]:
        while True:
            yield from ("list", *(f"[{action}]" for action in range(game.n_actions)))

    moves = any_move()
    sitting, _ = sit(game, ask, [chooser] * (game.players - 1))
    assert sitting.play() == QUIT


def test_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game("hog")
    sitting, shown = sit(game, ["HELP", "?", "list", "Table", "", "5", "x" * 200, "`bacon`", "again"])
    assert sitting.play() == AGAIN
    text = "\n".join(shown)
    assert text.count("And at any time:") == 2
    assert "[11] roll 10" in text
    assert "Type a move, or `help`." in text
    assert "That is more than one move" in text
    assert "You roll 5 four-sided dice" in text
    assert "You take Free bacon" in text
    assert "xxxxx" not in text


def test_the_end_is_asked_for_and_comes_with_the_input() -> None:
    game = dicegym.game("hog", goal=10)
    answers = iter(["what", "again"])
    sitting, shown = sit(game, lambda question: "10" if question.startswith("your move") else next(answers))
    assert sitting.play() == AGAIN
    assert "The game is over: type `again` or `quit`." in shown

    def ends(question: str) -> str:
        if question.startswith("your move"):
            return "10"
        raise EOFError

    assert sit(game, ends)[0].play() == QUIT
    with pytest.raises(EOFError):  # before the end it is the caller's affair
        sit(game, ends_at_once)[0].play()


def test_failures_of_others() -> None:
    """What the rules know a cost for is told; what they do not ends the game with the error."""

    def fails(turn: Turn) -> int:
        raise AgentError("broken", "gave up")

    broken = FunctionPlayer(fails, "broken")
    sitting, shown = sit(dicegym.game("liarsdice"), ["3 4", "quit"], [broken])
    assert sitting.play() == QUIT
    assert sum("broken fails: gave up" in text for text in shown) == 1
    assert any("broken is taken to call liar" in text for text in shown)
    with pytest.raises(AgentError, match="gave up"):
        sit(dicegym.game("hog"), ["5"], [broken])[0].play()


def test_seats_and_rivals_are_checked_and_told_apart() -> None:
    game = dicegym.game("hog")
    for seat in (2, -1, True, "1"):
        with pytest.raises(ParameterError, match=f"seat={seat!r} cannot be used as a seat of"):
            Sitting(game, [RandomPlayer()], seat, 0)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=f"seat={seat!r} cannot be used as a seat of"):
            observation_text(game, game.new_game()[0], seat)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="0 opponents do not fill"):
        Sitting(game, [], 0, 0)
    sitting = Sitting(dicegym.game("lucky", players=4), [RandomPlayer()] * 3, 2, 0)
    assert [*sitting.place.names] == ["uniform", "uniform 2", "you", "uniform 3"]
    alike = FunctionPlayer(lambda turn: 0, "you")
    assert Sitting(game, [alike], 1, 0).place.names == ("you 2", "you")


@each_game
def test_opponents_of_each_strength_exist(name: str) -> None:
    keyboard = controls_of(dicegym.game(name))
    assert tuple(keyboard.OPPONENTS) == STRENGTHS
    for agent in keyboard.OPPONENTS.values():
        assert agent in dicegym.agent_names(name)
        assert not agent.startswith("ppo"), "a model needs what a plain installation lacks"
    low, high = dicegym.game(name).spec.players
    assert low <= keyboard.SEATS <= high
    assert max(map(len, keyboard.HELP.splitlines())) < WIDTH


def test_a_game_without_a_keyboard_is_played_by_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.players.sitting.part", lambda game, kind: None)
    game = dicegym.game("hog")
    sitting, shown = sit(game, ["7", "roll", "roll 3", "free", "nonsense", "quit"])
    assert isinstance(sitting.keyboard, NumberedControls)
    sitting.play()
    text = "\n".join(shown)
    assert "You play: roll 6" in text
    assert "'roll' is the beginning of roll 1, roll 2, roll 3 and roll 4: type more of it" in text
    assert "You play: roll 3" in text
    assert "You play: Free bacon (0)" in text
    assert "'nonsense' means nothing here" in text


def test_words() -> None:
    place = Place(dicegym.game("hog"), 1, ("bot", "you"))
    assert [place.does(0, verb) for verb in ("roll", "have", "are", "pass")] == [
        "bot rolls",
        "bot has",
        "bot is",
        "bot passes",
    ]
    assert place.does(1, "roll") == "You roll"
    assert (place.who(1), place.whose(1), place.whose(0)) == ("you", "your", "bot's")
    assert (count(1, "point"), count(2000, "point")) == ("1 point", "2,000 points")
    assert list_names(["a", "b", "c"], "or") == "a, b or c"
    assert [percent(chance) for chance in (0, 0.001, 0.5, 0.999, 1)] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert wrap_lines("  a " + "b " * 60).splitlines()[1].startswith("    b")
    assert wrap_lines("x" * 70 + " type `roll #1 #3` now").splitlines() == ["x" * 70 + " type", "  `roll #1 #3` now"]


@pytest.mark.slow
@each_game
def test_opponents_rise_in_strength(name: str) -> None:
    """Each wins more than its share against a table of the one before."""
    from dicegym.learning.evaluate import evaluate

    keyboard = controls_of(dicegym.game(name))
    game = dicegym.game(name, players=keyboard.SEATS)
    easy, normal, hard = keyboard.OPPONENTS.values()
    for weaker, stronger in ((easy, normal), (normal, hard)):
        score = evaluate(game, dicegym.agent(game, stronger), weaker, games=100)
        assert score.value > 1.2 / keyboard.SEATS, f"{stronger} against {weaker}: {score}"


# --- a numbered list of actions ---------------------------------------------------------------------------------------


NAMES = {0: "exchange", 2: "roll 1", 3: "roll 10", 11: "Free bacon"}


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("0", 0),
        ("[0]", 0),
        ("11", 11),
        ("1", None),
        ("[1]", None),
        ("roll 1", 2),
        ("Roll  10", 3),
        ("roll", None),
        ("free", 11),
        ("", None),
        ("[]", None),
        ("-1", None),
        ("²", None),
        ("9" * 5000, None),
        ("x", None),
    ],
)
def test_an_action_is_meant_by_its_number_its_name_or_the_beginning_of_one_name(
    answer: str, action: int | None
) -> None:
    assert match_action(answer, NAMES) == action


def test_bare_numbers_can_be_left_to_others() -> None:
    assert match_action("11", NAMES, bare=False) is None
    assert match_action("[11]", NAMES, bare=False) == 11


def test_long_lists_are_cut_until_they_are_asked_for() -> None:
    names = {action: f"bid {action}" for action in range(2 * MOST_LISTED)}
    short = list_of(names, MOST_LISTED)
    assert f"... {MOST_LISTED} more (`list` shows all) ..." in short
    assert "[0] bid 0" in short
    assert f"[{2 * MOST_LISTED - 1}] bid" in short
    assert "more" not in list_of(names)
    assert max(map(len, list_of(names).splitlines())) < 80
