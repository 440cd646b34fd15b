"""No two public classes have one name, functions are verbs, and sentences are plain.

`words_left.toml` beside this file lists what is left of the names and phrases that nothing new may use. It can only
shrink; ``python tests/project/test_words.py`` writes it anew.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.check
ROOT = Path(__file__).resolve().parents[2]
CODE = sorted((ROOT / "dicegym").rglob("*.py"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts),
    *sorted((ROOT / "agents").rglob("*.md")),
]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


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
    sources = {short(path): path.read_text(encoding="utf-8") for path in CODE}
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
    return sorted(set().union(*(participles(path.read_text(encoding="utf-8")) for path in CODE)))


def left_phrases() -> dict[str, int]:
    """Return how often the package's sources have each phrase."""
    texts = [path.read_text(encoding="utf-8") for path in CODE]
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
    for path in PAGES:
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
