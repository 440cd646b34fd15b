"""Processes of Python that the package starts: they import no file that happens to lie in the current folder."""

from __future__ import annotations

import re
from pathlib import Path

import dicegym

PACKAGE = Path(dicegym.__file__).parent


def test_every_process_leaves_the_current_folder_out_of_its_path() -> None:
    """Python puts it first for ``-m``, where a ``torch.py`` of somebody's bots would be taken for PyTorch."""
    found = {
        path.relative_to(PACKAGE).as_posix(): match[1]
        for path in PACKAGE.rglob("*.py")
        for match in re.finditer(r"\[\s*sys\.executable,\s*([^\]]+)", path.read_text(encoding="utf-8"))
    }
    assert "learning/seeds/job.py" in found
    assert [file for file, words in found.items() if not words.startswith('"-P"')] == []
