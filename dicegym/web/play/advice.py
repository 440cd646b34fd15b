"""Hints, a tutor and a review for players: found in threads, so that no page waits for them.

Each question returns an `Answer`, which is there at once or later; the page says which.
"""

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

GAMES = 250
"""Games that are played on with each choice where nothing better is known: many people ask at once."""
GAMES_REVIEWED = 80
"""The same for reviews, which ask of every choice of a whole game."""
MOST_VALUERS = 12
"""Games whose values are kept, those that were asked for last: visitors choose parameters, and tables are large."""
LONGEST_CHOICE = 8
"""Actions after the best one that a hint names, where they belong to one choice."""


class GivenHint(NamedTuple):
    """What is best, for people."""

    words: str
    titles: list[str]
    rows: list[list[str]]
    """Of the best choices."""
    more: int
    """How many choices are left out."""
    sure: str
    """Whose values they are and how sure, in a sentence."""


class Advice:
    """What people's choices are worth: hints, for which they wait, in threads of ``work``, reviews in ``slow``."""

    def __init__(self, work: WorkerThreads, slow: WorkerThreads) -> None:
        self._work, self._slow = work, slow
        self._lock = threading.Lock()
        self._valuers = functools.lru_cache(MOST_VALUERS)(lambda game, games: (threading.Lock(), list[Valuer]()))

    def warner(self, game: Game, level: str) -> Warn | None:
        """Return what warns a person; None if the values of choices are not known. May take seconds."""
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

    def hint(self, owner: str, key: Hashable, turn: Turn) -> Answer[GivenHint]:
        """Return what is best in a person's turn, computed once for each ``key``."""

        def find(answer: Answer[GivenHint]) -> GivenHint:
            with self._using(turn.game) as valuer:
                return give_hint(turn, valuer)

        return self._work.answer(owner, ("hint", key), find)

    def review(self, owner: str, replay: Replay, pay: Callable[[], object]) -> Answer[Analysis]:
        """Return the analysis of a game that is over, computed once for all who ask; ``pay`` is called first."""

        def find(answer: Answer[Analysis]) -> Analysis:
            game, names = share_game(replay.table()), tell_apart(replay.seats)
            with self._using(game, GAMES_REVIEWED) as valuer:
                states = replay.states()
                return analyse(game, states, replay.actions, names, valuer, progress=answer.progress)

        return self._slow.answer(owner, ("review", json.dumps(to_json(replay))), find, pay=pay)

    @contextlib.contextmanager
    def _using(self, game: Game, games: int = GAMES) -> Iterator[Valuer]:
        """Yield the valuer of a game, which answers one at a time; rollouts play ``games`` games of each choice."""
        with self._lock:
            lock, found = self._valuers(game, games)
        with lock:
            if not found:
                best = fair_valuer(game)
                found.append(RolloutValuer(game, games=games, threads=1) if best.kind == "rollouts" else best)
            yield found[0]


def rest_of_choice(found: Hint, turn: Turn, valuer: Valuer) -> list[str]:
    """Return what follows the best action in words, where a choice is made of several actions, such as an order."""
    game, state, words = turn.game, turn.record.copy(), list[str]()
    while game.spec.joint_action is not None and len(words) < LONGEST_CHOICE:
        best = found.choices[0]
        if math.isnan(best.value) or game.step(state, best.action) or state["over"] or state["player"] != turn.seat:
            break
        found = hint(game, state, valuer)
        words.append(action_in(game, state, found.choices[0].action))
    return words


def give_hint(turn: Turn, valuer: Valuer) -> GivenHint:
    """Return a hint for people."""
    found = hint(turn.game, turn.record, valuer)
    rest = rest_of_choice(found, turn, valuer)
    unit, best = found.valuer.unit, found.choices[0]
    titles, rows = found.table()
    words = "Nobody can say what these choices are worth."
    if not math.isnan(best.value):
        worth = f"{amount(best.value, unit)} to win" if unit == "win rate" else amount(best.value, unit)
        off = f", give or take {amount(Z_95 * best.error, unit)}" if best.error > 0 else ""
        words = f"Best: {'; '.join([action_in(turn.game, turn.record, best.action), *rest])} ({worth}{off})."
    return GivenHint(words, titles, rows, len(found.choices) - len(rows), f"{sure(found.valuer)}.")
