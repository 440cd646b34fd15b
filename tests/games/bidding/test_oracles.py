"""Every transition of both Liar's Dice games, and what is seen, against second implementations in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

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
    "wanted", [3_000, pytest.param(25_000, marks=pytest.mark.slow)] if COMPILED else [1_500]
)
each_faces = pytest.mark.parametrize("faces", [6, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 4, 5))])
SAID_NOTHING = -1
"""The action for no answer in both games."""


def padded(rows: list[Any], blank: Any) -> list[Any]:
    return rows + [blank] * (6 - len(rows))


class Decision(NamedTuple):
    """What both sides made of one answer."""

    other: Any
    """The oracle's game, after it."""
    rounds: int
    """Hands that had ended before it."""
    play: Any
    allowed: bool
    state: Any
    view: Any


def decisions(
    name: str,
    faces: int,
    wanted: int,
    begin: Callable[..., Any],
    choose: Callable[[random.Random, Any], Any],
    action_of: Callable[[Any], int],
    legal_of: Callable[[Any], list[Any]],
) -> Iterator[Decision]:
    """Play random games on both sides; compare what the two games have in common."""
    rng, done, seed = random.Random(faces), 0, 0
    while done < wanted:
        seed += 1
        players, dice = rng.randint(2, 6), rng.choice([1, 2, 3, 4, 5, 5])
        game = dicegym.game(name, players=players, dice=dice, faces=faces)
        state = game.new_game(seed)[0]
        key = int(state["key"])
        opener = oracle_dice.draw(key, TABLE_SEAT, 0, 0, players)
        other = begin(players, dice, lambda *die, key=key: oracle_dice.die(key, *die, faces), opener, faces)
        while other.winner() is None:
            play, rounds = choose(rng, other), other.rounds
            if done % 5 == 0:
                assert np.flatnonzero(game.legal(state)).tolist() == sorted(map(action_of, legal_of(other)))
            allowed = other.play(play)
            fault = game.step(state, SAID_NOTHING if play is None else action_of(play))
            done += 1
            where, winner = f"seed {seed}, play {play}", other.winner()
            assert (fault == 0) == allowed, where
            left = other.n_dice
            for field, value in {
                "over": winner is not None,
                "left": padded(left, 0),
                "rolled": padded([len(hand) for hand in other.hands], 0),
                "hands": padded([counts(hand) for hand in other.hands], [0] * 6),
                "finished": other.rounds,
                "n_bids": len(other.bids),
                "player": other.mover if winner is None else int(state["player"]),
            }.items():
                found = state[field].tolist()
                assert found == value, f"{where}: {field} is {found}, the oracle says {value}"
            even = 1 / players  # a share of all dice is worth nothing at first, and 1 when it is all of them
            assert game.returns(state) == pytest.approx([(own / sum(left) - even) / (1 - even) for own in left])
            view: Any = game.view(state, rng.randrange(players))
            assert [(one.quantity, one.face) for one in view.bids] == other.bids
            assert [one.seat for one in view.bids] == other.bidders
            yield Decision(other, rounds, play, allowed, state, view)


def classic_play(rng: random.Random, game: LiarsDice) -> int | None:
    """Something between the sensible and the absurd."""
    kind = rng.random()
    if kind < 0.02:
        return None
    last = game.plays[-1][1] if game.plays else 10
    if kind < 0.06:
        beyond = 10 * (last // 10 + 1) + game.faces + 1
        strange = [0, 7, 17, 10, 3, 99, -5, -23, 311, 3001, 10**12, 20, rng.randrange(400), 301, 306, last, beyond]
        return rng.choice(strange)
    if kind < 0.3 and game.plays:
        return 0
    legal = [play for play in range(last + 1, last + (100 if kind < 0.35 else 11)) if game.is_bid(play)]
    return rng.choice(legal or [0])


@wanted_decisions
@each_faces
def test_classic_games_agree(faces: int, wanted: int) -> None:
    wanted = wanted if faces == 6 else max(wanted // 4, 1500)  # fewer decisions do not show every effect
    seen: Counter[str] = Counter()

    def begin(players: int, dice: int, roll: Any, opener: int, faces: int) -> LiarsDice:
        return LiarsDice(players, dice, roll, faces=faces)

    for other, rounds, play, allowed, _, view in decisions(
        "liarsdice", faces, wanted, begin, classic_play, classic.action_of, LiarsDice.legal_plays
    ):
        if other.rounds > rounds:
            ended = other.ended[-1]
            assert view.showdown.hands == tuple(tuple(sorted(cup, reverse=True)) for cup in ended.cups)
            plays = [(one.seat, 10 * one.quantity + one.face) for one in view.showdown.bids]
            assert [*plays, (view.showdown.caller, 0)] == ended.plays
            assert (view.showdown.changed, view.showdown.change) == (ended.loser, -1)
            seen["caller loses"] += ended.loser == ended.plays[-1][0]
            seen["bidder loses"] += ended.loser != ended.plays[-1][0]
            seen["unfounded"] += len(ended.plays) == 1
        seen["illegal"] += not allowed
        seen["no answer"] += play is None
        seen["wins"] += other.winner() is not None
        seen["out"] += 0 in other.n_dice
    rare = {name: n for name, n in seen.items() if n < wanted // 200}
    assert len(seen) == 7
    assert not rare, f"too few cases: {rare}"


CHALLENGES = ("Liar", "Spot on, lose two", "Spot on, gain one")
CHANGES = {"Liar": (-1,), "Spot on, lose two": (-2, -1), "Spot on, gain one": (-1, 1)}


def spot_on_move(rng: random.Random, game: SpotOn) -> Any:
    kind = rng.random()
    if kind < 0.01:
        return None
    if kind < 0.03:
        strange = ["liar", (2, 7), (0, 3), (-1, 2), [2, 3], (1.0, 3), (2, 3, 4), 17, (True, 2), (1, 1), (1, 6)]
        return rng.choice([*strange, *CHALLENGES, (10**6, 3), (2**70, 6), (31, 1), (30, game.faces + 1)])
    last = game.value(game.bids[-1]) if game.bids else 0
    if kind < 0.4 and game.bids:
        able = CHALLENGES if game.n_dice[game.mover] < game.dice else CHALLENGES[:2]
        return rng.choice(able)
    face = rng.randint(1, game.faces)
    quantity = last // 2 + 1 if face == game.faces else last + 1
    return quantity + (rng.random() < 0.2), face


def spot_on_legal(game: SpotOn) -> list[Any]:
    moves = [(quantity, face) for quantity in range(1, 31) for face in range(1, 7)]
    return [move for move in (*moves, *CHALLENGES) if game.allowed(move)]


@wanted_decisions
@each_faces
def test_spot_on_games_agree(faces: int, wanted: int) -> None:
    wanted = wanted if faces == 6 else max(wanted // 4, 1500)
    seen: Counter[str] = Counter()
    for other, rounds, move, allowed, state, _ in decisions(
        "liarsdice_spot_on", faces, wanted, SpotOn, spot_on_move, spot_on.action_of, spot_on_legal
    ):
        if other.last is not None:
            call, *last = other.last
            assert [state[field] for field in ("caller", "changed", "change")] == last
            assert state["call"] == spot_on.action_of(call)
            seen[f"{call} {last[-1]}"] += other.rounds > rounds
        seen["illegal"] += not allowed
        seen["wide"] += allowed and isinstance(move, tuple) and move[0] > 30
        seen["wins"] += other.winner() is not None
        seen["out"] += 0 in other.n_dice
    cases = [f"{call} {change}" for call, changes in CHANGES.items() for change in changes]
    assert set(seen) == {*cases, "illegal", "wide", "wins", "out"}
    rare = {name: n for name, n in seen.items() if n < wanted // 1000}
    assert not rare, f"too few cases: {rare}"
