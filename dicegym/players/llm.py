"""Language models as players: `LlmPlayer`, the agent ``llm(MODEL, base_url=..., seed=...)``.

It speaks to any endpoint of OpenAI's chat completions. Every decision is one request, with the rules as the system
prompt and what the seat may know as the user's (`dicegym.players.prompts`); it does not depend on earlier ones. A
player asks the same only once; what is to be kept longer, a caching proxy before the endpoint keeps.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from dicegym.engine.dice import named_seed, private_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import AgentError, DependencyError, DicegymError, ParameterError, one_line, unknown_name
from dicegym.play.player import Player, Usage, forfeit_for
from dicegym.play.turn import Act, Turn
from dicegym.players.prompts import (
    INSTRUCTION,
    RESPONSE_FORMAT,
    AnswerError,
    IllegalAnswerError,
    UnreadableAnswerError,
    decision_start,
    observation_text,
    read_answer,
    rules_text,
)

EXAMPLE = "llm(MODEL, base_url=URL)"
"""How it is named."""
AnswerForm = Literal["json_schema", "text"]
"""How an endpoint is asked for the JSON object: by a schema, or by the prompt alone."""
FailureRule = Literal["forfeit", "random"]
"""What is played for an invalid answer: what the rules take a failure for, or a random legal action."""
CONCURRENCY, RETRIES = 8, 4
"""Requests at a time where many games are played together, and how often one that fails is repeated."""
_SEEDS = 1 << 31


class EndpointError(DicegymError):
    """An endpoint does not answer, or the budget of tokens is spent: no fault of the model, so nothing is played."""


class ModelAnswer(NamedTuple):
    """One answer of an endpoint."""

    text: str
    """The message; empty if there is none."""
    refusal: str
    """What the endpoint says where the model refused; empty if it did not."""
    prompt_tokens: int
    completion_tokens: int


class LlmPlayer(Player):
    """A language model at an endpoint of OpenAI's chat completions.

    It is told in words what its seat may know and answers with one JSON object. Its key is ``$OPENAI_API_KEY``.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint, such as ``http://localhost:8000/v1`` (default: OpenAI's).
        seed: sent with requests.
        temperature: sent with requests. At 0 a text has one answer; else each game draws its own.
        form: how the JSON object is asked for: "json_schema" or "text" (by the prompt alone).
        failure: what is played for an invalid answer: "forfeit", what the rules take a failure for (a game without
            such a rule raises AgentError), or "random", a random legal action.
        timeout: seconds for a request; one that fails is repeated a few times, with growing pauses.
        max_tokens: of an answer.
        budget: tokens that this player may use in all, in this process; 0: any number.

    Raises ParameterError and UnknownNameError for arguments out of range.

    Example:
        >>> from dicegym.agents import LlmPlayer
        >>> LlmPlayer("some-model", base_url="http://localhost:8000/v1", budget=100_000).costly
        True
    """

    costly = True
    at_once = True  # a player that is not pure, and is asked for many games together

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        seed: int = 0,
        temperature: float = 0.0,
        form: AnswerForm = "json_schema",
        failure: FailureRule = "forfeit",
        timeout: float = 60.0,
        max_tokens: int = 1_024,
        budget: int = 0,
    ) -> None:
        for kind, value, known in (("form", form, get_args(AnswerForm)), ("failure", failure, get_args(FailureRule))):
            if value not in known:
                raise unknown_name(f"{kind} of a language model", value, [*known])
        what = "a language model"
        self._made = (model, base_url, seed, temperature, form, failure, timeout, max_tokens, budget)
        self.model, self.base_url = str(model), str(base_url)
        self.seed = whole_number("seed", seed, 0, _SEEDS - 1, f"the seed of {what}")
        self.temperature = finite_number("temperature", temperature, f"the temperature of {what}", above=-1e-9)
        self.form, self.failure = form, failure
        self.timeout = finite_number("timeout", timeout, f"seconds for an answer of {what}", above=0)
        self.max_tokens = whole_number("max_tokens", max_tokens, 1, 1 << 20, f"tokens of an answer of {what}")
        self.budget = whole_number("budget", budget, 0, 1 << 40, f"tokens of {what}")
        self.name = f"llm({self.model})"
        self._lock = threading.Lock()
        self._client: Any = None
        self._judged: dict[str, list[int] | AnswerError] = {}  # by keys of requests
        self._requests = 0
        self._tokens: Counter[str] = Counter()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the arguments: another process has its own client."""
        return LlmPlayer, self._made

    @property
    def usage(self) -> Usage:
        """What it asked for and got in this process."""
        kinds = Counter(type(found) for found in self._judged.values())
        return Usage(
            len(self._judged),
            kinds[UnreadableAnswerError],
            kinds[IllegalAnswerError],
            self._requests,
            self._tokens["prompt"],
            self._tokens["completion"],
        )

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises EndpointError if the endpoint does not answer."""
        self._prepare()

        def act(turn: Turn) -> int:
            return self._play(game, turn.record, turn.seat, seed)

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, with up to `CONCURRENCY` requests at a time; see `Player.act_rows`."""
        self._prepare()

        def play(row: int, seat: int) -> int:
            state = states[row]
            try:
                return self._play(game, state, seat, private_seed(int(state["key"]), seat))
            except AgentError as error:
                return forfeit_for(error, game)

        with ThreadPoolExecutor(CONCURRENCY) as pool:
            return np.fromiter(pool.map(play, rows.tolist(), seats.tolist()), np.int64, len(rows))

    def _play(self, game: Game, state: Any, seat: int, seed: int) -> int:
        """Return the next action of the decision that ``seat`` is at. Raises AgentError for an invalid answer."""
        begun = decision_start(game, state, seat)
        actions = self._judge(game, begun, seat, seed)
        if isinstance(actions, AnswerError):
            if self.failure == "forfeit":
                raise AgentError(self.name, str(actions))
            legal = np.flatnonzero(game.legal(state))
            drawn = named_seed("answer", seed, observation_text(game, state, seat))
            return int(legal[drawn % len(legal)])
        return _next_action(game, begun, state, actions)

    def _judge(self, game: Game, begun: Any, seat: int, seed: int) -> list[int] | AnswerError:
        """Return the actions that the model chooses at the beginning of a decision, or what its answer lacks."""
        key, request = self._request(game, begun, seat, seed)
        with self._lock:
            known = self._judged.get(key)
        if known is not None:
            return known
        answer = self._ask(request)
        judged: list[int] | AnswerError
        try:
            if answer.refusal:
                raise UnreadableAnswerError(f"the model refused: {one_line(answer.refusal, 80)!r}")
            judged = read_answer(game, begun, answer.text)
        except AnswerError as error:
            judged = error
        with self._lock:
            return self._judged.setdefault(key, judged)

    def _request(self, game: Game, begun: Any, seat: int, seed: int) -> tuple[str, dict[str, Any]]:
        """Return the request of a decision, and a key for it."""
        drawn = self.seed if not self.temperature else named_seed("llm", self.seed, seed) % _SEEDS
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": f"{rules_text(game)}\n{INSTRUCTION}"},
                {"role": "user", "content": observation_text(game, begun, seat)},
            ],
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": drawn,
        }
        if self.form == "json_schema":
            request["response_format"] = RESPONSE_FORMAT
        text = json.dumps([self.base_url, request], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest(), request

    def _ask(self, request: dict[str, Any]) -> ModelAnswer:
        """Return the endpoint's answer of a request. Raises EndpointError."""
        client = self._prepare()
        with self._lock:
            if self.budget and (spent := self._tokens.total()) >= self.budget:
                raise EndpointError(
                    f"{self.name} has used {spent:,} tokens, and its budget is {self.budget:,}: give a larger one"
                )
        import openai

        try:
            completion = client.chat.completions.create(**request)
            answer = _read_completion(completion)
        except (openai.OpenAIError, LookupError, ValueError, TypeError, AttributeError) as error:
            where = self.base_url or "OpenAI's endpoint"
            raise EndpointError(
                f"{where} gives {self.name} no answer ({type(error).__name__}: {one_line(error, 200)}): check the "
                "address, the model's name and OPENAI_API_KEY, or ask again later"
            ) from error
        with self._lock:
            self._requests += 1
            self._tokens.update(prompt=answer.prompt_tokens, completion=answer.completion_tokens)
        return answer

    def _prepare(self) -> Any:
        """Return the client, made when first asked for. Raises DependencyError and ParameterError."""
        with self._lock:
            if self._client is None:
                if not self.model:
                    raise ParameterError("llm names no model: write llm(MODEL), with base_url=... for an own endpoint")
                try:
                    import openai
                except ImportError as error:
                    raise DependencyError.for_extra("openai", "llm", "a language model") from error
                key = os.environ.get("OPENAI_API_KEY") or ("none" if self.base_url else None)
                if key is None:
                    raise ParameterError(
                        "OPENAI_API_KEY is not set, and OpenAI's endpoint needs it: set it or base_url"
                    )
                self._client = openai.OpenAI(
                    api_key=key, base_url=self.base_url or None, timeout=self.timeout, max_retries=RETRIES
                )
            return self._client


def _read_completion(completion: Any) -> ModelAnswer:
    """Return the answer in a completion; nothing is looked for beside it."""
    message = completion.choices[0].message
    usage = completion.usage
    used = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    return ModelAnswer(message.content or "", message.refusal or "", *used)


def _next_action(game: Game, begun: Any, state: Any, actions: Sequence[int]) -> int:
    """Return the first action of a decision that has not been played yet in ``state``."""
    if len(actions) > 1:
        now = begun.copy()
        for action in actions[:-1]:
            if now.tobytes() == state.tobytes():
                return action
            game.step(now, action)
    return actions[-1]
