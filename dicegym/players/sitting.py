"""A person's game against others: its players, and the description of what happens.

`Sitting` is the same at a terminal and in a script: all of it goes through a function that asks and one that shows. A
page shares with it how games are described, and taken up again where they were kept (`Rerun`), and who is usual where a
person says little.
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
from dicegym.players.human import HumanPlayer, SeatedPerson, Words, controls_of
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
        self.keyboard = controls_of(game)
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

    def describe_action(self, before: Any, brief: bool = False) -> list[str]:
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
_HELP = {AGAIN: "begin another game", QUIT: "leave"}
_LEAVING = {AGAIN: AGAIN, "new": AGAIN, QUIT: QUIT, "q": QUIT, "exit": QUIT, "bye": QUIT}
"""What leaves the game as it stands, and how the sitting ends then."""
_AT_THE_END = _LEAVING | {"": QUIT, "n": QUIT, "no": QUIT, "y": AGAIN, "yes": AGAIN}
Warn = Callable[[Turn, Sequence[int]], str]
"""Is told what a person is about to play: its turn, and one action or, where all choose at once, those of its whole
choice; returns why it had better not, or nothing. It may judge by what the person knows, and by nothing else."""
Epilogue = Callable[["Sitting"], str]
"""Is told when the game is over; returns what there is to say of it, or nothing."""


class _Left(Exception):  # noqa: N818  # no error: what a person wants
    """The person typed a word that leaves the game as it stands."""


def _leaving(word: str) -> tuple[str, Callable[[Turn], str]]:
    """Return a word that leaves the game as `Words` have it."""

    def leave(turn: Turn) -> str:
        raise _Left(_LEAVING[word])

    return _HELP.get(word, ""), leave


class Sitting(Rerun):
    """One game of a person.

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
        seat: as given; so is ``seed``.
        person: the person, who can be shown more.

    Raises:
        ParameterError: there is no such seat, or not one rival for each other one.
        AgentError: a player cannot sit down, and the rules do not say what that costs.
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
        self.seat, self.seed = seat, seed
        self._warn, self._epilogue = warn, epilogue
        self._untold: list[str] = []
        names = names_beside([rival.name for rival in rivals], seat)
        words = {**(answers or {}), **{word: _leaving(word) for word in _LEAVING}}
        self.person = HumanPlayer("you", ask, show, names, words)
        players = [*rivals[:seat], self.person, *rivals[seat:]]
        super().__init__(game, seed, players, Place(game, seat, tuple(names)))
        self._seated = cast("SeatedPerson", self.acts[seat])  # as a sitting's person sits down

    def play(self) -> str:
        """Play until the person leaves, telling of every action; return `AGAIN` or `QUIT`.

        EOFError and KeyboardInterrupt from the keyboard pass through. Raises AgentError if another player fails and the
        rules do not say what that costs.
        """
        try:
            before = self.state.copy()
            for _ in self.moves():
                self._untold += self.describe_action(before, brief=bool(self._seated.waiting))
                before = self.state.copy()
            self._tell_all()
            return self._end()
        except _Left as left:
            return str(left)

    def ask(self, seat: int, turn: Turn) -> int:
        """Return what a player chooses; the person is asked unless it typed several actions before."""
        return super().ask(seat, turn) if seat != self.seat else self._ask_person(turn)

    def _tell_all(self) -> None:
        """Show what has happened since the person was asked last."""
        if self._untold:
            self.person.show("\n".join(["", *self._untold]))
            self._untold.clear()

    def _ask_person(self, turn: Turn) -> int:
        warned: set[int] = set()
        while True:
            typed = not self._seated.waiting
            if typed:
                self._tell_all()
                self.person.show("")
            action = self._seated(turn)
            if action in warned or self._may_play(turn, action, typed):
                return action
            warned.add(action)
            self._seated.waiting.clear()

    def _may_play(self, turn: Turn, action: int, typed: bool) -> bool:
        """Return whether the person plays an action of which it may have to be warned."""
        whole_choice = self.game.spec.joint_action is not None
        if self._warn is None or (whole_choice and not typed):  # of a whole choice it was warned when it was typed
            return True
        told = self._warn(turn, [action, *(self._seated.waiting if whole_choice else ())])
        if not told:
            return True
        self.person.show(told)
        while True:
            answer = self.person.question("play it all the same, yes or no? ")
            if answer in ("y", "yes"):
                return True
            if answer in ("", "n", "no"):
                return False
            if answer in _LEAVING:
                raise _Left(_LEAVING[answer])
            self.person.show("Type `yes` to play it, or `no` to choose again.")

    def _end(self) -> str:
        """Say who has won, and ask whether to play again."""
        self.person.show("\n".join(["", self.keyboard.ending(self.place, self.state)]))
        told = "" if self._epilogue is None else self._epilogue(self)
        if told:
            self.person.show(f"\n{told}\n")
        while True:
            try:
                answer = self.person.question("`again` or `quit`? ")
            except EOFError:
                return QUIT
            if answer in _AT_THE_END:
                return _AT_THE_END[answer]
            self.person.show("The game is over: type `again` or `quit`.")


USUAL = STRENGTHS[1]
"""The strength of opponents unless another one is asked for."""


def strengths(game: Game) -> dict[str, str]:
    """Return the agent that each strength names; nothing in a game that has none."""
    return dict(controls_of(game).OPPONENTS)


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
    wanted = rivals + 1 if rivals > 1 else controls_of(game).SEATS or game.players
    return min(max(low, 2, wanted), high)


def draw_seat(seed: int, players: int) -> int:
    """Return the person's seat in the game of a seed, where none is asked for."""
    return named_seed("seat", seed) % players
