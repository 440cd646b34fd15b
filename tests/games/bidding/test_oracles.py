"""Every transition of both Liar's Dice games, and what is seen, against second implementations in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from bidding_tables import counts
from oracles import dice as oracle_dice
from oracles.liarsdice import LiarsDice
from oracles.liarsdice_spot_on import SpotOn

import dicegym
from dicegym.engine.jit import COMPILED
from dicegym.games.bidding.table import TABLE_SEAT
from dicegym.games.liarsdice import adapter as classic
from dicegym.games.liarsdice_spot_on import adapter as spot_on

pytestmark = pytest.mark.nojit

wanted_decisions = pytest.mark.parametrize(
    "wanted", [5_000, pytest.param(25_000, marks=pytest.mark.slow)] if COMPILED else [1_500]
)
each_faces = pytest.mark.parametrize("faces", [6, 2, 3, 4, 5])
SAID_NOTHING = -1
"""The action for no answer in both games."""


def check(state: Any, expected: dict[str, Any], where: str) -> None:
    for name, value in expected.items():
        found = state[name].tolist()
        assert found == value, f"{where}: {name} is {found}, the oracle says {value}"


def padded(rows: list[Any], blank: Any) -> list[Any]:
    return rows + [blank] * (6 - len(rows))


def rewards(dice: list[int]) -> list[float]:
    """What a share of all dice is worth: nothing at first, 1 when it is all of them."""
    even = 1 / len(dice)
    return [(own / sum(dice) - even) / (1 - even) for own in dice]


# --- classic ---------------------------------------------------------------------------------------------------


def classic_play(rng: random.Random, game: LiarsDice) -> int | None:
    """Something between the sensible and the absurd."""
    kind = rng.random()
    if kind < 0.02:
        return None
    last = game.plays[-1][1] if game.plays else 10
    if kind < 0.06:
        return rng.choice([0, 7, 17, 10, 3, 99, -5, -23, 311, 3001, 10**12, 20, rng.randrange(400), 301, 306, last])
    if kind < 0.3 and game.plays:
        return 0
    legal = [play for play in range(last + 1, last + (100 if kind < 0.35 else 11)) if game.is_bid(play)]
    return rng.choice(legal or [0])


def classic_action(play: int | None) -> int:
    return SAID_NOTHING if play is None else classic.action_of(play)


@wanted_decisions
@each_faces
def test_classic_games_agree(faces: int, wanted: int) -> None:
    rng = random.Random(faces)
    wanted = wanted if faces == 6 else max(wanted // 4, 1500)  # fewer decisions do not show every effect
    seen: Counter[str] = Counter()
    decisions = seed = 0
    while decisions < wanted:
        seed += 1
        players, dice = rng.randint(2, 6), rng.choice([1, 2, 3, 4, 5, 5])
        game = dicegym.game("liarsdice", players=players, dice=dice, faces=faces)
        state = game.new_game(seed)[0]
        key = int(state["key"])
        other = LiarsDice(
            players, dice, lambda seat, hand, n, key=key: oracle_dice.die(key, seat, hand, n, faces), faces=faces
        )
        while other.winner() is None:
            play = classic_play(rng, other)
            hands = len(other.ended)
            if decisions % 5 == 0:
                legal = sorted(classic.action_of(one) for one in other.legal_plays())
                assert np.flatnonzero(game.legal(state)).tolist() == legal
            allowed = other.play(play)
            fault = game.step(state, classic_action(play))
            decisions += 1

            where = f"seed {seed}, play {play}"
            assert (fault == 0) == allowed, where
            winner = other.winner()
            check(
                state,
                {
                    "over": winner is not None,
                    "left": padded([len(cup) for cup in other.cups], 0),
                    "rolled": padded([len(cup) for cup in other.cups], 0),
                    "hands": padded([counts(cup) for cup in other.cups], [0] * 6),
                    "finished": len(other.ended),
                    "n_bids": len(other.plays),
                }
                | ({"player": other.mover} if winner is None else {}),
                where,
            )
            assert game.returns(state) == pytest.approx(rewards([len(cup) for cup in other.cups]))
            view: Any = game.view(state, rng.randrange(players))
            assert [(one.seat, 10 * one.quantity + one.face) for one in view.bids] == other.plays
            if len(other.ended) > hands:
                ended = other.ended[-1]
                assert view.showdown.hands == tuple(tuple(sorted(cup, reverse=True)) for cup in ended.cups)
                plays = [(one.seat, 10 * one.quantity + one.face) for one in view.showdown.bids]
                assert [*plays, (view.showdown.caller, 0)] == ended.plays
                assert (view.showdown.changed, view.showdown.change) == (ended.loser, -1)
                seen["caller loses"] += ended.loser == ended.plays[-1][0]
                seen["bidder loses"] += ended.loser != ended.plays[-1][0]
            seen["illegal"] += not allowed
            seen["no answer"] += play is None
            seen["unfounded"] += len(other.ended) > hands and len(other.ended[-1].plays) == 1
            seen["wins"] += winner is not None
            seen["out"] += any(not cup for cup in other.cups)
    rare = {name: n for name, n in seen.items() if n < wanted // 200}
    assert len(seen) == 7
    assert not rare, f"too few cases: {rare}"


# --- spot on ---------------------------------------------------------------------------------------------------

CHALLENGES = ("Liar", "Spot on, lose two", "Spot on, gain one")


def spot_on_move(rng: random.Random, game: SpotOn) -> Any:
    kind = rng.random()
    if kind < 0.01:
        return None
    if kind < 0.03:
        strange = ["liar", (2, 7), (0, 3), (-1, 2), [2, 3], (1.0, 3), (2, 3, 4), 17, (True, 2), (1, 1), (1, 6)]
        return rng.choice([*strange, *CHALLENGES, (10**6, 3), (2**70, 6), (31, 1)])
    last = game.value(game.bids[-1]) if game.bids else 0
    if kind < 0.4 and game.bids:
        able = CHALLENGES if game.n_dice[game.mover] < game.dice else CHALLENGES[:2]
        return rng.choice(able)
    face = rng.randint(1, game.faces)
    quantity = last // 2 + 1 if face == game.faces else last + 1
    return quantity + (rng.random() < 0.2), face


def spot_on_legal(game: SpotOn) -> list[int]:
    moves = [(quantity, face) for quantity in range(1, 31) for face in range(1, 7)]
    return [spot_on.action_of(move) for move in (*moves, *CHALLENGES) if game.allowed(move)]


@wanted_decisions
@each_faces
def test_spot_on_games_agree(faces: int, wanted: int) -> None:
    rng = random.Random(faces)
    wanted = wanted if faces == 6 else max(wanted // 4, 1500)  # fewer decisions do not show every effect
    seen: Counter[str] = Counter()
    decisions = seed = 0
    while decisions < wanted:
        seed += 1
        players, dice = rng.randint(2, 6), rng.choice([1, 2, 3, 4, 5, 5])
        game = dicegym.game("liarsdice_spot_on", players=players, dice=dice, faces=faces)
        state = game.new_game(seed)[0]
        key = int(state["key"])
        opener = oracle_dice.draw(key, TABLE_SEAT, 0, 0, players)
        other = SpotOn(
            players,
            dice,
            lambda seat, hand, n, key=key: oracle_dice.die(key, seat, hand, n, faces),
            opener,
            faces=faces,
        )
        while other.winner() is None:
            move = spot_on_move(rng, other)
            if decisions % 5 == 0:
                assert np.flatnonzero(game.legal(state)).tolist() == sorted(spot_on_legal(other))
            rounds = other.rounds
            allowed = other.play(move)
            fault = game.step(state, SAID_NOTHING if move is None else spot_on.action_of(move))
            decisions += 1

            where = f"seed {seed}, move {move}"
            assert (fault == 0) == allowed, where
            winner = other.winner()
            expected = {
                "over": winner is not None,
                "left": padded(other.n_dice, 0),
                "rolled": padded([len(hand) for hand in other.hands], 0),
                "hands": padded([counts(hand) for hand in other.hands], [0] * 6),
                "finished": other.rounds,
                "n_bids": len(other.bids),
            }
            if winner is None:
                expected["player"] = other.mover
            if other.last is not None:
                expected |= {"caller": other.last[1], "changed": other.last[2], "change": other.last[3]}
                expected["call"] = spot_on.action_of(other.last[0])
            check(state, expected, where)
            assert game.returns(state) == pytest.approx(rewards(other.n_dice))
            view: Any = game.view(state, 0)
            assert [(one.quantity, one.face) for one in view.bids] == other.bids
            assert [one.seat for one in view.bids] == other.bidders
            if other.rounds > rounds and other.last is not None:
                seen[f"{other.last[0]} {other.last[3]}"] += 1
            seen["illegal"] += not allowed
            seen["wide"] += allowed and isinstance(move, tuple) and move[0] > 30
            seen["wins"] += winner is not None
            seen["out"] += 0 in other.n_dice
    cases = [f"{CHALLENGES[0]} -1", *(f"{CHALLENGES[1]} {change}" for change in (-2, -1))]
    cases += [f"{CHALLENGES[2]} {change}" for change in (-1, 1)]
    assert set(seen) == {*cases, "illegal", "wide", "wins", "out"}
    rare = {name: n for name, n in seen.items() if n < wanted // 1000}
    assert not rare, f"too few cases: {rare}"
