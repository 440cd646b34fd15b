"""Commands about what states, actions and agents are worth."""

from __future__ import annotations

import typer

from dicegym.cli.analyse import analyse, grade
from dicegym.cli.bare import Command
from dicegym.cli.exact import exact
from dicegym.cli.exploitability import exploitability
from dicegym.cli.hint import hint
from dicegym.cli.rollout import rollout
from dicegym.cli.solve import solve

values = typer.Typer(help="Compute exact values, hints, regret and exploitability.", no_args_is_help=True)
for command in (hint, rollout, analyse, grade, exact, exploitability, solve):
    values.command(cls=Command)(command)
