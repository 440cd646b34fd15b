"""An observation is declared once: lengths and offsets follow, and what cannot be is refused."""

from __future__ import annotations

import pytest

from dicegym.engine.features import Features, With
from dicegym.errors import ParameterError

PARTS: dict[str, int | With] = {"scores": 2, "own tens": 10, "leading": 1, "run": With("memory", 4)}


def test_offsets_follow_the_lengths() -> None:
    features = Features(PARTS)
    assert features.offsets._asdict() == {"scores": 0, "own_tens": 2, "leading": 12, "run": 13}
    assert features.size == 17


def test_a_part_more_moves_what_follows_it_and_nothing_else() -> None:
    longer = Features({"scores": 2, "bonus": 3, **PARTS})
    before, after = Features(PARTS).offsets._asdict(), longer.offsets._asdict()
    assert after == {"scores": 0, "bonus": 2} | {part: at + 3 for part, at in before.items() if part != "scores"}


def test_a_part_of_some_settings_is_there_in_those_alone() -> None:
    features = Features(PARTS)
    assert features({"memory": 0}) == {"scores": 2, "own tens": 10, "leading": 1}
    assert list(features({"memory": 1}).items())[-1] == ("run", 4)


def test_named_lengths_can_be_summed() -> None:
    inner = Features({"there": 1, "money": 3})
    assert Features({"time": 1, "others": 5 * inner.size})({}) == {"time": 1, "others": 20}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"scores": 0}, "'scores' cannot have the length 0: give a whole number from 1"),
        ({"scores": 2.0}, r"cannot have the length 2\.0"),
        ({"scores": True}, "cannot have the length True"),
        ({"run": With("memory", -1)}, "cannot have the length -1"),
        ({"2nd": 1}, r"'2nd' cannot be AT\.2nd in a kernel"),
        ({"class": 1}, r"'class' cannot be AT\.class"),
        ({"_hidden": 1}, r"'_hidden' cannot be"),
        ({"own tens": 1, "own_tens": 1}, "give it a unique name"),
        ({"run": With("memory", 4), "scores": 2}, r"'scores' would begin elsewhere if memory is 0.*put it before"),
        ({"run": With("memory", 4), "goal": With("long", 2)}, "'goal' would begin elsewhere if memory is 0"),
    ],
)
def test_what_cannot_be_declared_is_refused(parts: dict[str, int | With], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        Features(parts)
