"""A person at the keyboard: numbers, names, and what is shown."""

from __future__ import annotations

from collections.abc import Iterator

import dicegym
from dicegym.play.drive import play_game
from dicegym.play.player import RandomPlayer
from dicegym.players.human import MOST_LISTED, HumanPlayer, _meant

NAMES = {0: "exchange", 2: "roll 1", 3: "roll 10", 11: "Free bacon"}


def test_an_action_is_meant_by_its_number_its_name_or_the_beginning_of_one_name() -> None:
    for answer, action in (
        ("0", 0),
        ("11", 11),
        ("1", None),
        ("roll 1", 2),
        ("Roll  10", 3),
        ("roll", None),
        ("free", 11),
        ("", None),
        ("-1", None),
        ("²", None),
        ("x", None),
    ):
        assert _meant(answer, NAMES) == action, answer


def test_long_lists_are_cut_until_they_are_asked_for() -> None:
    names = {action: f"bid {action}" for action in range(2 * MOST_LISTED)}
    short = HumanPlayer._listed(names, MOST_LISTED)
    assert f"... {MOST_LISTED} more (? shows all) ..." in short
    assert "[0] bid 0" in short
    assert f"[{2 * MOST_LISTED - 1}] bid" in short
    assert "more" not in HumanPlayer._listed(names, len(names))


def test_a_person_plays_to_the_end() -> None:
    shown: list[str] = []

    def answers() -> Iterator[str]:
        yield "?"
        yield "nonsense"
        while True:
            yield "free bacon"

    typed = answers()
    person = HumanPlayer(ask=lambda question: next(typed), show=shown.append)
    state = play_game(dicegym.game("hog"), [person, RandomPlayer()], 3)
    assert state["over"]
    assert "'nonsense' is none of the actions above: type a number in brackets, or a name" in shown
