"""The bench: every mode gives figures, what is missing is told, and what can be chosen is."""

from __future__ import annotations

import importlib
import types
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from short_benches import measured, quiet

import dicegym
from benchmarks import contest, isolation, memory, peers, plans, ratios, report, search, solving, start
from benchmarks import run as bench_run
from benchmarks.decisions import decisions_per_step
from benchmarks.figures import Figure, Measure, Skipped
from benchmarks.loops import LOOPS
from benchmarks.modes import DEFAULT_MODES, LOOP_MODES, MODES
from benchmarks.options import Options
from benchmarks.result import BenchResult
from benchmarks.run import in_turn
from benchmarks.training_setup import TrainingSetup
from dicegym.bench import AT_A_TIME, Work, bare_batch
from dicegym.errors import DependencyError, UnknownNameError
from dicegym.registry import ENVIRONMENTS, GAMES
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.jobs import entry

pytestmark = pytest.mark.slow

HOG = next(environment for environment in ENVIRONMENTS if environment.game == "hog")
TINY = TrainingSetup(games=8, single=2, rollout=64, batch_size=32, epochs=1, configurations=False)


@pytest.fixture
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SIZES", (64, 192))


@pytest.mark.parametrize("mode", LOOP_MODES)
def test_a_loop_counts_decisions_a_second(played: BenchResult, mode: str) -> None:
    found = [figure for figure in played.figures if figure.mode == mode and figure.section == "speed"]
    if mode == "sb3" and not found:
        assert "pip install -e '.[train]'" in played.skipped[0].why
        pytest.skip("Stable-Baselines3 is not installed")
    both = ["learner steps/s", "decisions/s"]
    assert [figure.unit for figure in found] == (both if mode in ("make_vec", "make", "sb3") else both[1:])
    assert {figure.subject for figure in found} == {"Hog-v0"}
    assert {len(figure.values) for figure in found} == {2}
    assert min(min(figure.values) for figure in found) > 0
    if mode == "sb3":
        assert found[1].median > 1.5 * found[0].median


def test_decisions_of_all_players_are_those_of_the_games_played() -> None:
    """In Hog players take turns, so a step of the learner stands for two decisions, nearly."""
    assert decisions_per_step(HOG, 100) == pytest.approx(2.0, abs=0.1)
    alone = next(environment for environment in ENVIRONMENTS if not environment.multi)
    assert decisions_per_step(alone) == 1.0


def test_threads_have_rows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "LARGE", 512)
    result = measured("threads", threads=(1, 2))
    many = [figure for figure in result.figures if figure.section == "many" and figure.unit == "decisions/s"]
    assert [figure.what for figure in many] == [
        "bare batch of 512 on 1 thread",
        "bare batch of 512 on 2 threads",
        "make_vec of 512 on 1 thread",
        "make_vec of 512 on 2 threads",
    ]
    gains = [figure for figure in result.figures if figure.section == "ratio"]
    assert [figure.goal for figure in gains] == [("at least", ratios.SPEED_UP)] * 2
    assert gains[0].median == pytest.approx(many[1].median / many[0].median)
    assert not measured("threads").figures[:-1]  # one thread alone is what the other modes measure


def test_a_batch_stands_beside_its_limits() -> None:
    result = measured("limits", repeats=1)
    figures = {figure.what: figure for figure in result.figures if figure.section == "limits"}
    size, mixes, writes, mixing, limit, batch, share = (figure.median for figure in figures.values())
    game = dicegym.game("hog")
    assert size == 4 * game.observation_size + game.n_actions
    # An action out of twelve at random mixes one number, the turn's seed two, and 55 / 12 dice are rolled.
    assert mixes == pytest.approx(3 + 55 / 12, abs=0.6)
    assert writes > 0
    assert mixing > 0
    assert share == pytest.approx(100 * batch / limit)
    assert limit == pytest.approx(1 / (size / (1e9 * writes) + mixes / (1e9 * mixing)))


@pytest.mark.slow
def test_memory_counts_what_a_batch_holds(small_sizes: None) -> None:
    game = dicegym.game("hog")
    bare = memory.bytes_per_game(lambda n: bare_batch(HOG, n), game.observation_size)
    arrays = game.spec.state.itemsize + game.n_actions + 4 * game.players + 3 * 8 + 1
    assert bare == pytest.approx(arrays, abs=8)
    held: list[np.ndarray] = []

    def hoarding(n: int) -> Work:
        held[:] = [np.zeros(1000 * n, np.uint8)]
        return lambda: n

    # Python itself takes a hundred bytes now and then.
    assert memory.bytes_per_game(hoarding, 0) == pytest.approx(1000, abs=4)


@pytest.mark.slow
def test_memory_of_every_batch(small_sizes: None) -> None:
    found = {(f.mode, f.what): f for f in measured("memory").figures if f.subject == "Hog-v0"}
    assert {mode for mode, _ in found} >= {"", "batch", "make_vec"}
    assert all(figure.unit == "bytes" and figure.median > 0 for figure in found.values())
    goals = {figure.goal for (mode, _), figure in found.items() if mode}
    assert goals == {("at most", 1024)}


@pytest.mark.parametrize("mode", [mode for mode in LOOP_MODES if mode != "sb3"])
def test_the_first_step_of_a_mode_is_a_step(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The code that a new process runs works, here without the process."""
    *first, warm = start.measures(HOG, mode)
    assert [measure.repeats for measure in first] == [1] * (mode in start.FIRST_CALLS)
    assert warm.figures[0].unit == "s"
    code = warm.run.args[0]
    exec(compile(code, mode, "exec"), {})
    assert float(capsys.readouterr().out) > 0


def test_a_start_is_timed_in_a_process_of_its_own() -> None:
    code = "import os; print(len(os.listdir(os.environ['DICEGYM_CACHE'])))"
    assert start.process(code, fresh_cache=True) == [0.0]
    (seconds,) = start.import_measure().run()
    assert seconds > 0


def test_a_long_run_says_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_run, "SILENCE", -1.0)
    told: list[str] = []
    measures = [Measure((Figure("s", subject, "w", "u", mode="m"),), lambda: [1.0]) for subject in "ab"]
    assert [figure.median for figure in in_turn(measures, 1, told.append)] == [1.0, 1.0]
    titles = [line.rpartition(": ")[2] for line in told if ": " in line]
    assert titles == ["a, w (m)", "b, w (m)"] * 2
    assert "2 of 2" in told[-1]


def test_the_contest_leaves_out_what_a_game_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "scripted", lambda name: [])
    monkeypatch.setattr(contest, "solver", lambda game: None)
    assert contest.entries("any", tmp_path / "copies") == []
    monkeypatch.setattr(contest, "scripted", lambda name: [Path("a.py"), Path("b.py")])
    monkeypatch.setattr(contest, "quickest", lambda game: "a")
    monkeypatch.setattr(isolation, "measures", lambda game, file: iter([]))
    monkeypatch.setattr(isolation, "working_levels", lambda: ["none"])
    one, two = (types.SimpleNamespace(name="any", players=n) for n in (1, 2))
    assert list(contest.measures(two, [])) == list(contest.measures(one, ["a.py"])) == []
    whats = [figure.what for measure in contest.measures(two, ["a.py", "b.py"]) for figure in measure.figures]
    assert whats == [
        "contest of 2 entries, trusted",
        "matches of a contest of 2 entries, trusted",
        "contest of 2 entries, copies at isolation none",
        "matches of a contest of 2 entries, copies at isolation none",
        "a move in a match of a, its own time included",
    ]


@pytest.mark.parametrize("name", list(GAMES))
def test_entries_are_copies_of_the_scripted_agents_with_what_they_import(name: str, tmp_path: Path) -> None:
    copies = contest.entries(name, tmp_path / name)
    agents = contest.trusted(name, copies)
    assert len(copies) == len(agents) == contest.ENTRIES
    game = dicegym.game(name)
    for copy in copies:
        assert not entry(game, Path(copy).stem, copy).trusted
        assert entry(game, "of the same", agents[Path(copy).stem]).trusted
        player = dicegym.agent(game, copy)
        assert player.name == Path(copy).stem


def test_a_contest_and_its_moves_take_time(tmp_path: Path) -> None:
    copies, game = contest.entries("hog", tmp_path / "hog"), dicegym.game("hog")
    whole, matches = contest.contest_seconds(game, copies[:2], Isolation.NONE)
    assert 0 < matches < whole
    assert contest.move_microseconds(game, "always_roll", 1) > 0


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> isolation.Played:
    """Return a bot that remembers, with what it was asked."""
    file = tmp_path_factory.mktemp("bots") / "counts.py"
    file.write_text(
        "asked = []\n\ndef final_strategy(*scores):\n    asked.append(scores)\n    return len(asked) % 11\n"
    )
    return isolation.played(dicegym.game("hog"), file)


@pytest.mark.parametrize("level", isolation.working_levels())
def test_what_it_costs_to_keep_a_bot_apart(
    bot: isolation.Played, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (bot.questions[0], len(bot.questions) > 5) == ((0, 0), True)
    assert all(0 <= score < 100 for question in bot.questions for score in question)
    for name, few in (("QUESTIONS", 100), ("STARTS", 1), ("AT_ONCE", 2)):
        monkeypatch.setattr(isolation, name, few)
    measured = list(isolation.measures(bot.game, bot.source.file))
    own = {figure.what.partition(":")[0] for measure in measured for figure in getattr(measure, "figures", ())}
    assert own == set(isolation.working_levels())
    median, slow, alone = isolation.message_microseconds(bot, level)
    assert slow >= median > 0 < alone
    assert min(*isolation.host_milliseconds(bot, level), *isolation.child_milliseconds(bot, level)) > 0


def test_a_level_that_does_not_work_here_is_told(bot: isolation.Played, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(level: str) -> None:
        if level == Isolation.JAIL:
            raise DependencyError("no bubblewrap")

    monkeypatch.setattr(isolation.jail, "choose", chosen)
    (skipped,) = (one for one in isolation.measures(bot.game, bot.source.file) if isinstance(one, Skipped))
    assert skipped == Skipped("hog, bots at isolation jail", "no bubblewrap")


def test_the_load_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    from benchmarks import server_flood, server_load

    monkeypatch.setattr(server_load, "measure", lambda game, seconds: server_load.ServerLoad(120.0, 0.5, 50))
    monkeypatch.setattr(
        server_flood, "measure", lambda game, flood, s: server_flood.Latency(0.5 if flood else 0.25, 1.0)
    )
    result = measured("server", games=("hog", "yatzy"))
    figures = [(f.subject, f.median, f.unit) for f in result.figures if f.section == "server"]
    assert figures[:3] == [("yatzy", 120.0, "turns/s"), ("yatzy", 50.0, "%"), ("yatzy", 50.0, "games")]
    waits = {f.what: f.median for f in result.figures if f.unit == "ms"}
    assert len(waits) == 2 * (1 + len(server_flood.FLOODS))
    assert waits["wait after a move, nobody floods: median"] == 0.25
    assert waits["wait after a move, a stream of `{`: median"] == 0.5


def test_training_is_measured_beside_single_environments_and_the_ceiling() -> None:
    pytest.importorskip("sb3_contrib")
    result = measured("training", setup=TINY, repeats=1)
    ours, singles, free, share, _, gain, of_ceiling = (f for f in result.figures if f.section == "training")
    assert {figure.unit for figure in (ours, singles, free)} == {"steps/s"}
    assert min(ours.median, singles.median, free.median) > 0
    assert 0 < share.median < 100
    assert gain.median == pytest.approx(ours.median / singles.median)
    assert of_ceiling.median == pytest.approx(100 * ours.median / free.median)
    assert (share.goal, gain.goal, of_ceiling.goal) == (("at most", 5.0), ("at least", 3.0), ("at least", 95.0))
    assert "rollouts of 64 steps" in report.plain(result)


def test_missing_peers_are_reported_with_the_way_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def absent(name: str) -> ModuleType:
        if name.partition(".")[0] in ("pyspiel", "rlcard", "jax"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name.startswith("pettingzoo.classic"):
            raise RuntimeError("out of order")
        return real(name)

    monkeypatch.setattr(peers.importlib, "import_module", absent)
    result = measured("peers")
    why = {entry.what.split(",")[0]: entry.why for entry in result.skipped}
    assert why["OpenSpiel pig"] == f"pyspiel is not installed: {peers.HOW}"
    assert why["PettingZoo leduc_holdem_v4"] == "it failed here: RuntimeError: out of order"
    assert len(why) == len(result.skipped) == len(peers.PEERS) - 2
    left = [figure for figure in result.figures if figure.peer]
    assert [(figure.subject, figure.mode) for figure in left] == [
        ("Gymnasium CartPole-v1", "make"),
        ("Gymnasium CartPole-v1", "make_vec"),
    ]
    assert min(figure.median for figure in left) > 0
    assert "pip install --group peers" in report.plain(result)


@pytest.mark.parametrize("peer", [p for p in peers.PEERS if not p.name.startswith("pgx")], ids=lambda p: p.name)
def test_every_peer_that_is_installed_plays(peer: peers.Peer) -> None:
    """Those of pgx are compiled for half a minute each; `python -m benchmarks measure peers` says whether they play."""
    try:
        work = peer.make()
    except ImportError:
        pytest.skip("not installed")
    assert work() >= AT_A_TIME
    assert peer.mode in LOOP_MODES


def test_searches_are_measured_beside_peers() -> None:
    found = search.plan([dicegym.game("hog")], 0.01)
    measures = [one for one in found if isinstance(one, Measure)]
    assert min(measure.run()[0] for measure in measures) > 0
    names = [figure.what.partition(",")[0] for measure in measures for figure in measure.figures]
    assert names.count("mcts") == 3
    assert len(found) == 3 + len(search.PEERS)


def test_solving_is_measured_in_a_process_of_its_own_for_the_games_that_are_named() -> None:
    found = solving.measure(dicegym.game("liarsdice_spot_on", dice=2), "equilibrium", "what is left")
    time, memory, disk, left = found.run()
    assert [figure.unit for figure in found.figures] == ["s", "MiB", "MB", ""]
    assert {figure.subject for figure in found.figures} == {"liarsdice_spot_on equilibrium dice=2"}
    assert min(time, memory, disk) > 0
    assert left < 0.01
    whole = {figure.subject.split()[0] for one in solving.measures(("hog", "liarsdice")) for figure in one.figures}
    assert whole == {"liarsdice"}
    assert list(solving.measures(("lucky",))) == []


# --- modes ---------------------------------------------------------------------------------------------------------


def test_a_mode_is_declared_once_has_all_that_modes_have_and_is_chosen_by_name() -> None:
    assert list(plans.PLANS) == list(MODES)
    assert set(LOOPS) == set(start.FIRST_STEP) == set(LOOP_MODES)
    assert set(plans.ONE_SEAT) < set(LOOP_MODES)
    assert all(mode.measures and mode.name == name for name, mode in MODES.items())
    assert Options().chosen_modes == DEFAULT_MODES
    assert set(Options(("all",)).chosen_modes) == set(MODES)
    assert Options(("aec", "batch")).chosen_modes == ("batch", "aec")
    assert [e.id for e in Options(games=("yatzy",)).environments] == ["Yatzy-v0", "YatzySolo-v0"]
    with pytest.raises(UnknownNameError):
        Options(("x",)).check()


def test_measures_run_in_turn_and_no_more_often_than_makes_sense() -> None:
    seen = []

    def measure(name: str, repeats: int | None = None) -> Measure:
        figure = Figure("speed", name, "x", "y")
        work, warm = lambda: [seen.append(name) or len(seen)], lambda: seen.append(f"warm {name}")
        return Measure((figure,), work, warm, repeats)

    found = in_turn([measure("a"), measure("b", 1)], 2, quiet)
    assert seen == ["warm a", "warm b", "a", "b", "a"]
    assert [figure.values for figure in found] == [[3.0, 5.0], [4.0]]
