"""What mistakes cost in a game, for pages: computed once in a thread, kept in a folder, and told as far as it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import dicegym
from dicegym.analysis import analyse, sources, valuer
from dicegym.arena.pages.analysed import present_analysis
from dicegym.arena.replay import Replay, to_json
from dicegym.errors import one_line
from dicegym.files import write_text
from dicegym.web.context import Web, remove_oldest
from dicegym.web.workers import Answer

MOST_KEPT = 2_000
"""Analyses in the folder; the oldest go."""


class KeptAnalysis(NamedTuple):
    """An analysis, as far as pages show it."""

    heading: str
    shown: list[Any]
    """`dicegym.arena.pages.analysed.ShownAnalysis` as plain values: named tuples are mappings."""
    notes: Mapping[tuple[int, int], str]
    """By seat and number of its decision."""


class Analyses:
    """Analyses that were asked for.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        self._web = web
        self._folder = web.folder("analyses")

    def ready(self, replay: Replay) -> KeptAnalysis | None:
        """Return the analysis of a game by the best values that are ready; None if nobody has asked for it."""
        path = self._path(replay)
        if not path.is_file():
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
        notes = {(seat, turn): text for seat, turn, text in kept["notes"]}
        return KeptAnalysis(kept["heading"], kept["shown"], notes)

    def begin(self, replay: Replay, owner: str) -> tuple[str, bool]:
        """Let a thread analyse a game, unless one does already or just failed to.

        Returns the progress in words, and whether to ask again. Raises TooBusyError if too much waits already.
        """
        path = self._path(replay)
        found = self._web.slow.answer(owner, path, lambda answer: self._analyse(replay, path, answer), keep=False)
        if found.failure:
            return f"It could not be analysed: {one_line(found.failure, 300)}", False
        return f"The game is being analysed: {found.what or 'moves'}, {found.done} of {found.of}.", True

    def _path(self, replay: Replay) -> Path:
        table = replay.table()
        best = next(source.name for source in sources(table) if source.ready())
        text = json.dumps([to_json(replay), table.fingerprint, best, dicegym.__version__])
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"

    def _analyse(self, replay: Replay, path: Path, answer: Answer[None]) -> None:
        table = replay.table()
        best = valuer(table, progress=answer.progress)
        found = analyse(table, replay.states(table), replay.actions, replay.seats, best, progress=answer.progress)
        kept = {
            "heading": found.heading,
            "shown": [_plain(part) for part in present_analysis(found)],
            "notes": [[seat, turn, text] for (seat, turn), text in found.notes().items()],
        }
        write_text(path, json.dumps(kept))
        remove_oldest(self._folder, MOST_KEPT)


def _plain(value: Any) -> Any:
    """Return values that JSON can hold, named tuples by the names of their fields."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
