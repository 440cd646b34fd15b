"""Running the notebooks: `python tests/notebook_runs.py` runs each and keeps its outputs in its file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
STEPS = "DICEGYM_NOTEBOOK_STEPS"
"""The environment variable by which a notebook that trains is told how long to train."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""What every notebook says of its kernel: nothing that differs from machine to machine."""


def names() -> list[str]:
    """Return the names of all notebooks."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read(name: str) -> Any:
    """Return a notebook as it lies in its folder."""
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def executed(name: str, folder: Path, steps: int | None = None, last: str = "") -> Any:
    """Return a notebook with the outputs of a run in a new kernel, whose working folder is ``folder``.

    Args:
        name: of the notebook.
        folder: of the run, not of the notebook: no cell may count on where it is.
        steps: how long it trains, if it does; default: as long as it says itself.
        last: source of a cell to be run after all others.

    Raises CellExecutionError if a cell fails.
    """
    notebook = read(name)
    if last:
        notebook.cells.append(nbformat.v4.new_code_cell(last))
    environment = os.environ | ({} if steps is None else {STEPS: str(steps)})
    # Matplotlib writes a list of fonts into the home directory unless told otherwise.
    environment |= {"MPLCONFIGDIR": str(folder), "IPYTHONDIR": str(folder), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    client = NotebookClient(
        notebook,
        timeout=3600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # else it depends on the moment in how many pieces a text is kept
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=environment)
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def main() -> None:
    """Run the notebooks that are named, or all."""
    for name in sys.argv[1:] or names():
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(name, Path(folder))
        nbformat.write(notebook, FOLDER / f"{name}.ipynb")
        print(f"wrote {name}.ipynb")


if __name__ == "__main__":
    main()
