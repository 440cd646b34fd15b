"""Reading objects from a stream, however it is split and whatever is between them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dicegym.server.wire import LIMIT, Malformed, ObjectReader, parse

ROLL = {"type": "ROLL_DICE", "dice": [0, 1, 4]}
BOX = {"type": "SCORE_BOX", "box": 1, "dice": [2, 3]}
GOOD = json.dumps(ROLL).encode()


def read_all(reader: ObjectReader) -> Any:
    found = []
    while (item := reader.read()) is not None:
        found.append(item.code if isinstance(item, Malformed) else item)
    return found


def objects(*packets: bytes, limit: int = LIMIT) -> Any:
    """Return the objects and error codes in ``packets``."""
    reader = ObjectReader(limit)
    found = []
    for packet in packets:
        reader.feed(packet)
        found += read_all(reader)
    return found


def bytewise(data: Any) -> Any:
    return [data[i : i + 1] for i in range(len(data))]


def sized(size: int) -> Any:
    """Return an object of exactly ``size`` bytes."""
    frame = len(json.dumps({"a": ""}))
    return json.dumps({"a": "x" * (size - frame)}).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=4), st.booleans(), st.data())
@settings(max_examples=10)
def test_any_objects_cut_anywhere(values: list[Any], escaped: bool, data: Any) -> None:
    texts = [json.dumps(value, ensure_ascii=escaped) for value in values]
    separators = data.draw(st.lists(st.sampled_from(["", "\n", " "]), min_size=len(texts), max_size=len(texts)))
    try:
        stream = "".join(map("".join, zip(texts, separators, strict=True))).encode()
    except UnicodeEncodeError:  # a lone surrogate cannot be sent unescaped
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    packets = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert objects(*packets) == objects(*bytewise(stream)) == values


NONSENSE = [
    *(b"hello\n", b"[1, 2]\n", b"17\n", b'"text"\n', b"null\n", b"}\n", b"]]]]\n", b",", b"\x00\xff\xfe\n"),
    *(b"{'type': 'ROLL_DICE'}\n", b'{"type": "ROLL_DICE",}\n', b'{"a" 1}', b'{"a": 1 2}', b"{1: 2}"),
    *(b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": tru3}', b'{"a": "\\x"}', b'{"a": "tab\there"}', b'{"a": 01}'),
    *(b'{"a": "\xff"}', b'{"a": "\xc3"}', b'{"a": {"b": [bad, {"c": 1}]}, "d": {}}', b'{"a": bad "}" }'),
    *(b'{"a": "open\n', b"GET / HTTP/1.1\r"),
]
HALVES = [b'{"type": "ROLL_DICE", "dice": [0', b'{"type": "ROLL_DICE"', b'{"type"']
PRETTY = b'{"a": bad,\n "b": {"c": "}\\"}"},\n "d": [{}, {}]}'
WIDE = ('{"a": "' + "\N{GREEK SMALL LETTER ALPHA}" * 2048 + '"}').encode()
"""Short in characters, long in bytes."""


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        *(
            (GOOD + between + json.dumps(BOX).encode() + between, [ROLL, BOX])
            for between in (b"", b"\n", b"\r\n", b" \t", b"\n\n\n", b"\xef\xbb\xbf")
        ),
        (json.dumps(ROLL, indent=2).encode(), [ROLL]),
        *((nonsense + GOOD, ["bad-json", ROLL]) for nonsense in NONSENSE),  # reported once and skipped
        *((GOOD + nonsense + b"\n" + GOOD, [ROLL, "bad-json", ROLL]) for nonsense in NONSENSE),
        *((half + GOOD, ["bad-json", ROLL]) for half in HALVES),  # an object ends where another one begins
        *((half + b"\n" + GOOD, ["bad-json", ROLL]) for half in HALVES),
        (b'{bad {{{ "}" \n' + GOOD, ["bad-json", ROLL]),  # skipping ends at a line that begins an object
        (PRETTY + GOOD, ["bad-json", ROLL]),  # a skipped object ends with its own brace
        (sized(LIMIT), [json.loads(sized(LIMIT))]),
        (sized(LIMIT + 1) + GOOD, ["too-long", ROLL]),
        (WIDE + GOOD, ["too-long", ROLL]),
    ],
)
def test_objects_and_errors_in_a_stream(stream: bytes, expected: list[Any]) -> None:
    assert LIMIT == 4096
    assert objects(stream) == expected
    assert objects(*bytewise(stream)) == expected


@pytest.mark.parametrize(
    "huge",
    [
        b'{"a": "' + b"x" * 200_000 + b'"}',
        b'{"a": [' + b"1," * 100_000 + b"1]}",
        b'{"a": ' + b"7" * 200_000 + b"}",
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' * 20_000 + b"1" + b"}" * 20_000,
        b'{"a": "' + b"x" * 200_000 + b"\n",
        b'{"a": ' * 20_000 + b"\n",
    ],
)
def test_huge_objects_are_skipped_and_never_kept(huge: bytes) -> None:
    reader = ObjectReader()
    found = []
    for i in range(0, len(huge), 1400):
        reader.feed(huge[i : i + 1400])
        found += read_all(reader)
        assert len(reader._text) - reader._at <= LIMIT + 1400
    reader.feed(GOOD)
    found += read_all(reader)
    assert found in (["too-long", ROLL], ["bad-json", ROLL])  # the second for deeply nested brackets
    assert objects(huge + GOOD)[-1] == ROLL


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b"1e999", True),
        (b"9" * 200, True),
        (b"9" * 4000, True),
        (b"-0." + b"9" * 4000, True),
        (b"[" * 100 + b"]" * 100, True),
        (b"[" * 2000 + b"]" * 2000, False),
        (b'{"a":' * 600 + b"1" + b"}" * 600, True),
    ],
)
def test_numbers_beyond_measure_and_bombs(value: bytes, kept: bool) -> None:
    """Any JSON is accepted, except too deeply nested brackets."""
    data = b'{"a": ' + value + b"}"
    assert [type(found) for found in (*objects(data + GOOD), *objects(*bytewise(data + GOOD)))] == 2 * [
        dict if kept else str,
        dict,
    ]


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":"' + b"x" * 4_000,
        b'{"a":[' + b"0," * 2_000,
        b'{"a":[' + b" " * 4_000,
        b"{" + b'"a":{},' * 500,
        b'{"a":' + b"\t\n" * 2_000,
    ],
)
def test_nothing_is_looked_at_again_because_more_has_come(text: bytes) -> None:
    reader = ObjectReader()
    for end in range(0, len(text), 7):
        reader.feed(text[end : end + 7])
        assert reader.read() is None
        assert len(reader._text) - reader._seen <= 1


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_any_bytes_leave_it_usable(packets: list[bytes]) -> None:
    reader = ObjectReader()
    for packet in packets:
        reader.feed(packet)
        read_all(reader)
    reader.feed(b"\n" + GOOD + b"\n" + GOOD + b"\n" + GOOD + b"\n")  # the first one may end an open object
    assert read_all(reader)[-1] == ROLL


@given(st.text(alphabet='{}[]":,\\n1tru \n', max_size=60))
def test_packets_make_no_difference(text: str) -> None:
    stream = text.encode() + b"\n" + GOOD
    assert objects(stream) == objects(*bytewise(stream))


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (GOOD.decode(), ROLL),
        (f" {GOOD.decode()}\n", ROLL),
        ("", "bad-json"),
        ("[]", "bad-json"),
        (GOOD.decode() * 2, "bad-json"),
        (GOOD.decode()[:-1], "bad-json"),
        (sized(LIMIT + 1).decode(), "too-long"),
        ("[" * 4000, "bad-json"),
        ('{"a":' * 800, "bad-json"),
        ('{"a": NaN}', "bad-json"),
    ],
)
def test_a_frame_is_one_object(frame: str, expected: object) -> None:
    found = parse(frame)
    assert (found.code if isinstance(found, Malformed) else found) == expected


@pytest.mark.parametrize("cut", [False, True])
def test_an_object_may_have_exactly_the_limit(cut: bool) -> None:
    for size, taken in ((LIMIT, True), (LIMIT + 1, False)):
        data = sized(size)
        (found,) = objects(*((data[:-1], data[-1:]) if cut else (data,)))
        assert isinstance(found, dict) is isinstance(parse(data.decode()), dict) is taken
