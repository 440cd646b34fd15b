"""Hands of two in which the last bids alone are remembered: what is learned, packed, read and said of states."""

from __future__ import annotations

import itertools
import random
import runpy
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.analysis import valuers
from dicegym.errors import DamagedFileError
from dicegym.games.bidding import table
from dicegym.games.bidding.solving import recall_table
from dicegym.games.bidding.solving.hand import rolls
from dicegym.games.bidding.solving.hand_values import HandValues
from dicegym.games.bidding.solving.recall_table import RecallTable, recall_values
from dicegym.games.bidding.values import best_reply
from dicegym.play.player import Player
from dicegym.shipped import shipped_folder

FILE = "equilibrium.table"
GAMES = ("liarsdice", "liarsdice_spot_on")
MOST_BYTES = 3_000_000
each_game = pytest.mark.parametrize("game", GAMES)


solving: Any = runpy.run_path(str(shipped_folder("training") / "equilibrium_table.py"))
solve, evaluate = solving["solve"], solving["evaluate_play"]


SMALL = {name: dicegym.game(name, dice=2, faces=3) for name in GAMES}
"""With six faces it takes ten times as long."""


def solved_table(game: dicegym.Game, folder: Path) -> tuple[RecallTable, Path]:
    """Return a table of a game that was learned a little, and its file."""
    solve(game, folder / FILE, times=2, first_times=1)
    return RecallTable(game, folder / FILE), folder / FILE


@pytest.fixture(scope="module", params=GAMES)
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A game with two dice each, a table of it, and its file."""
    game = SMALL[request.param]
    return game, *solved_table(game, tmp_path_factory.mktemp(request.param))


@each_game
@pytest.mark.parametrize("recall", [2, 3])
def test_each_bid_leads_to_the_state_that_remembers_it(game: str, recall: int) -> None:
    side = recall_table.Side(dicegym.game(game), 2, 1, recall)
    rng = random.Random(1)
    for _ in range(100):
        path: tuple[int, ...] = ()
        group = member = 0
        while len(side.groups[group].bids) and rng.random() < 0.9:
            choice = rng.randrange(len(side.groups[group].bids))
            path = (*path, int(side.groups[group].bids[choice]))
            group, member = side.groups[group].leads[choice]
            assert side.find(path) == (group, member)
            assert side.groups[group].members[member] == path[-recall:]
            assert side.groups[group].last == path[-1]
    assert sum(len(group.members) for group in side.groups) == len(side.states)


class Drawing(Player):
    """Draws by a table: as `policy_rows` of its values says, or evenly among what is legal if there is none."""

    name = "drawing"

    def __init__(self, values: HandValues | None = None) -> None:
        self._values = values

    def chances(self, game: dicegym.Game, states: np.ndarray) -> np.ndarray:
        if self._values is not None:
            return self._values.policy_rows(states)
        legal = np.array([game.legal(state) for state in states])
        even: np.ndarray = legal / legal.sum(axis=1, keepdims=True)
        return even


@pytest.mark.parametrize(("faces", "room"), [(3, 2.5e-3), pytest.param(6, 1e-3, marks=pytest.mark.slow)])
def test_one_die_each_without_wild_faces_is_worth_what_koller_and_megiddo_found(
    faces: int, room: float, tmp_path: Path
) -> None:
    """And nobody gains against it: the best response remembers all bids.

    With three faces linear programs find the same value; see `tests/games/bidding/test_faces.py`.
    """
    game = dicegym.game("liarsdice", players=2, dice=1, faces=faces)
    solve(game, tmp_path / FILE, times=45)
    played = RecallTable(game, tmp_path / FILE)
    assert played.worth.opens[1, 1] == pytest.approx((1 - 1 / 9) / 2, abs=room)
    low, high, _ = best_reply(Drawing(recall_values(game, played, "recall")), game, 1e-3)
    assert 0.5 <= low <= high < 0.5 + 2 * room
    assert best_reply(Drawing(), game, 0.1).low > 0.7


def bot_of(game: str, file: Path, folder: Path, most: int | None = None) -> dict[str, Any]:
    """Return the names of the agent's file, run beside a table, of which it may be given the beginning alone."""
    source = shipped_folder("agents") / game / "equilibrium.py"
    (folder / source.name).write_text(source.read_text())
    (folder / FILE).write_bytes(file.read_bytes()[:most])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "player", types.SimpleNamespace(Player=object))  # what the interface supplies
        return runpy.run_path(str(folder / source.name))


@each_game
@pytest.mark.parametrize("dice", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_bot_reads_what_was_packed(game: str, dice: int, tmp_path: Path) -> None:
    """With more dice it reads the shipped table below."""
    (tmp_path / "packed").mkdir()
    played, file = solved_table(dicegym.game(game, dice=dice), tmp_path / "packed")
    hands = itertools.product(range(1, dice + 1), repeat=2)
    asked, known = _compare_with_bot(played, file, tmp_path, hands, every=13 if dice > 1 else 1)
    assert asked / 20 < known < asked


@each_game
def test_the_bot_goes_by_the_odds_where_the_shipped_table_does(game: str, tmp_path: Path) -> None:
    file = shipped_folder("agents") / game / FILE
    asked, known = _compare_with_bot(RecallTable(dicegym.game(game), file), file, tmp_path, [(3, 2)], every=29)
    assert 50 < known < asked - 50


def _compare_with_bot(
    played: RecallTable, file: Path, folder: Path, hands: Iterable[tuple[int, int]], every: int
) -> tuple[int, int]:
    """Ask bot and table for some states of some hands; return how many there were, and how many the table lists."""
    name = played.game.name
    bot = bot_of(name, file, folder)
    asked = known = 0
    for own, others in hands:
        side = played.hand(own, others)
        for state, (group, member) in itertools.islice(side.states.items(), 0, None, every):
            cells = side.cells[group][:, member].T
            meant = [
                action if action < table.N_BIDS else recall_table.FIRST_CALL + action - table.N_BIDS
                for action in side.actions[group].tolist()
            ]
            bids = [int(side.hand.bids[bid]) for bid in state]
            for number, counts in enumerate(rolls(own, 6).counts):
                roll = [face + 1 for face in range(6) for _ in range(counts[face])]
                dice: Any = "".join(map(str, roll)) if name == "liarsdice" else roll
                found = dict(bot["choices"](dice, others, bids))
                asked += 1
                known += bool(found)
                if not found:
                    found = dict.fromkeys(_codes_by_odds(name, bot, dice, others, bids), 1)
                total = sum(found.values())
                want = {meant[k]: p for k, p in enumerate(cells[number]) if p > 0}
                assert want == pytest.approx({code: weight / total for code, weight in found.items()})
    return asked, known


def _codes_by_odds(name: str, bot: dict[str, Any], own: Any, others: int, bids: list[int]) -> list[int]:
    """What the bot chooses from where its table says nothing, as the table writes it."""
    if name == "liarsdice":
        last = (bids[-1] // 6 + 1) * 10 + bids[-1] % 6 + 1 if bids else 0
        plays = bot["by_odds"](own, others, last)
        return [(play // 10 - 1) * 6 + play % 10 - 1 if play else recall_table.FIRST_CALL for play in plays]
    answers = bot["by_odds"](own, others, [(bid // 6 + 1, bid % 6 + 1) for bid in bids])
    calls = bot["CALLS"]
    return [
        recall_table.FIRST_CALL + calls.index(one) if one in calls else (one[0] - 1) * 6 + one[1] - 1 for one in answers
    ]


def test_values_agree_with_each_other(solved: Any) -> None:
    """Rules played out, beliefs and both seats say the same."""
    game, played, _ = solved
    valuer = recall_values(game, played, "recall")
    rng = np.random.default_rng(3)
    state, met = game.new_game(0)[0], 0
    while not state["over"]:
        me, mask = int(state["player"]), game.legal(state)
        policy, spot = valuer.policy(state), valuer.spot(state)
        assert valuer.value(state, 0) + valuer.value(state, 1) == pytest.approx(1)
        assert policy.sum() == pytest.approx(1)
        assert not policy[~mask].any()
        if spot is not None and met < 6:  # which takes long
            met += 1
            values, belief = valuer.action_values(state).values, valuer.belief(spot.strategy, spot.path)
            mean, supposed = 0.0, state.copy()
            for chance, roll in zip(belief, rolls(spot.others, game.all_parameters["faces"]).counts, strict=True):
                supposed["hands"][1 - me] = roll
                mean += chance * valuer.value(supposed, me)
            assert np.nansum(np.where(policy > 0, policy * values, 0)) == pytest.approx(mean, abs=1e-12)
            for action in rng.choice(np.flatnonzero(~np.isnan(values)), 2):
                assert valuer._by_belief(state, int(action)) == pytest.approx(values[action], abs=1e-12)
        game.step(state, int(rng.choice(len(policy), p=policy)))
    assert met > 2
    assert [valuer.value(state, seat) for seat in (0, 1)] == [float(state["left"][seat] > 0) for seat in (0, 1)]
    rows = game.batch(5, seed=1).states
    assert valuer.values_rows(rows).sum(1) == pytest.approx(np.ones(5))
    assert valuers.assess(valuer, rows).values.shape == valuer.policy_rows(rows).shape == (5, game.n_actions)


def test_many_records_are_answered_as_the_table_says(solved: Any) -> None:
    """Records of random games, in which bids that the table leaves out and games that are over occur."""
    game, played, _ = solved
    valuer = recall_values(game, played, "recall")
    rng = np.random.default_rng(8)
    met, wanted = [], []
    for seed in range(6):
        state = game.new_game(seed)[0]
        while not state["over"]:
            legal = np.flatnonzero(game.legal(state))
            met.append(state.copy())
            wanted.append(_policy_of(played, state, game.n_actions))
            game.step(state, int(rng.choice(legal[:8] if rng.random() < 0.9 else legal)))
        met.append(state.copy())
        wanted.append(np.zeros(game.n_actions))
    found = valuer.policy_rows(np.array(met))
    assert found == pytest.approx(np.array(wanted))
    assert {0, 1} == set(found.sum(axis=1).round(9))
    assert any(row[table.N_BIDS] == 1 for row in wanted)


def _policy_of(played: RecallTable, state: Any, n_actions: int) -> np.ndarray:
    """What the table says of one record, looked up as its docstrings describe it."""
    me = int(state["player"])
    hand = played.hand(int(state["left"][me]), int(state["left"][1 - me]))
    side, out = hand, np.zeros(n_actions)
    bids = list(side.hand.bids)
    made = [int(bid) // table.SEATS for bid in state["bids"][: int(state["n_bids"])]]
    if not set(made) <= set(bids):
        out[table.N_BIDS] = 1
        return out
    group, member = side.states[tuple(bids.index(bid) for bid in made)[-side.recall :]]
    (roll,) = np.flatnonzero((side.mine.counts == state["hands"][me]).all(axis=1))
    choices = [*side.hand.bids[side.groups[group].bids], *(side.hand.calls[0] if made else ())]
    out[choices] = hand.cells[group][:, member, roll]
    return out


def test_what_a_hand_is_worth_is_the_mean_over_rolls(solved: Any) -> None:
    _, played, _ = solved
    for own in (1, 2):
        for others in (1, 2):
            assert played.worth.opens[own, others] == pytest.approx(evaluate(played, (own, others)), abs=1e-6)


def test_bids_beyond_the_table_are_called(solved: Any) -> None:
    game, played, _ = solved
    valuer = recall_values(game, played, "recall")
    state = game.new_game(4)[0]
    high = (5 - 1) * table.FACES  # five ones, of four dice
    low = 0
    assert valuer.action_value(state, high) < valuer.action_value(state, low)
    if game.legal(state)[high]:
        game.step(state, high)
        values = valuer.action_values(state).values
        assert np.nanargmax(values) == int(np.argmax(valuer.policy(state))) == table.N_BIDS
    assert 0 <= valuer.action_value(state, -1) <= 1


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw[:-1],
        lambda raw: raw + b"x",
        lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]),
        lambda raw: raw.partition(b"\n")[2],
        lambda raw: b"[]\n",
    ],
)
def test_what_was_changed_is_noticed(solved: Any, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    game, _, file = solved
    changed = tmp_path / FILE
    changed.write_bytes(change(file.read_bytes()))
    with pytest.raises(DamagedFileError, match="is damaged: install dicegym again"):
        RecallTable(game, changed)


@each_game
def test_the_agent_refuses_a_table_that_is_broken_off(game: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"equilibrium\.table is broken off"):
        bot_of(game, shipped_folder("agents") / game / FILE, tmp_path, most=50_000)


def test_a_table_of_more_dice_leaves_out_what_fewer_do_not_allow() -> None:
    """With one die each nobody gains one; in hands of one die within a game of five, both may."""
    name = "liarsdice_spot_on"
    file = shipped_folder("agents") / name / FILE
    one, five = (RecallTable(dicegym.game(name, dice=dice), file) for dice in (1, 5))
    assert (one.fits(), five.fits()) == (False, True)
    assert "begin with 5 dice" in recall_values(one.game, one, "recall").sure
    assert "begin with" not in recall_values(five.game, five, "recall").sure
    assert RecallTable(dicegym.game("liarsdice", dice=1), shipped_folder("agents") / "liarsdice" / file.name).fits()
    few, many = one.hand(1, 1), five.hand(1, 1)
    for number, actions in enumerate(many.actions):
        cells = many.cells[number][np.isin(actions, few.actions[number])]
        total = cells.sum(axis=0)
        known = total > 0
        assert few.cells[number][:, known] == pytest.approx(cells[:, known] / total[known])


@each_game
def test_the_shipped_table_is_whole(game: str) -> None:
    played = dicegym.game(game)
    file = shipped_folder("agents") / game / FILE
    told = RecallTable(played, file).told
    assert file.stat().st_size < MOST_BYTES
    assert told["fingerprint"] == played.fingerprint
    assert set(told["places"]) == {f"{own}{others}" for own in range(1, 6) for others in range(1, 6)}
    valuer = valuers.valuer(played, "equilibrium")
    state = played.new_game(0)[0]
    values, policy = valuer.action_values(state).values, valuer.policy(state)
    best = np.nanmax(values)
    assert best - values[policy > 0].min() < 0.05  # what it mixes is worth nearly the same
    assert 0.2 < best < 0.8
