"""Hints, a tutor and a review for people who play: found in threads, so that no page waits for them.

Whoever asks gets an `Answer`, which is there at once or later; the page says which.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from dicegym.analysis.decisions import Analysis, analyse
from dicegym.analysis.hints import Hint, Tutor, hint
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.valuers import amount, fair_valuer, mark_of, sure, threshold
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.games.parts import Z_95
from dicegym.games.worth import Valuer, ValueUnit
from dicegym.pictures.watched import action_in
from dicegym.play.turn import Turn
from dicegym.players.sitting import Warn
from dicegym.web.workers import TooBusyError

GAMES = 250
"""Games that are played on with each choice where nothing better is known: many people ask at once."""
GAMES_REVIEWED = 80
"""The same for reviews, which ask of every choice of a whole game."""
KEPT = 400
"""Answers that are kept."""
WAITING = 60
"""Questions that may wait at once; whoever asks more is told to come again."""
LONGEST_CHOICE = 8
"""Actions after the best one that a hint names, where they belong to one choice."""
CLOSE = 2
"""Other choices that are named in words, if they may be as good as the best."""
T = TypeVar("T")


class Answer(Generic[T]):
    """What was asked for, now or later.

    Attributes:
        done: steps that are done, of ``of``; both 0 while nothing is known of them.
        of: see ``done``.
    """

    def __init__(self) -> None:
        self.done = self.of = 0
        self.future: Future[T] = Future()

    @property
    def ready(self) -> bool:
        """Whether it is there."""
        return self.future.done()

    @property
    def error(self) -> DicegymError | None:
        """Why there will be none; None if that is not so."""
        failed = self.future.exception() if self.ready else None
        return failed if failed is None or isinstance(failed, DicegymError) else DicegymError(self.failure)

    @property
    def failure(self) -> str:
        """Why there will be none, in words; empty if that is not so."""
        if not self.ready or (error := self.future.exception()) is None:
            return ""
        return str(error) if isinstance(error, DicegymError) else f"{type(error).__name__}: {one_line(error, 400)}"

    @property
    def found(self) -> T | None:
        """The answer; None while it is not there, and if there will be none."""
        return self.future.result() if self.ready and not self.failure else None

    def progress(self, done: int, of: int, what: str) -> None:
        """Note how far it is; as of `dicegym.games.worth.Progress`."""
        self.done, self.of = done, of


class GivenHint(NamedTuple):
    """What is best, for people."""

    words: str
    """In a sentence or two."""
    titles: list[str]
    rows: list[list[str]]
    """Of the best choices."""
    more: int
    """How many choices are left out."""
    sure: str
    """Whose values they are and how sure, in a sentence."""
    hint: Hint


class Advice:
    """All that is told to people about what their choices are worth."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, Answer[Any]] = OrderedDict()
        self._quick, self._slow = _Desk(2, GAMES), _Desk(1, GAMES_REVIEWED)

    def close(self) -> None:
        """Begin nothing any more."""
        self._quick.close()
        self._slow.close()

    def check(self, game: Game, level: str) -> None:
        """Refuse a level of mistakes that there is not, and begin to load what a tutor needs.

        Raises UnknownNameError.
        """
        threshold(level, "win rate")
        self._values(game)

    def warner(self, game: Game, level: str) -> Warn | None:
        """Return who warns a person; None if nobody knows what choices are worth. May take seconds."""
        if not level:
            return None
        try:
            with self._quick.using(game) as valuer:
                tutor = Tutor(valuer, level)
        except ParameterError:
            return None

        def warn(turn: Turn, actions: Any) -> str:
            with self._quick.using(game):
                return tutor.warning(turn, actions)

        return warn

    def about(self, game: Game) -> str:
        """Return whose values a tutor goes by, in words; as much as is known now."""
        answer = self._values(game)
        if answer.failure:
            return f"Nobody can say what choices are worth here: {answer.failure}."
        return f"{answer.found}." if answer.found else "What choices are worth is being looked up."

    def _values(self, game: Game) -> Answer[str]:
        """Return whose values are gone by and how sure they are, in words; they are loaded for it."""

        def find(answer: Answer[str]) -> str:
            with self._quick.using(game) as valuer:
                return sure(valuer)

        return self._asked(("values", game), self._quick, find)

    def hint(self, key: Hashable, turn: Turn) -> Answer[GivenHint]:
        """Return what is best in a person's turn, asked once for each ``key``. Raises TooBusyError."""

        def find(answer: Answer[GivenHint]) -> GivenHint:
            with self._quick.using(turn.game) as valuer:
                found = hint(turn.game, turn.record, valuer)
                return give_hint(found, turn, rest_of_choice(found, turn, valuer))

        return self._asked(("hint", key), self._quick, find)

    def review(
        self, key: Hashable, game: Game, seed: int, actions: list[int], names: Sequence[str]
    ) -> Answer[Analysis]:
        """Return how a game was played that is over, asked once for each ``key``. Raises TooBusyError."""

        def find(answer: Answer[Analysis]) -> Analysis:
            answer.progress(0, len(actions), "")
            states = [game.new_game(seed)]
            for action in actions:
                states.append(states[-1].copy())
                game.step(states[-1][0], action)
            with self._slow.using(game) as valuer:
                return analyse(game, states, actions, names, valuer, progress=answer.progress)

        return self._asked(("review", key), self._slow, find)

    def _asked(self, key: Hashable, desk: _Desk, find: Callable[[Answer[Any]], Any]) -> Answer[Any]:
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            if sum(not one.ready for one in self._answers.values()) >= WAITING:
                raise TooBusyError("too many ask at once what choices are worth: try again in a minute")
            answer: Answer[Any] = Answer()
            self._answers[key] = answer
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)
        desk.begin(answer, find)
        return answer


class _Desk:
    """Threads that ask valuers, each of which answers one at a time."""

    def __init__(self, threads: int, games: int) -> None:
        self._threads = ThreadPoolExecutor(threads, "advice")
        self._games = games
        self._lock = threading.Lock()
        self._valuers: dict[Game, tuple[threading.Lock, list[Valuer]]] = {}

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def begin(self, answer: Answer[T], find: Callable[[Answer[T]], T]) -> None:
        def work() -> None:
            try:
                answer.future.set_result(find(answer))
            except BaseException as error:  # whoever waits hears of it
                answer.future.set_exception(error)

        self._threads.submit(work)

    def using(self, game: Game) -> _Using:
        """Return what holds the valuer of a game for somebody alone."""
        with self._lock:
            lock, found = self._valuers.setdefault(game, (threading.Lock(), []))
        return _Using(game, lock, found, self._games)


class _Using:
    def __init__(self, game: Game, lock: threading.Lock, found: list[Valuer], games: int) -> None:
        self._game, self._lock, self._found, self._games = game, lock, found, games

    def __enter__(self) -> Valuer:
        self._lock.acquire()
        try:
            if not self._found:
                best = fair_valuer(self._game)
                self._found.append(
                    RolloutValuer(self._game, games=self._games, threads=1) if best.kind == "rollouts" else best
                )
        except BaseException:
            self._lock.release()
            raise
        return self._found[0]

    def __exit__(self, *_: object) -> None:
        self._lock.release()


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


def give_hint(found: Hint, turn: Turn, rest: Sequence[str] = ()) -> GivenHint:
    """Return a hint for people; ``rest`` is what `rest_of_choice` returned."""
    unit = found.valuer.unit
    titles, rows = found.table()
    known = [one for one in found.choices if not math.isnan(one.value)]
    more = len(found.choices) - len(rows)
    source = f"{sure(found.valuer)}."
    if not known:
        return GivenHint("Nobody can say what these choices are worth.", titles, rows, more, source, found)

    def called(action: int) -> str:
        return action_in(turn.game, turn.record, action)

    best = known[0]
    worth = {"win rate": f"{amount(best.value, unit)} to win", "points": amount(best.value, unit)}.get(
        unit, f"a return of {amount(best.value, unit)}"
    )
    off = f", give or take {amount(Z_95 * best.error, unit)}" if best.error > 0 else ""
    words = [f"Best: {'; '.join([called(best.action), *rest])} ({worth}{off})."]
    even = [one for one in known[1:] if not one.behind > Z_95 * one.behind_error and one.behind_error > 0]
    if even:
        others = f" and {len(even) - CLOSE} others" if len(even) > CLOSE else ""
        first = "; ".join(called(one.action) for one in even[:CLOSE])
        words.append(f"As good, as far as can be told: {first}{others}.")
    elif len(known) > 1:
        words.append(next_best(called(known[1].action), known[1].behind, known[1].behind_error, unit))
    return GivenHint(" ".join(words), titles, rows, more, source, found)


def next_best(called: str, behind: float, error: float, unit: ValueUnit) -> str:
    """Return what the second best choice gives away, as a sentence; less than is shown is no loss to speak of."""
    lost, mark = amount(behind, unit), mark_of(behind, unit, error)
    if lost == amount(0.0, unit):
        return f"As good, or nearly: {called}."
    return f"Next: {called}, which gives away {lost}{f' ({mark.noun})' if mark else ''}."
