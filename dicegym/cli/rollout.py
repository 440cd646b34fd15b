"""What choices in a state are worth, by playing the game on from there."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out, print_table, write_json
from dicegym.cli.progress import progress_bar
from dicegym.cli.states import StateName, action_meant, state_named, told

SHOWN = 10
"""Choices that are shown."""


def rollout(
    state: StateName,
    games: Annotated[int, Option(min=1, metavar="N", help="games with each choice, at the most")] = 20_000,
    until: Annotated[
        float, Option(min=0, metavar="ERROR", help="stop when the standard error of the best value is this or less")
    ] = 0.0,
    action: Annotated[
        list[str] | None,
        Option(help="a choice, as you would type it in `dicegym play`; repeatable (default: all that are legal)"),
    ] = None,
    player: Annotated[
        str | None,
        Option(
            metavar="AGENT",
            help="who plays on (default: the strongest that is compiled)",
            autocompletion=options.complete_agent,
        ),
    ] = None,
    against: Annotated[
        str | None, Option(metavar="AGENT", help="who plays on in the other seats (default: the same)")
    ] = None,
    policy: Annotated[
        str | None, Option(metavar="NAME", help="a source of values: play on as it supposes that all play")
    ] = None,
    leaves: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="a source of values: end games where a hand ends (or, in games without hands, after the choice)",
        ),
    ] = None,
    seconds: Annotated[float | None, Option(min=0, metavar="S", help="begin no further games after so long")] = None,
    seed: options.Seed = 0,
    store: options.StoreName = None,
    trust: options.Trust = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Play a state on many times with each choice.

    All choices get the same dice; what others hide is drawn as the player to move may believe it. Choices that turn out
    to be worse are played no further, and it stops when one is left.

    Example: dicegym values rollout 3fa2c1:12 --until 0.001
    """
    from dicegym.analysis.rollouts import rollout as rolled_out
    from dicegym.analysis.valuers import figure, titled, valuer
    from dicegym.errors import ParameterError
    from dicegym.games.positions import position_id

    if policy is not None and player is not None:
        raise ParameterError(f"--policy {policy} and --player {player} both say who plays on: give one of them")
    found = state_named(state, store)
    game = found.game
    actions = None if not action else [action_meant(found, text) for text in action]
    with progress_bar("games") as progress:
        result = rolled_out(
            game,
            found.state[0],
            actions=actions,
            games=games,
            until=until,
            player=player if policy is None else valuer(game, policy, progress=progress),
            against=against,
            leaves=None if leaves is None else valuer(game, leaves, progress=progress),
            seconds=seconds,
            seed=seed or 0,
            trust=trust,
            progress=progress,
        )
    for line in told(found):
        out.print(line)
    out.print("")
    rows = []
    for place, one in enumerate(result.candidates[:SHOWN], 1):
        behind = (
            [figure(one.difference, result.unit), figure(one.difference_error, result.unit)] if place > 1 else ["", ""]
        )
        error = figure(one.error, result.unit)
        state_of = "worse" if one.dropped else ""
        rows.append([str(place), one.name, figure(one.value, result.unit), error, *behind, f"{one.games:,}", state_of])
    print_table(["", "choice", titled(result.unit), "± error", "behind", "± error", "games", ""], rows)
    if len(result.candidates) > SHOWN:
        out.print(f"({len(result.candidates) - SHOWN} more)")
    out.print("")
    for line in result.lines():
        out.print(line)
    if written:
        about = result._asdict()
        about["game"] = game.name
        about["candidates"] = [one._asdict() for one in result.candidates]
        facts = {"players_of_game": game.players, "parameters": dict(game.parameters)}
        write_json(written[".json"], {"state": position_id(game, found.state[0], result.seat), **about, **facts})
