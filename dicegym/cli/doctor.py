"""What this machine has and lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import check_writable, err, out, write_json

ALONE = Path("-")
"""Stands for the output itself."""


def doctor(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="write it as JSON to this file too; -: print it alone")
    ] = None,
    problems: Annotated[bool, typer.Option("--problems", help="leave out what is in order")] = False,
) -> None:
    """Say what this machine has and lacks.

    And what to do about it. Status 0 unless something that is installed does not work. Nothing is changed.

    Example: dicegym doctor
    """
    from dicegym.doctor import BROKEN, LACKING, OK, examine

    if json_file != ALONE:
        check_writable(json_file)
    found = examine()
    plain = [one._asdict() for one in found]
    if json_file == ALONE:
        typer.echo(json.dumps(plain, indent=1))
    else:
        write_json(json_file, plain)
        topics = list(dict.fromkeys(one.topic for one in found))
        for topic in topics:
            for one in found:
                if one.topic == topic and not (problems and one.state == OK):
                    out.print(f"{one.state:<8} {f'{topic} {one.name}'.strip()}: {one.words}")
                    if one.advice:
                        out.print(f"{'':<8}   {one.advice}")
        broken, lacking = (sum(one.state == state for one in found) for state in (BROKEN, LACKING))
        out.print(f"{len(found) - broken - lacking} in order, {lacking} lacking, {broken} broken")
    if any(one.state == BROKEN for one in found):
        err.print("dicegym: something that is installed does not work, as said above")
        raise typer.Exit(1)
