"""Games of a person against agents, with a function that asks and a function that shows.

So a game is the same at a terminal and in a script. A page describes games and continues them in the same way
(`Rerun`). The game's ``controls.py`` reads what is typed (`dicegym.games.controls.Controls`); a game without one is
played by a numbered list of its actions.
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
from dicegym.pictures.watched import tell_apart
from dicegym.play.drive import Referee
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Turn
from dicegym.players.roster import resolve

WIDTH = 80
"""Columns of a screen."""
TABLE_WORDS = frozenset({"table", "show", "look", "board", "card", "shop", "score", "scores"})
"""Words that show the whole table, unless the game reads them as a move."""
COMMANDS = {
    "help": "what can be typed",
    "table": "the whole table",
    "list": "every action that is allowed, by number; `[3]` plays number 3",
}
"""Commands of every game, with their help."""
Words = Mapping[str, tuple[str, Callable[[Turn], str]]]
"""Further commands on the person's turn: word -> (its help, or an empty text to leave it out; what returns the
answer)."""
AGAIN, QUIT = "again", "quit"
"""What a person wants after a game: another one, or none."""
_LEAVING = {AGAIN: AGAIN, "new": AGAIN, QUIT: QUIT, "q": QUIT, "exit": QUIT, "bye": QUIT}
"""Words that leave a game at once."""
_AT_THE_END = _LEAVING | {"": QUIT, "n": QUIT, "no": QUIT, "y": AGAIN, "yes": AGAIN}
Warn = Callable[[Turn, Sequence[int]], str]
"""Return why a person should not play this way, or an empty text.

Called with the turn and one action, or all actions of a choice where all choose at once. It may use what the person
knows, and nothing else."""
Epilogue = Callable[["Sitting"], str]
"""Return a text about a game that is over; it may be empty."""
USUAL = STRENGTHS[1]
"""The default strength of opponents."""


def controls_of(game: Game) -> Controls:
    """Return the controls of a game: its own, or a numbered list and buttons of its actions."""
    return part(game, CONTROLS) or NumberedControls()


def wrap_lines(text: str) -> str:
    """Return text with long lines wrapped and continuations indented.

    Quoted input (`` `so` ``) and lines of one word stay whole, so that they can be copied.
    """
    found = []
    whole = re.sub(r"`[^`\n]*`", lambda typed: typed[0].replace(" ", GLUE), text)
    for line in whole.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        several = " " in line.strip()
        wrapper = textwrap.TextWrapper(
            WIDTH - 1, subsequent_indent=indent, break_on_hyphens=False, break_long_words=several
        )
        found += wrapper.wrap(line) or [""]
    return "\n".join(found).replace(GLUE, " ")


class Rerun(Referee):
    """A game that replays its first actions and continues from there.

    The players sit down again. Impure players are asked again during the replay, so that they remember the same, but
    the known actions are played. The dice fall as before.

    Args:
        game: the game.
        seed: of the game.
        players: by seat; the one in the person's seat asks the person.
        place: the person's place.
        again: the known actions, of all seats in order.

    Raises:
        AgentError: a player cannot sit down, and the rules have no ``forfeit``.
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
        """The known action of this decision, or None."""
        return self.again[len(self.actions)] if len(self.actions) < len(self.again) else None

    def ask(self, seat: int, turn: Turn) -> int:
        """Return the known action, after asking an impure player, or what the player chooses."""
        replayed = self.replayed
        if replayed is None:
            return super().ask(seat, turn)
        if not self.players[seat].pure:
            self.acts[seat](turn)
        return replayed

    def handle_failure(self, seat: int, error: AgentError) -> int:
        """Note the failure and return the action that replaces it; raise ``error`` if the rules have none."""
        action = self.game.spec.forfeit if self.replayed is None else self.replayed
        if action is None:
            raise error
        self._failures.append(f"{self.place.names[seat]} fails: {error.reason}")
        return action

    def note_fault(self, seat: int, reason: str) -> None:
        """Note what was wrong with the action."""
        self._fault = reason

    def describe_action(self, before: Any, brief: bool = False) -> list[str]:
        """Describe the last action in lines; ``before`` is a copy of the record before it."""
        told = self.keyboard.tell(self.place, before, self.actions[-1], self.state, self._fault, brief)
        found = [*self._failures, *told]
        self._failures.clear()
        self._fault = ""
        return found


def names_beside(rivals: Sequence[str], seat: int) -> list[str]:
    """Return a unique name for each seat; the person in ``seat`` is "you"."""
    you, *others = tell_apart(["you", *rivals])
    return [*others[:seat], you, *others[seat:]]


class _Left(Exception):  # noqa: N818  # not an error
    """The person typed a word that leaves the game."""


class Sitting(Rerun):
    """One game of a person.

    Args:
        game: the game.
        rivals: the other players, in the order of their seats.
        seat: the person's seat.
        seed: of the game.
        ask: called with a question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
        warn: called before the person's choice is played, once for each action.
        epilogue: called when the game is over.
        answers: further commands on the person's turn.

    Raises:
        ParameterError: there is no such seat, or the number of rivals is wrong.
        AgentError: a player cannot sit down, and the rules have no ``forfeit``.
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
        self.seed = seed
        self._ask, self._show, self._warn, self._epilogue, self._answers = ask, show, warn, epilogue, answers or {}
        self._untold: list[str] = []
        self._waiting: list[int] = []  # typed with the last answer, not played yet
        self._full = True  # whether the next table is shown in full
        names = names_beside([rival.name for rival in rivals], seat)
        players = [*rivals[:seat], FunctionPlayer(self._choose, "you"), *rivals[seat:]]
        super().__init__(game, seed, players, Place(game, seat, tuple(names)))

    def play(self) -> str:
        """Play and describe every action until the person leaves; return `AGAIN` or `QUIT`.

        EOFError and KeyboardInterrupt from the keyboard pass through. Raises AgentError if another player fails and the
        rules have no ``forfeit``.
        """
        try:
            before = self.state.copy()
            for _ in self.moves():
                self._untold += self.describe_action(before, brief=bool(self._waiting))
                before = self.state.copy()
            self._show_untold()
            return self._end()
        except _Left as left:
            return str(left)

    def show(self, text: str) -> None:
        """Show text, with long lines wrapped."""
        self._show(wrap_lines(lines(text)))

    def ask(self, seat: int, turn: Turn) -> int:
        """Return the action that a player chooses; the person is asked unless an action is waiting."""
        if seat != self.place.seat:
            return super().ask(seat, turn)
        warned: set[int] = set()
        while True:
            typed = not self._waiting
            if typed:
                self._show_untold()
                self.show("")
            action = self._choose(turn)
            if action in warned or self._may_play(turn, action, typed):
                return action
            warned.add(action)
            self._waiting.clear()

    def _choose(self, turn: Turn) -> int:
        """Return the next action: a waiting one, or the person's answer."""
        if not self._waiting:
            self.show(self.keyboard.table(self.place, turn.record, self._full))
            self._full = False
        while not self._waiting:
            text = self._question("your move> ")
            if text in ("help", "?", "h"):
                self.show(self._help())
            elif text == "list":
                self.show(list_of(legal_names(self.place, turn.record)))
            elif not text:
                self.show("Type a move, or `help`.")
            elif text in _LEAVING:
                raise _Left(_LEAVING[text])
            elif text in self._answers:
                self.show(self._answers[text][1](turn))
            else:
                self._read(turn, text)
        return self._waiting.pop(0)

    def _question(self, prompt: str) -> str:
        return " ".join(self._ask(prompt).lower().replace("`", "").split())

    def _help(self) -> str:
        helps = COMMANDS | {word: told for word, (told, _) in self._answers.items() if told}
        helps |= {AGAIN: "begin another game", QUIT: "leave"}
        width = max(map(len, helps))
        listed = [f"  {word:<{width}}  {meaning}" for word, meaning in helps.items()]
        rules = [f"How it is played: dicegym games {self.game.name} --rules"] if self.game.spec.registered else []
        return "\n".join([self.keyboard.HELP, "And at any time:", *listed, *rules])

    def _read(self, turn: Turn, text: str) -> None:
        try:
            self._waiting = list(self.keyboard.read(self.place, turn.record, text))
        except ParameterError as error:
            action = match_action(text, legal_names(self.place, turn.record), bare=False)
            if action is not None:
                self._waiting = [action]
            elif text in TABLE_WORDS:
                self.show(self.keyboard.table(self.place, turn.record, True))
            else:
                said = str(error) if len(text) < WIDTH else "that is more than one move: type less"
                self.show(f"{said[0].upper()}{said[1:]}.")

    def _show_untold(self) -> None:
        """Show what happened since the last question."""
        if self._untold:
            self.show("\n".join(["", *self._untold]))
            self._untold.clear()

    def _may_play(self, turn: Turn, action: int, typed: bool) -> bool:
        """Return whether the person plays the action, after a warning if there is one."""
        whole_choice = self.game.spec.joint_action is not None
        if self._warn is None or (whole_choice and not typed):  # a whole choice is warned of once
            return True
        told = self._warn(turn, [action, *(self._waiting if whole_choice else ())])
        if not told:
            return True
        self.show(told)
        while True:
            answer = self._question("play it all the same, yes or no? ")
            if answer in ("y", "yes"):
                return True
            if answer in ("", "n", "no"):
                return False
            if answer in _LEAVING:
                raise _Left(_LEAVING[answer])
            self.show("Type `yes` to play it, or `no` to choose again.")

    def _end(self) -> str:
        """Show the winner, and ask whether to play again."""
        self.show("\n".join(["", self.keyboard.ending(self.place, self.state)]))
        told = "" if self._epilogue is None else self._epilogue(self)
        if told:
            self.show(f"\n{told}\n")
        while True:
            try:
                answer = self._question("`again` or `quit`? ")
            except EOFError:
                return QUIT
            if answer in _AT_THE_END:
                return _AT_THE_END[answer]
            self.show("The game is over: type `again` or `quit`.")


def strengths(game: Game) -> dict[str, str]:
    """Return strength -> agent; empty for a game without strengths."""
    return dict(controls_of(game).OPPONENTS)


def usual_rivals(game: Game) -> list[str]:
    """Return the default opponents, a strength or agents, for the other seats in turn."""
    usual: Any = game.spec.default_opponent  # an agent, or several with weights
    return [USUAL] if strengths(game) else [usual] if isinstance(usual, str) else [*usual]


def rival_named(game: Game, name: str) -> str:
    """Return the agent for a strength or an agent's name. Raises UnknownNameError."""
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
    """Return the default number of players for this number of named rivals."""
    low, high = game.spec.players
    wanted = rivals + 1 if rivals > 1 else controls_of(game).SEATS or game.players
    return min(max(low, 2, wanted), high)


def draw_seat(seed: int, players: int) -> int:
    """Return the person's default seat in the game of a seed."""
    return named_seed("seat", seed) % players
