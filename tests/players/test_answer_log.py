"""The log of language models' answers where it cannot be used, and what endpoints say of tokens."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

from dicegym.errors import ParameterError, ServiceError
from dicegym.players import llm
from dicegym.players.llm import AnswerLog, LlmPlayer, LoggedAnswer

ANSWER = LoggedAnswer("5", "", 1, 1)


def test_a_log_that_is_damaged_meanwhile_ends_the_run_and_blames_nobody(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "log.sqlite")
    log.add("key", "", "{}", ANSWER)
    assert log.find("key") == ANSWER
    for file in tmp_path.iterdir():
        file.write_bytes(b"x" * 5000)
    with pytest.raises(ServiceError, match=r"log\.sqlite cannot be used"):
        log.find("key")
    with pytest.raises(ServiceError, match="start again"):
        log.add("other", "", "{}", ANSWER)


@pytest.mark.parametrize("name", ["nowhere/log.sqlite", ".", "a\0b"])
def test_a_log_that_cannot_be_opened_is_a_wrong_argument(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="cannot be opened"):
        AnswerLog(tmp_path / name)


def test_a_data_folder_that_cannot_be_made_is_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(llm.LOG_VARIABLE, raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **options: tmp_path / "file" / "dicegym")
    with pytest.raises(ParameterError, match="cannot be opened"):
        AnswerLog()


@pytest.mark.parametrize(("said", "counted"), [(-5, 0), (7.0, 7), (1 << 80, 1 << 40), (None, 0)])
def test_tokens_fit_the_log_and_give_no_budget_back(said: object, counted: int) -> None:
    message = SimpleNamespace(tool_calls=None, content="5", refusal=None)
    usage = SimpleNamespace(prompt_tokens=said, completion_tokens=said)
    completion = SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage)
    assert llm._read_completion(completion) == LoggedAnswer("5", "", counted, counted)


def test_a_model_of_random_failures_stays_one_in_another_process() -> None:
    player = LlmPlayer("m", seed=3).with_random_failures()
    copy = pickle.loads(pickle.dumps(player))
    assert (copy.random_failures, copy.seed, copy.name) == (True, 3, "llm(m)")
