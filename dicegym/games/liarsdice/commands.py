"""Classic Liar's Dice with its original commands.

``play p_human p_computer``, ``tournament 100 p_robot p_computer``: the command line finds this module by its name and
offers it as ``dicegym liarsdice``, with the line above as its help.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import dicegym
from dicegym import arena
from dicegym.arena.formats.one_table import one_table
from dicegym.arena.report import show
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out
from dicegym.cli.options import Seed
from dicegym.engine.game import Game
from dicegym.engine.scene import FACES
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.games.bidding.text import bid_text, dice_text
from dicegym.games.bidding.view import Bid, Showdown
from dicegym.games.liarsdice.adapter import IDS, action_of, history_text, ids_of, play_of
from dicegym.play.player import Player, sit_down
from dicegym.play.seeds import drawn_seed
from dicegym.play.turn import Act, Turn, follows
from dicegym.players.roster import agent_name

HUMAN = "p_human"
"""The name of the person at the keyboard."""

Dice = Annotated[int, typer.Option(help="dice that each player begins with")]


def named(entries: list[str]) -> dict[str, str]:
    """Return what was named, by a name of its own each: a folder here comes before an agent that is called alike."""
    found: dict[str, str] = {}
    for entry in entries:
        name = one_line(agent_name("liarsdice", entry))
        number = 1
        while (unique := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        here = entry != HUMAN and Path(entry).is_dir() and not Path(entry).is_absolute()
        found[unique] = f"./{entry}" if here else entry
    return found


def play(
    entries: Annotated[list[str], typer.Argument(metavar="PLAYER...", help=f"{HUMAN} is you; agents, folders, files")],
    seed: Seed = None,
    dice: Dice = 5,
) -> None:
    """Play one game, with a person at the keyboard or without.

    Prints every call and every showdown.

    Example: dicegym liarsdice play p_human p_computer
    """
    seats = named(entries)
    game = dicegym.game("liarsdice", players=len(seats), dice=dice)
    players: list[Player] = [
        Person(list(seats), name) if spec == HUMAN else dicegym.agent(game, spec, keep=True)
        for name, spec in seats.items()
    ]
    people = [player for player in players if isinstance(player, Person)]
    if not people:
        players[0] = Told(players[0], Person(list(seats), ""))
    if len(people) > 1:
        raise ParameterError(f"{HUMAN} is named {len(people)} times, and there is one keyboard: name it once")
    number = drawn_seed() if seed is None else seed
    try:
        result = arena.play_match(game, players, number, 1)
    except EOFError:
        raise ParameterError("the input ended before the game did: play at a keyboard") from None
    for incident in result.incidents:
        name = list(seats)[incident.player]
        out.print(f"fault: {name}: turn {incident.turn}: {incident.reason}")
    out.print(f"{list(seats)[result.wins.index(1)]} wins")
    if seed is None:
        out.print(f"The same game again: --seed {number}")


def tournament(
    games: Annotated[int, typer.Argument(help="how many games are played")],
    entries: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="agents, folders, files")],
    seed: Seed = None,
    dice: Dice = 5,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Let all players play games together, and count wins.

    Seats are shuffled for each game.

    Example: dicegym liarsdice tournament 100 p_robot p_computer
    """
    if HUMAN in entries:
        raise ParameterError(f"{HUMAN} is a person: play with `dicegym liarsdice play`")
    result = one_table(dicegym.game("liarsdice", dice=dice), named(entries), games, seed)
    show(result.report(), out)
    written.json(result.to_json())
    if not result.matches:
        raise typer.Exit(1)


app = group("", play=play, tournament=tournament)


# --- the person at the keyboard ------------------------------------------------------------------------------


class Person(Player):
    """A person at the keyboard: shows hands, history and showdowns, and asks until a play is allowed.

    Args:
        names: of all players, in the order in which they were named.
        name: the person's own.
        ask: called with the question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
    """

    def __init__(
        self,
        names: Sequence[str],
        name: str,
        ask: Callable[[str], str] = input,
        show: Callable[[str], None] = print,
    ) -> None:
        self.name = name
        self.names = names
        self.ask = ask
        self.show = show

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; EOFError and KeyboardInterrupt from the keyboard pass through."""
        return _Seated(self)


class Told(Player):
    """A bot beside which somebody watches, and is told how every hand was played.

    Args:
        player: the bot.
        person: who watches; nobody asks them.
    """

    def __init__(self, player: Player, person: Person) -> None:
        self.name = player.name
        self.printed = player.printed
        self._player = player
        self._person = person

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Let the bot sit down."""
        return _Beside(sit_down(self._player, game, seat, seed), _Seated(self._person, watches=True))


class _Beside:
    """A seated bot, and who watches."""

    def __init__(self, act: Act, watching: _Seated) -> None:
        self._act = act
        self._watching = watching
        self.explain = getattr(act, "explain", None)

    def __call__(self, turn: Turn) -> int:
        return self._act(turn)

    def follow(self, turn: Turn) -> None:
        self._watching.follow(turn)
        if follows(self._act):
            self._act.follow(turn)


class _Seated:
    """The person in a seat."""

    def __init__(self, person: Person, watches: bool = False) -> None:
        self._person = person
        self._watches = watches

    def _who(self, turn: Turn, seat: int) -> str:
        number = turn.order[seat]
        is_you = seat == turn.seat and not self._watches
        return f"{IDS[number]} ({'you' if is_you else self._person.names[number]})"

    def _bids(self, turn: Turn, bids: Sequence[Bid]) -> list[str]:
        return [f"    {self._who(turn, bid.seat)}: {bid_text(bid.quantity, bid.face)}" for bid in bids]

    def __call__(self, turn: Turn) -> int:
        """Show the table and ask for a play."""
        view: Any = turn.view
        ids = ids_of(turn.order)
        hidden = [_shown(view.hand) if seat == view.seat else "▢ " * left for seat, left in enumerate(view.left)]
        lines = ["", f"hand {view.finished + 1}, {dice_text(sum(view.left))} on the table"]
        lines += [f"  {self._who(turn, seat)}: {hand or 'out'}".rstrip() for seat, hand in enumerate(hidden)]
        lines += [f"  history {history_text(view.bids, ids) or 'is empty: you open'}", *self._bids(turn, view.bids)]
        self._person.show("\n".join(lines))
        mask = turn.mask
        while True:
            answer = self._person.ask("your play (23 is two threes, 0 is liar): ").strip()
            action = action_of(int(answer)) if answer.isdecimal() and len(answer) < 9 else len(mask)
            if action < len(mask) and mask[action]:
                return action
            self._person.show(f"{answer!r} is not allowed: {_allowed(view.bids, len(view.left) * view.dice)}")

    def follow(self, turn: Turn) -> None:
        """Show how the hand ended."""
        view: Any = turn.view
        ended: Showdown | None = view.showdown
        if ended is None:
            return
        ids = ids_of(turn.order)
        lines = ["", f"showdown of hand {view.finished}"]
        lines += [f"  {self._who(turn, seat)}: {_shown(hand)}" for seat, hand in enumerate(ended.hands) if hand]
        lines += [f"  history {history_text(ended.bids, ids, ended.caller)}", *self._bids(turn, ended.bids)]
        lines.append(f"    {self._who(turn, ended.caller)}: liar")
        if ended.bids:
            face = ended.bids[-1].face
            found = sum(hand.count(face) for hand in ended.hands)
            lines.append(f"  there {'is' if found == 1 else 'are'} {bid_text(found, face)}")
        loser = self._who(turn, ended.changed)
        lines.append(f"  {loser} loses a die" + ("" if view.left[ended.changed] else " and is out"))
        self._person.show("\n".join(lines))


def _shown(hand: Sequence[int]) -> str:
    return " ".join(f"{FACES[face - 1]}{face}" for face in hand)


def _allowed(bids: Sequence[Bid], most: int) -> str:
    if not bids:
        return f"open with a quantity of 1 to {most} and a face of 1 to 6, such as 23"
    last = bids[-1]
    return f"bid higher than {play_of(last.quantity, last.face)}, at most {most} dice, or 0 for liar"
