"""Bots that find the referee's socket, and write to it, read from it or close it."""

from __future__ import annotations

from zoo.hostile import GAMES, Hostile, Pays

SENT = r"sent|answered|closed|ended|took more than|raised (Permission|Memory)Error|malformed|returned"
"""Reasons for a wrong or missing line, or for what a jail forbids."""

_LINES = """
import os, socket, stat, sys, time

def lines():
    found = []
    for number in range(256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or (stat.S_ISFIFO(mode) and number > 2):
            found.append(number)
    return found

def question():
    # the number of the question, from a frame of the bot's caller
    frame = sys._getframe()
    while frame is not None:
        one = frame.f_locals.get("self")
        if hasattr(one, "_end") and hasattr(one, "_number"):
            return one._number
        frame = frame.f_back
    return asked

def said(number, value=b"0"):
    return b'[%d,"ok",' % number + value + b']\\n'

def write(data):
    for number in lines():
        try:
            os.set_blocking(number, False)
            while data:
                data = data[os.write(number, data):]
        except OSError:
            pass
        finally:
            os.set_blocking(number, True)
"""


def _forger(name: str, data: str, games: tuple[str, ...] = ("hog", "liarsdice"), reason: str = SENT) -> Hostile:
    return Hostile(name, Pays.ASKED, reason, f"if late:\n    write({data})", _LINES, games=games)


FORGERS = (
    _forger("answers_twice", "said(question())", GAMES),
    _forger("answers_another_question", "said(999999)"),
    _forger("answers_in_advance", "b''.join(said(question() + ahead) for ahead in range(1, 500))"),
    _forger("half_a_line", "b'[' + b'1' * 100"),
    _forger("endless_line", "b'1' * 10**8", ("hog", "yatzy")),
    _forger("binary_zeros", "bytes(100) + b'\\n'"),
    _forger("no_text", "b'\\xff\\xfe\\n'"),
    _forger("deep_json", "said(question(), b'[' * 60000)", ("liarsdice_spot_on", "lucky")),
    _forger("deeper_json", "said(question(), b'[' * 30000 + b']' * 30000)", ("liarsdice", "yatzy")),
    _forger("not_a_number_in_json", "said(question(), b'NaN')", ("lucky", "yatzy")),
    _forger("infinity_in_json", "said(question(), b'1e999')", ("liarsdice", "hog")),
    _forger("huge_number_in_json", "said(question(), b'9' * 60000)", ("hog", "lucky")),
    _forger("huge_number_of_the_question", "b'[' + b'9' * 5000 + b',\"ok\",1]\\n'", ("hog", "liarsdice")),
    _forger("same_keys", 'b\'{"number": 1, "number": 2, "value": 0, "value": 1}\\n\'', ("yatzy", "liarsdice_spot_on")),
    _forger("result_of_the_match", 'b\'{"value": {"wins": [9, 9], "shares": [9, 9]}}\\n\''),
    _forger("old_result_of_the_match", "b'\\0\\0\\0\\x10{\"value\": [9, 0]}'", ("hog",)),
    Hostile(
        "tells_for_ever",
        Pays.ASKED,
        SENT,
        """
        while late:
            write(b'[%d,"told",["printed","x"]]\\n' % question())
            time.sleep(0.005)
        """,
        _LINES,
        games=("hog", "yatzy"),
    ),
    Hostile(
        "sends_open_files",
        Pays.ASKED,
        SENT,
        """
        if late:
            null = os.open("/dev/null", os.O_RDONLY)
            for number in lines():
                for _ in range(50):
                    socket.send_fds(socket.socket(fileno=os.dup(number)), [b"\\n"], [null] * 50)
        """,
        _LINES,
        games=("hog", "lucky"),
    ),
    Hostile(
        "floods_with_remarks",
        Pays.ASKED,
        SENT,
        head=_LINES
        + """
write(said(1, b'{"d":[["pure",false],["remarks",[%s]]]}' % b",".join([b'"x"'] * 3_000)))
time.sleep(60)  # the rest is never sent, and the next question not answered
""",
        games=("yatzy", "lucky"),
    ),
    Hostile(
        "says_nonsense_of_itself",
        Pays.ASKED,
        SENT,
        head=f"""{_LINES}
write(said(1, b'{{"d":[["pure",[]],["remarks",5]]}}'))
time.sleep(60)
""",
        games=("yatzy", "lucky"),
    ),
    *(
        Hostile(
            f"pure_and_{name}",
            Pays.ASKED,
            reason,
            f"if asked == 300:\n    {how}",
            f"PURE = True\n{_LINES}",
            games=("hog",),
        )
        for name, how, reason in (
            ("exits", "os._exit(3)", r"ended its process \(exit status 3\)"),
            ("sleeps", "time.sleep(60)", "took more than"),
            ("raises", "raise Found('pure')", r'raised Found \(says: "pure"\) in'),
            ("answers_in_advance", "write(said(question() + 1))", "answered"),
            ("sends_nonsense", "write(b'[\\n')", "nonsense"),
            ("hangs_up", "os.closerange(3, 64)", "ended|closed"),
        )
    ),
    Hostile("closes_its_lines", Pays.ASKED, SENT, "import os\nif late:\n    os.closerange(3, 1024)"),
    Hostile("closes_everything", Pays.ASKED, SENT, "import os\nif late:\n    os.closerange(0, 1024)", games=("hog",)),
    Hostile(
        "puts_nothing_in_their_place",
        Pays.ASKED,
        SENT,
        """
        if late:
            nothing = os.open("/dev/null", os.O_RDWR)
            for number in lines():
                os.dup2(nothing, number)
        """,
        _LINES,
        games=("hog", "lucky", "yatzy"),
    ),
    Hostile(
        "hangs_up",
        Pays.ASKED,
        SENT,
        """
        if late:
            for number in lines():
                try:
                    socket.socket(fileno=number).shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        """,
        _LINES,
        games=("liarsdice", "liarsdice_spot_on"),
    ),
    Hostile(
        "steals_the_questions",
        Pays.ASKED,
        SENT,
        "if late:\n    time.sleep(@MOVE)",
        _LINES
        + """
import threading

def steal(number):
    try:
        while os.read(number, 65536):
            pass
    except OSError:
        pass

def begin():
    time.sleep(0.001)
    for number in lines():
        threading.Thread(target=steal, args=(number,), daemon=True).start()

threading.Thread(target=begin, daemon=True).start()
""",
        games=("yatzy", "lucky"),
    ),
    Hostile(
        "answers_with_two_voices",
        Pays.ASKED,
        r"twice|sent|answer|ended|took more than|OSError|BlockingIOError|PermissionError|",
        "if late:\n    os.fork()",
        "import os",
        games=("hog", "liarsdice", "lucky"),
    ),
    Hostile(
        "answers_too_late",
        Pays.ASKED,
        r"took more than",
        """
        if late:
            threading.Timer(@MOVE * 15, write, (said(question()),)).start()
            time.sleep(60)
        """,
        _LINES + "import threading",
        games=("liarsdice", "yatzy"),
    ),
    Hostile(
        "closes_its_streams",
        Pays.NOTHING,
        ask="""
        import os, sys
        if asked == 2:
            for stream in (sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__):
                try:
                    stream.close()
                except (AttributeError, OSError, ValueError):
                    pass
            for number in range(3):
                try:
                    os.close(number)
                except OSError:
                    pass
        """,
        games=("hog", "liarsdice_spot_on", "yatzy"),
    ),
    Hostile(
        "asks_for_input",
        Pays.ASKED,
        r"EOFError|nobody is there",
        "import sys\nsys.stdin and sys.stdin.read()\nif late:\n    input('? ')",
        games=("hog", "lucky"),
    ),
)
