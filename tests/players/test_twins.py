"""House bots are the agents of their names: the same files, and in every state the same choice."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import math
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from variants import VARIANTS, forget, pick, states_of

import dicegym
from dicegym import games
from dicegym.engine.dice import drawn
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.play.player import Player, sit_down
from dicegym.play.turn import Turn
from dicegym.players.roster import agents_folder
from dicegym.registry import GAMES

GAMES_PLAYED, DECISIONS = (9, 300) if COMPILED else (2, 25)
"""How many games of each form are played, and how far at most."""
SAMPLES = 250 if COMPILED else 100
"""How often one that draws is asked the same."""


def house_of(name: str) -> ModuleType | None:
    """Return the house of a game, if it has one."""
    module = f"dicegym.games.{name}.twins"
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


HOUSES = {name: house for name in GAMES if (house := house_of(name))}
BOTS = [(name, bot) for name, house in HOUSES.items() for bot in house.HOUSE]

each_bot = pytest.mark.parametrize(("name", "bot"), BOTS)
each_form = pytest.mark.parametrize(
    "game",
    [
        pytest.param(game, id=repr(game), marks=[pytest.mark.nojit] if game == games.game(game.name) else [])
        for game in VARIANTS
        if game.name in HOUSES
    ],
)


def numbered(game: Game, pure: bool) -> list[tuple[int, Player]]:
    """Return (number, player of the file) for each house bot whose file calls itself pure, or does not."""
    players = [dicegym.agent(game, bot) for bot in HOUSES[game.name].HOUSE]
    return [(number, player) for number, player in enumerate(players) if player.pure is pure]


def mixed_play(game: Game) -> Iterator[Any]:
    """Yield the states of some games in which somebody is to move: whoever asks must not change them.

    In every third game all choices are random, in every third the house plays alone, each seat with a bot of its own
    at a time, and in the others each choice is either.
    """
    house = HOUSES[game.name]
    for episode in range(GAMES_PLAYED):
        state = game.new_game(4, episode)[0]
        for time in range(DECISIONS):
            if state["over"]:
                break
            yield state
            seed = GAMES_PLAYED * time + episode
            by_chance = (True, False, drawn(seed, 0, 0, 0, 2) == 0)[episode % 3]
            of_the_round = (episode // 3 + int(state["player"]) + time // 40) % len(house.HOUSE)
            chosen = pick(game.legal(state), 11, seed) if by_chance else int(house.choose(state, of_the_round))
            game.step(state, chosen)


def test_there_are_houses() -> None:
    """Every environment's default opponent is quick."""
    for name, house in HOUSES.items():
        assert games.spec(name).default_opponent in house.HOUSE
    assert BOTS


@pytest.mark.nojit
@each_bot
def test_it_is_made_from_the_file_as_it_is_now(name: str, bot: str) -> None:
    """Whoever edits an agent is told to edit its twin; until then the file is played as it stands."""
    stem = bot.partition("(")[0]
    text = (agents_folder(games.game(name)) / f"{stem}.py").read_text(encoding="utf-8")
    found = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert HOUSES[name].HOUSE[bot] == found, (
        f"agents/{name}/{stem}.py has changed: make dicegym/games/{name}/twins.py play the same, then note {found!r}"
    )


@pytest.mark.boundscheck
@each_form
def test_it_chooses_what_the_file_chooses(game: Game) -> None:
    choose = HOUSES[game.name].choose
    bots = [
        (number, player.name, [sit_down(player, game, seat, 0) for seat in range(game.players)])
        for number, player in numbered(game, pure=True)
    ]
    for state in mixed_play(game):
        seat, before = int(state["player"]), state.tobytes()
        turn = Turn(game, state, seat)
        for number, bot, acts in bots:
            chosen = choose(state, number)
            assert state.tobytes() == before, f"{bot} has changed the state"
            assert chosen == (expected := acts[seat](turn)), (
                f"{bot}: the house says {game.action_name(int(chosen))}, "
                f"the file {game.action_name(expected)} in\n{game.scene(state, seat).text()}"
            )


@pytest.mark.parametrize("name", HOUSES)
def test_its_action_is_a_whole_number(name: str) -> None:
    """Of 64 bits, as compiled loops keep actions."""
    state = games.game(name).new_game()[0]
    for number in range(len(HOUSES[name].HOUSE)):
        chosen = HOUSES[name].choose(state, number)
        assert isinstance(chosen, int | np.int64)


@each_form
def test_what_it_may_not_know_changes_nothing(game: Game) -> None:
    choose = HOUSES[game.name].choose
    bots = [number for number, _ in numbered(game, pure=True)]
    sources = [source for seed in range(100, 104) for source in states_of(game, seed)]
    exchanged = 0
    for time, state in enumerate(mixed_play(game)):
        source = sources[7 * time % len(sources)]
        other = forget(game, state, int(state["player"]), source)
        exchanged += other.tobytes() != state.tobytes()
        for number in bots:
            assert choose(other, number) == choose(state, number), list(HOUSES[game.name].HOUSE)[number]
    assert exchanged


@each_form
def test_one_that_draws_draws_alike(game: Game) -> None:
    """The same choices are possible, each as often as the file makes it; and the draws are of the game's key."""
    choose = HOUSES[game.name].choose
    bots = numbered(game, pure=False)
    states = [state.copy() for state in mixed_play(game)] if bots else []
    asked = states[:: len(states) // 3] if states else []
    for number, player in bots:
        for state in asked:
            seat, before = int(state["player"]), state.tobytes()
            house, file = Counter[int](), Counter[int]()
            other = state.copy()
            turn = Turn(game, state, seat)
            first = next(one for one in states if one["key"] == state["key"] and one["player"] == seat)
            for sample in range(SAMPLES):
                other["key"] = 1000 + sample
                chosen = int(choose(other, number))
                house[chosen] += 1
                assert choose(other, number) == chosen
                act = sit_down(player, game, seat, sample)
                act(Turn(game, first, seat))  # some remember with what they began
                file[int(act(turn))] += 1
            choose(state, number)
            assert state.tobytes() == before
            # Pearson's comparison of two samples: as many squares as there are choices less one, each 1 on average.
            squares = sum((house[a] - file[a]) ** 2 / (house[a] + file[a]) for a in house | file)
            freedom = len(house | file) - 1
            assert squares <= freedom + 5 * math.sqrt(2 * freedom) + 5 * (freedom > 0), (player.name, house, file)


@each_form
def test_situations_are_all_that_can_be_known(game: Game) -> None:
    house = HOUSES[game.name]
    if not hasattr(house, "situations"):
        pytest.skip("this game's players can know too much to be counted")
    records = house.situations(game)
    if records is None:
        pytest.skip("with these parameters they can know too much")
    for number in range(0, len(records), max(1, len(records) // 2000)):
        assert house.situation(records[number]) == number
    for state in mixed_play(game):
        record = records[house.situation(state)]
        assert not record["over"]
        there, here = int(record["player"]), int(state["player"])
        assert np.array_equal(game.observe(record, there), game.observe(state, here))
        assert game.view(record, there) == game.view(state, here)
        assert np.array_equal(game.legal(record), game.legal(state))
