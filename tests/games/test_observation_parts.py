"""Kernels know the parts of an observation by their names: a part can be added anywhere, and all others move along."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rules_page import observation_of
from variants import states_of

from dicegym import games
from dicegym.engine.game import Game
from dicegym.games.hog import rules as hog
from dicegym.registry import GAMES

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "add_an_observation_part.md"

# Every declaration that begins with one of FIRST, which is a game's and not that of a part of it, gets a part of a
# length of its own before each of its parts.
LONGER = """
import pickle, sys
from dicegym.engine import features

first, asked = pickle.load(sys.stdin.buffer)
declare = features.Features.__init__

def declare_more(self, parts):
    longer = {}
    for number, (part, length) in enumerate(parts.items()):
        if next(iter(parts)) in first:
            new = number % 5 + 1
            longer[f"new {number}"] = length._replace(length=new) if isinstance(length, features.With) else new
        longer[part] = length
    declare(self, longer)

features.Features.__init__ = declare_more

from dicegym import games
from dicegym.engine.jit import COMPILED, records

assert not COMPILED
answers = []
for name, players, parameters, states in asked:
    game = games.game(name, players=players, **parameters)
    kept = records(len(states), states.dtype)
    kept[:] = states
    answers.append((game.features, [game.observe(state, seat) for state in kept for seat in range(players)]))
pickle.dump(answers, sys.stdout.buffer)
"""

# The same by hand, as the text of a game's rules: each time the old text, and the new with one line more.
LINE = ('        "lead": 1,\n', '        "level": 1,\n        "lead": 1,\n')
WRITE = ("    out[AT.leading] =", "    out[AT.level] = own == opponent\n    out[AT.leading] =")
ROW = (
    "    lead              1 ",
    "    level             1       1 if both have as many points\n    lead              1 ",
)
BY_HAND = """
import pickle, sys, types
from dicegym.engine.game import Game
from dicegym.engine.jit import records

text, states = pickle.load(sys.stdin.buffer)
module = types.ModuleType("dicegym.games.hog.rules")
sys.modules[module.__name__] = module
exec(text, vars(module))
game = Game(module.SPEC)
kept = records(len(states), states.dtype)
kept[:] = states
pickle.dump((module.__doc__, game.features, [game.observe(state, 0) for state in kept]), sys.stdout.buffer)
"""


def child(program: str, *given: Any) -> Any:
    """Return what a program that runs without compilation pickles, given a pickled tuple."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, input=pickle.dumps(given), capture_output=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr.decode()
    return pickle.loads(ran.stdout)


def some_states(game: Game) -> np.ndarray:
    """States along a random game as plain records."""
    found = states_of(game)[::5]
    return np.array([np.frombuffer(state.tobytes(), game.spec.state)[0] for state in found], game.spec.state)


def forms_of(name: str) -> list[Game]:
    """The game as it is, and with every switch on: parts hang on switches."""
    spec = games.spec(name)
    switches = {key: 1 for key, parameter in spec.parameters.items() if (parameter.low, parameter.high) == (0, 1)}
    return [games.game(name), games.game(name, **switches)] if switches else [games.game(name)]


def test_a_part_can_stand_before_any_other() -> None:
    variants = [variant for name in GAMES for variant in forms_of(name)]
    asked = [(game.name, game.players, game.parameters, some_states(game)) for game in variants]
    first = {next(iter(game.features)) for game in variants}
    for game, (features, observations) in zip(variants, child(LONGER, first, asked), strict=True):
        parts = np.repeat(list(features), list(features.values()))
        old = np.array([not part.startswith("new ") for part in parts])
        assert {part: length for part, length in features.items() if not part.startswith("new ")} == game.features
        assert len(features) == 2 * len(game.features)
        before = [game.observe(state, seat) for state in states_of(game)[::5] for seat in range(game.players)]
        assert np.array_equal(np.array(observations)[:, old], before), game
        assert not np.array(observations)[:, ~old].any(), game


def test_adding_a_part_is_a_line_a_write_and_a_row() -> None:
    """As the page on it shows."""
    text, shown = Path(hog.__file__).read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8").splitlines()
    for old, new in (LINE, WRITE, ROW):
        assert text.count(old) == 1
        text = text.replace(old, new)
        (line,) = set(new.splitlines()) - set(old.splitlines())
        assert line in shown
    game = games.game("hog")
    page, features, observations = child(BY_HAND, text, some_states(game))
    assert list(features) == ["scores", "level", *list(game.features)[1:]]
    assert observation_of(page, game.parameters) == features
    for state, longer in zip(states_of(game)[::5], observations, strict=True):
        assert longer[2] == (state["scores"][0] == state["scores"][1])
        assert np.array_equal(np.delete(longer, 2), game.observe(state, 0))
