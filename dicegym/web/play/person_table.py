"""A table at which a person plays: what lies on it, what the person may do, and what the others do then.

A plain object that knows nothing of pages. What takes long, the others' moves and the tutor's judgement, is a job that
is begun elsewhere; until it is done the table is *busy*, and can be looked at all the same.
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

WHILE = "the others are still at it: wait until it is your turn"


class StaleMoveError(DicegymError):
    """What was sent was made for another state of the table: nothing was played."""

    status = 409


class ToldMove(NamedTuple):
    """One action, as it is told to the person."""

    number: int
    """How many actions were played before it."""
    seat: int
    lines: tuple[str, ...]


class PlayedTable:
    """One game of a person.

    All methods may be called from any thread. Those that play (`choose`, `insist`, `undo`, `lay`) check what they are
    given, and begin a job for what takes long.

    Args:
        sheet: what is kept of it; changed by this object alone.
        seated: called with the game in a job; returns the others, in the order of their seats.
        keep: called when something has changed that is to be kept.
        begin: begins a job.
        warner: called in a job; returns what warns the person.

    Attributes:
        controls: how a person plays it.
        place: where the person sits.
        state: a copy of the record; None until the table is laid.
        told: everything that was done, in the person's words.
        busy: what is waited for, in words; empty if nothing is.
        broken: why the game cannot continue, in words; empty if it can.
        job: the last one that was begun; the table is busy until it is done.

    Raises:
        DicegymError: the game can no longer be played, as its rules have changed.
    """

    def __init__(
        self,
        sheet: TableSheet,
        seated: Callable[[Game], Sequence[Player]],
        keep: Callable[[TableSheet], None],
        begin: Callable[[Callable[[], None]], Future[None]],
        warner: Callable[[], Warn | None] = lambda: None,
    ) -> None:
        self.sheet = sheet
        self.game = sheet.table()
        if sheet.fingerprint != self.game.fingerprint:
            raise ParameterError(
                f"this game was begun by other rules of {self.game.spec.title}, which have changed since: "
                "begin another one"
            )
        self.controls = controls_of(self.game)
        self.place = Place(self.game, sheet.seat, tuple(sheet.names))
        self.state: Any = None
        self.told: list[ToldMove] = []
        self.busy = ""
        self.broken = ""
        self.lock = threading.RLock()
        self.job: Future[None] = Future()
        self._seated, self._keep, self._begin, self._warner = seated, keep, begin, warner
        self._changed = False
        self._run: Rerun | None = None

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.state is not None and bool(self.state["over"])

    @property
    def yours(self) -> bool:
        """Whether the person is to decide."""
        return self.state is not None and not self.over and not self.busy and not self.broken

    def forms(self) -> Sequence[PlayForm]:
        """Return what the person may fill in now; nothing unless it is to decide."""
        with self.lock:
            return self.controls.forms(self.place, self.state) if self.yours else ()

    def since(self) -> list[ToldMove]:
        """Return what was done since the person decided last, its own move included."""
        with self.lock:
            first = self.sheet.marks[-1] if self.sheet.marks else 0
            return [one for one in self.told if one.number >= first]

    def words(self) -> str:
        """Return the table in words, and what each choice brings where that is plain; at the end, the winner."""
        with self.lock:
            if self.state is None:
                return ""
            if self.over:
                return self.controls.ending(self.place, self.state)
            return self.controls.table(self.place, self.state, True) if self.yours else ""

    def turn(self) -> Turn:
        """Return the person's turn, of a copy of the record. Raises StaleMoveError if it is not to decide."""
        with self.lock:
            if not self.yours:
                raise StaleMoveError("the game is over" if self.over else WHILE)
            return Turn(self.game, self.state.copy(), self.place.seat)

    def lay(self) -> None:
        """Lay the table: play again what was played, and let the others move if it is their turn."""
        with self.lock:
            if self.state is None and not self.busy:
                self._start("the table is laid", self._lay)

    def choose(self, move: int, form: str, fields: Fields) -> None:
        """Decide by a form. Raises StaleMoveError for another move, ParameterError for what the rules do not allow."""
        with self.lock:
            self._expect(move)
            self.act(move, [*map(int, self.controls.read_form(self.place, self.state, form, fields))])

    def act(self, move: int, actions: Sequence[int]) -> None:
        """Decide by actions themselves; errors as of `choose`."""
        with self.lock:
            self._expect(move)
            if not actions:
                raise ParameterError("nothing was chosen: choose something")
            self._refuse_faults(actions)
            sheet, chosen = self.sheet, list(actions)
            if sheet.asked == chosen:  # sent twice, perhaps: what the tutor asks is to be answered
                return
            sheet.asked, sheet.words = [], ""
            if sheet.tutor and chosen[0] not in sheet.warned:
                self._start("the tutor thinks about your move", lambda: self._ask_tutor(chosen))
            else:
                self._commit(chosen)
                self._start(self._others(), self._go)

    def insist(self, move: int) -> None:
        """Play what the tutor has asked about. Raises StaleMoveError if it has not."""
        with self.lock:
            self._expect(move)
            if not self.sheet.asked:
                raise StaleMoveError("nothing was asked: choose a move")
            self._commit(self.sheet.asked)
            self._start(self._others(), self._go)

    def reconsider(self, move: int) -> None:
        """Choose again after the tutor has asked. Raises StaleMoveError as `choose` does."""
        with self.lock:
            self._expect(move)
            self.sheet.asked, self.sheet.words = [], ""
            self._keep(self.sheet)

    def undo(self, move: int) -> None:
        """Take the person's last move back. Raises StaleMoveError for another one, ParameterError without any."""
        with self.lock:
            self._expect(move, over=True)
            sheet = self.sheet
            if not sheet.marks:
                raise ParameterError("you have not moved yet: nothing can be taken back")
            del sheet.actions[sheet.marks.pop() :]
            sheet.taken_back += 1
            sheet.waiting, sheet.over = [], False
            self._run = None  # which has played what was taken back
            self._next()
            self._start("the others remember", self._lay)

    def keep(self) -> None:
        """Keep a decision whose job takes long, before the person is told that it was taken."""
        with self.lock:
            if self.busy:
                self._note()
                self._keep(self.sheet)

    def _expect(self, move: int, over: bool = False) -> None:
        """Refuse what was made for another move; unless ``over``, also where the game is over or cannot continue."""
        if self.busy:
            raise StaleMoveError(WHILE)
        if move != self.sheet.move:
            raise StaleMoveError("that was made for an earlier state of the table, and was not played again")
        if self.over and not over:
            raise StaleMoveError("the game is over")
        if self.broken and not over:  # perhaps no table was laid
            raise ParameterError(f"the game cannot continue: {self.broken}")

    def _refuse_faults(self, actions: Sequence[int]) -> None:
        state, seat = self.state.copy(), self.place.seat
        for action in actions:
            if state["over"] or int(state["player"]) != seat:
                return
            if fault := self.game.step(state, action):
                why = self.game.spec.faults[fault]
                raise ParameterError(f"{one_line(self.game.action_name(action), 80)} is not allowed here: {why}")

    def _commit(self, actions: Sequence[int]) -> None:
        """Note a decision; what it leads to is a job, at the end of which all of it is kept (see `keep`)."""
        self.sheet.marks.append(len(self.sheet.actions))
        self.sheet.waiting = list(actions)
        self._next()

    def _next(self) -> None:
        self._changed = True
        self.sheet.move += 1
        self.sheet.asked, self.sheet.words, self.sheet.warned = [], "", []

    def _others(self) -> str:
        """Return what is waited for, in words."""
        if self.game.players == 1:
            return "the dice are rolled"
        seat = int(self.state["player"])
        return "the others think" if seat == self.place.seat else f"{self.place.names[seat]} thinks"

    def _start(self, busy: str, job: Callable[[], None]) -> None:
        self.busy = busy
        try:
            self.job = self._begin(lambda: self._finish(job))
        except BaseException:  # nobody will do it
            self.busy = ""
            raise

    def _finish(self, job: Callable[[], None]) -> None:
        """Do a job; whatever becomes of it, the table is no longer busy after it."""
        try:
            job()
        except AgentError as error:
            self.broken = f"{one_line(error.agent, 80)} fails: {one_line(error.reason, 400)}"
        except DicegymError as error:
            self.broken = str(error)
        except Exception as error:
            # Programs of others run in a job, and raise what they like: the person hears of it, and plays elsewhere.
            self.broken = f"a player fails: {type(error).__name__}: {one_line(error, 400)}"
        finally:
            with self.lock:
                self.busy = ""
                self._note()
                if self._changed:  # looked at alone, it stays as it was
                    self._keep(self.sheet)
                    self._changed = False

    def _note(self) -> None:
        """Note what was played; a player that fails amid the others' moves leaves some of them."""
        if self._run is not None and self._run.replayed is None and self._run.actions != self.sheet.actions:
            self.sheet.actions = list(self._run.actions)
            self._changed = True

    def _ask_tutor(self, actions: list[int]) -> None:
        """Ask the tutor, and play unless it warns."""
        warn = self._warner()
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

    def _lay(self) -> None:
        """Play again what was played, then let the others move."""
        self.broken = ""
        sheet, seat = self.sheet, self.place.seat
        rivals = list(self._seated(self.game))
        players = [*rivals[:seat], PersonOnPage(lambda: self.sheet.waiting.pop(0)), *rivals[seat:]]
        run = Rerun(self.game, sheet.seed, players, self.place, sheet.actions)
        with self.lock:
            self._run, self._moves = run, run.moves()
            self.told = []
        self._go()
        if not self.over:  # a page asks the same in the event loop, which loads no compiled code then
            self.controls.board(self.place, self.state)
            self.controls.forms(self.place, self.state)
            self.controls.table(self.place, self.state, True)

    def _go(self) -> None:
        """Let everybody play until the person is to decide, or the game is over."""
        if self._run is None:
            self._lay()
            return
        run, state, seat = self._run, self._run.state, self.place.seat
        while not state["over"]:
            again = run.replayed is not None
            mover = int(state["player"])
            if not again and mover == seat:
                if not self.sheet.waiting:
                    break
                if self.game.step(state.copy(), self.sheet.waiting[0]):  # kept for a later turn, where it is a fault
                    self.sheet.waiting = []
                    break
            if not again:
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
