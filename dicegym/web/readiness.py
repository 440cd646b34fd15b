"""Compile all games in a separate process when the server starts, so that no request waits for it.

`Readiness` starts ``python -m dicegym.web.readiness``. The server finds the compiled code in the cache on disk, which
has a mark for each compiled game.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from dicegym.engine.jit import CACHE_FOLDER
from dicegym.errors import DicegymError
from dicegym.registry import GAMES

SEARCH = "mcts(2)"
"""The search that pages offer, with just enough simulations to compile it."""
NICENESS = 10


class GettingReadyError(DicegymError):
    """A game cannot be played yet, because its code is being compiled."""

    status = 503


class Readiness:
    """Start and stop the process that compiles games, and know which games it has not compiled yet."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start compiling unless all games are in the cache."""
        if all(map(_is_compiled, GAMES)):
            return
        command = [sys.executable, "-P", "-m", "dicegym.web.readiness"]
        self._process = subprocess.Popen(  # a new session: Ctrl-C reaches the server only, which ends the process
            command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True
        )

    def stop(self) -> None:
        """Stop compiling."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def check(self, game: str) -> None:
        """Raise GettingReadyError if a game is being compiled. After a failure, playing it compiles it."""
        if self._process is not None and self._process.poll() is None and game in GAMES and not _is_compiled(game):
            raise GettingReadyError(f"{game} is being compiled, once after an installation: try again in a minute")


def _compile(name: str) -> None:
    """Compile a game's code: its rules, games of its opponents, its drawing and board, its hints."""
    import dicegym
    from dicegym.analysis.rollouts import RolloutValuer
    from dicegym.analysis.valuers import fair_valuer, hint
    from dicegym.games.keyboard import Place
    from dicegym.pictures.drawing import draw
    from dicegym.play.drive import Referee
    from dicegym.players.roster import opponent
    from dicegym.players.sitting import controls_of, strengths, usual_seats

    game = dicegym.game(name)
    game = dicegym.game(name, players=usual_seats(game))
    state = game.new_game(1)[0]
    _ = game.fingerprint, game.legal(state), game.observe(state, 0)
    for agent in {game.spec.baseline, SEARCH, *strengths(game).values()}:
        for _ in Referee(game, game.new_game(1), [opponent(game, agent)] * game.players).moves():
            pass
    seat = int(state["player"])
    place = Place(game, seat, tuple(f"player {number}" for number in range(game.players)))
    draw(game, state, seat, place.names)
    controls_of(game).forms(place, state)
    controls_of(game).table(place, state, True)
    best = fair_valuer(game)
    hint(game, state, RolloutValuer(game, games=2) if best.kind == "rollouts" else best)


def _mark(game: str) -> Path:
    """Return the file that marks a game as compiled; it is deleted with the cache."""
    return Path(CACHE_FOLDER) / f"{game}-is-ready"


def _is_compiled(game: str) -> bool:
    """Return whether a game needs no compiling."""
    return not CACHE_FOLDER or _mark(game).exists()


def _main() -> None:
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    for game in GAMES:
        if not _is_compiled(game):
            with contextlib.suppress(Exception):  # a visitor who plays it sees the error; the next start tries again
                _compile(game)
                _mark(game).touch()


if __name__ == "__main__":
    _main()
