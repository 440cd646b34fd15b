"""A person's game against others: its players, the description of what happens, and moves that are taken back.

`Sitting` is the same at a terminal and in a script: all of it goes through a function that asks and one that shows. A
page shares with it how a game that was kept is taken up again (`Rerun`), and who is usual where a person says little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError, UnknownNameError
from dicegym.games.keyboard import STRENGTHS, Place
from dicegym.play.drive import Referee
from dicegym.play.player import Player
from dicegym.play.turn import Turn
from dicegym.players.human import HumanPlayer, SeatedPerson, Words, keyboard_of
from dicegym.players.roster import resolve


class Rerun(Referee):
    """A game whose first actions are known, and which continues from there.

    The players sit down anew. Those that may remember are asked again what they were asked before, so that what they
    remember is what they remembered then; the known actions are played whatever they answer. The dice fall as they
    fell: they are the game's, not the players'.

    Args:
        game: the game.
        seed: of the game.
        players: by seat; in the person's seat whatever asks it.
        place: where the person sits.
        again: the known actions, of all seats in their order.

    Attributes:
        place: as given.
        again: as given.
        keyboard: describes the game in words.

    Raises:
        AgentError: a player cannot sit down, and the rules do not say what that costs.
    """

    def __init__(
        self, game: Game, seed: int, players: Sequence[Player], place: Place, again: Sequence[int] = ()
    ) -> None:
        self.place = place
        self.again = tuple(again)
        self.keyboard = keyboard_of(game)
        self._failures: list[str] = []
        self._fault = ""
        super().__init__(game, game.new_game(seed), players)

    @property
    def replayed(self) -> int | None:
        """The action that was played here before, if this is played again."""
        return self.again[len(self.actions)] if len(self.actions) < len(self.again) else None

    def ask(self, seat: int, turn: Turn) -> int:
        """Return what is played again, its player asked if it may remember; else what the player chooses."""
        replayed = self.replayed
        if replayed is None:
            return super().ask(seat, turn)
        if not self.players[seat].pure:
            self.acts[seat](turn)
        return replayed

    def handle_failure(self, seat: int, error: AgentError) -> int:
        """Return what the rules take a failure for, and keep it to be told; else raise ``error``."""
        action = self.game.spec.forfeit if self.replayed is None else self.replayed
        if action is None:
            raise error
        self._failures.append(f"{self.place.names[seat]} fails: {error.reason}")
        return action

    def note_fault(self, seat: int, reason: str) -> None:
        """Keep what was wrong with the action, to be told with it."""
        self._fault = reason

    def told(self, before: Any, brief: bool = False) -> list[str]:
        """Return what there is to tell of the last action; ``before`` is a copy of the record before it."""
        lines = [
            *self._failures,
            *self.keyboard.tell(self.place, before, self.actions[-1], self.state, self._fault, brief),
        ]
        self._failures.clear()
        self._fault = ""
        return lines


def names_beside(rivals: Sequence[str], seat: int) -> list[str]:
    """Return what everybody is called, by seat, no two alike; the person in ``seat`` is "you"."""
    found = ["you"]
    for name in rivals:
        number = 1
        while (unique := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        found.append(unique)
    _, *others = found
    return [*others[:seat], "you", *others[seat:]]


AGAIN, QUIT = "again", "quit"
"""How a sitting ends: another one is wanted, or none."""
WORDS = {"undo": "take your last move back", AGAIN: "begin another game", QUIT: "leave"}
"""What can be typed at any time, and what it does."""
Warn = Callable[[Turn, Sequence[int]], str]
"""Is told what a person is about to play: its turn, and one action or, where all choose at once, those of its whole
choice; returns why it had better not, or nothing. It may judge by what the person knows, and by nothing else."""
Epilogue = Callable[["Sitting"], str]
"""Is told when the game is over; returns what there is to say of it, or nothing."""
_LEAVING = {"undo": "undo", "u": "undo", "back": "undo"} | {AGAIN: AGAIN, "new": AGAIN}
_LEAVING |= dict.fromkeys((QUIT, "q", "exit", "bye"), QUIT)
"""What leaves the game as it stands, and which of `WORDS` it stands for."""
_AT_THE_END = {"": QUIT, "n": QUIT, "no": QUIT, "y": AGAIN, "yes": AGAIN}


class _Left(Exception):  # noqa: N818  # no error: what a person wants
    """The person typed a word that leaves the game as it stands."""


def _leave(answer: str) -> None:
    """Raise `_Left`, with one of `WORDS`, if an answer leaves the game."""
    if answer in _LEAVING:
        raise _Left(_LEAVING[answer])


def _leaving(word: str) -> tuple[str, Callable[[Turn], str]]:
    """Return a word that leaves the game as `Words` have it."""

    def leave(turn: Turn) -> str:
        raise _Left(_LEAVING[word])

    return WORDS.get(word, ""), leave


class Sitting:
    """One game of a person, with all that is taken back and played anew.

    A move is taken back by playing the game again from its beginning up to there (`dicegym.players.sitting.Rerun`).

    Args:
        game: the game.
        rivals: the others, in the order of their seats.
        seat: the person's.
        seed: of the game.
        ask: called with a question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
        warn: asked before what the person chose is played, which is asked whether it insists; once of each action.
        epilogue: asked when the game is over.
        answers: words that are answered with a text about the person's turn.

    Attributes:
        names: what the players are called, by seat.
        actions: all that everybody has played, what was taken back left out.
        taken_back: how many moves were taken back.

    Raises:
        ParameterError: there is no such seat, or not one rival for each other one.
    """

    def __init__(
        self,
        game: Game,
        rivals: Sequence[Player],
        seat: int,
        seed: int,
        ask: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
        warn: Warn | None = None,
        epilogue: Epilogue | None = None,
        answers: Words | None = None,
    ) -> None:
        if not 0 <= seat < game.players:
            raise ParameterError(f"invalid seat {seat}: give 0 to {game.players - 1}")
        if len(rivals) != game.players - 1:
            raise ParameterError(f"{len(rivals)} opponents do not fill {game!r}: give {game.players - 1}")
        self.game = game
        self.seat = seat
        self.seed = seed
        self.warn = warn
        self.taken_back = 0
        self._epilogue = epilogue
        self.actions: list[int] = []
        self.keyboard = keyboard_of(game)
        self.names = names_beside([rival.name for rival in rivals], seat)
        words = {**(answers or {}), **{word: _leaving(word) for word in _LEAVING}}
        self.person = HumanPlayer("you", ask, show, self.names, words)
        self.players = [*rivals[:seat], self.person, *rivals[seat:]]

    def play(self) -> str:
        """Play until the person leaves; return `AGAIN` or `QUIT`.

        EOFError and KeyboardInterrupt from the keyboard pass through. Raises AgentError if another player fails and the
        rules do not say what that costs.
        """
        marks: list[int] = []
        self.actions = []
        while True:
            run = _Run(self, self.actions, marks)
            self.actions, marks = run.actions, run.marks  # which the run continues
            try:
                run.play()
                self._end(run)
            except _Left as left:
                if str(left) != "undo":
                    return str(left)
            if not marks:
                self.person.show("You have no move to take back.")
                continue
            self.taken_back += 1
            del self.actions[marks.pop() :]
            self.person.show("You are back before your last move.")

    def _end(self, run: _Run) -> None:
        """Say who has won, and ask what to do next; raises `_Left`."""
        lines = ["", self.keyboard.ending(run.place, run.state)]
        if self.taken_back:
            times = "one move" if self.taken_back == 1 else f"{self.taken_back} moves"
            lines.append(f"(You took back {times}.)")
        self.person.show("\n".join(lines))
        told = "" if self._epilogue is None else self._epilogue(self)
        if told:
            self.person.show(f"\n{told}\n")
        while True:
            try:
                answer = self.person.question("`again`, `undo` or `quit`? ")
            except EOFError:
                raise _Left(QUIT) from None
            _leave(_AT_THE_END.get(answer, answer))
            self.person.show("The game is over: type `again`, `undo` or `quit`.")


class _Run(Rerun):
    """One run through a sitting's game: what was played before is played again unseen, then the person is asked.

    Attributes:
        marks: how many actions there were each time the person was asked for an answer.
    """

    def __init__(self, sitting: Sitting, actions: Sequence[int], marks: Sequence[int]) -> None:
        self.marks = list(marks)
        self.own = sitting.seat
        self._screen = sitting.person
        self._warn = sitting.warn
        self._untold: list[str] = []
        place = Place(sitting.game, sitting.seat, tuple(sitting.names))
        super().__init__(sitting.game, sitting.seed, sitting.players, place, actions)
        self.person = cast("SeatedPerson", self.acts[self.own])  # as a sitting's person sits down

    def ask(self, seat: int, turn: Turn) -> int:
        """Return what is played again, or chosen; the person is not asked again, and else by `ask_person`."""
        if seat != self.own:
            return super().ask(seat, turn)
        replayed = self.replayed
        return self.ask_person(turn) if replayed is None else replayed

    def tell_all(self) -> None:
        """Show what has happened since the person was asked last."""
        if self._untold:
            self._screen.show("\n".join(["", *self._untold]))
            self._untold.clear()

    def ask_person(self, turn: Turn) -> int:
        """Return the person's action, asked for if none was typed before."""
        warned: set[int] = set()
        while True:
            typed = not self.person.waiting
            if typed:
                self.tell_all()
                self._screen.show("")
            action = self.person(turn)
            if action in warned or self._may_play(turn, action, typed):
                if typed:
                    self.marks.append(len(self.actions))
                return action
            warned.add(action)
            self.person.waiting.clear()

    def _may_play(self, turn: Turn, action: int, typed: bool) -> bool:
        """Return whether the person plays an action of which it may have to be warned."""
        whole_choice = self.game.spec.joint_action is not None
        if self._warn is None or (whole_choice and not typed):  # of a whole choice it was warned when it was typed
            return True
        told = self._warn(turn, [action, *(self.person.waiting if whole_choice else ())])
        if not told:
            return True
        self._screen.show(told)
        while True:
            answer = self._screen.question("play it all the same, yes or no? ")
            if answer in ("y", "yes"):
                return True
            if answer in ("", "n", "no"):
                return False
            _leave(answer)
            self._screen.show("Type `yes` to play it, or `no` to choose again.")

    def play(self) -> Any:
        """Play to the end, telling of every action; return the record."""
        before = self.state.copy()
        for seat in self.moves():
            if seat == self.own and self.marks and len(self.actions) == self.marks[-1] + 1:
                self._untold.clear()
            self._untold += self.told(before, brief=bool(self.person.waiting))
            before = self.state.copy()
        self.tell_all()
        return self.state


USUAL = STRENGTHS[1]
"""The strength of opponents unless another one is asked for."""


def strengths(game: Game) -> dict[str, str]:
    """Return the agent that each strength names; nothing in a game that has none."""
    return dict(keyboard_of(game).OPPONENTS)


def usual_rivals(game: Game) -> list[str]:
    """Return who sits at the table if nobody is named: a strength or agents, for the other seats in turn."""
    usual: Any = game.spec.default_opponent  # an agent, or several with weights
    return [USUAL] if strengths(game) else [usual] if isinstance(usual, str) else [*usual]


def rival_named(game: Game, name: str) -> str:
    """Return the agent that is meant by a strength or by its own name. Raises UnknownNameError."""
    found = strengths(game)
    if name in found:
        return found[name]
    try:
        resolve(game, name)
    except UnknownNameError as error:
        if not found:
            raise
        by_strength = ", ".join(f"{strength} ({agent})" for strength, agent in found.items())
        raise UnknownNameError(f"{error} Opponents by strength: {by_strength}.") from None
    return name


def usual_seats(game: Game, rivals: int = 0) -> int:
    """Return the usual number of players at a table with this number of named rivals."""
    low, high = game.spec.players
    wanted = rivals + 1 if rivals > 1 else keyboard_of(game).SEATS or game.players
    return min(max(low, 2, wanted), high)


def draw_seat(seed: int, players: int) -> int:
    """Return the person's seat in the game of a seed, where none is asked for."""
    return named_seed("seat", seed) % players
