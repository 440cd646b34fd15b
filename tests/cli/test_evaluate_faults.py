"""A bot that fails in every game is told of a few times, and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dicegym.cli import main
from dicegym.cli.evaluation import FAULTS_SHOWN

BOT = "def get_play(me, hands, history):\n    raise ValueError('no idea')\n"


def test_faults_are_counted_and_few_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot, result = tmp_path / "lost" / "player.py", tmp_path / "result.json"
    bot.parent.mkdir()
    bot.write_text(BOT)
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", str(bot), "--game", "liarsdice", "--games", "20", "-o", str(result)])
    told = capsys.readouterr().err
    assert told.count("fault: agent 'lost': raised ValueError (says: \"no idea\")") == FAULTS_SHOWN
    (score,) = json.loads(result.read_text())
    assert score["faults"] >= 20 * 5  # it loses every die of every game by one
    assert f"and {score['faults'] - FAULTS_SHOWN:,} more faults" in told
