"""A local endpoint of chat completions, played by a script: what tests and the docs' example talk to."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.play.player import Player, sit_down
from dicegym.play.turn import Turn
from dicegym.players import prompts
from dicegym.players.prompts import write_answer


class Reply(NamedTuple):
    """What the endpoint says to one request."""

    content: str | None = ""
    status: int = 200
    refusal: str | None = None
    delay: float = 0.0
    as_tool: bool = False
    raw: bytes | None = None
    """The whole body, if it is no completion."""


class Endpoint:
    """A server of chat completions.

    Args:
        reply: from a request's body, and how many came before, to what is said.

    Attributes:
        requests: the bodies of all requests so far.
        most_at_once: requests that were open together.
    """

    def __init__(self, reply: Callable[[dict[str, Any], int], Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.most_at_once = self._open = 0
        lock, endpoint = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    number = len(endpoint.requests)
                    endpoint.requests.append(body)
                    endpoint._open += 1
                    endpoint.most_at_once = max(endpoint.most_at_once, endpoint._open)
                said = reply(body, number)
                time.sleep(said.delay)
                with lock:
                    endpoint._open -= 1
                written = said.raw if said.raw is not None else json.dumps(completion(body, said)).encode()
                with contextlib.suppress(OSError):  # whoever asked has given up
                    self.send_response(said.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(written)))
                    self.end_headers()
                    self.wfile.write(written)

            def log_message(self, *said: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


def completion(request: dict[str, Any], said: Reply) -> dict[str, Any]:
    """Return a completion as OpenAI's endpoint has it."""
    message: dict[str, Any] = {"role": "assistant", "content": said.content, "refusal": said.refusal}
    if said.as_tool:
        call = {"name": "play", "arguments": said.content}
        message |= {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
    prompt = sum(len(one["content"].split()) for one in request["messages"])
    written = len((said.content or "").split())
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    }


@contextlib.contextmanager
def serving(reply: Callable[[dict[str, Any], int], Reply]) -> Iterator[Endpoint]:
    """Serve an endpoint for a while."""
    endpoint = Endpoint(reply)
    try:
        yield endpoint
    finally:
        endpoint.close()


class Scripted:
    """A scripted agent behind the door: it is shown a prompt and answers in JSON, as any language model does.

    A prompt says all that its agent needs, but is not parsed back: while a game is played in this process, `watching`
    notes which record each prompt was written of. A prompt that stood for two different decisions of the agent would
    be an error here.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self._answers: dict[str, str] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Note what prompts stand for."""
        written = prompts.observation_text

        def note(game: Game, state: Any, seat: int | None = None) -> str:
            text = written(game, state, seat)
            if not state["over"] and seat == state["player"]:
                answer = self.answer(game, state)
                if self._answers.setdefault(text, answer) != answer:
                    raise AssertionError(f"two answers to one prompt: {text}")
            return text

        prompts.observation_text = note
        try:
            yield
        finally:
            prompts.observation_text = written

    def answer(self, game: Game, state: Any) -> str:
        """Return the agent's decision, the whole order where it is one."""
        seat, now, actions = int(state["player"]), state.copy(), []
        act = sit_down(self._player, game, seat, 0)
        while True:
            actions.append(int(act(Turn(game, now, seat))))
            if game.spec.joint_action is None:
                break
            before = int(now["played"])
            game.step(now, actions[-1])
            if now["player"] != seat or now["over"] or now["played"] != before:
                break
        return write_answer(game, state, actions)

    def __call__(self, request: dict[str, Any], number: int) -> Reply:
        """Answer a request."""
        return Reply(self._answers[request["messages"][1]["content"]])
