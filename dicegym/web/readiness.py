"""Compile all games in a separate process when the server starts, so that no request waits for it.

`Readiness` starts ``python -m dicegym.web.readiness`` and counts its steps. The server finds the compiled code in the
cache on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dicegym.engine.jit import CACHE_FOLDER
from dicegym.errors import DicegymError
from dicegym.registry import GAMES

STEPS = 4
"""Steps of each game: the rules, a game of its opponents, its drawing and board, its hints."""
SEARCH = "mcts(2)"
"""The search that pages offer, with just enough simulations to compile it."""
NICENESS = 10


class GettingReadyError(DicegymError):
    """A game cannot be played yet, because its code is being compiled."""

    status = 503


class Readiness:
    """Know which games are compiled. ``done`` of ``of`` steps are done; both are 0 before `start`."""

    def __init__(self) -> None:
        self.done = self.of = 0
        self._waiting: set[str] = set()
        self._process: subprocess.Popen[str] | None = None

    @property
    def running(self) -> bool:
        """Whether a game is still being compiled."""
        return bool(self._waiting)

    def start(self) -> None:
        """Start compiling unless all games are in the cache."""
        if (mark := _mark()) is not None and mark.exists():
            return
        self._waiting, self.of = set(GAMES), STEPS * len(GAMES)
        command = [sys.executable, "-P", "-m", "dicegym.web.readiness"]
        self._process = subprocess.Popen(  # a new session: Ctrl-C reaches the server only, which ends the process
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True, name="readiness").start()

    def stop(self) -> None:
        """Stop compiling."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def check(self, game: str) -> None:
        """Raise GettingReadyError if a game cannot be played yet."""
        if game in self._waiting:
            raise GettingReadyError(
                f"the games are being compiled, {self.done} of {self.of}: this happens once after an installation. Try "
                "again in a minute"
            )

    def _read(self, process: subprocess.Popen[str]) -> None:
        seen: Counter[str] = Counter()
        for line in process.stdout or ():
            self.done += 1
            seen[line.strip()] += 1
            self._waiting -= {game for game, steps in seen.items() if steps == STEPS}
        self._waiting = set()  # also after a failure: the rest is compiled when it is played


def _compile(name: str) -> Iterator[None]:
    """Compile a game's code; yield after each of `STEPS` steps."""
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
    yield
    for agent in {game.spec.baseline, SEARCH, *strengths(game).values()}:
        for _ in Referee(game, game.new_game(1), [opponent(game, agent)] * game.players).moves():
            pass
    yield
    seat = int(state["player"])
    place = Place(game, seat, tuple(f"player {number}" for number in range(game.players)))
    draw(game, state, seat, place.names)
    controls_of(game).forms(place, state)
    controls_of(game).table(place, state, True)
    yield
    best = fair_valuer(game)
    hint(game, state, RolloutValuer(game, games=2) if best.kind == "rollouts" else best)
    yield


def _mark() -> Path | None:
    """Return the file in the cache that marks all games as compiled; it is deleted with the cache."""
    return Path(CACHE_FOLDER) / "games-are-ready" if CACHE_FOLDER else None


def _main() -> None:
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    whole = True
    for name in GAMES:
        try:
            for _ in _compile(name):
                print(name, flush=True)
        except Exception:  # a visitor who plays it sees the error; the next start tries again
            whole = False
    if whole and (mark := _mark()) is not None:
        mark.touch()


if __name__ == "__main__":
    _main()
