"""How people play on pages: what forms offer is allowed, what is allowed they offer, and nothing else gets through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, need, part
from dicegym.games.web_controls import Basket, DiceToggles, Fields, PickOne, PlayForm, Stepper
from dicegym.players.sitting import controls_of
from dicegym.registry import GAMES

STEPS = 60
"""Actions after which a random game is no longer followed."""
TRIED = 4
"""So many ways to fill a form in are tried in each state."""


def place_of(game: Game, state: Any) -> Place:
    return Place(game, int(state["player"]), tuple(f"p{seat}" for seat in range(game.players)))


def states(game: Game, seed: int, steps: int = STEPS) -> Iterator[Any]:
    """Play at random; give each state in which somebody is to move."""
    rng = np.random.default_rng(seed)
    state = game.new_game(seed)[0]
    for _ in range(steps):
        if state["over"]:
            return
        yield state
        game.step(state, int(rng.choice(np.flatnonzero(game.legal(state)))))


def filled(form: PlayForm, rng: np.random.Generator) -> Fields:
    """Fill a form in, in one of the ways that its widgets allow."""
    fields: dict[str, list[str]] = {}
    least = 0
    for widget in sorted(form.widgets, key=lambda one: isinstance(one, Stepper)):
        if isinstance(widget, PickOne):
            option = [one for one in widget.options if not one.refused][rng.integers(len(widget.options)) - 1 :][:1]
            option = option or [one for one in widget.options if not one.refused][:1]
            least = max(least, option[0].least)
            fields[widget.name] = [option[0].value]
        elif isinstance(widget, DiceToggles):
            most = len(widget.faces) if widget.most is None else widget.most
            picked = rng.permutation(len(widget.faces))[: rng.integers(most + 1)]
            fields[widget.name] = [str(place) for place in picked]
        elif isinstance(widget, Stepper):
            fields[widget.name] = [str(rng.integers(max(widget.low, least), widget.high + 1))]
        else:
            left = widget.budget
            for item in rng.permutation(len(widget.items)).tolist():
                one = widget.items[item]
                most = min(one.most, left // one.price if one.price else one.most)
                number = int(rng.integers(most + 1))
                left -= number * one.price
                fields[f"{widget.name}.{one.value}"] = [str(number)] if number else rng.choice(["", "0"], 1).tolist()
    return fields


def refusal(game: Game, state: Any, actions: Any) -> str:
    """Return why the rules do not allow the first of some actions, or another of the same turn; empty if they do."""
    after, seat = state.copy(), int(state["player"])
    for action in actions:
        if after["over"] or int(after["player"]) != seat:
            break
        if fault := game.step(after, int(action)):
            return f"{game.action_name(int(action))}: {game.spec.faults[fault]}"
    return ""


@pytest.mark.parametrize("name", GAMES)
def test_whatever_forms_offer_is_allowed(name: str) -> None:
    game = dicegym.game(name)
    assert part(name, CONTROLS) is not None
    rng = np.random.default_rng(1)
    for seed in range(1):
        for state in states(game, seed):
            place, controls = place_of(game, state), controls_of(game)
            before = state.copy()
            forms = controls.forms(place, state)
            assert len({form.name for form in forms}) == len(forms) > 0
            for form in forms:
                for _ in range(TRIED if form.widgets else 1):
                    fields = filled(form, rng)
                    actions = controls.read_form(place, state, form.name, fields)
                    assert len(actions) > 0
                    assert refusal(game, state, actions) == "", (form.name, fields)
            assert state.tobytes() == before.tobytes()  # whoever only looks changes nothing


@pytest.mark.parametrize("name", GAMES)
def test_a_board_shows_what_its_seat_may_know_and_changes_nothing(name: str) -> None:
    """Other seats' private entries, and secret fields, may be anything: the board is the same."""
    game = dicegym.game(name)
    hidden = game.spec.private - controls_of(game).OPEN
    for state in states(game, 2):
        place, controls = place_of(game, state), need(game, CONTROLS)
        before, board = state.copy(), controls.board(place, state)
        assert board is not None
        assert state.tobytes() == before.tobytes()
        assert len(board.seats) == game.players
        assert [seat.name for seat in board.seats] == list(place.names)
        assert [seat.moves for seat in board.seats].index(True) == int(state["player"])
        others = state.copy()
        for field in hidden:
            for seat in range(game.players):
                if seat != place.seat:
                    others[field][seat] = 0
        for field in game.spec.secret:
            others[field] = 0
        assert controls.board(place, others) == board
        card = board.card
        if card is not None:
            (filled_by,) = [form for form in controls.forms(place, state) if form.name == card.form]
            (widget,) = filled_by.widgets
            open_rows = [row.value for row in card.rows if row.value and not row.cells[place.seat]]
            assert [option.value for option in widget.options] == open_rows  # type: ignore[union-attr]  # a PickOne


def every_way(form: PlayForm) -> Iterator[Mapping[str, list[str]]]:
    """Fill a form in, in all ways that matter: at most one item of a basket."""
    ways: list[dict[str, list[str]]] = [{}]
    for widget in form.widgets:
        if isinstance(widget, PickOne):
            more = [{widget.name: [one.value]} for one in widget.options if not one.refused]
        elif isinstance(widget, DiceToggles):
            places = range(len(widget.faces))
            more = [
                {widget.name: [str(at) for at in picked]}
                for number in range(len(places) + 1 if widget.most is None else widget.most + 1)
                for picked in combinations(places, number)
            ]
        elif isinstance(widget, Stepper):
            more = [{widget.name: [str(number)]} for number in range(widget.low, min(widget.high, 99) + 1)]
        else:
            more = [{f"{widget.name}.{one.value}": ["1"]} for one in widget.items if one.most]
            more.append({})
        ways = [way | one for way in ways for one in more]
    yield from ways


@pytest.mark.parametrize("name", GAMES)
def test_whatever_is_allowed_can_be_filled_in(name: str) -> None:
    game = dicegym.game(name)
    for number, state in enumerate(states(game, 7)):
        if number % 6:
            continue
        place, controls = place_of(game, state), controls_of(game)
        reached = set()
        for form in controls.forms(place, state):
            for fields in every_way(form):
                try:
                    reached.add(int(controls.read_form(place, state, form.name, fields)[0]))
                except ParameterError:
                    continue
        assert set(np.flatnonzero(game.legal(state)).tolist()) <= reached


def test_dice_of_yatzy_that_are_kept_stay_where_they_lie() -> None:
    game = dicegym.game("yatzy")
    for dice in ((6, 1, 2, 1, 5), (3, 3, 3, 3, 3)):
        for kept in (places for number in range(5) for places in combinations(range(5), number)):
            state = game.new_game(1)[0]
            state["dice"] = dice
            place, controls = place_of(game, state), controls_of(game)
            (form,) = (one for one in controls.forms(place, state) if isinstance(one.widgets[0], DiceToggles))
            (action,) = controls.read_form(place, state, form.name, {form.widgets[0].name: [str(at) for at in kept]})
            assert game.step(state, action) == 0
            assert [int(state["dice"][at]) for at in kept] == [dice[at] for at in kept]


WORDS = st.sampled_from(["", "0", "1", "-1", "3", "12", "9" * 20, "1e3", "1.5", "nan", "None", "\x00", " 2 "]) | (
    st.sampled_from(["\u0663", "²", "\uff10"])
)
VALUES = st.lists(WORDS | st.text(max_size=12), max_size=3)


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=16, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_browser_sends_is_allowed_or_refused_in_words(name: str, data: st.DataObject) -> None:
    game = dicegym.game(name)
    start = data.draw(st.integers(0, 12))
    state = [one.copy() for one in states(game, start, start + 1)][-1]
    place, controls = place_of(game, state), controls_of(game)
    forms = controls.forms(place, state)
    form = data.draw(st.sampled_from([one.name for one in forms]) | st.text(max_size=8))
    names = [
        f"{widget.name}.{item.value}" if item else widget.name
        for one in forms
        for widget in one.widgets
        for item in (widget.items if isinstance(widget, Basket) else (None,))
    ]
    fields = data.draw(st.dictionaries(st.sampled_from([*names, "other"]), VALUES, max_size=len(names)))
    try:
        actions = controls.read_form(place, state, form, fields)
    except ParameterError:
        return
    assert refusal(game, state, actions) == ""
