"""What commands need beside what Typer has: groups of options, and files by their endings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.testing import CliRunner

from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs

called: list[tuple[Any, ...]] = []


class Where(NamedTuple):
    room: Annotated[str, typer.Option("--room", help="in which room")] = "hall"
    seat: Annotated[int | None, typer.Option("--seat", min=0)] = None


HERE = Where()


def sit(
    name: Annotated[str, typer.Argument()],
    where: Where = HERE,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    """Sit down."""
    called.append((name, *where, [*written], written[".csv"], loud))


def stand() -> None:
    """Stand up."""


def run(*words: str) -> Any:
    called.clear()
    return CliRunner().invoke(group("Chairs.", sit=sit, stand=stand), [*words])


def test_a_group_of_options_is_taken_one_by_one_and_given_as_one() -> None:
    assert run("sit", "ann").exit_code == 0
    assert called == [("ann", "hall", None, [], None, False)]
    assert run("sit", "ann", "--seat", "3", "--room", "attic", "--loud").exit_code == 0
    assert called == [("ann", "attic", 3, [], None, True)]
    assert run("sit", "ann", "--seat", "-1").exit_code == 2
    called.clear()
    sit("bob")  # the function itself stays as it is
    assert called == [("bob", "hall", None, [], None, False)]


def test_the_help_lists_options_in_the_order_of_parameters() -> None:
    shown = run("sit", "--help").output
    places = [shown.index(word) for word in ("--room", "--seat", "--output", "--loud")]
    assert places == sorted(places)
    assert "write the result to this file too (.json or .csv); repeatable" in " ".join(shown.split())
    assert "in which room" in shown


def test_files_are_told_apart_by_their_endings(tmp_path: Path) -> None:
    plain, sheet = tmp_path / "a.json", tmp_path / "b.CSV"
    assert run("sit", "ann", "-o", str(plain), "--output", str(sheet)).exit_code == 0
    assert called == [("ann", "hall", None, [plain, sheet], sheet, False)]
