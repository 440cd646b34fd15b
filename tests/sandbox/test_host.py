"""What a bot's process makes of what its referee says, in whatever pieces that arrives."""

from __future__ import annotations

import marshal
from typing import Any

import pytest

from dicegym.sandbox.host import Child


class Pieces:
    """A socket that gives bytes in pieces, and keeps what it is given."""

    def __init__(self, data: bytes, size: int) -> None:
        self.pieces = [data[start : start + size] for start in range(0, len(data), size)]
        self.sent = b""

    def recv(self, most: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def sendall(self, data: bytes) -> None:
        self.sent += data


def child_at(end: Any) -> Child:
    """Return a child whose bot adds numbers up."""
    host: Any = None
    child = Child(host, end, "", 0)
    child._ask = lambda *numbers: sum(numbers)
    return child


def questions(*asked: tuple[int, ...]) -> bytes:
    frames = [marshal.dumps((number, "ask", numbers)) for number, numbers in enumerate(asked)]
    return b"".join(len(frame).to_bytes(4, "little") + frame for frame in frames)


@pytest.mark.parametrize("size", [1, 3, 5, 26, 1000])
def test_questions_are_answered_in_whatever_pieces_they_arrive(size: int) -> None:
    end = Pieces(questions((1, 2), tuple(range(300)), (7,)), size)
    child_at(end)._serve()
    assert end.sent == b'[0,"ok",3]\n[1,"ok",44850]\n[2,"ok",7]\n'


def test_a_question_that_breaks_off_ends_the_process() -> None:
    end = Pieces(questions((1, 2))[:-1], 1000)
    with pytest.raises(EOFError):
        child_at(end)._serve()
    assert end.sent == b""
