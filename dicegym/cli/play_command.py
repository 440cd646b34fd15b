"""The command that plays a game at the keyboard."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, err
from dicegym.cli.progress import progress_bar
from dicegym.columns import write_count
from dicegym.errors import ParameterError
from dicegym.escape import lines
from dicegym.play.seeds import draw_seed
from dicegym.signals import status_of, word_of

if TYPE_CHECKING:
    from dicegym.analysis.valuers import Tutor
    from dicegym.play.turn import Turn
    from dicegym.players.sitting import Sitting


def complete_rival(context: typer.Context, incomplete: str) -> list[str]:
    """Return the strengths and agents whose names begin with ``incomplete``, for the shell."""
    from dicegym.games.keyboard import STRENGTHS

    return [name for name in STRENGTHS if name.startswith(incomplete)] + shared_options.complete_agent(
        context, incomplete
    )


def play(
    game: shared_options.GameName,
    against: Annotated[
        list[str] | None,
        Option(
            help="easy, normal (default) or hard, or an agent; repeat it for each other seat",
            autocompletion=complete_rival,
        ),
    ] = None,
    seat: Annotated[int | None, Option(help="your seat, from 0 (default: drawn by the seed)")] = None,
    seed: shared_options.Seed = None,
    tutor: Annotated[bool, Option("--tutor", help="warn once before a bad move, and review your game")] = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Play at the keyboard: type your moves, or `help`.

    Seed and seat are random, and printed with the command that plays the same game again. `dicegym arena replay` and
    `dicegym values analyse` read the file that `-o` writes.

    Examples: dicegym play hog --tutor; dicegym play yatzy --against hard; dicegym play liarsdice -p players=4
    """
    from dicegym.players.sitting import AGAIN, Sitting, draw_seat, rival_named, usual_rivals

    table = _table(game, len(against or []), parameter)
    chosen = against or usual_rivals(table)
    if seat is not None and not 0 <= seat < table.players:
        raise ParameterError(f"invalid --seat {seat}: give 0 to {table.players - 1}")
    names = [rival_named(table, chosen[i % len(chosen)]) for i in range(table.players - 1)]
    rivals = [dicegym.agent(table, name) for name in names]
    advice = _Advice(table, tutor, written[".json"])
    ask = _asking()
    answers = {
        "hint": ("what is best here, and by how much", advice.hint),
        "id": ("a short text that stands for this state, to be pasted", _id_of),
    }
    number = draw_seed() if seed is None else seed
    while True:
        place = draw_seat(number, table.players) if seat is None else seat
        warn = advice.warn if tutor else None
        sitting = Sitting(table, rivals, place, number, ask, _show, warn, advice.review, answers)
        sitting.show(_welcome(table, sitting.place.names, names))
        again = {"against": against, "p": parameter, "seed": number, "seat": place}
        _show(f"  {shared_options.command_line('dicegym', 'play', game, **again)}")  # not wrapped, so it can be copied
        if tutor:
            sitting.show(advice.tutor.says)
        sitting.show("Type `help` to see what you can type.")
        try:
            if sitting.play() != AGAIN:
                break
        except EOFError:
            if not sys.stdin.isatty():
                raise ParameterError(
                    "the input ended before the game: play at a keyboard, or end the input with `quit`"
                ) from None
            break
        except KeyboardInterrupt as end:
            _show(f"\n{word_of(end)[0].upper()}{word_of(end)[1:]}.")
            raise typer.Exit(status_of(end)) from None
        number = draw_seed() if seed is None else number + 1
    _show("Goodbye.")


class _Advice:
    """Hints, warnings and reviews for a person. Values are loaded on demand.

    Args:
        table: the game.
        tutored: whether to review the whole game at its end.
        file: the file for a finished game, or None.
    """

    def __init__(self, table: dicegym.Game, tutored: bool, file: Path | None) -> None:
        self._table, self._tutored, self._file = table, tutored, file

    @functools.cached_property
    def tutor(self) -> Tutor:
        """A tutor with the best values that judge players by what they may know."""
        from dicegym.analysis.valuers import Tutor, fair_valuer

        with progress_bar("steps") as progress:
            return Tutor(fair_valuer(self._table, progress=progress))

    def hint(self, turn: Turn) -> str:
        """Return the best choices."""
        from dicegym.analysis.valuers import hint

        values = self.tutor.valuer
        with err.status("looking for the best choices"):
            return "\n".join(hint(turn.game, turn.record, values).lines(5))

    def warn(self, turn: Turn, actions: Sequence[int]) -> str:
        """Return the tutor's warning of a move, or an empty text."""
        with err.status("the tutor looks at your move"):
            return self.tutor.warning(turn, actions)

    def review(self, sitting: Sitting) -> str:
        """Write a finished game to the file, and return the review."""
        from dicegym.arena.replay import record_replay, save

        said = []
        played = record_replay(sitting.game, sitting.place.names, sitting.seed, sitting.actions)
        if self._tutored:
            from dicegym.analysis.decisions import analyse

            with err.status("looking at how you played"):
                analysis = analyse(sitting.game, played.states(), played.actions, played.seats, self.tutor.valuer)
                said.append(analysis.text())
        if self._file is not None:
            save(played, self._file)
            said.append(f"The game is in {self._file}: `dicegym values analyse` shows the regret of each decision.")
        return "\n".join(said)


def _id_of(turn: Turn) -> str:
    """Return the answer to ``id``: an id of the state, with only what the person knows."""
    from dicegym.games.positions import position_id

    text = position_id(turn.game, turn.record, turn.seat)
    return f"{text}\n`dicegym values hint` takes it; it contains only what you know."


def _table(game: str, rivals: int, parameter: list[str] | None) -> dicegym.Game:
    """Return the game with the seats of ``parameter``, or a number that suits the opponents."""
    from dicegym.players.sitting import usual_seats

    given = shared_options.parameters_of(parameter)
    table = dicegym.game(game, **given)
    if "players" not in given:
        table = dicegym.game(game, **given, players=usual_seats(table, rivals))
    if rivals and rivals >= table.players:
        if table.players == 1:
            raise ParameterError("a game for one has no opponents: leave out --against")
        raise ParameterError(
            f"--against is given {rivals} times, but {table!r} has seats for "
            f"{write_count(table.players - 1, 'opponent')}: give it at most once for each"
        )
    return table


def _welcome(table: dicegym.Game, names: Sequence[str], agents: Sequence[str]) -> str:
    """Return the names of the players, and descriptions of the agents."""
    from dicegym.players.agent_info import describe_agent

    others = f", in the order of play: {', '.join(names)}" if agents else ", alone"
    lines = [f"{table.spec.title}{others}."]
    lines += [f"  {agent}: {describe_agent(table, agent)}." for agent in dict.fromkeys(agents)]
    return "\n".join([*lines, "The same game again:"])


def _asking() -> Callable[[str], str]:
    """Return a function that asks at the keyboard. Answers of a script are printed, as a terminal shows typed ones."""
    if sys.stdin is None or sys.stdin.closed:
        raise ParameterError("the input for moves is closed: play at a keyboard")
    typed = sys.stdin.isatty()
    if typed:
        with contextlib.suppress(ImportError):  # not on all systems
            importlib.import_module("readline")  # gives `input` editing and a history

    def ask(question: str) -> str:
        try:
            answer = input(question)
        except EOFError:
            _show("")
            raise
        if not typed:
            _show(answer)
        return answer

    return ask


def _show(text: str) -> None:
    print(lines(text), flush=True)
