"""Restricted Nash responses: a bot whose ways are known is beaten, and who finds out how gains little."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import one_always

import dicegym
from dicegym.analysis import solving, valuers
from dicegym.errors import ParameterError
from dicegym.games.bidding import table
from dicegym.games.bidding.solving import hand_by_hand, recall_pack, recall_reply, restricted_game
from dicegym.games.bidding.solving.recall_hand import HandSolver, Side
from dicegym.games.bidding.solving.recall_table import RecallTable
from dicegym.games.bidding.solving.recall_values import RecallValues
from dicegym.games.bidding.solving.restricted_hand import FREE, KNOWN, RestrictedHand, known_cells
from dicegym.games.bidding.table import SEATS
from dicegym.games.solved import tables_folder
from dicegym.learning.teacher import Teacher

GAMES = ("liarsdice", "liarsdice_spot_on")
BOT = "bayes"
each_game = pytest.mark.parametrize("name", one_always(GAMES))


def no_progress(done: int, of: int, what: str) -> None:
    assert 0 <= done <= of
    assert what


def known_by(name: str) -> restricted_game.Known:
    known: restricted_game.Known = import_module(f"dicegym.games.{name}.solutions").known
    return known


def known_of(game: dicegym.Game) -> Any:
    return known_by(game.name)(game, BOT)


def learned(game: dicegym.Game, share: float, times: int) -> tuple[RestrictedHand, np.ndarray]:
    """The last hand of a game, one die each, learned; and what it is worth in both worlds."""
    hand = RestrictedHand(game, 1, 1, 3, known_of(game), share)
    hand.begin(np.zeros((2, 2, 2, 2)))
    for _ in range(times):
        hand.iterate()
    return hand, hand.evaluate()


@each_game
def test_a_known_player_is_asked_in_the_very_situations(name: str) -> None:
    """What it does after one and two bids, with each roll, as records of games that came there say."""
    game = dicegym.game(name, dice=2, players=2)
    known, side = known_of(game), Side(game, 2, 1, 2)
    cells = known_cells(game, side, known)
    places = {int(bid): place for place, bid in enumerate(side.hand.bids)}
    rng = np.random.default_rng(2)
    checked = 0
    for seed in range(200):
        state = game.new_game(seed)[0]
        mover = int(state["player"])
        made = int(rng.integers(0, 3))
        me = (mover + made) % 2
        state["left"][[me, 1 - me]] = state["rolled"][[me, 1 - me]] = 2, 1
        for _ in range(made):
            legal = [bid for bid in places if game.legal(state)[bid]]
            game.step(state, int(rng.choice(legal[: len(legal) // 2])))
        state["hands"][me] = roll = side.mine.counts[rng.integers(len(side.mine.counts))]
        path = tuple(places[int(bid) // SEATS] for bid in state["bids"][:made])
        group, member = side.tree.states[path]
        begin, end = side.tree.first[group : group + 2]
        choices = [*side.hand.bids[side.tree.bid[begin:end]], *side.hand.calls]
        (number,) = np.flatnonzero((side.mine.counts == roll).all(axis=1))
        found = np.zeros(game.n_actions)
        found[choices] = side.of_cells(cells, group)[number, member]
        mixture = known(np.array([state]))
        wanted = np.zeros(game.n_actions)
        wanted[mixture.actions] = mixture.chances[0]
        if wanted[choices].sum() > 1 - 1e-9:  # else it bids what the table leaves out
            assert found == pytest.approx(wanted, abs=1e-6)
            checked += 1
    assert checked > 100
    for group in range(side.groups):
        assert side.of_cells(cells, group).sum(axis=2) == pytest.approx(1, abs=1e-5)


def test_who_meets_the_bot_hardly_ever_plays_an_equilibrium() -> None:
    game = dicegym.game("liarsdice", dice=1, players=2)
    solver = HandSolver(game, 1, 1, 3)
    solver.begin(np.zeros((2, 2)))
    for _ in range(100):
        solver.iterate()
    (opens,) = solver.evaluate()
    _, worth = learned(game, 1e-6, 100)
    assert worth[FREE] == pytest.approx([opens, 1 - opens], abs=2e-3)


@each_game
@pytest.mark.parametrize(("own", "others"), [pytest.param(2, 1, marks=pytest.mark.slow), (1, 2)])
def test_so_it_does_where_dice_differ_and_more_hands_follow(name: str, own: int, others: int) -> None:
    """Whoever opens, and whatever the hands that follow are worth to either."""
    game = dicegym.game(name, dice=2, players=2)
    opens = np.array([[0.5, 0.1, 0.0], [0.9, 0.45, 0.2], [1.0, 0.85, 0.55]])
    solver = HandSolver(game, own, others, 3)
    solver.begin(opens)
    hand = RestrictedHand(game, own, others, 3, known_of(game), 1e-6)
    hand.begin(np.array([[opens, 1 - opens.T]] * 2))
    for _ in range(60):
        solver.iterate()
        hand.iterate()
    mine, theirs = solver.evaluate()
    assert hand.evaluate()[FREE] == pytest.approx([mine, 1 - theirs], abs=4e-3)


@each_game
def test_the_more_it_meets_the_bot_the_more_it_wins_of_it_and_gives_away(name: str) -> None:
    """One die each, against the best reply, which remembers all bids."""
    game = dicegym.game(name, dice=1, players=2)
    ends = np.full((2, 2, 2), 0.5)
    won, given = [], []
    for share in (0.05, 0.5, 0.95):
        hand, worth = learned(game, share, 80)
        won.append(worth[KNOWN].mean())
        best, _ = recall_reply.reply_values(hand, ends, recall_pack.pruned(hand.sides))
        given.append(best[1].mean())  # the reply has the other side
        assert given[-1] >= 1 - worth[FREE].mean() - 5e-3  # who learned is no better than the best
    assert won[0] < won[1] + 1e-3 < won[2] + 2e-3
    assert given[0] < given[1] + 1e-3 < given[2] + 2e-3
    assert given[0] < 0.54
    assert won[2] > won[0] + 0.003
    assert given[2] > given[0] + 0.02


@pytest.fixture(scope="module", params=one_always(GAMES))
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The game with two dice each, and the folder of a table that was learned a little."""
    game = dicegym.game(request.param, dice=2, players=2)
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restricted_game, "TIMES", 5)
        patch.setattr(hand_by_hand, "FIRST_TIMES", 2)
        solution = restricted_game.RestrictedSolution(game, BOT, known_by(game.name), 0.5)
        assert solution.quality(folder) is None
        assert solution.solve(folder, goal=0, seconds=None, threads=1, progress=no_progress) == 0
        assert solution.quality(folder) == 0
    return game, folder


def test_what_was_made_against_another_or_with_another_share_is_no_such_table(
    solved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, folder = solved
    monkeypatch.setattr(restricted_game, "TIMES", 5)  # as it was solved
    monkeypatch.setattr(hand_by_hand, "FIRST_TIMES", 2)
    for bot, share in ((BOT, 0.4), ("haphazard", 0.5)):
        other = restricted_game.RestrictedSolution(game, bot, known_by(game.name), share)
        assert other.quality(folder) is None
        assert other._kept(folder)[1:] == ({}, 0)
    same = restricted_game.RestrictedSolution(game, BOT, known_by(game.name), 0.5)
    assert same._kept(folder)[2] > 0


def wins_of(game: dicegym.Game, values: RecallValues, games: int) -> float:
    """In how many games who draws by a table beats the bot."""
    bot, rng, won = known_of(game), np.random.default_rng(1), 0
    for seed in range(games):
        state = game.new_game(seed)[0]
        me = seed % 2
        while not state["over"]:
            if state["player"] == me:
                chances = values.policy(state)
                action = rng.choice(len(chances), p=chances / chances.sum())
            else:
                mixture = bot(np.array([state]))
                action = rng.choice(mixture.actions, p=mixture.chances[0])
            game.step(state, int(action))
        won += int(state["left"][me] > 0)
    return won / games


def test_the_table_beats_the_bot(solved: Any) -> None:
    """Twice the standard error of these games is 0.035."""
    game, folder = solved
    table_of = RecallTable(game, folder / restricted_game.FILE, restricted_game.NAME)
    assert wins_of(game, RecallValues(game, table_of), 800) > 0.55


def test_what_is_solved_teaches(solved: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the source `restricted`, whose policies a learner imitates as they are mixed."""
    game, folder = solved
    monkeypatch.setenv("DICEGYM_TABLES", str(tmp_path))
    assert "restricted" not in [source.name for source in valuers.sources(game)]  # nobody can solve it there
    share = {"now": 0.5}
    about = import_module(f"dicegym.games.{game.name}.solutions")
    made = restricted_game.RestrictedSolution
    monkeypatch.setattr(about, "solutions", lambda game: (made(game, BOT, known_by(game.name), share["now"]),))
    with pytest.raises(ParameterError, match=f"dicegym solve {game.name} restricted"):
        Teacher(game, "restricted", 0.02)
    into = tables_folder(game, restricted_game.NAME)
    into.mkdir(parents=True)
    (into / restricted_game.FILE).write_bytes((folder / restricted_game.FILE).read_bytes())
    states = game.batch(20, seed=3).states
    lesson = Teacher(game, "restricted", 0.02).lesson(states)
    source = valuers.valuer(game, "restricted")
    assert source.kind == "strategy"
    assert lesson.costs is None
    assert lesson.policies == pytest.approx(source.policy_rows(states), abs=1e-6)
    assert (lesson.policies[:, : table.N_BIDS].sum(axis=1) > 0.999).all()  # who opens bids
    share["now"] = 0.4
    with pytest.raises(ParameterError, match="is not solved"):
        Teacher(game, "restricted", 0.02)


def test_what_was_interrupted_ends_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restricted_game, "TIMES", 1)
    monkeypatch.setattr(hand_by_hand, "FIRST_TIMES", 1)
    game = dicegym.game("liarsdice_spot_on", dice=2, players=2)
    solution = restricted_game.RestrictedSolution(game, BOT, known_by(game.name), 0.3)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    solution.solve(whole, goal=0, seconds=None, threads=1, progress=no_progress)

    def until(done: int, of: int, what: str) -> None:
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solution.solve(parts, goal=0, seconds=None, threads=1, progress=until)
    assert solution._kept(parts)[2] > 0
    solution.solve(parts, goal=0, seconds=None, threads=1, progress=no_progress)
    assert (parts / restricted_game.FILE).read_bytes() == (whole / restricted_game.FILE).read_bytes()


def test_what_cannot_be_is_told(tmp_path: Path) -> None:
    game = dicegym.game("liarsdice", dice=2, players=2)
    for share in (0, 1, -0.5, float("nan")):
        with pytest.raises(ParameterError, match="share="):
            restricted_game.RestrictedSolution(game, BOT, known_by("liarsdice"), share)
    unknown = restricted_game.RestrictedSolution(game, "observer", known_by("liarsdice"), 0.3)
    with pytest.raises(ParameterError, match="'observer' draws or remembers"):
        unknown.solve(tmp_path, goal=0, seconds=None, threads=1, progress=no_progress)


@pytest.mark.parametrize(
    ("name", "dice"),
    [("liarsdice", 3), ("liarsdice", 4), ("liarsdice", 5), *(("liarsdice_spot_on", n) for n in (4, 5))],
)
def test_it_is_among_what_can_be_solved(name: str, dice: int) -> None:
    found = solving.solutions(dicegym.game(name, dice=dice, players=2))
    assert [one.name for one in found] == ["equilibrium", "restricted"]
    assert "restricted" in [one.name for one in valuers.sources(dicegym.game(name, dice=dice, players=2))]
