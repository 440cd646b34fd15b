"""Commands about what states, actions and agents are worth."""

from __future__ import annotations

from dicegym.cli.analyse import analyse, grade
from dicegym.cli.command import group
from dicegym.cli.exact_command import exact
from dicegym.cli.exploitability_command import exploitability
from dicegym.cli.solve import solve
from dicegym.cli.state_commands import hint
from dicegym.cli.verify import verify

values = group(
    "Compute exact values, hints, regret and exploitability.",
    hint=hint,
    analyse=analyse,
    grade=grade,
    exact=exact,
    exploitability=exploitability,
    solve=solve,
    verify=verify,
)
