"""Language models as players: `LlmPlayer`, the agent ``llm(MODEL, base_url=..., seed=...)``.

It works with any endpoint of OpenAI's chat completions. Each decision is one request: the rules are the system prompt,
and what the seat may know is the user's (`dicegym.players.prompts`). Decisions do not depend on earlier ones. A log
(`AnswerLog`) keeps all requests and answers, and answers a repeated request at no cost.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from dicegym.engine.dice import named_seed, private_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number, one_of, whole_number
from dicegym.errors import AgentError, DependencyError, ParameterError, ServiceError, one_line
from dicegym.play.player import Player, Usage, forfeit_for, total_usage
from dicegym.play.turn import Act
from dicegym.players import prompts
from dicegym.players.prompts import AnswerError

EXAMPLE = "llm(MODEL, base_url=URL)"
"""How to name it."""
LOG_VARIABLE = "DICEGYM_LLM_LOG"
"""The environment variable for the log file."""
AnswerForm = Literal["json_schema", "tool", "text"]
"""How to request the JSON object: by a schema, as a tool call, or by the prompt alone."""
_SEEDS = 1 << 31


class EndpointError(ServiceError):
    """An endpoint does not answer, or a budget is spent. It is not the model's fault, so nothing is played."""


class LoggedAnswer(NamedTuple):
    """One answer of an endpoint."""

    text: str
    """The message, or the arguments of the tool call, or nothing."""
    refusal: str
    """The endpoint's text if the model refused."""
    prompt_tokens: int
    completion_tokens: int


_COLUMNS = ", ".join(LoggedAnswer._fields)


class AnswerLog:
    """All requests and answers, in the table ``answers`` of a SQLite file. Threads and processes may share it.

    Args:
        path: the file, in an existing folder. None: ``$DICEGYM_LLM_LOG``, or ``language_models.sqlite`` in the user's
            data folder, where the default store of contests is.

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
        except (sqlite3.Error, ValueError) as error:  # ValueError: a name with NUL
            raise ServiceError(
                f"the log of answers {self.path} cannot be used ({error}): check that the disk has room and nothing "
                "locks the file, and start again; logged answers cost nothing"
            ) from error

    def find(self, key: str) -> LoggedAnswer | None:
        """Return the answer of a request, or None."""
        with self._opened() as file:
            row = file.execute(f"SELECT {_COLUMNS} FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else LoggedAnswer(*row)

    def add(self, key: str, base_url: str, request: str, answer: LoggedAnswer) -> None:
        """Keep an answer, unless the request has one."""
        insert = f"INSERT OR IGNORE INTO answers (key, base_url, request, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._opened() as file:
            file.execute(insert, (key, base_url, request, *answer))


class LlmPlayer(Player):
    """A language model at an endpoint of OpenAI's chat completions.

    It gets in words what its seat may know, and answers with one JSON object. Its key is ``$OPENAI_API_KEY``. For an
    invalid answer it plays the rules' action for a failure; a game without one raises AgentError.

    Args:
        model: the model's name at the endpoint.
        base_url: the endpoint, such as ``http://localhost:8000/v1`` (default: OpenAI's).
        seed: sent with requests; another seed makes new requests instead of using the log.
        temperature: sent with requests. At 0 a text has one answer; otherwise each game draws its own.
        form: how to request the JSON object: "json_schema", "tool" or "text" (by the prompt alone).
        concurrency: simultaneous requests, when many games are played together.
        timeout: seconds for a request.
        retries: how often a failed request is repeated, with growing pauses.
        max_tokens: of an answer.
        budget: tokens that this player may use in this process; 0: unlimited.
        log: the file of requests and answers; see `AnswerLog`.

    Raises ParameterError for arguments out of range.

    Example:
        >>> from dicegym.agents import LlmPlayer
        >>> LlmPlayer("some-model", base_url="http://localhost:8000/v1", budget=100_000).costly
        True
    """

    costly = True
    at_once = True  # although it is not pure

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        seed: int = 0,
        temperature: float = 0.0,
        form: AnswerForm = "json_schema",
        concurrency: int = 8,
        timeout: float = 60.0,
        retries: int = 4,
        max_tokens: int = 1_024,
        budget: int = 0,
        log: str = "",
    ) -> None:
        what = "a language model"
        limits = (concurrency, timeout, retries, max_tokens, budget)
        self._arguments = (model, base_url, seed, temperature, form, *limits, log)
        self.model, self.base_url, self.log = str(model), str(base_url), str(log)
        self.seed = whole_number("seed", seed, 0, _SEEDS - 1, f"the seed of {what}")
        self.temperature = finite_number("temperature", temperature, f"the temperature of {what}")
        if self.temperature < 0:
            raise ParameterError(f"temperature={temperature!r} cannot be the temperature of {what}: give 0 or more")
        self.form = one_of("form", form, get_args(AnswerForm))
        self.concurrency = whole_number("concurrency", concurrency, 1, 1_000, f"requests of {what} at a time")
        self.timeout = finite_number("timeout", timeout, f"seconds for an answer of {what}", above=0)
        self.retries = whole_number("retries", retries, 0, 100, f"repeated requests of {what}")
        self.max_tokens = whole_number("max_tokens", max_tokens, 1, 1 << 20, f"tokens of an answer of {what}")
        self.budget = whole_number("budget", budget, 0, 1 << 40, f"tokens of {what}")
        self.name = f"llm({self.model})"
        self._lock = threading.Lock()
        self._judged: dict[str, list[int] | AnswerError] = {}  # by keys of requests
        self._asked: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # held during a request
        self._spent = 0
        self._usage = Usage()
        self.random_failures = False
        """Whether a random legal action replaces an invalid answer; see `with_random_failures`."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments: another process has its own client, and the same log."""
        return LlmPlayer, self._arguments, {"random_failures": self.random_failures}

    @property
    def usage(self) -> Usage:
        """Counts of answers and tokens in this process."""
        return self._usage

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises EndpointError if the endpoint does not answer."""
        self._prepare()
        return lambda turn: self._play(game, turn.record, turn.seat, seed)

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, with up to ``concurrency`` simultaneous requests; see `Player.act_rows`."""
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
        """Return a new player of the same model that plays a random legal action for an invalid answer."""
        player = LlmPlayer(*self._arguments)
        player.random_failures = True
        return player

    def _play(self, game: Game, state: Any, seat: int, seed: int) -> int:
        """Return the next action of the current decision of ``seat``. Raises AgentError for an invalid answer."""
        begun = prompts.decision_start(game, state, seat)
        actions = self._judge(game, begun, seat, seed)
        if isinstance(actions, AnswerError):
            if not self.random_failures:
                raise AgentError(self.name, str(actions))
            legal = np.flatnonzero(game.legal(state))
            drawn = named_seed("answer", seed, prompts.observation_text(game, state, seat))
            return int(legal[drawn % len(legal)])
        return _next_action(game, begun, state, actions)

    def _judge(self, game: Game, begun: Any, seat: int, seed: int) -> list[int] | AnswerError:
        """Return the actions that the model chooses at the beginning of a decision, or the error in its answer."""
        key, request = self._request(game, begun, seat, seed)
        with self._lock:
            asked = self._asked[key]
        with asked:  # games with the same prompt share one request
            if key in self._judged:
                return self._judged[key]
            answer = self._ask(key, request)
            judged: list[int] | AnswerError
            try:
                if answer.refusal:
                    raise prompts.UnreadableAnswerError(f"the model refused: {one_line(answer.refusal, 80)!r}")
                judged = prompts.read_answer(game, begun, answer.text)
            except AnswerError as error:
                judged = error
            unreadable = isinstance(judged, prompts.UnreadableAnswerError)
            illegal = isinstance(judged, prompts.IllegalAnswerError)
            with self._lock:
                self._judged[key] = judged
                used = Usage(1, unreadable, illegal, 0, answer.prompt_tokens, answer.completion_tokens)
                self._usage = total_usage([self._usage, used])
            return judged

    def _request(self, game: Game, begun: Any, seat: int, seed: int) -> tuple[str, dict[str, Any]]:
        """Return (key in the log, request) of a decision."""
        drawn = self.seed if not self.temperature else named_seed("llm", self.seed, seed) % _SEEDS
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": f"{prompts.rules_text(game)}\n{prompts.INSTRUCTION}"},
                {"role": "user", "content": prompts.observation_text(game, begun, seat)},
            ],
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": drawn,
        }
        if self.form == "json_schema":
            request["response_format"] = prompts.RESPONSE_FORMAT
        elif self.form == "tool":
            name = prompts.ANSWER_TOOL["function"]["name"]
            request |= {"tools": [prompts.ANSWER_TOOL], "tool_choice": {"type": "function", "function": {"name": name}}}
        text = json.dumps([self.base_url, request], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest(), request

    def _ask(self, key: str, request: dict[str, Any]) -> LoggedAnswer:
        """Return the answer from the log or the endpoint. Raises EndpointError."""
        if found := self._log.find(key):
            return found
        with self._lock:
            spent = self._spent
        if 0 < self.budget <= spent:
            raise EndpointError(
                f"{self.name} has used {spent:,} tokens, and its budget is {self.budget:,}: give a larger budget; "
                "logged answers cost nothing"
            )
        import openai

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
            self._spent += answer.prompt_tokens + answer.completion_tokens
            self._usage = total_usage([self._usage, Usage(requests=1)])
        self._log.add(key, self.base_url, json.dumps(request), answer)
        return answer

    def _prepare(self) -> None:
        """Make the log and the client before any request. Raises DependencyError and ParameterError."""
        _ = self._log, self._client

    @cached_property
    def _log(self) -> AnswerLog:
        """The log. Raises ParameterError."""
        return AnswerLog(self.log or None)

    @cached_property
    def _client(self) -> Any:
        """The client. Raises DependencyError and ParameterError."""
        if not self.model:
            raise ParameterError("llm names no model: write llm(MODEL), with base_url=... for your own endpoint")
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
    message = completion.choices[0].message
    calls = message.tool_calls or []
    text = calls[0].function.arguments if len(calls) == 1 else "" if calls else message.content or ""
    usage = completion.usage
    used = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    prompt, written = (min(max(int(one or 0), 0), 1 << 40) for one in used)  # an endpoint may send anything
    return LoggedAnswer(_storable(text), _storable(message.refusal or ""), prompt, written)


def _storable(text: str) -> str:
    """Return text without unpaired surrogates, which SQLite cannot store. Raises TypeError."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def _decision(game: Game, state: Any) -> tuple[Any, int, int]:
    """Return (record at the beginning, seat, private seed) of the current decision."""
    seat = int(state["player"])
    return prompts.decision_start(game, state, seat), seat, private_seed(int(state["key"]), seat)


def _next_action(game: Game, begun: Any, state: Any, actions: Sequence[int]) -> int:
    """Return the first of the actions that has not been played yet in ``state``."""
    if len(actions) > 1:
        now = begun.copy()
        for action in actions[:-1]:
            if now.tobytes() == state.tobytes():
                return action
            game.step(now, action)
    return actions[-1]
