"""The tutor: one question before a blunder, a word on it, and none of it by what the person cannot know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_with
from made_up_values import MadeUp

import dicegym
from dicegym.analysis import valuers
from dicegym.analysis.valuers import Tutor, fair_valuer, hint, is_fair, valuer
from dicegym.arena.replay import load
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.worth import ValueSource
from dicegym.play.player import RandomPlayer
from dicegym.play.turn import Turn
from dicegym.players.sitting import AGAIN, QUIT, Sitting


def sit(game: Game, tutor: Tutor, answers: Sequence[str]) -> tuple[Sitting, list[str]]:
    typed = iter(answers)
    shown: list[str] = []

    def ask(question: str) -> str:
        shown.append(question)
        return next(typed, "quit")

    rivals = [RandomPlayer() for _ in range(game.players - 1)]
    return Sitting(game, rivals, 0, 3, ask, shown.append, tutor.warning), shown


def hog(**values: float) -> tuple[Game, MadeUp]:
    """Return Hog, and values of which a number of dice has its own: 0.5 unless another is given."""
    game = dicegym.game("hog")
    row = [values.get(f"roll_{number}", 0.5) for number in range(-1, 11)]
    return game, MadeUp(game, lambda _: row)


def test_it_asks_once_and_the_person_may_insist() -> None:
    game, values = hog(roll_9=0.1, roll_5=0.3, roll_7=0.6)
    sitting, shown = sit(game, Tutor(values), ["9", "what", "no", "9", "", "5", "", "7"])
    assert sitting.play() == QUIT
    text = " ".join("\n".join(shown).split())
    assert "That is a blunder: roll 9 (10.0%) loses 50.0% against roll 7 (60.0%)." in text
    assert text.count("That is a blunder: roll 9") == 1
    assert text.count("play it all the same") == 3
    assert "Type `yes` to play it, or `no` to choose again." in text
    assert sitting.actions[0] == 10
    for answer, end, actions in (("yes", QUIT, [10]), ("again", AGAIN, [])):  # what is insisted on is played
        sitting, _ = sit(game, Tutor(values), ["9", answer])
        assert sitting.play() == end
        assert sitting.actions[:1] == actions


@pytest.mark.parametrize(("level", "warned"), [("doubtful", True), ("mistake", False), ("bad", False)])
def test_it_warns_from_its_level_on(level: str, warned: bool) -> None:
    game, values = hog(roll_9=0.47)
    turn = Turn(game, game.new_game(0)[0], 0)
    assert bool(Tutor(values, level).warning(turn, [10])) == warned
    assert not Tutor(values, level).warning(turn, [3])


def test_a_whole_choice_is_judged_at_once() -> None:
    game = dicegym.game("lucky")
    state = game.new_game(1)[0]
    seat = int(state["player"])
    first, second = np.flatnonzero(game.legal(state))[:2].tolist()
    values = MadeUp(game, lambda one: np.where(np.isin(np.arange(game.n_actions), (first, second)), 0.5, 0.56))
    turn = Turn(game, state, seat)
    assert not Tutor(values).warning(turn, [first])  # 6 % each
    before = state.tobytes()
    warning = Tutor(values).warning(turn, [first, first])
    assert state.tobytes() == before
    assert warning.startswith(f"That is a blunder: {', '.join([game.action_name(first)] * 2)} (44.0%) loses 12.0%")
    assert warning.endswith("(56.0%).")


def test_it_never_knows_more_than_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game("hog", goal=30)
    assert is_fair(valuer(game))  # everybody sees dice and runs at a table
    hidden = dicegym.game("liarsdice")
    asked: Any = MadeUp(hidden)
    assert is_fair(asked)
    asked.sees_all = True
    assert not is_fair(asked)
    with pytest.raises(ParameterError, match="hidden"):
        Tutor(asked)
    with pytest.raises(UnknownNameError, match="doubtful"):
        Tutor(valuer(game), "awful")
    listed = valuers.sources(hidden)
    unfair = ValueSource("unfair", "exact", "", lambda: True, lambda progress: asked)
    monkeypatch.setattr(valuers, "sources", lambda game: [unfair, *listed])
    assert valuer(hidden) is asked
    assert not fair_valuer(hidden).sees_all
    with pytest.raises(ParameterError, match="'unfair' use what is hidden"):
        fair_valuer(hidden, "unfair")


def test_a_game_with_a_tutor_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["no", *["10", "yes"] * 40])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers) if question.startswith("your") else "yes" if "all the same" in question else "quit"

    monkeypatch.setattr("builtins.input", answer)
    file = tmp_path / "game.json"
    words = ["play", "hog", "-p", "goal=20", "--tutor", "--seed", "3", "--seat", "0", "-o", str(file)]
    status, out, err = run_with(capsys, *words)
    assert (status, err) == (0, "")
    assert "You are warned before a choice that loses 10.0% or more." in out
    assert "That is a blunder: roll 10" in out
    assert "Luck in the list of decisions" in out
    assert "The game is in" in out
    assert load(file).seats[0] == "you"
    status, out, err = run_with(capsys, "values", "analyse", str(file))
    assert (status, err) == (0, "")
    assert "a blunder: roll 10 instead of" in out


def test_a_hint_does_not_say_that_it_uses_what_everybody_at_the_table_sees() -> None:
    """Programs of Hog's contest know the scores alone; a person sees runs and exchanges, too."""
    state = dicegym.game("hog").new_state(seed=1)
    asked = fair_valuer(state.game)
    assert asked.sees_all
    assert hint(state.game, state, asked).lines()[-1].endswith("They use what the player to move may know.")
