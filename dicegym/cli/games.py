"""The command that shows the games: environments, agents and rules."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import out, print_table
from dicegym.engine.part import folder_of
from dicegym.errors import ParameterError
from dicegym.registry import ENVIRONMENTS, rules_module


def games(
    game: shared_options.SomeGame = None,
    rules: Annotated[bool, Option("--rules", help="print its rules and the original interface of its bots")] = False,
    playthrough: Annotated[bool, Option("--playthrough", help="print a whole game, as players see it")] = False,
    parameter: shared_options.Parameters = None,
) -> None:
    """List the games, or show one: its parameters, agents and rules.

    Examples: dicegym games; dicegym games hog; dicegym games liarsdice --rules; dicegym games hog -p memory=1
    """
    if game is None:
        if rules or playthrough or parameter:
            given = "--rules" if rules else "--playthrough" if playthrough else "--parameter"
            raise ParameterError(f"{given} needs a game, as in `dicegym games hog {given}`")
        _list_environments()
    elif rules and playthrough:
        raise ParameterError("--rules and --playthrough print two texts: give one of them")
    elif rules and parameter:
        raise ParameterError("--rules prints the same text for all parameters: leave --parameter out")
    elif rules:
        _print_rules(game)
    elif playthrough:
        from dicegym.checks.playthrough import playthrough as whole_game

        typer.echo(whole_game(game, **shared_options.parameters_of(parameter)), nl=False)
    else:
        _show(shared_options.make_game(game, parameter))


def _list_environments() -> None:
    """Print the environments with descriptions from the files of their rules, without loading a game."""
    rows = []
    for one in ENVIRONMENTS:
        module = rules_module(one.game)
        settings = " ".join(f"{name}={value}" for name, value in one.settings.items())
        source = (folder_of(module) / f"{module.rpartition('.')[2]}.py").read_text(encoding="utf-8")
        rows.append([one.full_id, one.game, settings, source.partition('"""')[2].partition("\n")[0]])
    print_table(["environment", "game", "arguments", "what it is"], rows)
    out.print("`dicegym games GAME` shows a game's players, parameters, spaces and agents.")


def _show(game: dicegym.Game) -> None:
    """Print the sizes and parameters of a game, then its agents."""
    from dicegym.players.agent_info import describe_agent
    from dicegym.players.roster import SEARCHES

    low, high = game.spec.players
    seats = f"{game.players} of {low}-{high}" if low < high else str(low)
    parameters = " ".join(f"{name}={value}" for name, value in game.all_parameters.items())
    titles = ["game", "players", "actions", "observation", "parameters"]
    print_table(titles, [[game.name, seats, str(game.n_actions), str(game.observation_size), parameters]])
    out.print("")
    agents = dict.fromkeys([*dicegym.agent_names(game), *SEARCHES])
    print_table(["agent", "what it is"], [[name, describe_agent(game, name)] for name in agents])


def _print_rules(game: str) -> None:
    from dicegym.games.parts import ADAPTER, part
    from dicegym.games.rules_page import rules_page
    from dicegym.sandbox.limits import customs

    out.print(rules_page(game).replace("``", "`"))
    starter = part(game, ADAPTER)
    if starter is not None and starter.INTERFACE:
        for title, text in (("Original interface", starter.INTERFACE), ("All bots", customs())):
            out.print(f"{title}\n{'-' * len(title)}\n\n{text}")
        out.print(f"A bot to start from: `dicegym new bot {game} PATH`. Other bots: `dicegym games {game}`.")
