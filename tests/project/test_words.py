"""Each word means one thing: words that are gone stay gone, and no two public classes have one name.

`words_left.toml` beside this file lists what is left of the names and phrases that nothing new may use. It can only
shrink; ``python tests/project/test_words.py`` writes it anew.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.check
ROOT = Path(__file__).resolve().parents[2]
CODE = [path for folder in ("dicegym", "training", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
AGENTS = sorted((ROOT / "agents").rglob("*.py"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts),
    *sorted((ROOT / "agents").rglob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]


WORD = re.compile(r"[^\W\d]\w*")


class Gone(NamedTuple):
    """A word that is not used any more."""

    pattern: str
    """Matches it: a whole identifier in code, or somewhere in a line of prose."""
    instead: str
    where: str = ""
    """Below these folders alone, as a pattern for the start of a path: elsewhere the word means something else."""
    unless: str = r"(?!)"
    """Matches an identifier, or a line of prose, that is meant."""
    sign: str = ""
    """Of prose: what stands, in small letters, in every text with a match, and is looked for first, which is faster."""


def part(word: str) -> str:
    """Match identifiers of which ``word`` is one part, as `word`, `_a_word` or `AWord`."""
    return rf"(?i:(.*_)?{word}s?(_.*)?)|(.*[a-z])?{word.title()}s?([A-Z].*)?"


IDENTIFIERS = (
    Gone("Rules", "GameSpec; `rules` is the module"),
    Gone(part("house"), "twins", unless=r"FULL_HOUSE|HOUSE_PLAYS|HOUSE", where=r"(?!.*yatzy)"),
    Gone(r"HOUSE|_house", "twins", where=r"dicegym/games/(?!yatzy/(rules|text|tables))|dicegym/players"),
    Gone(part("yardstick"), "baseline"),
    Gone(part("milestone"), "public_event"),
    Gone(part("floor"), "matchmaking", where=r"dicegym/server|tests/server"),
    Gone(part("beat"), "heartbeat", where=r"dicegym/(arena|sandbox|server)|tests/(arena|sandbox|server)"),
    Gone("_?go_on", "advance_rows, or what goes on"),
    Gone("_?(look|see)", "observe_and_mask", where="dicegym/(engine|envs)"),
    Gone("trial", "smoke_games", where=r"dicegym/(?!learning/tune)"),
    Gone(part("stepping"), "batch_kernels"),
    Gone(part("chair"), "seat"),
    Gone("Order", "JointAction"),
    Gone("_?game_of", "make_game (a game from what a user gave), game_for (an agent), read_game (a model)"),
    Gone("others_to_move", "nothing"),
)
PROSE = (
    Gone(r"(?i)\bhouse bots?\b", "twins, compiled bots", sign="house bot"),
    Gone(r"(?i)\byardsticks?\b", "baseline", unless=r'"yardstick"', sign="yardstick"),
    Gone(r"(?i)\bmilestones?\b", "public event", sign="milestone"),
    Gone(r"\bgo_on\b", "advance_rows", sign="go_on"),
    Gone(r"`Rules`", "GameSpec", sign="`rules`"),
    Gone(r"\bRules\(", "GameSpec", sign="rules("),
    Gone(
        r"(?i)\b(hidden|own)`{0,2} fields?\b",
        "private fields (the seat's alone) or secret fields (nobody's)",
        sign=" field",
    ),
    Gone(r"`HOUSE`|\bhouse\.py\b", "twins", sign="house"),
    Gone(r"\bstepping\.py\b", "batch_kernels", sign="stepping.py"),
    Gone(r"\bimport model as (?!models\b)", "import model as models", sign="import model as"),
    Gone(r"\brules: GameSpec\b", "spec", sign="rules: gamespec"),
    Gone(r"\brules = \w+\.spec\b", "spec", sign="rules = "),
    Gone(r"\bGame\(rules=", "spec", sign="game(rules="),
    Gone(r"(?i)\bthe engine's results?\b", "the game's result", sign="the engine's result"),
)


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, identifier) of all names in code, those of test functions left out, which are sentences."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.name.startswith("test_"):
                yield line, node.name
        elif isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield line, node.arg or ""
        elif isinstance(node, ast.alias):
            yield from ((line, name) for name in (*node.name.split("."), node.asname or ""))


def wrong_identifiers(path: str, source: str) -> list[str]:
    """Return one sentence for each identifier that is gone, the first place of each."""
    words = set(WORD.findall(source))
    if not any(re.match(gone.where, path) for word in words for gone in gone_as(word)):
        return []  # as a rule none stands there at all, so nothing is parsed
    first: dict[str, int] = {}
    for line, name in identifiers(source):
        first.setdefault(name, line)
    found = {}
    for name, line in first.items():
        for gone in gone_as(name):
            if re.match(gone.where, path):
                found.setdefault(name, f"{path}:{line}: {name}: say {gone.instead}")
    return list(found.values())


@functools.cache
def gone_as(name: str) -> list[Gone]:
    """Return the rules that an identifier breaks, wherever it stands: most names are in hundreds of files."""
    return [
        gone
        for gone in IDENTIFIERS
        if name and re.fullmatch(gone.pattern, name) and not re.fullmatch(gone.unless, name)
    ]


def wrong_prose(path: str, text: str) -> list[str]:
    """Return one sentence for each line with a word that is gone."""
    small = text.lower()
    here = [gone for gone in PROSE if gone.sign in small]  # as a rule none
    return [
        f"{path}:{number}: {match[0]}: say {gone.instead}"
        for number, line in enumerate(text.splitlines() if here else (), 1)
        for gone in here
        if (match := re.search(gone.pattern, line)) and not re.search(gone.unless, line)
    ]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_words_that_are_gone_are_not_in_the_code() -> None:
    paths = [path for path in CODE + AGENTS if path != Path(__file__)]
    assert len(paths) > 230
    wrong = []
    for path in paths:
        source = path.read_text(encoding="utf-8")
        wrong += wrong_identifiers(short(path), source) + wrong_prose(short(path), source)
    assert not wrong, "\n".join(wrong)


def test_words_that_are_gone_are_not_on_the_pages() -> None:
    assert len(PAGES) > 20
    wrong = [line for path in PAGES for line in wrong_prose(short(path), path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("dicegym/a.py", "class Rules: ...", "GameSpec"),
        ("dicegym/a.py", "from dicegym.players import twins as house", "twins"),
        ("dicegym/games/hog/twins.py", "HOUSE = {}", "twins"),
        ("dicegym/a.py", "def tell(milestones): ...", "public_event"),
        ("dicegym/server/a.py", "class Floor: ...", "matchmaking"),
        ("dicegym/sandbox/a.py", "class LastBeat: ...", "heartbeat"),
        ("dicegym/envs/a.py", "x.look()", "observe_and_mask"),
        ("dicegym/envs/a.py", "f(yardstick=1)", "baseline"),
        ("tests/a.py", "# a house bot's file", "twins"),
        ("dicegym/a.py", "# its ``own`` fields", "private"),
        ("dicegym/server/a.py", "from dicegym.games import game as game_of", "make_game"),
        ("dicegym/a.py", "rules = game.spec", "spec"),
        ("dicegym/a.py", "# as in Stepping.py and stepping.py", "batch_kernels"),
        *((f"dicegym/{one}.py", "FULL_HOUSE = floor = beat = 1", "") for one in ("games/hog/a", "players/a")),
        ("dicegym/games/yatzy/rules.py", "FULL_HOUSE, HOUSE_PLAYS = 1, 2  # then the house plays", ""),
        ("dicegym/arena/a.py", 'value = {"yardstick": baseline}', ""),
        ("tests/a.py", "def test_several_beat_the_floor_of_the_house(): ...", ""),
        ("dicegym/a.py", "import numpy as np\nnp.floor(1)\nrules = spec\nhousehold = 3", ""),
    ],
)
def test_a_word_that_is_gone_is_found_and_one_that_is_meant_is_not(path: str, source: str, complaint: str) -> None:
    wrong = wrong_identifiers(path, source) + wrong_prose(path, source)
    assert bool(wrong) == bool(complaint)
    assert complaint in "\n".join(wrong)


# --- one class for each name ---------------------------------------------------------------------------------------


CLASS = re.compile(r"^(?:class ([A-Z]\w*)|([A-Z]\w*[a-z]\w*)(?::.+?)? = )", re.MULTILINE)
"""A class, or an alias of a type, at the beginning of a line."""


def same_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return name -> the modules, if several define a public class of that name.

    Games are counted as one: what each of them has, such as its view, is a part with a name.
    """
    found: dict[str, dict[str, str]] = {}
    for path, source in sources.items():
        for name in ("".join(names) for names in CLASS.findall(source)):
            found.setdefault(name, {}).setdefault("a game" if path.startswith("dicegym/games/") else path, path)
    return {name: list(places.values()) for name, places in found.items() if len(places) > 1}


def test_no_two_public_classes_have_one_name() -> None:
    sources = {short(path): path.read_text(encoding="utf-8") for path in CODE if short(path).startswith("dicegym/")}
    wrong = [f"{name}: {' and '.join(places)}" for name, places in same_names(sources).items()]
    assert not wrong, "a name means one thing; rename all but one of\n" + "\n".join(wrong)


def test_two_classes_of_one_name_are_found() -> None:
    sources = {"dicegym/a.py": "class Table: ...", "dicegym/b.py": "Table = tuple[int, str]", "dicegym/c.py": "T = 1"}
    assert same_names(sources) == {"Table": ["dicegym/a.py", "dicegym/b.py"]}
    games = {"dicegym/games/a/rules.py": "class View: ...", "dicegym/games/b/rules.py": "class View: ..."}
    assert not same_names(games)
    assert same_names(games | {"dicegym/d.py": "class View: ..."})
    assert not same_names({"dicegym/a.py": "class _Board: ...", "dicegym/b.py": "class _Board: ...\nBOARD = 1"})


# --- plain names and sentences ------------------------------------------------------------------------------------

LEFT_FILE = Path(__file__).with_name("words_left.toml")
LEFT = tomllib.loads(LEFT_FILE.read_text(encoding="utf-8")) if LEFT_FILE.exists() else {}
PARTICIPLE = re.compile(
    r"(?:begun|bent|bought|bound|broken|built|chosen|dealt|done|drawn|felt|found|given|gone|grown|held|hidden|kept|known"
    r"|laid|led|left|lent|lost|made|meant|met|named|overheard|paid|seen|sent|shown|sold|spent|spoken|struck|taken"
    r"|thrown|told|understood|woken|won|worn|written|(?!bed|embed|exceed|feed|need|proceed|red|seed|shed|speed)[a-z]+ed)"
    r"(?:_.*)?"
)
"""Names of functions that are bare participles: `told`, `shown_to`, `checked`."""
DEFINED = re.compile(r"\bdef\s+(\w+)")
PHRASES = {
    r"\b(?:is|are) (?:none|such)\b": "what it is instead",
    r"\b[Ww]hoever\b": "name the person or program",
    r"\bso (?:many|much)\b": "give the number, or N",
    r"\bbesides\b": "also",
    r"\b(?:is|was|are|were) held\b": "run",
    r"\bstruck\b": "disqualified",
    r"\bstands? in\b": "is in",
    r"\b(?:come|comes|came) to\b": "scores, results in, reaches",
    r"\b(?:give|gives|given) away\b": "regret, loses",
    r"\b(?:go|goes) on\b": "continues",
    r"\b(?:lie|lies) in\b": "is in",
    r"\bbe it\b": "whether",
    r"\bas far as\b": "where, if",
}
"""Phrases that the field does not use -> what to write."""
BOUND = r"\b"
BARE = (phrase.removeprefix(BOUND).removesuffix(BOUND) for phrase in PHRASES)
ANY_PHRASE = re.compile(rf"\b(?:{'|'.join(f'({phrase})' for phrase in BARE)})\b")
"""Finds them all at once, which is faster: no two of them share words. The number of the group says which it is."""
FENCE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
"""Code on a page."""
AS_THE_PROGRAM_PRINTS = re.compile(r"given away a game")


def participles(source: str) -> set[str]:
    """Return the names of public functions and methods, properties left out, that are bare participles."""
    found = set()
    if not any(PARTICIPLE.fullmatch(name) for name in DEFINED.findall(source)):
        return found  # so hardly any file is parsed
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and PARTICIPLE.fullmatch(node.name):
            kinds = {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}
            if not kinds & {"property", "cached_property", "setter"}:
                found.add(node.name)
    return found


def left_participles() -> list[str]:
    """Return the names of the package's functions that are bare participles."""
    package = [path for path in CODE if short(path).startswith("dicegym/")]
    return sorted(set().union(*(participles(path.read_text(encoding="utf-8")) for path in package)))


def left_phrases() -> dict[str, int]:
    """Return how often the package's sources have each phrase."""
    texts = [path.read_text(encoding="utf-8") for path in CODE if short(path).startswith("dicegym/")]
    counts = Counter(match.lastindex for text in texts for match in ANY_PHRASE.finditer(text))
    return {phrase: counts[number] for number, phrase in enumerate(PHRASES, 1)}


def test_no_function_is_newly_named_by_a_participle() -> None:
    wrong = set(left_participles()) - set(LEFT.get("participles", ()))
    assert not wrong, f"name functions by verbs: {', '.join(sorted(wrong))}"


def test_no_phrase_is_used_more_often_than_before() -> None:
    left = LEFT.get("phrases", {})
    wrong = [
        f"{phrase}: {count} instead of at most {left.get(phrase, 0)}: say {PHRASES[phrase]}"
        for phrase, count in left_phrases().items()
        if count > left.get(phrase, 0)
    ]
    assert not wrong, "\n".join(wrong)


def test_pages_are_in_plain_sentences() -> None:
    wrong = []
    for path in (path for path in PAGES if path.suffix == ".md"):
        text = AS_THE_PROGRAM_PRINTS.sub("", FENCE.sub("", path.read_text(encoding="utf-8")))
        for found in ANY_PHRASE.finditer(text):
            wrong.append(f"{short(path)}: {found[0]}: say {[*PHRASES.values()][found.lastindex - 1]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["told", "shown_to", "checked", "left"])
def test_a_participle_is_found(name: str) -> None:
    assert participles(f"class A:\n    def {name}(self): ...") == {name}
    for verb in ("tell", "seed_of", "need", "_told", "read", "speed"):
        assert not participles(f"def {verb}(): ...")
    assert not participles("class A:\n    @property\n    def told(self): ...")


def write_left() -> None:
    """Write what is left, so that it can shrink."""
    names = "".join(f'    "{name}",\n' for name in left_participles())
    counts = "".join(f"'{phrase}' = {count}\n" for phrase, count in left_phrases().items() if count)
    LEFT_FILE.write_text(f"participles = [\n{names}]\n\n[phrases]\n{counts}", encoding="utf-8")


if __name__ == "__main__":
    write_left()
