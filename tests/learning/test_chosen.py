"""Models chosen by what is left to them against an exploiter, and what cards and commands say of floors."""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from small_runs import CHOSEN, SMALL, rows_of, score_of

import dicegym
from dicegym.cli import main
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.learning import approximate_best_response
from dicegym.learning.approximate_best_response import against_exploiter
from dicegym.learning.building import new_games, new_model
from dicegym.learning.card import page
from dicegym.learning.configuration import from_plain, override
from dicegym.learning.curves import choice_fact
from dicegym.learning.evaluate import Score
from dicegym.learning.evaluator import EXPLOITER, Evaluator, against_best_reply, floors_of
from dicegym.learning.learner import Interruption, LearnerNetworks, StopTraining
from dicegym.learning.preparation import prepare
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.shipped import shipped_folder

pytestmark = pytest.mark.usefixtures("short_cards", "quick_exploiters")

MEASURED = [
    *CHOSEN,
    "game.dice=2",
    "run.best_by=exploiter",
    "run.exploiter_steps=512",
    "run.evaluate_games=200",
    'run.evaluate_against=["even"]',
]
SAVING = "interrupted"


@pytest.fixture(scope="module")
def whole(training: Any, short_cards: None, quick_exploiters: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chosen") / "run"
    training.train("liarsdice", folder, overrides=MEASURED)
    return folder


def test_the_best_model_is_the_one_that_keeps_most_against_its_exploiter(whole: Path) -> None:
    rows = rows_of(whole)
    assert list(rows[0]) == ["steps", "score", "even", EXPLOITER]
    assert all(row["score"] == row[EXPLOITER] != row["even"] for row in rows)
    values = [float(row[EXPLOITER]) for row in rows]
    assert len(set(values)) > 1
    about = models.facts(whole / "best.zip")
    assert about["score"]["value"] == pytest.approx(max(values), abs=1e-8)
    assert about["score"]["games"] == 200


def test_a_training_is_the_same_whether_exploiters_measure_it_or_not(
    whole: Path, training: Any, tmp_path: Path
) -> None:
    training.train("liarsdice", tmp_path / "run", overrides=[one for one in MEASURED if "exploiter" not in one])
    assert [row["score"] for row in rows_of(tmp_path / "run")] == [row["even"] for row in rows_of(whole)]
    both = [models.load(folder / "model.zip").plain_network().layers for folder in (whole, tmp_path / "run")]
    assert all((a.weight == b.weight).all() for a, b in zip(*both, strict=True))


@pytest.mark.parametrize("where", ["in a rollout", "in an exploiter"])
def test_a_run_that_was_interrupted_is_the_same(whole: Path, training: Any, where: str, tmp_path: Path) -> None:
    """Also where an exploiter was being trained."""
    told: list[str] = []

    def progress(done: int, total: int, text: str) -> None:
        exploits = text.startswith("measuring: a best response to learner")
        at = done == (512 if where == "in an exploiter" else 512 + 16 * 5)
        if at and exploits == (where == "in an exploiter") and SAVING not in told:
            told.append(SAVING)
            run.interrupt(signal.SIGINT)
        told.append(text)

    folder = tmp_path / "cut"
    run = training.Run(prepare("liarsdice", folder, None, MEASURED, False), progress)
    with pytest.raises(KeyboardInterrupt, match="512 steps are saved"):
        run.learn()
    assert any("a best response" in text for text in told[told.index(SAVING) :])  # measured before it left
    assert rows_of(folder)[-1]["steps"] == "512"
    training.train("liarsdice", folder, resume=True)
    for name in ("curve.csv", "evaluations.csv"):
        assert (folder / name).read_text() == (whole / name).read_text()
    kept = [models.facts(one / "best.zip")["score"] for one in (folder, whole)]
    assert kept[0] == kept[1]


def learner_at(game: dicegym.Game, **algorithm: Any) -> tuple[Any, Any, LearnerNetworks]:
    """Return settings, a learner that has learned nothing, and its networks."""
    plain = {"run": {"games": 8, "torch_threads": 1, "evaluate_games": 600}, "network": {"net_arch": [16]}}
    settings = from_plain(plain | {"algorithm": {"n_steps": 8, **algorithm}})
    settings = override(settings, ["run.exploiter_steps=4096"])
    model = new_model(settings, new_games(game, settings, 1, "even"), 1, None)
    met = np.ones(model.observation_space.shape, np.bool_)
    return settings, PolicyPlayer(model, game, "learner", temperature=1.0), LearnerNetworks.of(model, met)


def test_an_exploiter_leaves_no_less_than_the_best_reply() -> None:
    """Of one who plays nearly at random it takes nearly all, and never more than can be had."""
    game = dicegym.game("liarsdice", dice=1)
    settings, player, networks = learner_at(game)
    told: list[str] = []
    left = against_exploiter(settings, player, networks, 5, Interruption(), told.append)
    assert left == against_exploiter(settings, player, networks, 5, Interruption(), told.append)
    assert against_best_reply(game, player).value < left.high
    assert left.low < left.value < left.high < 0.45
    assert (left.opponent, left.games) == (EXPLOITER, 600)
    assert "of 4,096 steps" in told[-1]
    other = against_exploiter(settings, player, networks, 6, Interruption(), told.append)
    assert other != left  # each evaluation draws anew


def test_at_larger_tables_what_is_left_is_each_copy_s_share() -> None:
    game = dicegym.game("liarsdice", dice=1, players=3)
    settings, player, networks = learner_at(game)
    taken: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        original = approximate_best_response.evaluate

        def measured(*arguments: Any, **more: Any) -> Score:
            taken.append(original(*arguments, **more))
            return taken[-1]

        patch.setattr(approximate_best_response, "evaluate", measured)
        left = against_exploiter(settings, player, networks, 5, Interruption(), str)
    assert left.value == pytest.approx((1 - taken[-1].value) / 2)
    assert left.low == pytest.approx((1 - taken[-1].high) / 2)


def test_an_exploiter_ends_when_its_run_is_to_end() -> None:
    settings, player, networks = learner_at(dicegym.game("liarsdice", dice=1))
    interruption = Interruption()
    interruption.ask()
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - what Stable-Baselines3 draws from
    with pytest.raises(StopTraining):
        against_exploiter(settings, player, networks, 5, interruption, str)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_who_has_no_policy_meets_an_exploiter_with_fresh_networks(training: Any, tmp_path: Path) -> None:
    learns_values = [
        "algorithm={name='DQN',buffer_size=100,learning_starts=10}",
        "run.steps=64",
        "run.evaluate_every=64",
    ]
    wanted = [*MEASURED, "run.exploiter_steps=256", *learns_values]
    training.train("liarsdice", tmp_path / "run", overrides=wanted)
    assert all(0 <= float(row[EXPLOITER]) <= 1 for row in rows_of(tmp_path / "run"))


def test_a_run_that_takes_the_last_model_for_the_best_one_does_so_at_each_evaluation(
    training: Any, tmp_path: Path
) -> None:
    """Also one that is resumed, whose file of the best model scored more before."""
    folder, wanted = (
        tmp_path / "run",
        [*CHOSEN, "game.dice=1", "run.best_by=last", 'run.evaluate_against=["even","timid"]'],
    )
    run = training.train("liarsdice", folder, overrides=[*wanted, "run.steps=256", "run.card_games=2"])
    for steps in (256, 512):
        if steps > 256:
            run = training.train("liarsdice", folder, overrides=[f"run.steps={steps}"], resume=True)
        rows = rows_of(folder)
        assert int(rows[-1]["steps"]) == run.model.num_timesteps >= steps
        assert float(rows[-1]["score"]) == pytest.approx(sum(float(rows[-1][one]) for one in ("even", "timid")) / 2)
        best, last = models.facts(folder / "best.zip"), models.facts(folder / "model.zip")
        for name in ("timesteps", "score", "chosen"):
            assert best[name] == last[name]
        assert (best["timesteps"], best["chosen"]) == (run.model.num_timesteps, False)
        page = (folder / "best.md").read_text(encoding="utf-8")
        assert "that of the last model of its training" in page
        assert "The score is the mean over the opponents" in page
        assert "chose" not in (folder / "best.curve.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("is_best", "best_by", "said"),
    [
        (True, "mean", {"chosen": True}),
        (True, "even", {"chosen": True}),
        (False, "mean", {"chosen": False}),
        (True, "last", {}),
        (False, "last", {"chosen": False}),
    ],
)
def test_a_file_says_whether_its_score_chose_it(is_best: bool, best_by: str, said: dict[str, bool]) -> None:
    assert choice_fact(is_best, best_by) == said


def test_what_is_said_of_a_last_model_is_true_above_a_floor_too(training: Any, tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "run"
    words = [one for text in (*CHOSEN, "game.dice=1", "run.best_by=last", "run.steps=256") for one in ("--set", text)]
    with pytest.raises(SystemExit) as done:
        main(["train", "liarsdice", "--run-dir", str(folder), *words, "--set", 'run.best_floor={"even"=1}'])
    assert not done.value.code
    told = capsys.readouterr().out
    assert "the last to miss the floor least" in told
    assert "no model reached 1 against even: the last one misses it by" in told
    about = models.facts(folder / "best.zip")
    rows = rows_of(folder)
    assert about["timesteps"] == int(max(rows, key=lambda row: (float(row["score"]), int(row["steps"])))["steps"])


def test_an_opponent_called_as_a_way_to_choose_is_refused_where_it_would_be_meant(tmp_path: Path) -> None:
    shutil.copy(shipped_folder("agents") / "liarsdice" / "honest.py", tmp_path / "last.py")
    met = {"evaluate_against": ["even", str(tmp_path / "last.py")]}
    with pytest.raises(ParameterError, match=r"run\.best_by=last is a way .* another name"):
        Evaluator(dicegym.game("liarsdice"), from_plain({"run": {**met, "best_by": "last"}}).run, trust=True)
    assert Evaluator(
        dicegym.game("liarsdice"), from_plain({"run": {**met, "best_by": "even"}}).run, trust=True
    ).meetings


def test_equals_of_an_exploiter_are_counted_at_the_table_it_sits_at() -> None:
    run = from_plain({"run": {"tables": [2, 4], "best_by": "exploiter"}}).run
    evaluator = Evaluator(dicegym.game("liarsdice", players=4), run)
    assert evaluator.even(score_of(EXPLOITER, 0.2)) == 0.25
    assert evaluator.even(score_of("even (2 players)", 0.2)) == 0.5


@pytest.mark.parametrize(
    ("game", "overrides", "error", "words"),
    [
        ("yatzy", ["run.best_by=exploiter"], ParameterError, "is played alone"),
        ("yatzy", ['run.best_floor={"exploiter"=0.4}'], ParameterError, "is played alone"),
        ("liarsdice", ["run.exploiter_steps=0"], ParameterError, "exploiter_steps=0 cannot be used"),
        ("liarsdice", ['run.best_floor={"bayes"=0.6}'], UnknownNameError, "opponent in run.best_floor 'bayes'"),
        ("liarsdice", ['run.best_floor={"even"=60}'], ParameterError, "give one from 0 to 1"),
        ("liarsdice", ['run.best_floor={"even"="much"}'], ParameterError, r'\{"bayes"=0.67\}'),
        ("liarsdice", ['run.best_floor={"exploitability"=0.4}'], ParameterError, 'best_by="exploiter"'),
        ("hog", ['run.best_floor={"exploitability"=0.6}'], ParameterError, "give one from 0 to 0.5"),
        ("yatzy", ["run.best_by=exploitability"], ParameterError, "is played alone.*leave out exploitability in run"),
        # what would be refused is not offered
        (
            "liarsdice",
            ['run.best_floor={"evn"=0.6}'],
            UnknownNameError,
            "'even'.* Known: exploiter, even, reckless, haphazard\\.$",
        ),
        (
            "hog",
            ['run.best_floor={"x"=0.4}'],
            UnknownNameError,
            r"Known: exploitability, exploiter, always_roll\(5\)\.$",
        ),
        ("yatzy", ['run.best_floor={"nobdy"=200}'], UnknownNameError, "'nobody'.* Known: nobody\\.$"),
        (
            "yatzy",
            ["run.best_by=nobdy"],
            UnknownNameError,
            "no run.best_by 'nobdy'.* Known: mean, worst, last, nobody\\.$",
        ),
        (
            "liarsdice",
            ["run.best_by=exploter"],
            UnknownNameError,
            "Known: mean, worst, last, exploiter, even, reckless, haphazard\\.$",
        ),
        # who is there, and not measured by
        ("liarsdice", ["run.best_by=bayes"], UnknownNameError, "meet bayes if run.evaluate_against has it\\.$"),
        (
            "liarsdice",
            ['run.best_floor={"bayes"=0.6}'],
            UnknownNameError,
            "meet bayes if run.evaluate_against has it\\.$",
        ),
    ],
)
def test_what_cannot_be_chosen_by_is_told_before_anything_is_written(
    game: str, overrides: list[str], error: type[Exception], words: str, training: Any, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        training.train(game, tmp_path / "run", overrides=[*SMALL, *overrides])
    assert not (tmp_path / "run" / "settings.json").exists()


def test_a_best_model_without_the_scores_that_a_floor_is_about_is_told(whole: Path) -> None:
    facts = models.facts(whole / "best.zip")
    facts["settings"]["run"]["best_floor"] = {"bayes": 0.6}
    with pytest.raises(ParameterError, match=r"run\.best_floor"):
        floors_of(facts)


@pytest.mark.parametrize(("floor", "words"), [(0.0, "0 against even, as it does"), (1.0, "falls short by 0.")])
def test_cards_say_whether_a_model_reaches_the_floor(whole: Path, floor: float, words: str) -> None:
    facts = models.facts(whole / "best.zip")
    facts["settings"]["run"]["best_floor"] = {"even": floor}
    told = page(facts, "best", [score_of("even", 0.5)])
    assert words in told
    assert "who was trained to beat it" in told
    facts["settings"]["run"]["best_floor"] = {}
    assert "had to reach" not in page(facts, "best", [score_of("even", 0.5)])


@pytest.mark.parametrize(("floor", "words"), [(0.0, "0 against even, as it does."), (1.0, "falls short by 0.5000.")])
def test_cards_of_models_with_a_single_opponent_say_whether_they_reach_the_floor(
    whole: Path, floor: float, words: str
) -> None:
    facts = models.facts(whole / "best.zip")
    facts["scores"], facts["score"] = [score_of("even", 0.5).to_json()], score_of("even", 0.5).to_json()
    facts["settings"]["run"] |= {"best_by": "mean", "best_floor": {"even": floor}}
    told = page(facts, "best", [score_of("even", 0.5)])
    assert f"\nThe best model had to reach {floor:g} against even" in told
    assert words in told
    assert "\n- " not in told  # the one score stands above
    facts["settings"]["run"]["best_floor"] = {}
    assert "had to reach" not in page(facts, "best", [score_of("even", 0.5)])


def test_the_command_says_that_no_model_reaches_the_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    floor = ['run.best_floor={"even"=1}', "run.steps=256", "run.best_by=exploiter", "run.exploiter_steps=256"]
    words = [word for text in [*CHOSEN, "game.dice=2", *floor] for word in ("--set", text)]
    with pytest.raises(SystemExit) as end:
        main(["train", "liarsdice", *words, "--run-dir", str(tmp_path / "run")])
    assert not end.value.code
    out = capsys.readouterr().out
    assert re.search(r"no model reached 1 against even: .*best.zip misses it by [01]\.\d{4}\n", out)
    assert "against an opponent trained to beat it; 0.5 = equal strength" in out
