"""What runs in the process of a local agent: standings come in on standard input, commands go out, a line each.

========  ======================================================================  ====================================
in        ``{"table": 7, "name": "bacon", "seed": 1, "standing": {...}}``         asks for a command
in        ``{"close": 7}``                                                        table 7 will not ask again
out       ``{"ready": true}`` or ``{"error": "..."}``                             once, at the start
out       ``{"command": {...}}`` or ``{"failed": "reason"}``                      answers each question, in order
========  ======================================================================  ====================================
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO

from dicegym.errors import AgentError, DicegymError, one_line
from dicegym.games import game as make_game
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer
from dicegym.players.roster import agent, resolve
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.limits import Limits, end_with, give_up_kernels, limit_memory
from dicegym.server.seated_agent import SeatedAgent
from dicegym.server.wire import Wire, wire_of


def main(game: str, players: int, spec: str, server: int) -> None:
    """Serve as the agent ``spec`` of a game until standard input ends, or the process ``server``."""
    if sys.platform == "linux":  # elsewhere the thread below looks, which can begin only when the rules are loaded
        end_with(server)
    requests, answers = _own_streams()
    try:
        wire = wire_of(game)
        table = make_game(game, players=players)
        state = play_game(table, [RandomPlayer()] * players)  # all kernels are in memory before anybody is timed
        table.observe(state, 0)
        origin = resolve(table, spec)
        if not Entry(spec, origin).trusted:
            give_up_kernels()
        threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()  # with no more rights
        player = agent(table, spec)
        player.join(table, 0, 0)
    except DicegymError as error:
        _tell(answers, {"error": error.reason if isinstance(error, AgentError) else str(error)})
        return
    limit_memory(Limits().memory)
    _tell(answers, {"ready": True})
    serve(wire, game, player, requests, answers)


def serve(wire: Wire, game: str, player: Player, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one line after the other."""
    seated: dict[int, SeatedAgent] = {}
    for line in requests:
        request = json.loads(line)
        if "close" in request:
            seated.pop(request["close"], None)
            continue
        player_there = seated.get(request["table"])
        if player_there is None:
            player_there = seated[request["table"]] = SeatedAgent(wire, game, lambda _: player, request["seed"])
        try:
            answer: dict[str, Any] = {"command": player_there.answer(request["standing"], request["name"])}
        except AgentError as error:
            answer = {"failed": error.reason}
        except BaseException as error:  # whatever a bot does to its process, its table learns of it
            answer = {"failed": f"{type(error).__name__}: {one_line(error)}"}
        _tell(answers, answer)


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
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
