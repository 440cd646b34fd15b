"""Bots that are exported as they are: their text is the file's, whatever the locale."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from dicegym.bots.export import network_source

BOT = 'def final_strategy(score, opponent_score):\n    """Würfelt fünf."""\n    return 5\n'


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("data", [BOT.encode(), BOT.encode("utf-8-sig"), BOT.replace("\n", "\r\n").encode()])
def test_the_text_of_a_bot_is_exported_as_python_reads_it(
    data: bytes, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hog.py").write_bytes(data)
    monkeypatch.setattr("io.text_encoding", lambda *given: encoding)
    game = dicegym.game("hog")
    assert network_source(dicegym.agent(game, str(tmp_path / "hog.py")), game, "") == BOT
