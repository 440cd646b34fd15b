"""Bots whose answers harm their reader."""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

WRONG = r"returned|answer|sent"


def _number(name: str, number: str, head: str = "", reason: str = WRONG, **rest: object) -> Hostile:
    return Hostile(name, Pays.ASKED, reason, head=head, number=number, **rest)  # type: ignore[arg-type]  # as Hostile has them


def _whole(name: str, answer: str, head: str = "", reason: str = WRONG, **rest: object) -> Hostile:
    return Hostile(name, Pays.ASKED, reason, head=head, answer=answer, **rest)  # type: ignore[arg-type]  # as Hostile has them


_EVIL = """
class Evil:
    def evil(self, *_):
        BODY
    __int__ = __index__ = __float__ = __trunc__ = __bool__ = __eq__ = __lt__ = __hash__ = __repr__ = __str__ = evil
    __len__ = __iter__ = __getitem__ = __reduce__ = __reduce_ex__ = __format__ = __call__ = __sub__ = evil
"""
_RAISES = _EVIL.replace("BODY", "raise Found('evil')")
_HANGS = "import time\n" + _EVIL.replace("BODY", "time.sleep(60)")
_EXITS = "import os\n" + _EVIL.replace("BODY", "os._exit(3)")

ANSWERS = (
    _number("evil_number_that_raises", "Evil()", _RAISES, r"evil|returned"),
    _number("evil_number_that_hangs", "Evil()", _HANGS, r"took more than|returned"),
    _number("evil_number_that_ends", "Evil()", _EXITS, r"ended its process|returned", games=("liarsdice", "lucky")),
    _whole("evil_answer", "Evil()", _RAISES, r"evil|returned"),
    _number("huge_number", "10**4000", games=("hog", "liarsdice", "lucky", "yatzy")),
    _number("huger_number", "1 << 10**7", games=("hog", "liarsdice", "lucky", "yatzy")),
    _number("not_a_number", "float('nan')", reason=rf"{WRONG}|nan"),
    _number("infinity", "float('-inf')", reason=rf"{WRONG}|inf"),
    _number("complex_number", "1j", games=("hog", "lucky")),
    _number("text_for_a_number", "'\\x1b[2J\\ud800'", games=("hog", "liarsdice", "lucky", "yatzy")),
    _number("bytes_for_a_number", "b'\\xff\\0'", games=("hog", "liarsdice_spot_on", "yatzy")),
    _number("array_for_a_number", "numpy.arange(5)", "import numpy", games=("liarsdice", "liarsdice_spot_on", "lucky")),
    _whole("long_answer", "'x' * 10**8", reason=rf"{WRONG}|MemoryError"),
    _whole("endless_answer", "iter(int, 1)", games=("liarsdice_spot_on", "lucky")),
    _whole("answer_within_itself", "knot", "knot = []\nknot.append(knot)"),
    _whole("deep_answer", "deep", "deep = []\nfor _ in range(10**5):\n    deep = [deep]"),
    _whole("dict_within_itself", "knot", "knot = {}\nknot['box'] = knot['type'] = knot", games=("yatzy", "hog")),
    _whole("odd_keys", "{1: 2, None: 3, (4,): b'5', 'type': 'SCORE_BOX', '\\ud800': 6}", games=("yatzy",)),
    _whole("a_million_numbers", "[1] * 10**6", games=("lucky", "liarsdice_spot_on")),
    _whole(
        "nobodys_class",
        "Lie()",
        "class Lie:\n    __class__ = property(lambda self: int)\n    __int__ = lambda self: 'x'",
        reason=rf"{WRONG}|raised TypeError",
        games=("hog", "liarsdice"),
    ),
    _whole(
        "pickled_program",
        "Program()",
        """
        import os

        class Program:
            def __reduce__(self):
                return os.system, ("touch /tmp/owned",)
        """,
        reason=r"returned|Program",
    ),
    _whole(
        "odd_list",
        "List([1, 2])",
        """
        class List(list):
            def __iter__(self):
                while True:
                    yield 1

            def __len__(self):
                return -1
        """,
        reason=r"returned|took more than|raised|memory",
        games=("lucky",),
    ),
    _whole(
        "odd_tuple",
        "Tuple((1, 2))",
        """
        class Tuple(tuple):
            def __iter__(self):
                raise Found("odd")

            def __len__(self):
                return 2
        """,
        reason=r"odd|returned",
        games=("liarsdice_spot_on", "lucky"),
    ),
    _whole(
        "odd_dict",
        "Dict(type='SCORE_BOX')",
        """
        class Dict(dict):
            def get(self, *_):
                raise Found("odd")

            __getitem__ = __contains__ = items = keys = __iter__ = get
        """,
        reason=r"odd|returned",
        games=("yatzy",),
    ),
)
