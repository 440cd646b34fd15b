"""Language models as players, against a local endpoint that plays a script: delays, errors, garbage, refusals."""

from __future__ import annotations

import json
import pickle
import sqlite3
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_endpoint import Reply, Scripted, serving
from command_line import Run
from made_up import disorderly

import dicegym
from dicegym.arena import compare, contest
from dicegym.errors import AgentError, ParameterError, ServiceError, UnknownNameError
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import Usage
from dicegym.play.turn import Turn
from dicegym.players.llm import EndpointError, LlmPlayer, LoggedAnswer

pytestmark = pytest.mark.skipif(find_spec("openai") is None, reason="needs the extra llm")

FIVE = '{"action": "5"}'
HOG = dicegym.game("hog")


@pytest.fixture(autouse=True)
def _log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DICEGYM_LLM_LOG", str(tmp_path / "log.sqlite"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask(player: LlmPlayer, number: int = 0) -> int:
    return player.join(HOG, 0, 0)(Turn(HOG, begun(number), 0))


def begun(number: int) -> Any:
    state = HOG.new_game(0)[0]
    state["player"], state["scores"][0] = 0, number
    return state


def always(reply: Reply) -> Callable[[dict[str, Any], int], Reply]:
    return lambda request, number: reply


def test_an_answer_is_played_and_the_next_run_costs_nothing(tmp_path: Path) -> None:
    with serving(always(Reply(FIVE))) as endpoint:
        player = LlmPlayer("m", endpoint.url)
        assert ask(player) == ask(player) == 6
        assert len(endpoint.requests) == 1
        request = endpoint.requests[0]
        again = pickle.loads(pickle.dumps(player))
        assert ask(again) == 6
        assert again.usage.requests == 0
        assert again.usage.prompt_tokens == player.usage.prompt_tokens > 50
        assert ask(LlmPlayer("m", endpoint.url, seed=1)) == 6
        assert len(endpoint.requests) == 2, "another seed asks anew"
    assert request["response_format"]["json_schema"]["strict"]
    assert [one["role"] for one in request["messages"]] == ["system", "user"]
    assert "Legal actions: -1, bacon, 1" in request["messages"][1]["content"]
    with sqlite3.connect(tmp_path / "log.sqlite") as file:
        kept = file.execute("SELECT request, text FROM answers").fetchall()
    assert len(kept) == 2
    assert json.loads(kept[0][0]) == request
    assert kept[0][1] == FIVE


@pytest.mark.parametrize(
    ("reply", "kind", "why"),
    [
        (Reply(f"I roll five: {FIVE}"), "unreadable", "is not JSON"),
        (Reply("\0 garbage"), "unreadable", "is not JSON"),
        (Reply("\ud800"), "unreadable", "is not JSON"),
        (Reply(None), "unreadable", "is not JSON"),
        (Reply(None, refusal="I do not gamble."), "unreadable", "the model refused: 'I do not gamble.'"),
        (Reply('{"action": "11"}'), "illegal", "11 dice cannot be rolled"),
    ],
)
def test_an_answer_that_is_none_is_counted_and_never_another_action(reply: Reply, kind: str, why: str) -> None:
    with serving(always(reply)) as endpoint:
        player = LlmPlayer("m", endpoint.url)
        with pytest.raises(AgentError, match=why):
            ask(player)
        other = player.with_random_failures()
        assert 0 <= ask(other) < HOG.n_actions
        assert len(endpoint.requests) == 1
    for usage in (player.usage, other.usage):
        assert usage.decisions == getattr(usage, kind) == usage.unreadable + usage.illegal == 1


ODD = '{"choices": [{"message": {"content": %s}}], "usage": {"prompt_tokens": %s, "completion_tokens": null}}'


def test_errors_and_delays_are_tried_again() -> None:
    """And an endpoint need not count tokens."""
    uncounted = Reply(raw=(ODD % (json.dumps(FIVE), "null")).encode())
    replies = [Reply(status=500, raw=b"{}"), Reply(status=429, raw=b"{}"), Reply(FIVE, delay=5), uncounted]
    with serving(lambda request, number: replies[number]) as endpoint:
        player = LlmPlayer("m", endpoint.url, timeout=0.5, retries=5)
        assert ask(player) == 6
        assert len(endpoint.requests) == 4
        assert player.usage.prompt_tokens == 0


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=404, raw=b"{}"),
        Reply(raw=b'{"choices": []}'),
        Reply(raw=b"<html>"),
        Reply(raw=(ODD % ('[{"type": "text"}]', "1")).encode()),
        Reply(raw=(ODD % ('""', '"many"')).encode()),
    ],
)
def test_an_endpoint_that_does_not_answer_is_no_fault_of_the_model(reply: Reply) -> None:
    with serving(always(reply)) as endpoint:
        player = LlmPlayer("m", endpoint.url, retries=0)
        with pytest.raises(EndpointError, match="gives llm\\(m\\) no answer"):
            ask(player)
        assert player.usage.decisions == 0


def test_a_contest_ends_where_an_endpoint_does_not_answer_and_continues_later(tmp_path: Path) -> None:
    replies = [Reply(status=404, raw=b"{}")]
    with serving(lambda request, number: replies[-1]) as endpoint:
        spec = f"llm(m, base_url={endpoint.url}, retries=0)"
        how: dict[str, Any] = {"seed": 0, "games": 2, "store": tmp_path / "s.sqlite"}
        with pytest.raises(ServiceError, match="gives llm\\(m\\) no answer"):
            contest("hog", [spec, "bacon"], workers=1, isolation="none", **how)
        replies.append(Reply(FIVE))
        result = contest("hog", [spec, "bacon"], executors=disorderly(), **how)
        assert not result.disqualified
        assert len(result.matches) == 1
        asked = len(endpoint.requests)
        assert asked > 10
        assert evaluate("hog", spec, "bacon", games=6).games == 6


def test_a_budget_of_tokens_ends_a_run_that_can_go_on() -> None:
    with serving(always(Reply(FIVE))) as endpoint:
        player = LlmPlayer("m", endpoint.url, budget=1_000, concurrency=1)
        states = np.array([begun(number) for number in range(20)])
        with pytest.raises(EndpointError, match="its budget is 1,000"):
            player.act_rows(HOG, states, np.arange(20), np.zeros(20, np.int64))
        asked = len(endpoint.requests)
        assert 1 < asked < 20
        more = LlmPlayer("m", endpoint.url)
        for number in range(20):
            assert ask(more, number) == 6
        assert len(endpoint.requests) == 20, "what was answered before costs nothing"


def test_requests_of_many_games_go_out_together_and_the_same_prompt_once() -> None:
    states = np.array([*(begun(number) for number in range(12)), *[begun(0)] * 5])
    with serving(always(Reply(FIVE, delay=0.2))) as endpoint:
        player = LlmPlayer("m", endpoint.url, concurrency=6)
        assert player.act_rows(HOG, states, np.arange(17), np.zeros(17, np.int64)).tolist() == [6] * 17
        assert 2 <= endpoint.most_at_once <= 6
        assert player.has_answered(HOG, states).all()
        assert len(endpoint.requests) == player.usage.requests == player.usage.decisions == 12


def test_each_game_draws_its_own_answer_above_temperature_0() -> None:
    with serving(lambda request, number: Reply(json.dumps({"action": str(request["seed"] % 10 + 1)}))) as endpoint:
        player = LlmPlayer("m", endpoint.url, temperature=1.0)
        turn = Turn(HOG, begun(0), 0)
        drawn = {player.join(HOG, 0, seed)(turn) for seed in range(12)}
        assert len(drawn) > 2
        assert len(endpoint.requests) == 12


def test_tools_and_plain_prompts() -> None:
    with serving(lambda request, number: Reply(FIVE, as_tool="tools" in request)) as endpoint:
        assert ask(LlmPlayer("m", endpoint.url, form="tool")) == 6
        assert ask(LlmPlayer("m", endpoint.url, form="text")) == 6
        tool, plain = endpoint.requests
        assert tool["tool_choice"]["function"]["name"] == tool["tools"][0]["function"]["name"]
        assert not {"tools", "response_format"} & plain.keys()


@pytest.mark.parametrize("name", ["lucky", "liarsdice"])
def test_a_scripted_agent_behind_the_door_plays_the_same_game(name: str) -> None:
    """Whole orders, of which the game asks action by action, are one request each."""
    game = dicegym.game(name, **({"rounds": 12} if name == "lucky" else {}))
    agent = {"lucky": "compound", "liarsdice": "honest"}[name]
    others = [dicegym.agent(game, agent) for _ in range(game.players - 1)]
    expected = play_game(game, [dicegym.agent(game, agent), *others], seed=3)
    script = Scripted(dicegym.agent(game, agent))
    with serving(script) as endpoint, script.watching():
        player = LlmPlayer("m", endpoint.url)
        found = play_game(game, [player, *others], seed=3)
        assert len(endpoint.requests) == player.usage.decisions
    assert found.tobytes() == expected.tobytes()
    if name == "lucky":
        assert player.usage.decisions == found["played"]


def test_agents_are_named_with_words_and_addresses() -> None:
    player = dicegym.agent("hog", "llm(org/model-7b:free, base_url=http://localhost:1/v1, seed=3, temperature=0.5)")
    assert isinstance(player, LlmPlayer)
    assert (player.model, player.base_url, player.seed) == ("org/model-7b:free", "http://localhost:1/v1", 3)
    assert player.name == "llm(org/model-7b:free)"
    assert dicegym.agent("hog", 'llm("m", form="tool")').form == "tool"  # type: ignore[attr-defined]
    with pytest.raises(UnknownNameError, match="base_ulr"):
        dicegym.agent("hog", "llm(m, base_ulr=http://localhost:1/v1)")
    with pytest.raises(ParameterError, match="form='prose' is unknown: give one of 'json_schema'"):
        dicegym.agent("hog", "llm(m, form=prose)")
    with pytest.raises(ParameterError, match="each given once"):
        dicegym.agent("hog", "llm(m, seed=1, seed=2)")
    with pytest.raises(ParameterError, match=r"temperature=-1 cannot be the .*: give 0 or more"):
        dicegym.agent("hog", "llm(m, temperature=-1)")
    with pytest.raises(ParameterError, match="names no model"):
        ask(dicegym.agent("hog", "llm"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="OPENAI_API_KEY is not set"):
        ask(LlmPlayer("m"))


def test_a_contest_counts_answers_that_are_no_actions(tmp_path: Path) -> None:
    def reply(body: dict[str, Any], number: int) -> Reply:
        return Reply("well ..." if number % 2 else '{"action": "bid 9 of 9"}')

    with serving(reply) as endpoint:
        log = tmp_path / "own.sqlite"  # referees are started with the environment of whichever contest is first
        entries, store = [f"llm(m, base_url={endpoint.url}, log={log})", "even"], tmp_path / "arena.sqlite"
        game = dicegym.game("liarsdice", dice=1)
        result = contest(game, entries, seed=0, workers=1, games=4, store=store)
        ((name, counts),) = result.details["answers"].items()
        assert name == "llm(m)"
        assert counts["decisions"] == counts["unreadable"] + counts["illegal"] == len(endpoint.requests)
        assert counts["unreadable"] > 0 < counts["illegal"]
        (row,) = (line.split() for line in result.text().splitlines() if line.startswith("llm(m)"))
        assert row == ["llm(m)", *(str(counts[one]) for one in ("decisions", "unreadable", "illegal"))]
        asked = len(endpoint.requests)
        how: dict[str, Any] = {"seed": 0, "games": 4, "executors": disorderly()}
        again = contest(game, entries, store=store, **how)
        assert again.stored is not None
        assert again.stored.played == 0
        assert again.to_json()["answers"] == result.details["answers"]
        assert contest(game, entries, **how).standings == result.standings
        assert len(endpoint.requests) == asked, "what was answered before costs nothing"
        compared = compare(game, *entries, **how)
        assert compared.to_json()["answers"]["llm(m)"]["decisions"] > 0


def test_answers_that_are_none_are_told_with_a_grade(run: Run) -> None:
    with serving(lambda request, number: Reply(["prose", '{"action": "99"}', FIVE][number % 3])) as endpoint:
        spec = f"llm(m, base_url={endpoint.url})"
        status, shown, said = run("values", "grade", "hog", spec, "swap", "--games", 2)
    assert status == 0, said
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("llm(m)"))
    assert all(20 < float(share.rstrip("%")) < 50 for share in row[-3:-1])


def test_answers_are_counted_while_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    player, game = LlmPlayer("m", base_url="http://localhost:1/v1", temperature=1), dicegym.game("hog")
    monkeypatch.setattr(player, "_ask", lambda key, request: LoggedAnswer('{"action": "bacon"}', "", 3, 2))
    state, pace = game.new_game(0)[0], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            judging, counts = [pool.submit(player._judge, game, state, 0, seed) for seed in range(400)], [0]
            while not all(one.done() for one in judging):
                counts.append(player.usage.decisions)
    finally:
        sys.setswitchinterval(pace)
    assert counts == sorted(counts)
    assert player.usage == Usage(400, 0, 0, 0, 1200, 800)
