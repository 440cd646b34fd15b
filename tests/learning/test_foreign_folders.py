"""A run's folder from another author: it resumes, and no code of the author runs."""

from __future__ import annotations

import io
import json
import math
import pickle
import random
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_models import Bomb

pytest.importorskip("sb3_contrib")

import torch

import dicegym
from dicegym.bots.source import Source
from dicegym.cli import main
from dicegym.envs.batch_kernels import ROW
from dicegym.errors import DicegymError, ParameterError
from dicegym.learning.card import best_score
from dicegym.learning.curves import read_run
from dicegym.learning.run_state import STATE_FILE
from dicegym.learning.seeds.summary import SeedsSummary
from dicegym.learning.train import train
from dicegym.players.agent_info import game_for
from dicegym.players.model_file import find_seeds, find_trained, replace_facts
from dicegym.players.roster import agents_folder, resolve

SMALL = [
    *("run.games=8", "run.steps=256", "run.torch_threads=1", "run.evaluate_every=256", "run.checkpoint_every=128"),
    *("algorithm.n_steps=16", "algorithm.batch_size=64", "network.net_arch=[4]", "run.evaluate_games=4"),
    *("run.card_games=0", "self_play.games=2", "self_play.keep=2", "self_play.snapshot_every=128"),
    *('opponents={"self"=1,"bacon"=1}', "game.goal=20"),
]
FURTHER = ["run.steps=384"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, with past selves."""
    folder = tmp_path_factory.mktemp("done") / "run"
    train("hog", folder, overrides=SMALL)
    return folder


@pytest.fixture
def run(done: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(done, tmp_path / "run"))


def resume(run: Path, **more: Any) -> Any:
    return train("hog", run, overrides=FURTHER, resume=True, **more)


def change(run: Path, keys: str, value: Any) -> None:
    """Replace the value at ``keys`` in a checkpoint."""
    path = run / "checkpoint" / STATE_FILE
    content = torch.load(path, weights_only=True)
    *parents, last = [int(key) if key.isdigit() else key for key in keys.split(".")]
    place = content
    for key in parents:
        place = place[key]
    place[last] = value(place[last]) if callable(value) else value
    torch.save(content, path)


def _saved(content: Any) -> bytes:
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


CHECKPOINTS: dict[str, Callable[[Bomb], bytes]] = {
    "a program": pickle.dumps,
    "a program inside": lambda bomb: _saved({"run": bomb}),
    "a program in a list": lambda bomb: _saved([bomb]),
    "empty": lambda bomb: b"",
    "a pickle": lambda bomb: pickle.dumps([5]),
    "a list": lambda bomb: _saved([5]),
    "other weights": lambda bomb: _saved({"weights": 5}),
}


@pytest.mark.parametrize("kept", [None, *CHECKPOINTS])
def test_an_invalid_checkpoint_is_refused_and_its_code_does_not_run(
    kept: str | None, run: Path, tmp_path: Path
) -> None:
    (run / "checkpoint" / STATE_FILE).unlink()
    if kept is not None:
        (run / "checkpoint" / STATE_FILE).write_bytes(CHECKPOINTS[kept](Bomb(tmp_path / "mark")))
    with pytest.raises(ParameterError, match=r"cannot be resumed.*begin a new run with --set"):
        resume(run)
    assert not (tmp_path / "mark").exists()


def _rows(raw: torch.Tensor, field: str, value: int) -> torch.Tensor:
    rows = raw.numpy().copy().view(ROW)
    rows[field] = value
    return torch.from_numpy(rows.view(np.uint8))


HOSTILE: dict[str, Any] = {
    "episodes": ["x"],
    "games.states": lambda raw: torch.full_like(raw, 255),
    "games.rows": lambda raw: _rows(raw, "seat", 1 << 40),
    "games.masks": lambda raw: raw[:5],
    "games.results": lambda raw: raw.float(),
    "games.observations": torch.zeros(1, dtype=torch.uint8).expand(1 << 40),
    "games.seeded": torch.zeros(3),
    "who": lambda raw: torch.full_like(raw, 100),
    "seated": ["bacon", "nobody"],
    "members": [-1],
    "past_selves.snapshot 128.layers": [(torch.zeros(3, 3), torch.zeros(1), "eval")],
    "past_selves.snapshot 128.temperature": "hot",
    "table": {"joined": [["a"]]},
    "table.results": [("a", "b", (7, "many"))],
    "run.curve": {"evaluations": [[1, 2]]},
    "run.began_with": {"a": torch.zeros(2)},
    "run.games": "many",
    "average.values": [torch.zeros(2)],
    "observations": torch.zeros(3),
    "counters.num_timesteps": None,
    "counters.policy": 5,
    "weights": {"action_net.weight": torch.zeros(2)},
    "optimizer.state.0.exp_avg": torch.zeros(2),
    "optimizer.state": {99: {"exp_avg": torch.zeros(2)}},
    "generators.numpy": lambda told: [told[0], 10**9, *told[2:]],
    "generators.torch": torch.zeros(3),
    "generators.python": [3, [1, 2], None],
    "drawn": {"state": 5},
    "seconds": [],
}


@pytest.mark.parametrize("keys", HOSTILE)
def test_a_checkpoint_that_does_not_fit_is_refused_in_one_sentence(keys: str, run: Path) -> None:
    """Nothing of it reaches compiled code."""
    change(run, keys, HOSTILE[keys])
    with pytest.raises(ParameterError, match=r"cannot be resumed.*begin a new run with --set") as caught:
        resume(run)
    assert str(caught.value).count("damaged, or from another training or version") == 1
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("opponents", "MINE", 1.0),
        ("run", "evaluate_against", ["bacon", "MINE"]),
        ("algorithm", "teacher", "reply(MINE)"),
        ("opponents", "llm(mine.py, base_url=http://127.0.0.1:9/v1)", 1.0),
        ("run", "evaluate_against", [["llm(mine.py, base_url=http://127.0.0.1:9/v1)"]]),
    ],
)
def test_programs_in_untrusted_settings_do_not_run(
    section: str, key: str, value: Any, run: Path, tmp_path: Path
) -> None:
    mark, program = tmp_path / "mark", tmp_path / "mine.py"
    program.write_text(f"open({str(mark)!r}, 'w')\ntouch = print\ndef final_strategy(a, b):\n    return 5\n")
    path = run / "settings.json"
    about = json.loads(path.read_text())
    text = json.dumps(value).replace("MINE", str(program))
    about["settings"][section][key.replace("MINE", str(program))] = json.loads(text)
    path.write_text(json.dumps(about))
    with pytest.raises(ParameterError, match=r"names the (program|language model) .*mine\.py.*--trust"):
        resume(run)
    assert not mark.exists()


def flipped(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


HOWS = ("flipped", "cut", "gone", "empty", "other")
QUICK = {
    "checkpoint/state.pt": HOWS,
    "checkpoint/model.zip": ("cut",),
    "settings.json": HOWS,
    "best.zip": ("cut", "gone"),
}
"""Damage that a run detects at its start, and a few cases in which it may continue, which takes longer."""


@pytest.mark.parametrize(
    ("how", "name"),
    [
        pytest.param(how, name, marks=[] if how in quick else [pytest.mark.slow])
        for name, quick in QUICK.items()
        for how in HOWS
    ],
)
def test_damaged_folders_are_one_error_with_a_way_out(name: str, how: str, run: Path) -> None:
    path = run / name
    draw = random.Random(f"{name}{how}")
    if how == "flipped":
        flipped(path, draw)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])
    elif how == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if how == "empty" else b'{"settings": [[1]], "command": 5}')
    # Before the run resumes, which may write a better one.
    if name == "best.zip" and how not in ("flipped", "gone"):
        with pytest.raises(DicegymError):
            best_score(path)
        with pytest.raises(DicegymError):
            read_run(run)
    with warnings.catch_warnings(action="ignore"):
        try:
            resume(run)
        except DicegymError as error:
            assert str(run) in str(error)  # noqa: PT017 - damage may also fall where nothing is read


def test_a_training_s_folder_names_its_best_model_unless_it_has_a_bot(short_cards: None, tmp_path: Path) -> None:
    game, run = dicegym.game("hog"), tmp_path / "run"
    run.mkdir()
    shutil.copy(agents_folder(game) / "ppo.zip", run / "best.zip")
    for named in (str(run), run):
        assert resolve(game, named) == run / "best.zip"
    with pytest.raises(SystemExit, match="0"):
        main(["runs", "card", str(run), "--games", "10"])
    (run / "hog.py").write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    assert isinstance(resolve(game, str(run)), Source)


@pytest.mark.parametrize(("values", "best"), [((0.5, 0.75, 0.6), 2), ((0.5, 0.5), 1), ((math.nan, None, 0.1), 3)])
def test_a_folder_of_seeds_names_their_best_model(values: Sequence[float | None], best: int, tmp_path: Path) -> None:
    game = dicegym.game("hog")
    folders = {9 + number: tmp_path / f"seed-{9 + number}" for number in range(1, len(values) + 1)}
    for folder, value in zip(reversed(folders.values()), reversed(values), strict=True):
        folder.mkdir()
        shutil.copy(agents_folder(game) / "ppo.zip", folder / "best.zip")
        replace_facts(folder / "best.zip", {"score": None if value is None else {"value": value}})
    for number in (7, 8):
        (tmp_path / f"seed-{number}").mkdir()
    (tmp_path / "seed-8" / "best.zip").write_bytes(b"damaged")  # and seed-7 has no model yet
    (tmp_path / "seed-x").write_text("nothing of ours")
    chosen = folders[9 + best] / "best.zip"
    assert list(find_seeds(tmp_path)) == [7, 8, *folders]
    assert resolve(game, str(tmp_path)) == find_trained(tmp_path) == chosen
    assert game_for(str(tmp_path)) == game
    assert SeedsSummary(tmp_path, "", (), None, None).best_model == chosen
