"""A person's game: its state, the person's moves, and the agents' answers.

This module knows nothing about pages. Moves of agents and warnings of the tutor are jobs in other threads. While one
runs, the table is *busy*, but can be read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, ParameterError
from dicegym.escape import one_line
from dicegym.games.keyboard import Place
from dicegym.games.web_controls import Fields, PlayForm
from dicegym.play.player import Player
from dicegym.play.turn import Turn
from dicegym.players.sitting import Rerun, Warn, controls_of
from dicegym.web.play.rivals import PersonOnPage
from dicegym.web.play.saved_games import TableSheet

NOT_YOUR_TURN = "the others have not finished: wait until it is your turn"


class StaleMoveError(DicegymError):
    """A request belongs to another state of the table, and was ignored."""

    status = 409


class ToldMove(NamedTuple):
    """An action, described for the person."""

    number: int
    """The number of actions before it."""
    seat: int
    lines: tuple[str, ...]


class PlayedTable:
    """One game of a person.

    All methods may be called from any thread. Those that play (`choose`, `insist`, `undo`, `restore`) check their
    arguments, and start a job for the rest.

    Args:
        sheet: the saved game; only this object changes it.
        load_players: called with the game in a job; returns the other players in the order of their seats.
        keep: called to save the sheet after a change.
        begin: starts a job.
        load_tutor: called in a job; returns the tutor's function of warnings.

    Attributes:
        controls: the game's controls for people.
        place: the person's seat, and the names of all players.
        state: a copy of the record; None until the game is restored.
        told: descriptions of all actions, as the person may know them.
        busy: what the person waits for, in words, or an empty text.
        broken: why the game cannot continue, in words, or an empty text.
        job: the latest job; the table is busy until it is done.

    Raises:
        DicegymError: the game's rules have changed since it was started.
    """

    def __init__(
        self,
        sheet: TableSheet,
        load_players: Callable[[Game], Sequence[Player]],
        keep: Callable[[TableSheet], None],
        begin: Callable[[Callable[[], None]], Future[None]],
        load_tutor: Callable[[], Warn | None] = lambda: None,
    ) -> None:
        self.sheet = sheet
        self.game = sheet.table()
        if sheet.fingerprint != self.game.fingerprint:
            raise ParameterError(
                f"the rules of {self.game.spec.title} have changed since this game was started: start another game"
            )
        self.controls = controls_of(self.game)
        self.place = Place(self.game, sheet.seat, tuple(sheet.names))
        self.state: Any = None
        self.told: list[ToldMove] = []
        self.busy = ""
        self.broken = ""
        self.lock = threading.RLock()
        self.job: Future[None] = Future()
        self._load_players, self._keep, self._begin, self._load_tutor = load_players, keep, begin, load_tutor
        self._changed = False
        self._run: Rerun | None = None

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.state is not None and bool(self.state["over"])

    @property
    def yours(self) -> bool:
        """Whether it is the person's turn."""
        return self.state is not None and not self.over and not self.busy and not self.broken

    def forms(self) -> Sequence[PlayForm]:
        """Return the forms of the person's turn; nothing if it is not their turn."""
        with self.lock:
            return self.controls.forms(self.place, self.state) if self.yours else ()

    def since(self) -> list[ToldMove]:
        """Return the actions since the person's last decision, that decision included."""
        with self.lock:
            first = self.sheet.marks[-1] if self.sheet.marks else 0
            return [one for one in self.told if one.number >= first]

    def words(self) -> str:
        """Return the table in words with the results of choices where they are certain; at the end, the winner."""
        with self.lock:
            if self.state is None:
                return ""
            if self.over:
                return self.controls.ending(self.place, self.state)
            return self.controls.table(self.place, self.state, True) if self.yours else ""

    def turn(self) -> Turn:
        """Return the person's turn with a copy of the record. Raises StaleMoveError if it is not their turn."""
        with self.lock:
            if not self.yours:
                raise StaleMoveError("the game is over" if self.over else NOT_YOUR_TURN)
            return Turn(self.game, self.state.copy(), self.place.seat)

    def restore(self) -> None:
        """Replay the saved actions in a job, and let the agents move if it is their turn."""
        with self.lock:
            if self.state is None and not self.busy:
                self._start("the table is being set up", self._restore)

    def choose(self, move: int, form: str, fields: Fields) -> None:
        """Play the choice of a form. Raises StaleMoveError for another move, ParameterError for an illegal choice."""
        with self.lock:
            self._expect(move)
            self.act(move, [*map(int, self.controls.read_form(self.place, self.state, form, fields))])

    def act(self, move: int, actions: Sequence[int]) -> None:
        """Play actions. Raises as `choose` does."""
        with self.lock:
            self._expect(move)
            if not actions:
                raise ParameterError("nothing was chosen: choose something")
            self._check_legal(actions)
            sheet, chosen = self.sheet, list(actions)
            if sheet.asked == chosen:  # probably sent twice: the tutor's question is still open
                return
            sheet.asked, sheet.words = [], ""
            if sheet.tutor and chosen[0] not in sheet.warned:
                self._start("the tutor looks at your move", lambda: self._ask_tutor(chosen))
            else:
                self._commit(chosen)
                self._start(self._others(), self._go)

    def insist(self, move: int) -> None:
        """Play the move that the tutor asks about. Raises StaleMoveError if the tutor asks nothing."""
        with self.lock:
            self._expect(move)
            if not self.sheet.asked:
                raise StaleMoveError("the tutor asks nothing: choose a move")
            self._commit(self.sheet.asked)
            self._start(self._others(), self._go)

    def reconsider(self, move: int) -> None:
        """Drop the move that the tutor asks about. Raises StaleMoveError for another move."""
        with self.lock:
            self._expect(move)
            self.sheet.asked, self.sheet.words = [], ""
            self._keep(self.sheet)

    def undo(self, move: int) -> None:
        """Take back the person's last move. Raises StaleMoveError for another move, ParameterError before the first."""
        with self.lock:
            self._expect(move, over=True)
            sheet = self.sheet
            if not sheet.marks:
                raise ParameterError("you have not moved yet: nothing can be taken back")
            del sheet.actions[sheet.marks.pop() :]
            sheet.taken_back += 1
            sheet.waiting, sheet.over = [], False
            self._run = None  # it has played the move
            self._next()
            self._start("the move is taken back", self._restore)

    def keep(self) -> None:
        """Save a decision whose job takes long, before the page confirms it."""
        with self.lock:
            if self.busy:
                self._note()
                self._keep(self.sheet)

    def _expect(self, move: int, over: bool = False) -> None:
        """Refuse a request for another move; unless ``over``, also when the game is over or cannot continue."""
        if self.busy:
            raise StaleMoveError(NOT_YOUR_TURN)
        if move != self.sheet.move:
            raise StaleMoveError("this was sent for an earlier state of the table, and was not played again")
        if self.over and not over:
            raise StaleMoveError("the game is over")
        if self.broken and not over:  # there may be no state
            raise ParameterError(f"the game cannot continue: {self.broken}")

    def _check_legal(self, actions: Sequence[int]) -> None:
        state, seat = self.state.copy(), self.place.seat
        for action in actions:
            if state["over"] or int(state["player"]) != seat:
                return
            if fault := self.game.step(state, action):
                why = self.game.spec.faults[fault]
                raise ParameterError(f"{one_line(self.game.action_name(action), 80)} is not allowed here: {why}")

    def _commit(self, actions: Sequence[int]) -> None:
        """Note a decision; the following job saves it at its end (see `keep`)."""
        self.sheet.marks.append(len(self.sheet.actions))
        self.sheet.waiting = list(actions)
        self._next()

    def _next(self) -> None:
        self._changed = True
        self.sheet.move += 1
        self.sheet.asked, self.sheet.words, self.sheet.warned = [], "", []

    def _others(self) -> str:
        """Return what the person waits for, in words."""
        if self.game.players == 1:
            return "the dice are rolling"
        seat = int(self.state["player"])
        return "the others think" if seat == self.place.seat else f"{self.place.names[seat]} thinks"

    def _start(self, busy: str, job: Callable[[], None]) -> None:
        self.busy = busy
        try:
            self.job = self._begin(lambda: self._finish(job))
        except BaseException:  # the job will never run
            self.busy = ""
            raise

    def _finish(self, job: Callable[[], None]) -> None:
        """Run a job; the table is no longer busy after it, also if it fails."""
        try:
            job()
        except AgentError as error:
            self.broken = f"{one_line(error.agent, 80)} fails: {one_line(error.reason, 400)}"
        except DicegymError as error:
            self.broken = str(error)
        except Exception as error:
            # A job runs programs of others, which may raise anything: the page shows it.
            self.broken = f"a player fails: {type(error).__name__}: {one_line(error, 400)}"
        finally:
            with self.lock:
                self.busy = ""
                self._note()
                if self._changed:  # a game that was only read is not written
                    self._keep(self.sheet)
                    self._changed = False

    def _note(self) -> None:
        """Note the actions so far; a failing player may leave some of the agents' moves."""
        if self._run is not None and self._run.replayed is None and self._run.actions != self.sheet.actions:
            self.sheet.actions = list(self._run.actions)
            self._changed = True

    def _ask_tutor(self, actions: list[int]) -> None:
        """Ask the tutor; play the move unless it warns."""
        warn = self._load_tutor()
        whole_choice = self.game.spec.joint_action is not None
        state = self.state.copy()
        judged = actions if whole_choice else actions[:1]
        told = "" if warn is None else warn(Turn(self.game, state, self.place.seat), judged)
        with self.lock:
            if told:
                self.sheet.asked, self.sheet.words = actions, told
                self.sheet.warned.append(actions[0])
                self._changed = True
                return
            self._commit(actions)
            self.busy = self._others()
        self._go()

    def _restore(self) -> None:
        """Replay the saved actions, then let the agents move."""
        self.broken = ""
        sheet, seat = self.sheet, self.place.seat
        rivals = list(self._load_players(self.game))
        players = [*rivals[:seat], PersonOnPage(lambda: self.sheet.waiting.pop(0)), *rivals[seat:]]
        run = Rerun(self.game, sheet.seed, players, self.place, sheet.actions)
        with self.lock:
            self._run, self._moves = run, run.moves()
            self.told = []
        self._go()
        if not self.over:  # load compiled code here: pages call the same in the event loop
            self.controls.board(self.place, self.state)
            self.controls.forms(self.place, self.state)
            self.controls.table(self.place, self.state, True)

    def _go(self) -> None:
        """Play until it is the person's turn, or the game is over."""
        if self._run is None:
            self._restore()
            return
        run, state, seat = self._run, self._run.state, self.place.seat
        while not state["over"]:
            replaying = run.replayed is not None
            mover = int(state["player"])
            if not replaying and mover == seat:
                if not self.sheet.waiting:
                    break
                if self.game.step(state.copy(), self.sheet.waiting[0]):  # chosen for a later turn, and illegal by now
                    self.sheet.waiting = []
                    break
            if not replaying:
                with self.lock:
                    self.state = state.copy()
                    if mover != seat:
                        self.busy = self._others()
            before, number = state.copy(), len(run.actions)
            next(self._moves)
            lines = run.describe_action(before)
            with self.lock:
                self.told.append(ToldMove(number, mover, tuple(lines)))
        with self.lock:
            self.state = state.copy()
            self.sheet.over = bool(state["over"])
