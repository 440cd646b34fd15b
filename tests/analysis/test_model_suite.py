"""The grade of language models: scripted agents behind the same door get the grades that they have without words."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Reply, Scripted, serving
from command_line import Run
from variants import one_always

import dicegym
from dicegym.analysis.grades import grade, suite, suite_facts, suite_table
from dicegym.analysis.valuers import valuer
from dicegym.errors import ParameterError
from dicegym.players.llm import EndpointError, LlmPlayer
from dicegym.registry import GAMES

pytestmark = pytest.mark.skipif(find_spec("openai") is None, reason="needs the extra llm")


@pytest.fixture(autouse=True)
def _log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DICEGYM_LLM_LOG", str(tmp_path / "log.sqlite"))


AGENTS = {"hog": "swap", "liarsdice": "honest", "liarsdice_spot_on": "even", "lucky": "compound", "yatzy": "thrifty"}
"""Of each game a scripted agent that neither draws nor remembers."""


@pytest.mark.parametrize("name", one_always(GAMES))
def test_a_scripted_agent_has_the_same_grade_in_words(name: str) -> None:
    """The same agent, by name and behind an endpoint, has the same grade, and it is that of `grade`."""
    situations, matches = 4, 1
    (plain,) = suite([AGENTS[name]], [name], situations=situations, matches=matches)
    game = dicegym.game(name, **({"players": 1} if name == "yatzy" else {}))
    others = [dicegym.agent(game, game.spec.baseline)] if game.players > 1 else []
    if plain.grade is not None:  # else values are rollouts, and games are not judged
        assert plain.grade == grade(dicegym.agent(game, AGENTS[name]), game, others, matches, 0, valuer(game))
    script = Scripted(dicegym.agent(game, AGENTS[name]))
    with serving(script) as endpoint, script.watching():
        (spoken,) = suite([LlmPlayer("m", endpoint.url)], [name], situations=situations, matches=matches)
        asked = len(endpoint.requests)
    assert (spoken.grade and spoken.grade._replace(name="")) == (plain.grade and plain.grade._replace(name=""))
    same = ("score", "regret", "random_regret", "result", "adjusted", "values", "unit")
    for field in same:
        assert getattr(spoken, field) == getattr(plain, field), field
    assert spoken.usage is not None
    assert spoken.usage.unreadable == spoken.usage.illegal == spoken.unanswered == 0
    assert spoken.usage.requests == spoken.usage.decisions == asked > 0


def test_bad_answers_and_answers_that_are_none_are_told_apart() -> None:
    def reply(request: dict[str, Any], number: int) -> Reply:
        kind = hash_of(request) % 3
        return Reply(["prose", '{"action": "99"}', '{"action": "1"}'][kind])

    with serving(reply) as endpoint:
        player = LlmPlayer("m", endpoint.url)
        found = suite([player, "always_roll(1)"], ["hog"], situations=40, matches=1)
        asked = len(endpoint.requests)
        again = suite([LlmPlayer("m", endpoint.url)], ["hog"], situations=40, matches=1)
        assert len(endpoint.requests) == asked, "a repeated run costs nothing"
    mixed, plain = found
    assert again[0]._replace(usage=None) == mixed._replace(usage=None)
    assert 0.15 < mixed.usage.unreadable / mixed.usage.decisions < 0.55
    assert 0.15 < mixed.usage.illegal / mixed.usage.decisions < 0.55
    assert mixed.regret.games == pytest.approx(plain.regret.games * (1 - mixed.unanswered))
    assert 33 < plain.regret.games <= 40
    assert abs(mixed.regret.mean - plain.regret.mean) < mixed.regret.half + plain.regret.half
    assert plain.score < 60
    titles, rows = suite_table(found)
    assert {len(row) for row in rows} == {len(titles)}
    facts = json.loads(json.dumps(suite_facts(found, 0), allow_nan=False))
    told, used = facts["grades"][0], mixed.usage
    assert told["usage"]["unreadable"] == used.unreadable != used.illegal
    shares = [used.unreadable / used.decisions, used.illegal / used.decisions]
    assert [told["unreadable"], told["illegal"]] == pytest.approx(shares)


def hash_of(request: dict[str, Any]) -> int:
    return sum(request["messages"][1]["content"].encode())


def test_a_model_has_one_budget_and_counts_of_each_game() -> None:
    with serving(lambda request, number: Reply("prose")) as endpoint:
        model, tables = LlmPlayer("m", endpoint.url), [dicegym.game("hog", goal=goal) for goal in (30, 40)]
        found = suite([model], tables, situations=6, matches=1)
        used = [one.usage for one in found if one.usage is not None]
        assert sum(one.requests for one in used) == len(endpoint.requests)
        assert [one.unreadable for one in used] == [one.decisions for one in used]
        assert model.usage.decisions == 0
        most = used[0].prompt_tokens + used[0].completion_tokens + 1
        with pytest.raises(EndpointError, match=f"its budget is {most:,}"):
            suite([LlmPlayer("m", endpoint.url, seed=1, budget=most)], tables, situations=6, matches=1)


def test_numbers_out_of_range() -> None:
    with pytest.raises(ParameterError, match="situations=1"):
        suite(["swap"], ["hog"], situations=1)
    with pytest.raises(ParameterError, match="matches=0"):
        suite(["swap"], ["hog"], matches=0)


def test_the_command_says_which_agent_is_missing(run: Run) -> None:
    status, _, said = run("values", "suite", "nobody", "--situations", 2, "--games", 1)
    assert status
    assert "nobody" in said


@pytest.mark.slow
def test_the_command_grades_an_endpoint_in_all_games(run: Run, tmp_path: Path) -> None:
    def first_legal(request: dict[str, Any], number: int) -> Reply:
        listed = request["messages"][1]["content"].rpartition("Legal actions: ")[2].removesuffix(".").split(", ")
        orders = "Lucky" in request["messages"][0]["content"]
        return Reply(json.dumps({"action": "nothing" if orders else listed[0]}))

    page_file, facts_file = tmp_path / "grade.html", tmp_path / "grade.json"
    with serving(first_legal) as endpoint:
        spec = f"llm(m, base_url={endpoint.url})"
        words = ("values", "suite", spec, "--situations", 5, "--games", 1, "-o", page_file, "-o", facts_file)
        status, shown, said = run(*words)
        assert status == 0, said
    grades = json.loads(facts_file.read_text())["grades"]
    assert [one["game"] for one in grades] == [*GAMES]
    assert all(one["unreadable"] == one["illegal"] == 0 for one in grades)
    assert all(name in shown and name in page_file.read_text() for name in GAMES)
