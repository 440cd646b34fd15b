"""Language models as players: `LlmPlayer`, the agent ``llm(MODEL, base_url=..., seed=...)``.

It speaks to any endpoint of OpenAI's chat completions. Every decision is one request, with the rules as the system
prompt and what the seat may know as the user's (`dicegym.players.prompts`); it does not depend on earlier ones. Every
request and its answer is kept in a log (`AnswerLog`), and the same request is answered from there at no cost.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from dicegym.engine.dice import named_seed, private_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import AgentError, DependencyError, ParameterError, ServiceError, one_line, unknown_name
from dicegym.play.player import Player, Usage, forfeit_for
from dicegym.play.turn import Act
from dicegym.players.prompts import (
    ANSWER_TOOL,
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
LOG_VARIABLE = "DICEGYM_LLM_LOG"
"""Names the file of the log."""
AnswerForm = Literal["json_schema", "tool", "text"]
"""How an endpoint is asked for the JSON object: by a schema, as a tool call, or by the prompt alone."""
FailureRule = Literal["forfeit", "random"]
"""What is played for an invalid answer: what the rules take a failure for, or a random legal action."""
_SEEDS = 1 << 31


class EndpointError(ServiceError):
    """An endpoint does not answer, or a budget is spent: no fault of the model, so nothing is played."""


class LoggedAnswer(NamedTuple):
    """One answer of an endpoint."""

    text: str
    """The message, or the arguments of the tool call; empty if there is neither."""
    refusal: str
    """What the endpoint says where the model refused; empty if it did not."""
    prompt_tokens: int
    completion_tokens: int


class Exchange(NamedTuple):
    """What a model was asked for one decision, and what it answered."""

    request: dict[str, Any]
    """As it was sent: ``messages`` has the prompts."""
    answer: LoggedAnswer


class AnswerLog:
    """All requests and answers in a file of SQLite, table ``answers``; threads and processes may share it.

    Args:
        path: the file; None: ``$DICEGYM_LLM_LOG``, or ``language_models.sqlite`` in the user's data folder, beside the
            default store of contests. The folder of a file that is named has to be there.

    Raises ParameterError if the file cannot be opened, and later ServiceError if it cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        named = path or os.environ.get(LOG_VARIABLE)
        if named:
            self.path = Path(named)
        else:
            from platformdirs import user_data_path

            self.path = user_data_path("dicegym", appauthor=False) / "language_models.sqlite"
        try:
            if not named:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opened() as file:
                file.execute("PRAGMA journal_mode=WAL")
                file.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP, "
                    "base_url TEXT, request TEXT, text TEXT, refusal TEXT, prompt_tokens INT, completion_tokens INT)"
                )
        except (ServiceError, OSError) as error:
            why = one_line(error.__cause__ or error)
            raise ParameterError(f"the log {self.path} cannot be opened ({why}): name another file") from error

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=60)) as file, file:
                yield file
        except (sqlite3.Error, ValueError) as error:  # ValueError: of a name with NUL in it
            free = "see that its disk has room and nothing locks it, and begin again: what it holds costs nothing again"
            raise ServiceError(f"the log of answers {self.path} cannot be used ({error}): {free}") from error

    def find(self, key: str) -> LoggedAnswer | None:
        """Return the answer of a request, or None."""
        columns = ", ".join(LoggedAnswer._fields)
        with self._opened() as file:
            row = file.execute(f"SELECT {columns} FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else LoggedAnswer(*row)

    def add(self, key: str, base_url: str, request: str, answer: LoggedAnswer) -> None:
        """Keep an answer; of one request the first answer stays."""
        columns = ", ".join(("key", "base_url", "request", *LoggedAnswer._fields))
        with self._opened() as file:
            file.execute(
                f"INSERT OR IGNORE INTO answers ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, base_url, request, *answer),
            )


class LlmPlayer(Player):
    """A language model at an endpoint of OpenAI's chat completions.

    It is told in words what its seat may know and answers with one JSON object. Its key is ``$OPENAI_API_KEY``.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint, such as ``http://localhost:8000/v1`` (default: OpenAI's).
        seed: sent with requests; another seed asks anew what the log has.
        temperature: sent with requests. At 0 a text has one answer; else each game draws its own.
        form: how the JSON object is asked for: "json_schema", "tool" or "text" (by the prompt alone).
        failure: what is played for an invalid answer: "forfeit", what the rules take a failure for (a game without
            such a rule raises AgentError), or "random", a random legal action.
        concurrency: requests at a time, where many games are played together.
        timeout: seconds for a request.
        retries: how often a request that fails is repeated, with growing pauses.
        max_tokens: of an answer.
        budget: tokens that this player may use in all, in this process; 0: any number.
        seconds: how long its requests may take in all, in this process; 0: any time.
        log: the file of requests and answers; see `AnswerLog`.

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
        concurrency: int = 8,
        timeout: float = 60.0,
        retries: int = 4,
        max_tokens: int = 1_024,
        budget: int = 0,
        seconds: float = 0.0,
        log: str = "",
    ) -> None:
        for kind, value, known in (("form", form, get_args(AnswerForm)), ("failure", failure, get_args(FailureRule))):
            if value not in known:
                raise unknown_name(f"{kind} of a language model", value, [*known])
        what = "a language model"
        numbers = (concurrency, timeout, retries, max_tokens, budget, seconds)
        self._arguments = (model, base_url, seed, temperature, form, failure, *numbers, log)
        self.model, self.base_url, self.log = str(model), str(base_url), str(log)
        self.seed = whole_number("seed", seed, 0, _SEEDS - 1, f"the seed of {what}")
        for name, number in (("temperature", temperature), ("seconds", seconds)):
            if finite_number(name, number, f"the {name} of {what}") < 0:
                raise ParameterError(f"{name}={number!r} cannot be used as the {name} of {what}: give 0 or more")
        self.temperature, self.seconds = float(temperature), float(seconds)
        self.form, self.failure = form, failure
        self.concurrency = whole_number("concurrency", concurrency, 1, 1_000, f"requests of {what} at a time")
        self.timeout = finite_number("timeout", timeout, f"seconds for an answer of {what}", above=0)
        self.retries = whole_number("retries", retries, 0, 100, f"repeated requests of {what}")
        self.max_tokens = whole_number("max_tokens", max_tokens, 1, 1 << 20, f"tokens of an answer of {what}")
        self.budget = whole_number("budget", budget, 0, 1 << 40, f"tokens of {what}")
        self.name = f"llm({self.model})"
        self._lock = threading.Lock()
        self._judged: dict[str, list[int] | AnswerError] = {}  # by keys of requests
        self._asked: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # held while one is asked
        self._spent = self._requests = 0
        self._waited = 0.0
        self._tokens: Counter[str] = Counter()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the arguments: another process has its own client, and the same log."""
        return LlmPlayer, self._arguments

    @property
    def usage(self) -> Usage:
        """What it asked for and got in this process."""
        with self._lock:
            judged, tokens = list(map(type, self._judged.values())), dict(self._tokens)
        unreadable, illegal = map(judged.count, (UnreadableAnswerError, IllegalAnswerError))
        used = tokens.get("prompt", 0), tokens.get("completion", 0)
        return Usage(len(judged), unreadable, illegal, self._requests, *used)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises EndpointError if the endpoint does not answer."""
        self._prepare()
        return lambda turn: self._play(game, turn.record, turn.seat, seed)

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, with up to ``concurrency`` requests at a time; see `Player.act_rows`."""
        self._prepare()

        def play(row: int, seat: int) -> int:
            state = states[row]
            try:
                return self._play(game, state, seat, private_seed(int(state["key"]), seat))
            except AgentError as error:
                return forfeit_for(error, game)

        with ThreadPoolExecutor(self.concurrency) as pool:
            return np.fromiter(pool.map(play, rows.tolist(), seats.tolist()), np.int64, len(rows))

    def has_answered(self, game: Game, states: np.ndarray) -> np.ndarray:
        """Return in which states the model's answer was an action; see `Player.has_answered`."""
        judged = (self._judge(game, *_decision(game, state)) for state in states)
        return np.array([not isinstance(one, AnswerError) for one in judged], np.bool_)

    def with_random_failures(self) -> LlmPlayer:
        """Return the same model, not asked yet, that plays a random legal action for an invalid answer."""
        arguments: list[Any] = [*self._arguments[:5], "random", *self._arguments[6:]]
        return LlmPlayer(*arguments)

    def find_exchange(self, game: Game, state: Any) -> Exchange | None:
        """Return what the player to move was asked and answered in a game, such as a stored one that is replayed.

        ``state`` is the whole record (`dicegym.arena.replay.Replay.states`); all states of an order have its exchange.

        Returns None if the log has no answer of this model. Raises ParameterError if the log cannot be opened.
        """
        key, request = self._request(game, *_decision(game, state))
        answer = self._log.find(key)
        return None if answer is None else Exchange(request, answer)

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
            asked = self._asked[key]
        with asked:  # of games with the same prompt one asks, and the others wait for its answer
            if key in self._judged:
                return self._judged[key]
            answer = self._ask(key, request)
            judged: list[int] | AnswerError
            try:
                if answer.refusal:
                    raise UnreadableAnswerError(f"the model refused: {one_line(answer.refusal, 80)!r}")
                judged = read_answer(game, begun, answer.text)
            except AnswerError as error:
                judged = error
            with self._lock:
                self._judged[key] = judged
                self._tokens.update(prompt=answer.prompt_tokens, completion=answer.completion_tokens)
            return judged

    def _request(self, game: Game, begun: Any, seat: int, seed: int) -> tuple[str, dict[str, Any]]:
        """Return the request of a decision, and its key in the log."""
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
        elif self.form == "tool":
            name = ANSWER_TOOL["function"]["name"]
            request |= {"tools": [ANSWER_TOOL], "tool_choice": {"type": "function", "function": {"name": name}}}
        text = json.dumps([self.base_url, request], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest(), request

    def _ask(self, key: str, request: dict[str, Any]) -> LoggedAnswer:
        """Return the answer of a request from the log, or else from the endpoint. Raises EndpointError."""
        if found := self._log.find(key):
            return found
        with self._lock:
            budgets = (("tokens", self._spent, self.budget), ("seconds", round(self._waited, 1), self.seconds))
        for unit, used, most in budgets:
            if 0 < most <= used:
                raise EndpointError(
                    f"{self.name} has used {used:,.10g} {unit}, and its budget is {most:,}: give a larger budget; what "
                    "was answered is in the log and costs nothing again"
                )
        import openai

        began = time.monotonic()
        try:
            completion = self._client.chat.completions.create(**request)
            answer = _read_completion(completion)
        except (openai.OpenAIError, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
            where = self.base_url or "OpenAI's endpoint"
            raise EndpointError(
                f"{where} gives {self.name} no answer ({type(error).__name__}: {one_line(error, 200)}): check the "
                "address, the model's name and OPENAI_API_KEY, or ask again later"
            ) from error
        with self._lock:
            self._waited += time.monotonic() - began
            self._spent += answer.prompt_tokens + answer.completion_tokens
            self._requests += 1
        self._log.add(key, self.base_url, json.dumps(request), answer)
        return answer

    def _prepare(self) -> None:
        """Make log and client. Raises DependencyError and ParameterError."""
        _ = self._log, self._client

    @cached_property
    def _log(self) -> AnswerLog:
        """The log, opened when first asked for. Raises ParameterError."""
        return AnswerLog(self.log or None)

    @cached_property
    def _client(self) -> Any:
        """The client, made when first asked for. Raises DependencyError and ParameterError."""
        if not self.model:
            raise ParameterError("llm names no model: write llm(MODEL), with base_url=... for an own endpoint")
        try:
            import openai
        except ImportError as error:
            raise DependencyError.for_extra("openai", "llm", "a language model") from error
        key = os.environ.get("OPENAI_API_KEY") or ("none" if self.base_url else None)
        if key is None:
            raise ParameterError("OPENAI_API_KEY is not set, and OpenAI's endpoint needs it: set it or base_url")
        return openai.OpenAI(
            api_key=key, base_url=self.base_url or None, timeout=self.timeout, max_retries=self.retries
        )


def _read_completion(completion: Any) -> LoggedAnswer:
    """Return the answer in a completion; nothing is looked for beside it."""
    message = completion.choices[0].message
    calls = message.tool_calls or []
    text = calls[0].function.arguments if len(calls) == 1 else "" if calls else message.content or ""
    usage = completion.usage
    used = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    prompt, written = (min(max(int(one or 0), 0), 1 << 40) for one in used)  # an endpoint may send anything
    return LoggedAnswer(_storable(text), _storable(message.refusal or ""), prompt, written)


def _storable(text: str) -> str:
    """Return what a model says without unpaired surrogates, which no file of SQLite takes. Raises TypeError."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def _decision(game: Game, state: Any) -> tuple[Any, int, int]:
    """Return the decision of the player to move: the record in which it begins, the seat, and its private seed."""
    seat = int(state["player"])
    return decision_start(game, state, seat), seat, private_seed(int(state["key"]), seat)


def _next_action(game: Game, begun: Any, state: Any, actions: Sequence[int]) -> int:
    """Return the first action of a decision that has not been played yet in ``state``."""
    if len(actions) > 1:
        now = begun.copy()
        for action in actions[:-1]:
            if now.tobytes() == state.tobytes():
                return action
            game.step(now, action)
    return actions[-1]
