"""Luck in Liar's Dice for two: by going through all that chance may bring, its mean is 0 and nothing but it varies."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np
import pytest
from variants import covering

import dicegym
from dicegym.analysis.variance_reduction import Watched
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.bidding import luck
from dicegym.games.bidding.solving.hand import HandEndings, Policy, Start, rolls, starts_of
from dicegym.games.bidding.solving.hand_tree import ExpectationTree
from dicegym.games.parts import VALUES, need
from dicegym.play.player import Player
from dicegym.players.roster import agent, opponent

NAMES = ("liarsdice", "liarsdice_spot_on")
DRAWN = [(name, bot) for name in NAMES for bot in import_module(f"dicegym.games.{name}.twins").DRAWING]
Path = tuple[np.ndarray, list[int], float]


def policy_of(game: Game, player: Player) -> Policy:
    found = luck.policy(game, player)
    assert found is not None
    return found


def opener_is_drawn(game: Game) -> bool:
    return game.name == "liarsdice_spot_on"


def paths(game: Game, players: list[Player]) -> Iterator[Path]:
    """Yield (record at the beginning, actions, how likely) of all games of one die each."""
    policies = [policy_of(game, player) for player in players]
    for opener in (0, 1) if opener_is_drawn(game) else (0,):
        faces = game.all_parameters["faces"]
        for first in range(faces):
            for second in range(faces):
                state = game.new_game()
                state["player"], state["hands"] = opener, 0
                state["hands"][0, 0, first] = state["hands"][0, 1, second] = 1
                chance = 1 / faces**2 / (2 if opener_is_drawn(game) else 1)
                yield from _on(game, policies, state, state.copy(), [], chance)


def _on(game: Game, policies: list[Any], start: np.ndarray, state: np.ndarray, made: list[int], chance: float) -> Any:
    if state[0]["over"]:
        yield start, made, chance
        return
    actions, chances = policies[int(state[0]["player"])](state)
    for action, likely in zip(actions.tolist(), chances[0].tolist(), strict=True):
        after = state.copy()
        game.step(after[0], action)
        yield from _on(game, policies, start, after, [*made, action], chance * likely)


def told(game: Game, known: list[Player | None], found: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Return (what seat 0 won, its luck) in games that went so."""
    states = np.concatenate([start for start, _, _ in found])
    meter = need(game, VALUES).meter(game, known, np.tile([0, 1], (len(found), 1)))
    assert meter is not None
    watched = Watched(states, meter)
    for time in count():
        if not len(rows := watched.open):
            break
        watched.step(rows, np.array([found[row][1][time] for row in rows.tolist()]))
    return (states["left"][:, 0] > 0).astype(float), meter.luck[:, 0]


@pytest.mark.parametrize(
    ("least", "bots", "name"),
    covering([2.0, 0.03, 0.0], [("even", "honest"), ("bayes", "even"), ("bluffer", "haphazard")], NAMES),
)
def test_its_mean_is_0_whatever_was_looked_at(
    name: str, bots: tuple[str, str], least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = dicegym.game(name, players=2, dice=1)
    players = [opponent(game, bot) for bot in bots]
    monkeypatch.setattr(luck, "WHOLE", (least,))
    monkeypatch.setattr(luck, "THRESHOLDS", (least,))
    found = list(paths(game, players))
    chances = np.array([chance for _, _, chance in found])
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    won, drawn = told(game, list(players), found)
    assert abs(chances @ drawn) < 1e-12
    left = won - drawn
    if least == 0:  # everything was looked at: all is luck
        assert np.abs(left - chances @ won).max() < 1e-12
    elif least < 1:
        assert chances @ left**2 <= chances @ won**2  # a game that is nearly sure may have a rest as large


@pytest.mark.parametrize(("faces", "bots"), [(2, ("even", "honest")), (3, ("bluffer", "bayes"))])
@pytest.mark.parametrize("name", NAMES)
def test_with_fewer_faces_all_is_luck_too(name: str, faces: int, bots: tuple[str, str]) -> None:
    game = dicegym.game(name, players=2, dice=1, faces=faces)
    players = [opponent(game, bot) for bot in bots]
    found = list(paths(game, players))
    chances = np.array([chance for _, _, chance in found])
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    won, drawn = told(game, list(players), found)
    assert np.abs(won - drawn - chances @ won).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_of_unknown_players_no_luck_is_known(name: str) -> None:
    game = dicegym.game(name, players=2, dice=1)
    players = [opponent(game, bot) for bot in ("bluffer", "honest")]
    _, drawn = told(game, [None, players[1]], list(paths(game, players)))
    assert not drawn.any()


@pytest.mark.parametrize(("name", "bot"), DRAWN)
def test_bots_draw_as_their_probabilities_say(name: str, bot: str) -> None:
    game = dicegym.game(name, players=2)
    rng, times, player = np.random.default_rng(4), 1500, opponent(game, bot)
    policy = policy_of(game, player)
    worst, drawing = 0.0, 0
    for seed in range(25):
        state = game.new_game(seed)
        for _ in range(int(rng.integers(4))):
            bids = np.flatnonzero(game.legal(state[0])[:180])
            game.step(state[0], int(bids[rng.integers(min(8, len(bids)))]))
        actions, chances = policy(state)
        assert chances.sum() == pytest.approx(1)
        many = np.repeat(state, times)
        many["key"] = rng.integers(1 << 62, size=times, dtype=np.uint64)
        chosen = player.act_rows(game, many, np.arange(times), many["player"].astype(np.int64))
        assert set(chosen.tolist()) <= set(actions[chances[0] > 0].tolist())
        drawing += len(actions) > 1
        for action, chance in zip(actions.tolist(), chances[0].tolist(), strict=True):
            error = (chance * (1 - chance) / times) ** 0.5
            worst = max(worst, abs((chosen == action).mean() - chance) / max(error, 1e-9))
    assert worst < 5
    assert drawing


@pytest.mark.parametrize("name", NAMES)
def test_hands_end_as_the_rules_say(name: str) -> None:
    game = dicegym.game(name, players=2, dice=2)
    policy = policy_of(game, opponent(game, "even"))
    tree = ExpectationTree(HandEndings(game, Start(2, 1, 1)), (policy, policy), 0.0, 1 << 20)
    counted = np.zeros(len(tree.hand.ends))
    for first, likely in zip(*rolls(2, 6), strict=True):
        for second, as_likely in zip(*rolls(1, 6), strict=True):
            state = game.new_game()
            state["left"][0, :2] = state["rolled"][0, :2] = 2, 1
            state["hands"][0, 0], state["hands"][0, 1], state["player"] = first, second, 1
            while state[0]["finished"] == 0 and not state[0]["over"]:
                game.step(state[0], int(policy(state).actions[0]))
            end = Start(*state["left"][0, :2].tolist(), 0 if state[0]["over"] else int(state[0]["player"]))
            counted[tree.hand.ends.index(end)] += likely * as_likely
    assert np.abs(tree.expected[: len(counted)] - counted).max() < 1e-12


def test_all_hands_are_known() -> None:
    assert len(starts_of(5)) == len(set(starts_of(5))) == 50
    assert starts_of(1) == [Start(1, 1, 0), Start(1, 1, 1)]


def test_at_larger_tables_there_is_no_meter() -> None:
    game = dicegym.game("liarsdice", players=3)
    assert need(game, VALUES).meter(game, [None], np.zeros((0, 3), np.int64)) is None


def test_who_only_says_that_it_draws_nothing_is_found_out() -> None:
    game = dicegym.game("liarsdice", players=2, dice=1)
    liar, even = agent(game, "even"), opponent(game, "even")
    found = [(game.new_game(3), [game.n_actions - 2], 1.0)]
    with pytest.raises(AgentError, match="must not say PURE"):
        told(game, [liar, even], found)
