"""A person's game against others: the person at the keyboard, and what it is told.

Everything goes through a function that asks and one that shows, so a game is the same at a terminal and in a script. A
page describes games and takes them up again in the same way (`Rerun`). A game is played as its ``controls.py`` reads
what is typed (`dicegym.games.controls.Controls`), and by a numbered list of its actions where it has none.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import check_seat
from dicegym.errors import AgentError, ParameterError, UnknownNameError
from dicegym.escape import lines
from dicegym.games.controls import GLUE, Controls, NumberedControls, legal_names, list_of, match_action
from dicegym.games.keyboard import STRENGTHS, Place
from dicegym.games.parts import CONTROLS, part
from dicegym.play.drive import Referee
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import resolve

WIDTH = 80
"""Columns of a screen."""
TABLE_WORDS = frozenset({"table", "show", "look", "board", "card", "shop", "score", "scores"})
"""What shows the whole table, unless the game reads it as a move."""
COMMANDS = {
    "help": "what can be typed",
    "table": "the whole table",
    "list": "every action that is allowed, by number; `[3]` plays number 3",
}
"""What is understood in every game, and what it does."""
Words = Mapping[str, tuple[str, Callable[[Turn], str]]]
"""Words that a person may type when it is to move: what ``help`` says of each, nothing for one that it does not list,
and what answers it. An answer may raise, to leave the game."""
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
USUAL = STRENGTHS[1]
"""The strength of opponents unless another one is asked for."""


def controls_of(game: Game) -> Controls:
    """Return how a person plays a game: its own part, or a numbered list and buttons of its actions."""
    return part(game, CONTROLS) or NumberedControls()


def wrap_lines(text: str, width: int = WIDTH) -> str:
    """Return text whose lines fit, the rest of a line that does not being indented below it; `` `so` `` stays whole.

    So does a line of one word, which is to be copied.
    """
    found = []
    whole = re.sub(r"`[^`\n]*`", lambda typed: typed[0].replace(" ", GLUE), text)
    for line in whole.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        several = " " in line.strip()
        wrapper = textwrap.TextWrapper(
            width - 1, subsequent_indent=indent, break_on_hyphens=False, break_long_words=several
        )
        found += wrapper.wrap(line) or [""]
    return "\n".join(found).replace(GLUE, " ")


class HumanPlayer(Player):
    """Shows the table and asks until it gets a move that is allowed. It plays one game at a time.

    Args:
        name: how reports call the person.
        ask: called with the question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
        names: what everybody is called, by seat (default: ``player 0`` and so on).
        words: further words that are understood.

    Attributes:
        waiting: actions that were typed with the last answer and are still to be played.
    """

    def __init__(
        self,
        name: str = "you",
        ask: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
        names: Sequence[str] | None = None,
        words: Words | None = None,
    ) -> None:
        self.name = name
        self.waiting: list[int] = []
        self._ask = ask
        self._show = show
        self._names = names
        self._words = dict(words or {})

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; EOFError and KeyboardInterrupt from the keyboard pass through."""
        names = self._names or [f"player {number}" for number in range(game.players)]
        self._place, self._keyboard = Place(game, seat, tuple(names)), controls_of(game)
        self._full = True  # whether the next table is shown in full
        self.waiting = []
        return self.choose

    def choose(self, turn: Turn) -> int:
        """Return the next action: one that was typed before, or one that is asked for."""
        if not self.waiting:
            self.show(self._keyboard.table(self._place, turn.record, self._full))
            self._full = False
        while not self.waiting:
            text = self.question("your move> ")
            if text in ("help", "?", "h"):
                self.show(self._help())
            elif text == "list":
                self.show(list_of(legal_names(self._place, turn.record)))
            elif not text:
                self.show("Type a move, or `help`.")
            elif text in self._words:
                self.show(self._words[text][1](turn))
            else:
                self._read(turn, text)
        return self.waiting.pop(0)

    def show(self, text: str) -> None:
        """Show text, lines that are too long wrapped at spaces."""
        self._show(wrap_lines(lines(text)))

    def question(self, prompt: str) -> str:
        """Return what is answered, in lower case and with single spaces."""
        return " ".join(self._ask(prompt).lower().replace("`", "").split())

    def _help(self) -> str:
        """Return what can be typed."""
        game = self._place.game
        helps = COMMANDS | {word: told for word, (told, _) in self._words.items() if told}
        width = max(map(len, helps))
        listed = [f"  {word:<{width}}  {meaning}" for word, meaning in helps.items()]
        rules = [f"How it is played: dicegym games {game.name} --rules"] if game.spec.registered else []
        return "\n".join([self._keyboard.HELP, "And at any time:", *listed, *rules])

    def _read(self, turn: Turn, text: str) -> None:
        try:
            self.waiting = list(self._keyboard.read(self._place, turn.record, text))
        except ParameterError as error:
            action = match_action(text, legal_names(self._place, turn.record), bare=False)
            if action is not None:
                self.waiting = [action]
            elif text in TABLE_WORDS:
                self.show(self._keyboard.table(self._place, turn.record, True))
            else:
                said = str(error) if len(text) < WIDTH else "that is more than one move: type less"
                self.show(f"{said[0].upper()}{said[1:]}.")


class Rerun(Referee):
    """A game whose first actions are known, and which continues from there.

    The players sit down anew. Those that may remember are asked again what they were asked before, so that they
    remember the same; the known actions are played whatever they answer. The dice fall as they fell.

    Args:
        game: the game.
        seed: of the game.
        players: by seat; in the person's seat whatever asks it.
        place: where the person sits.
        again: the known actions, of all seats in their order.

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
        told = self.keyboard.tell(self.place, before, self.actions[-1], self.state, self._fault, brief)
        found = [*self._failures, *told]
        self._failures.clear()
        self._fault = ""
        return found


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
        warn: asked before what the person chose is played, once of each action.
        epilogue: asked when the game is over.
        answers: words that are answered with a text about the person's turn.

    Attributes:
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
        seat = check_seat(game, seat)
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

    def play(self) -> str:
        """Play until the person leaves, telling of every action; return `AGAIN` or `QUIT`.

        EOFError and KeyboardInterrupt from the keyboard pass through. Raises AgentError if another player fails and the
        rules do not say what that costs.
        """
        try:
            before = self.state.copy()
            for _ in self.moves():
                self._untold += self.describe_action(before, brief=bool(self.person.waiting))
                before = self.state.copy()
            self._tell_all()
            return self._end()
        except _Left as left:
            return str(left)

    def ask(self, seat: int, turn: Turn) -> int:
        """Return what a player chooses; the person is asked unless it typed several actions before."""
        if seat != self.seat:
            return super().ask(seat, turn)
        warned: set[int] = set()
        while True:
            typed = not self.person.waiting
            if typed:
                self._tell_all()
                self.person.show("")
            action = self.acts[seat](turn)
            if action in warned or self._may_play(turn, action, typed):
                return action
            warned.add(action)
            self.person.waiting.clear()

    def _tell_all(self) -> None:
        """Show what has happened since the person was asked last."""
        if self._untold:
            self.person.show("\n".join(["", *self._untold]))
            self._untold.clear()

    def _may_play(self, turn: Turn, action: int, typed: bool) -> bool:
        """Return whether the person plays an action of which it may have to be warned."""
        whole_choice = self.game.spec.joint_action is not None
        if self._warn is None or (whole_choice and not typed):  # of a whole choice it was warned when it was typed
            return True
        told = self._warn(turn, [action, *(self.person.waiting if whole_choice else ())])
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
