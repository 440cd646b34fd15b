"""Twins are the agents of their names: the same files, and in every state the same choice."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import VARIANTS, forget, pick, states_of

import dicegym
from dicegym import games
from dicegym.bots.bot_files import gather
from dicegym.engine import loops
from dicegym.engine.dice import draw_number
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.engine.twin_kernels import list_twins, situation_kernel, twin
from dicegym.games import parts
from dicegym.play.player import Player, sit_down
from dicegym.play.turn import Turn
from dicegym.players.batch_players import source_hash, twin_numbers
from dicegym.players.pool import Pool
from dicegym.players.roster import agents_folder
from dicegym.registry import GAMES

GAMES_PLAYED, DECISIONS = (6, 200) if COMPILED else (2, 25)
"""How many games of each form are played, and how far at most."""
SAMPLES = 250 if COMPILED else 100
"""How often one that draws is asked the same."""


TWINS = {name: twins for name in GAMES if (twins := list_twins(games.spec(name).module))}
BOTS = [(name, bot) for name, twins in TWINS.items() for twin in twins for bot in twin.names]

each_bot = pytest.mark.parametrize(("name", "bot"), BOTS)
PLAYED = [game for game in VARIANTS if game.name in TWINS and not game.added_parameters]  # files play these alone
SAME: tuple[dict[str, int], ...] = ({"lead": 1}, {"lead": 1_000_000}, {"rounds": 10_000}, {"goal": 999})
"""Parameters by which the same is played for longer; other forms find what these do."""
FORMS = [
    pytest.param(
        game,
        id=repr(game),
        marks=pytest.mark.nojit
        if game == games.game(game.name)
        else [pytest.mark.slow]
        if any(same.items() <= dict(game.parameters).items() for same in SAME)
        else [],
    )
    for game in PLAYED
]
each_form = pytest.mark.parametrize("game", FORMS)


def asked_about(game: Game) -> Iterator[Any]:
    """Yield what `mixed_play` does, and a third of it of a form that is not the default one."""
    return itertools.islice(mixed_play(game), None, None, 1 if game == games.game(game.name) else 3)


def numbered(game: Game, pure: bool) -> list[tuple[int, Player]]:
    """Return (number, player of the file) for each name of a twin whose file calls itself pure, or does not."""
    players = [(number, dicegym.agent(game, bot)) for bot, number in twin_numbers(game).items()]
    return [(number, player) for number, player in players if player.pure is pure]


@functools.cache
def draws(name: str, number: int) -> bool:
    """Return whether what a twin chooses depends on the game's key anywhere; one that does not may still remember."""
    chosen_by = TWINS[name][number].kernel
    for state in mixed_play(games.game(name)):
        chosen, other = chosen_by(state), state.copy()
        for key in range(4):
            other["key"] = 1000 + key
            if chosen_by(other) != chosen:
                return True
    return False


def mixed_play(game: Game) -> Iterator[Any]:
    """Yield the states of some games in which somebody is to move: whoever asks must not change them.

    In every third game all choices are random, in every third the twins play alone, each seat with a bot of its own
    at a time, and in the others each choice is either.
    """
    twins = TWINS[game.name]
    for episode in range(GAMES_PLAYED):
        state = game.new_game(4, episode)[0]
        for time in range(DECISIONS):
            if state["over"]:
                break
            yield state
            seed = GAMES_PLAYED * time + episode
            by_chance = (True, False, draw_number(seed, 0, 0, 0, 2) == 0)[episode % 3]
            of_the_round = (episode // 3 + int(state["player"]) + time // 40) % len(twins)
            chosen = pick(game.legal(state), 11, seed) if by_chance else int(twins[of_the_round].kernel(state))
            game.step(state, chosen)


def test_each_name_stands_for_one_twin_and_default_opponents_have_one() -> None:
    assert BOTS
    for name, twins in TWINS.items():
        for player in Pool.of(games.game(name), games.spec(name).default_opponent).players:
            assert (name, player.name) in BOTS
        names = [bot for twin in twins for bot in twin.names]
        assert len(names) == len(set(names))
        numbers = twin_numbers(games.game(name))
        assert list(numbers) == names
        assert sorted(set(numbers.values())) == list(range(len(twins)))


def test_two_twins_of_one_name_are_refused() -> None:
    def one(state: Any) -> int:
        return 1

    def two(state: Any) -> int:
        return 2

    for function in (one, two):
        function.__module__ = "somewhere.twins"
    assert twin("one", file="")(one) is one
    twin("one", file="")(one)  # its module is loaded again
    with pytest.raises(TypeError, match="one"):
        twin("two", "one", file="")(two)
    with pytest.raises(TypeError, match="needs unique names"):
        twin(file="")(two)


@pytest.mark.nojit
@each_bot
def test_it_is_made_from_the_file_as_it_is_now(name: str, bot: str) -> None:
    """Whoever edits an agent is told to edit its twin; until then the file is played as it stands."""
    game = games.game(name)
    stem = bot.partition("(")[0]
    found = source_hash(agents_folder(game) / f"{stem}.py")
    assert TWINS[name][twin_numbers(game)[bot]].file == found, (
        f"agents/{name}/{stem}.py has changed: make dicegym/games/{name}/twins.py play the same, then note {found!r}"
    )


def test_the_hash_covers_the_helpers_that_a_file_imports(tmp_path: Path) -> None:
    """They in turn, and however they are imported; not what merely lies beside them, nor installed packages."""
    bot, helper, deeper = tmp_path / "bot.py", tmp_path / "_helper.py", tmp_path / "_deeper.py"
    bot.write_text("import math\nfrom _helper import value\n")
    helper.write_text("def value():\n    from . import _deeper\n")
    deeper.write_text("import bot\n")
    assert list(gather(bot)) == [bot, deeper, helper]
    for file in (bot, helper, deeper):
        before = source_hash(bot)
        file.write_text(file.read_text() + "# edited\n")
        assert source_hash(bot) != before
    before = source_hash(bot)
    (tmp_path / "_other.py").write_text("")
    assert source_hash(bot) == before


@pytest.mark.boundscheck
@each_form
def test_it_chooses_what_the_file_chooses(game: Game) -> None:
    twins = TWINS[game.name]
    bots = [
        (number, player.name, [sit_down(player, game, seat, 0) for seat in range(game.players)])
        for number, player in numbered(game, pure=True)
    ]
    for state in asked_about(game):
        seat, before = int(state["player"]), state.tobytes()
        turn = Turn(game, state, seat)
        for number, bot, acts in bots:
            chosen = twins[number].kernel(state)
            assert state.tobytes() == before, f"{bot} has changed the state"
            assert chosen == (expected := acts[seat](turn)), (
                f"{bot}: the twin says {game.action_name(int(chosen))}, "
                f"the file {game.action_name(expected)} in\n{game.scene(state, seat).text()}"
            )


@pytest.mark.parametrize("name", TWINS)
def test_its_action_is_a_whole_number(name: str) -> None:
    """Of 64 bits, as compiled loops keep actions."""
    states = games.game(name).new_game()
    chosen = np.empty(1, np.int64)
    for number, one in enumerate(TWINS[name]):
        assert isinstance(one.kernel(states[0]), int | np.int64)
        loops.choose_rows(states, np.arange(1), number, chosen)
        assert chosen[0] == one.kernel(states[0])


@each_form
def test_what_it_may_not_know_changes_nothing(game: Game) -> None:
    twins = TWINS[game.name]
    bots = [number for number, _ in numbered(game, pure=True)]
    sources = [source for seed in range(100, 104) for source in states_of(game, seed)]
    exchanged = 0
    for time, state in enumerate(asked_about(game)):
        source = sources[7 * time % len(sources)]
        other = forget(game, state, int(state["player"]), source)
        exchanged += other.tobytes() != state.tobytes()
        for number in bots:
            assert twins[number].kernel(other) == twins[number].kernel(state), twins[number].names
    assert exchanged


@pytest.mark.boundscheck
@each_form
def test_one_that_remembers_chooses_what_the_file_chooses_all_game_long(game: Game) -> None:
    """Who neither draws nor is pure sits among one or several of each twin, and hears of all its own turns."""
    twins = TWINS[game.name]
    for number, player in numbered(game, pure=False):
        if draws(game.name, number):
            continue
        for episode in range(3 * GAMES_PLAYED):
            state = game.new_game(5, episode)[0]
            own = range(episode % 2, game.players, game.players if episode < GAMES_PLAYED else 2)
            acts = {seat: sit_down(player, game, seat, 0) for seat in own}
            for _ in range(DECISIONS):
                if state["over"]:
                    break
                seat = int(state["player"])
                chosen = int(twins[number if seat in acts else episode % len(twins)].kernel(state))
                if seat in acts:
                    expected = acts[seat](Turn(game, state, seat))
                    assert chosen == expected, f"{player.name}, not as its file in\n{game.scene(state, seat).text()}"
                game.step(state, chosen)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    "game", [pytest.param(*one.values, id=one.id, marks=one.marks or [pytest.mark.slow]) for one in FORMS]
)
def test_one_that_draws_draws_alike(game: Game) -> None:
    """The same choices are possible, each as often as the file makes it; and the draws are of the game's key."""
    twins = TWINS[game.name]
    bots = [(number, player) for number, player in numbered(game, pure=False) if draws(game.name, number)]
    states = [state.copy() for state in mixed_play(game)] if bots else []
    asked = states[:: len(states) // 3] if states else []
    for number, player in bots:
        for state in asked:
            seat, before = int(state["player"]), state.tobytes()
            mine, file = Counter[int](), Counter[int]()
            other = state.copy()
            turn = Turn(game, state, seat)
            first = next(one for one in states if one["key"] == state["key"] and one["player"] == seat)
            for sample in range(SAMPLES):
                other["key"] = 1000 + sample
                chosen = int(twins[number].kernel(other))
                mine[chosen] += 1
                assert twins[number].kernel(other) == chosen
                act = sit_down(player, game, seat, sample)
                act(Turn(game, first, seat))  # some remember with what they began
                file[int(act(turn))] += 1
            twins[number].kernel(state)
            assert state.tobytes() == before
            # Pearson's comparison of two samples: as many squares as there are choices less one, each 1 on average.
            squares = sum((mine[a] - file[a]) ** 2 / (mine[a] + file[a]) for a in mine | file)
            freedom = len(mine | file) - 1
            assert squares <= freedom + 5 * math.sqrt(2 * freedom) + 5 * (freedom > 0), (player.name, mine, file)


@each_form
def test_situations_are_all_that_can_be_known(game: Game) -> None:
    records, numbered = parts.need(game, parts.TWINS).situations(game), situation_kernel(game.spec.module)
    if records is None or numbered is None:
        pytest.skip("its players can know too much to be counted")
    for number in range(0, len(records), max(1, len(records) // 2000)):
        assert numbered(records[number]) == number
    for state in mixed_play(game):
        record = records[numbered(state)]
        assert not record["over"]
        there, here = int(record["player"]), int(state["player"])
        assert np.array_equal(game.observe(record, there), game.observe(state, here))
        assert game.view(record, there) == game.view(state, here)
        assert np.array_equal(game.legal(record), game.legal(state))
