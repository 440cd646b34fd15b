"""Hints, a tutor and reviews, computed in threads so that no page waits for them."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

from dicegym.analysis.decisions import Analysis, analyse
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.valuers import Hint, Tutor, amount, fair_valuer, hint, sure
from dicegym.arena.replay import Replay, to_json
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import Z_95
from dicegym.games.worth import Valuer
from dicegym.pictures.watched import action_in, tell_apart
from dicegym.play.turn import Turn
from dicegym.players.sitting import Warn
from dicegym.web.play.saved_games import share_game
from dicegym.web.workers import Answer, WorkerThreads

ROLLOUTS = 250
"""Rollouts of each choice where no better values exist; few, because many people ask at once."""
REVIEW_ROLLOUTS = 80
"""The same for reviews, which value every choice of a whole game."""
CACHED_VALUERS = 12
"""Valuers in the cache: visitors choose parameters, and tables of values are large."""
LONGEST_CHOICE = 8
"""Most further actions that a hint names where a choice consists of several."""


class ShownHint(NamedTuple):
    """A hint as the page shows it."""

    words: str
    titles: list[str]
    rows: list[list[str]]
    """The best choices."""
    more: int
    """The number of choices left out."""
    sure: str
    """The source of the values and their certainty, in a sentence."""


class Advice:
    """Values of people's choices: hints in the threads of ``work``, reviews in those of ``slow``."""

    def __init__(self, work: WorkerThreads, slow: WorkerThreads) -> None:
        self._work, self._slow = work, slow
        self._lock = threading.Lock()
        self._valuers = functools.lru_cache(CACHED_VALUERS)(lambda game, games: (threading.Lock(), list[Valuer]()))

    def warner(self, game: Game, level: str) -> Warn | None:
        """Return the tutor's function of warnings; None if choices have no known values. May take seconds."""
        if not level:
            return None
        try:
            with self._using(game) as valuer:
                tutor = Tutor(valuer, level)
        except ParameterError:
            return None

        def warn(turn: Turn, actions: Any) -> str:
            with self._using(game):
                return tutor.warning(turn, actions)

        return warn

    def hint(self, owner: str, key: Hashable, turn: Turn) -> Answer[ShownHint]:
        """Return a hint for a person's turn, computed once for each ``key``."""

        def find(answer: Answer[ShownHint]) -> ShownHint:
            with self._using(turn.game) as valuer:
                return describe_hint(turn, valuer)

        return self._work.answer(owner, ("hint", key), find)

    def review(self, owner: str, replay: Replay, pay: Callable[[], object]) -> Answer[Analysis]:
        """Return the analysis of a finished game, computed once for all visitors; ``pay`` is called first."""

        def find(answer: Answer[Analysis]) -> Analysis:
            game, names = share_game(replay.table()), tell_apart(replay.seats)
            with self._using(game, REVIEW_ROLLOUTS) as valuer:
                states = replay.states()
                return analyse(game, states, replay.actions, names, valuer, progress=answer.progress)

        return self._slow.answer(owner, ("review", json.dumps(to_json(replay))), find, pay=pay)

    @contextlib.contextmanager
    def _using(self, game: Game, games: int = ROLLOUTS) -> Iterator[Valuer]:
        """Yield a game's valuer for one thread at a time; rollouts play ``games`` games of each choice."""
        with self._lock:
            lock, found = self._valuers(game, games)
        with lock:
            if not found:
                best = fair_valuer(game)
                found.append(RolloutValuer(game, games=games) if best.kind == "rollouts" else best)
            yield found[0]


def following_actions(found: Hint, turn: Turn, valuer: Valuer) -> list[str]:
    """Return the best further actions in words, if a choice consists of several, such as an order."""
    game, state, words = turn.game, turn.record.copy(), list[str]()
    while game.spec.joint_action is not None and len(words) < LONGEST_CHOICE:
        best = found.choices[0]
        if math.isnan(best.value) or game.step(state, best.action) or state["over"] or state["player"] != turn.seat:
            break
        found = hint(game, state, valuer)
        words.append(action_in(game, state, found.choices[0].action))
    return words


def describe_hint(turn: Turn, valuer: Valuer) -> ShownHint:
    """Return a hint in words."""
    found = hint(turn.game, turn.record, valuer)
    rest = following_actions(found, turn, valuer)
    unit, best = found.valuer.unit, found.choices[0]
    titles, rows = found.table()
    words = "The values of these choices are unknown."
    if not math.isnan(best.value):
        worth = f"{amount(best.value, unit)} to win" if unit == "win rate" else amount(best.value, unit)
        margin = f", give or take {amount(Z_95 * best.error, unit)}" if best.error > 0 else ""
        words = f"Best: {'; '.join([action_in(turn.game, turn.record, best.action), *rest])} ({worth}{margin})."
    return ShownHint(words, titles, rows, len(found.choices) - len(rows), f"{sure(found.valuer)}.")
