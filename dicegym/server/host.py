"""What runs in the process of a local agent: standings come in on standard input, commands go out, a line each.

An agent that ships with the package, or a model, plays in this process. A bot's file does not: here sits its referee,
which has a process for it at each table, kept apart as in contests (`dicegym.sandbox`), and ends the one that takes too
long; the others go on.

========  ======================================================================  ====================================
in        ``{"table": 7, "name": "bacon", "seed": 1, "standing": {...}}``         asks for a command
in        ``{"close": 7}``                                                        table 7 will not ask again
out       ``{"ready": true}`` or ``{"error": "..."}``                             once, at the start
out       ``{"command": {...}}`` or ``{"failed": "reason", "gone": false}``       answers each question, in order;
                                                                                  gone: its process at this table ended
========  ======================================================================  ====================================
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO

from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, one_line
from dicegym.games import game as make_game
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer
from dicegym.sandbox.jail import Isolation
from dicegym.sandbox.limits import Limits, end_with, limit_memory
from dicegym.sandbox.remote import NOT_ASKED, GoneError
from dicegym.server.copies import Copies, Here, copies_of
from dicegym.server.seated_agent import SeatedAgent
from dicegym.server.wire import Wire, wire_of


def main(game: str, players: int, spec: str, server: int, seconds: float, level: str, folder: str) -> None:
    """Serve as the agent ``spec`` of a game until standard input ends, or the process ``server``.

    ``seconds``: to answer; ``level``: how a bot's file is kept apart, see `dicegym.sandbox.jail`; ``folder``: where its
    temporary folders are made.
    """
    if sys.platform == "linux":  # elsewhere the thread below looks, which can begin only when the rules are loaded
        end_with(server)
    requests, answers = _own_streams()
    try:
        wire = wire_of(game)
        table = make_game(game, players=players)
        state = play_game(table, [RandomPlayer()] * players)  # all kernels are in memory before anybody is timed
        table.observe(state, 0)
        copies = copies_of(table, spec, seconds, Isolation(level), folder)
        threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()  # with no more rights
        player = copies.player(table, 0)
        player.join(table, 0, 0)
        copies.close(player)
    except DicegymError as error:
        _tell(answers, {"error": error.reason if isinstance(error, AgentError) else str(error)})
        return
    if isinstance(copies, Here):
        limit_memory(Limits().memory)
    _tell(answers, {"ready": True})
    serve(wire, game, copies, requests, answers)


class AgentAtTable:
    """An agent at one table."""

    def __init__(self, wire: Wire, game: str, copies: Copies, seed: int) -> None:
        self._copies = copies
        self._seed = seed
        self._player: Player | None = None
        self._agent = SeatedAgent(wire, game, self._made, seed)
        self._gone = False

    def _made(self, game: Game) -> Player:
        self._player = self._copies.player(game, self._seed)
        return self._player

    def answer(self, standing: Any, name: str) -> dict[str, Any]:
        """Return what is to be told."""
        if self._gone:
            return {"failed": NOT_ASKED}
        try:
            return {"command": self._agent.answer(standing, name)}
        except GoneError as error:
            self._gone = True
            return {"failed": error.reason, "gone": True}
        except AgentError as error:
            return {"failed": error.reason}
        except BaseException as error:  # whatever happens, its table learns of it
            return {"failed": f"{type(error).__name__}: {one_line(error)}"}

    def close(self) -> None:
        """Leave."""
        if self._player is not None:
            self._copies.close(self._player)


def serve(wire: Wire, game: str, copies: Copies, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one line after the other."""
    seated: dict[int, AgentAtTable] = {}
    for line in requests:
        request = json.loads(line)
        if "close" in request:
            if (left := seated.pop(request["close"], None)) is not None:
                left.close()
            continue
        table = request["table"]
        if table not in seated:
            seated[table] = AgentAtTable(wire, game, copies, request["seed"])
        _tell(answers, seated[table].answer(request["standing"], request["name"]))


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output under numbers that no bot's ``print`` or ``input`` reaches."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    return requests, answers


def _tell(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _leave_with(parent: int) -> None:
    """End this process when the server has ended, even by a signal it could not handle, and the bot hangs."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), *sys.argv[6:])
