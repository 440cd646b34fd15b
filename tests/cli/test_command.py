"""What commands need beside what Typer has: groups of options, and files by their endings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, check_writable
from dicegym.errors import ParameterError

called: list[tuple[Any, ...]] = []


class Where(NamedTuple):
    """Options that several commands share."""

    room: Annotated[str, typer.Option("--room", help="in which room")] = "hall"
    seat: Annotated[int | None, typer.Option("--seat", min=0)] = None

    def words(self) -> str:
        """Return both."""
        return f"{self.room} {self.seat}"


HERE = Where()


def sit(
    name: Annotated[str, typer.Argument()],
    where: Where = HERE,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:
    """Sit down."""
    called.append((name, where.words(), [*written], written[".csv"], loud))


def stand() -> None:
    """Stand up."""


def run(*words: str) -> Any:
    called.clear()
    return CliRunner().invoke(group("Chairs.", sit=sit, stand=stand), [*words])


def test_a_group_of_options_is_taken_one_by_one_and_given_as_one() -> None:
    assert run("sit", "ann").exit_code == 0
    assert called == [("ann", "hall None", [], None, False)]
    assert run("sit", "ann", "--seat", "3", "--room", "attic", "--loud").exit_code == 0
    assert called == [("ann", "attic 3", [], None, True)]
    assert run("sit", "ann", "--seat", "-1").exit_code == 2


def test_the_help_lists_options_in_the_order_of_parameters() -> None:
    shown = run("sit", "--help").output
    places = [shown.index(word) for word in ("--room", "--seat", "--output", "--loud")]
    assert places == sorted(places)
    assert "write the result to this file too (.json or .csv); repeatable" in " ".join(shown.split())
    assert "in which room" in shown


def test_the_function_itself_stays_as_it_is() -> None:
    """Python calls it with its defaults."""
    called.clear()
    sit("bob")
    assert called == [("bob", "hall None", [], None, False)]


def test_files_are_told_apart_by_their_endings(tmp_path: Path) -> None:
    plain, sheet = tmp_path / "a.json", tmp_path / "b.CSV"
    assert run("sit", "ann", "-o", str(plain), "--output", str(sheet)).exit_code == 0
    assert called == [("ann", "hall None", [plain, sheet], sheet, False)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.gif"], "a.gif must end in .json or .csv"),
        (["a"], "must end in"),
        (["a.json", "b.json"], "are both .json"),
        (["no/a.json"], "there is no folder"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_work(names: list[str], said: str, tmp_path: Path) -> None:
    done = run("sit", "ann", *(word for name in names for word in ("-o", str(tmp_path / name))))
    assert isinstance(done.exception, ParameterError)
    assert said in str(done.exception)
    assert not called


def test_a_file_that_exists_is_kept_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.touch()
    check_writable(file)
    with pytest.raises(ParameterError, match="exists: give --force"):
        check_writable(file, force=False)
    with pytest.raises(ParameterError, match="is a folder"):
        check_writable(tmp_path)
