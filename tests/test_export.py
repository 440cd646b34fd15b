"""Sending players back out in the original interface: the file plays what the player plays."""

import subprocess
import sys

import numpy as np
import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.players import play_game
from dicegym.players.export import export_forms, export_source
from dicegym.registry import GAMES


@pytest.fixture(scope="module")
def trained():
    """A briefly trained model's player for each game."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    from dicegym.envs.sb3 import SB3VecEnv
    from dicegym.players.policy import PolicyPlayer

    players = {}
    for name in GAMES:
        model = MaskablePPO("MlpPolicy", SB3VecEnv(name, 16, seed=0), n_steps=32, batch_size=128, seed=3, device="cpu")
        players[name] = PolicyPlayer(model.learn(2048), dicegym.game(name), "model")
    return players


@pytest.mark.parametrize("name", GAMES)
def test_exported_file_and_model_play_the_same_games_under_the_same_seed(trained, name, tmp_path):
    player, game = trained[name], dicegym.game(name)
    for form in export_forms(game):
        file = tmp_path / form
        file.write_text(export_source(player, game, form))
        exported = dicegym.agent(game, str(file))
        for seed in range(14):
            seat = seed % game.players
            table = [dicegym.agent(game, game.rules.default_opponent)] * game.players
            with_model = play_game(game, [*table[:seat], player, *table[seat + 1 :]], seed)
            with_file = play_game(game, [*table[:seat], exported, *table[seat + 1 :]], seed)
            assert with_model.tobytes() == with_file.tobytes()


def test_exported_hog_file_runs_without_dicegym_and_holds_all_choices(trained, tmp_path):
    game = dicegym.game("hog")
    file = tmp_path / "hog.py"
    file.write_text(export_source(trained["hog"], game, "hog.py"))
    program = "import hog; print(*(hog.final_strategy(s, o) for s in range(100) for o in range(100)))"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    choices = np.array(done.stdout.split(), int).reshape(100, 100)
    assert (choices == game.adapter.examine(game, trained["hog"], lambda question: None)).all()


def test_export_of_another_form_is_refused(trained):
    with pytest.raises(ParameterError, match=r"export as hog\.py"):
        export_source(trained["hog"], dicegym.game("hog"), "bot.py")
