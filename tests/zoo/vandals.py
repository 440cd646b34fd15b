"""Bots that change modules, hooks, settings of the process, or files for the next match."""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

_MARKS = """
import decimal, os, random, resource, signal, sys, tempfile, threading

def marks():
    found = []
    for folder in {tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), os.getcwd()}:
        path = os.path.join(folder, "mark_of_the_last_match")
        if os.path.exists(path):
            found.append(path)
        else:
            try:
                open(path, "w").close()
            except OSError:
                pass
    if os.environ.get("MARK_OF_THE_LAST_MATCH"):
        found.append("environment")
    if hasattr(sys, "mark_of_the_last_match") or "mark_of_the_last_match" in sys.modules:
        found.append("modules")
    if sys.getrecursionlimit() == 4321:
        found.append("recursion limit")
    if decimal.getcontext().prec == 321:
        found.append("decimal context")
    if os.umask(0o123) == 0o123:
        found.append("umask")
    if signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN:
        found.append("signals")
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 33:
        found.append("limits")
    if os.getcwd() == "/proc":
        found.append("folder")
    try:
        import numpy
        if numpy.random.get_state()[1][0] == 4321:
            found.append("numpy.random")
        numpy.random.set_state(("MT19937", [4321] * 624, 1, 0, 0.0))
    except ImportError:
        pass
    if found:
        raise Found(", ".join(found))
    os.environ["MARK_OF_THE_LAST_MATCH"] = "1"
    sys.modules["mark_of_the_last_match"] = sys.__dict__["mark_of_the_last_match"] = sys
    sys.setrecursionlimit(4321)
    decimal.getcontext().prec = 321
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (33, 33))
    except (OSError, ValueError):
        pass
    os.chdir("/proc")
"""


def _patch(name: str, head: str, games: tuple[str, ...] = ("hog", "lucky"), ask: str = "pass") -> Hostile:
    return Hostile(name, Pays.NOTHING, head=head, ask=ask, games=games)


VANDALS = (
    Hostile(
        "leaves_marks", Pays.NOTHING, ask="if asked == 1:\n    marks()\n    print('looked')", head=_MARKS, twice=True
    ),
    Hostile(
        "patches_json",
        Pays.NOTHING,  # plain answers are written without it
        head="""
        import json
        json.dumps = json.loads = json.dump = lambda *_, **__: '{"value": {"wins": [9, 0], "shares": [9, 0]}}'
        json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda *_: '[1, 10]'
        json.encoder.c_make_encoder = None
        """,
    ),
    Hostile(
        "leaves_a_maze",
        Pays.NOTHING,
        ask="if asked == 1:\n    maze()",
        head="""
        import os, tempfile

        def maze():
            here = os.getcwd()
            for number in range(200):
                folder = os.path.join(tempfile.gettempdir(), f"{number}" + "x" * 200)
                os.mkdir(folder)
                os.symlink("/", os.path.join(folder, "root"))
            for _ in range(100):
                os.mkdir("x" * 200)
                os.chdir("x" * 200)
            os.chdir(here)

        os.chdir(tempfile.gettempdir())
        """,
        games=("liarsdice", "yatzy"),
    ),
    _patch(
        "patches_marshal_and_pickle",
        """
        import marshal, pickle, struct
        for module in (marshal, pickle, struct):
            for name in ("dumps", "loads", "pack", "unpack"):
                if hasattr(module, name):
                    setattr(module, name, lambda *_, **__: b"")
        """,
        ("liarsdice", "yatzy"),
    ),
    Hostile(
        "patches_the_built_in_functions",
        Pays.LOADING,
        "ended its process|nonsense",
        head="""
        import builtins
        for name in ("len", "isinstance", "int", "str", "print", "open", "max", "repr", "type", "getattr", "sorted"):
            setattr(builtins, name, None)
        """,
        games=("hog", "liarsdice"),
    ),
    Hostile(
        "patches_input_and_output",
        Pays.LOADING,
        "took more than|ended its process|nonsense",
        head="""
        import os, select, socket
        for module, names in ((os, ("read", "write")), (socket.socket, ("send", "recv", "sendall"))):
            for name in names:
                setattr(module, name, lambda *_: 10)
        select.poll = select.select = None
        """,
        games=("liarsdice_spot_on", "lucky"),
    ),
    _patch(
        "patches_the_package",
        """
        import sys
        for name, module in list(sys.modules.items()):
            if name.startswith("dicegym") and module is not None:
                for key, value in list(vars(module).items()):
                    if type(value).__name__ == "function":
                        setattr(module, key, lambda *_, **__: 10)
        """,
        ("hog", "yatzy"),
    ),
    _patch(
        "hooks_every_call",
        """
        import sys, threading

        def hook(frame, event, argument):
            for name in ("score", "answer", "value", "wins", "returns"):
                if name in frame.f_locals:
                    frame.f_locals[name] = 99
            return hook

        threading.settrace(hook)
        threading.setprofile(hook)
        sys.settrace(hook)
        sys.setprofile(lambda *_: None)
        """,
        ("hog", "liarsdice"),
    ),
    _patch(
        "disorders_the_collector",
        """
        import gc
        gc.set_threshold(1)
        gc.callbacks.append(lambda *_: [].append(1 / 0))
        gc.disable()
        """,
        ("lucky", "yatzy"),
    ),
    _patch(
        "hooks_of_the_interpreter",
        """
        import os, sys, threading
        sys.excepthook = sys.unraisablehook = sys.displayhook = threading.excepthook = None
        sys.meta_path.clear()
        sys.path_hooks.clear()
        sys.path.clear()
        sys.modules.clear()
        sys.setswitchinterval(100)
        """,
        ("hog", "liarsdice_spot_on"),
    ),
    _patch(
        "draws_from_everybodys_randomness",
        "import random\nrandom.seed(0)\nrandom.random = lambda: 0.0\nrandom.Random.random = lambda self: 0.0",
        ("liarsdice", "lucky"),
        ask="import random\nrandom.seed(asked)",
    ),
    Hostile(
        "changes_what_it_is_handed",
        Pays.NOTHING,
        ask="""
        import sys
        frame = sys._getframe()
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if type(value) is list and value and type(value[0]) is int:
                    value[:] = [6] * len(value)
                elif type(value) is dict and value and type(next(iter(value))) is int:
                    value.update({key: 99 for key in value})
            frame = frame.f_back if frame.f_back is not frame else None
        """,
        games=("liarsdice_spot_on", "lucky"),
    ),
)
