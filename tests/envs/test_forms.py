"""What holds for every form of an environment: its actions and copies."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import IllegalActionError, ParameterError
from dicegym.play.player import RandomPlayer


def record_of(env: Any) -> bytes:
    """The record of what an environment plays."""
    played = getattr(env, "aec_env", env)
    name = {SingleAgentEnv: "state", BatchEnv: "states"}.get(type(played), "state_record")
    record: bytes = getattr(played, name).tobytes()
    return record


# --- actions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [SingleAgentEnv, TurnEnv])
def test_an_action_is_one_number(form: Any) -> None:
    """A row of one is none for Gymnasium's Discrete either, whatever library it is of."""
    torch = pytest.importorskip("torch")
    env = form("hog")
    env.reset(seed=0)
    for number in (3, np.int8(3), np.array(3), torch.tensor(3)):
        env.step(number)
    before = record_of(env)
    for wrong in (np.array([3]), torch.tensor([3]), [3], np.array([1, 2]), True, 3.0, "5", None):
        with pytest.raises(IllegalActionError, match="is not a whole number"):
            env.step(wrong)
        assert record_of(env) == before
    env.step(3)


def test_actions_of_a_batch_are_a_row_of_numbers() -> None:
    torch = pytest.importorskip("torch")
    env = BatchEnv("hog", 2)
    env.reset(seed=0)
    for row in ([3, 4], np.array([3, 4]), torch.tensor([3, 4])):
        env.step(row)
    before = record_of(env)
    wrong = [3, np.array([3]), np.array([[3, 4]]), torch.tensor([[3, 4]]), [[1, 2]], [True, True], [3.0, 2.0]]
    for actions in (*wrong, np.array([1.0, 2.0]), None, np.array(["a", "b"])):
        with pytest.raises(ParameterError, match="give 2 whole numbers"):
            env.step(actions)
        assert record_of(env) == before


# --- copies -----------------------------------------------------------------------------------------------------


def first_legal(env: Any) -> Any:
    """The first legal action of each game, of whoever is to move."""
    if isinstance(env, TurnEnv):
        return int(env.last()[0]["action_mask"].argmax())
    found = env.action_masks().argmax(axis=-1)
    return found if isinstance(env, BatchEnv) else int(found)


def orders(env: Any) -> Any:
    """One of the first thing that can be bought, for everybody."""
    choice = np.eye(len(env.game.spec.joint_action.most), dtype=int)[0]
    return dict.fromkeys(env.agents, choice)


COPIED: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], int]] = {
    "single": (lambda: SingleAgentEnv("liarsdice", seat=0), first_legal, 5),
    "single, a bot that remembers": (lambda: SingleAgentEnv("hog", opponent="streak", seat=0), lambda env: 6, 2),
    "single, one that draws": (lambda: SingleAgentEnv("hog", opponent=RandomPlayer(), seat=0), lambda env: 6, 5),
    "batch": (
        lambda: BatchEnv("hog", 8, opponent={"swap": 1, "bacon": 1}, autoreset_mode="SameStep"),
        lambda env: np.full(8, 7),
        20,
    ),
    "turns": (lambda: TurnEnv("liarsdice"), first_legal, 10),
    "turns in parallel": (lambda: parallel_env("hog"), lambda env: dict.fromkeys(env.agents, 6), 8),
    "simultaneous": (lambda: SimultaneousEnv("lucky"), orders, 8),
}


@pytest.mark.parametrize("form", COPIED)
def test_copies_play_on_alike_and_apart(form: str) -> None:
    make, act, steps = COPIED[form]
    env = make()
    env.reset(seed=0)
    for _ in range(2):
        env.step(act(env))
    before = record_of(env)
    copies = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    assert record_of(copies[0]) == record_of(copies[1]) == before
    for _ in range(steps):
        told = [one.step(act(one)) or one.last() for one in copies]
        assert data_equivalence(*told)
        assert record_of(copies[0]) == record_of(copies[1]) != before
        if hasattr(env, "action_masks"):
            assert all(
                (step[-1]["action_mask"] == one.action_masks()).all() for step, one in zip(told, copies, strict=True)
            )
    assert record_of(env) == before
    copies[0].reset(seed=5)
    assert record_of(copies[0]) != record_of(copies[1])
    if "bot" not in form and "draws" not in form:  # who has forgotten its game in a copy
        for _ in range(steps):
            env.step(act(env))
        assert record_of(env) == record_of(copies[1])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_the_shared_masks_of_a_copy_cannot_be_written_to(copied: Any) -> None:
    env = SimultaneousEnv("lucky")
    env.reset(seed=1)
    infos = copied(env).step(orders(env))[4]
    mask = infos["player_0"]["action_mask"][0]
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = 9
    infos["player_0"]["returns"] += 5
    assert not np.array_equal(infos["player_1"]["returns"], infos["player_0"]["returns"])
