"""Names that look alike: what is refused beside a name that is somebody's, and what is nobody's business."""

from __future__ import annotations

import sqlite3
import unicodedata
from pathlib import Path

import pytest

pytest.importorskip("confusable_homoglyphs")
pytest.importorskip("hypothesis")
pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from hypothesis import given
from hypothesis import strategies as st
from talk import Bot, eventually, run, serving

from dicegym.server.lookalikes import Gallery, _table, disguise, skeleton

ALIKE = [
    ("anna", "Anna"),  # small and capital letters
    ("anna", "ANNA"),
    ("Bill", "BIll"),  # I, l and 1
    ("BILL", "BlLL"),
    ("Ian", "lAN"),
    ("bot-1", "bot-l"),
    ("Ole", "0le"),
    ("modern", "rnodern"),
    ("wilma", "vvilma"),
    ("paypal", "p\u0430yp\u0430l"),  # Cyrillic
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ("anna", "\u0391nna"),  # Greek
    ("bob", "\u13cfob"),  # Cherokee
    ("anna", "\uff41\uff4e\uff4e\uff41"),  # full width
    ("anna", "\U0001d41a\U0001d427\U0001d427\U0001d41a"),  # of mathematics
    ("fiona", "\ufb01ona"),  # a ligature
    ("Strasse", "Straße"),
    ("frank", "\u017frank"),  # long s
    ("ian", "\u0130an"),  # a capital i with a dot
    ("Zoë", "Zoe\u0308"),  # composed or not
    ("Ångström", "\u212bngström"),
    ("anna b", "annab"),  # spaces
    ("anna b", "anna  b"),
    ("anna b", "anna\u2002b"),
    ("anna", "an\u200bna"),  # invisible, bidirectional
    ("anna", "an\u202ena"),
    ("anna", "an\u3164na"),
    ("anna", "anna\ufe0f"),
    ("anna", "an\U000e0101na"),
    ("bot-1", "bot\u20101"),  # hyphens
    ("bot-1", "bot-\u0661"),  # digits
    ("小明", "⼩明"),  # a radical
]
DIFFERENT = [
    ("anna", "hanna"),
    ("Ian", "Lan"),
    ("bot-1", "bot-2"),
    ("bot-1", "bot-11"),
    ("Zoë", "Zoe"),
    ("Иван", "Ивана"),
    ("小明", "小朋"),
    ("かき", "がき"),
    ("שלום", "שלומ"),
    ("🎲", "🎳"),
]
HONEST = [
    *(
        "a",
        "anna-2",
        "O'Neil",
        "x" * 40,
        "Zoë",
        "Ä",
        "é",
        "Łukasz",
        "Nguyễn Văn A",
        "naïve bot",
        "Иван",
        "Ёлка",
        "Ελένη",
    ),
    *(
        "ᾧ",
        "Հայկ",
        "שלום",
        "مرحبا",
        "नमस्ते",
        "ไทย",
        "ശ്രീ",
        "小明",
        "かき",
        "テスト",
        "日本語テキスト",
        "田中さんXYZ",
        "가나다",
    ),
    *("Иван bot", "bot-Иван", "🎲", "❤️ anna", "1️⃣", "C3PO", "50%", "a_b.c-d"),
]
DISGUISES = [
    ("p\u0430ypal", "different scripts (Cyrillic and Latin)"),
    ("\u0391nna", "different scripts (Greek and Latin)"),
    ("И\u0076\u0430н", "different scripts"),
    ("an\u3164na", "U+3164"),
    ("\u2800anna", "U+2800"),
    ("anna\ufe0f", "U+FE0F"),
    ("an\U000e0101na", "U+E0101"),
    ("a\u0301\u0302\u0303\u0304b", "more than 3"),
    ("a\u0301\u0301", "twice"),
    ("\u0301anna", "on no letter"),
    ("anna \u0301b", "on no letter"),
]


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_names_that_look_alike(name: str, other: str) -> None:
    for first, second in ((name, other), (other, name)):
        assert Gallery([first]).like(second) == first
        assert Gallery([first], accents=False).like(second) == first


@pytest.mark.parametrize(("name", "other"), DIFFERENT)
def test_names_that_do_not_look_alike(name: str, other: str) -> None:
    assert Gallery([name]).like(other) is None
    assert Gallery([other]).like(name) is None


@pytest.mark.parametrize(
    ("name", "other"), [("Zoë", "Zoe"), ("anna", "ạnna"), ("Jørn", "Jorn"), ("anna", "a\u0332nna"), ("Илья", "Илъя")]
)
def test_accents_count_for_nothing_beside_a_protected_name(name: str, other: str) -> None:
    like = Gallery([name], accents=False).like(other)
    assert like == (None if name == "Илья" else name), "a hard sign is a letter, not an accent"
    assert Gallery([name]).like(other) is None


@pytest.mark.parametrize("name", HONEST)
def test_honest_names_of_every_script(name: str) -> None:
    assert disguise(name) == ""
    assert disguise(unicodedata.normalize("NFD", name)) == ""


@pytest.mark.parametrize(("name", "why"), DISGUISES)
def test_disguises_are_told_in_words(name: str, why: str) -> None:
    assert why in disguise(name)


def test_a_gallery_forgets_who_has_left() -> None:
    gallery = Gallery(["anna", "Anna"])
    assert gallery.like("anna") == "Anna"
    assert gallery.like("ANNA") == "anna"
    gallery.remove("anna")
    assert gallery.like("ANNA") == "Anna"
    gallery.remove("Anna")
    gallery.remove("nobody")
    assert gallery.like("ANNA") is None
    assert not gallery._names


def test_the_table_is_the_standards() -> None:
    """Pairs and a sentence of Technical Standard 39, by which an error in reading the package's data would show."""
    assert skeleton("\U0001d52d\U0001d4b6\u1eff\U0001d561\U0001d552\u2113") == "paypal"
    assert [skeleton(sign) for sign in "mI10|\u0430\u03b1"] == ["rn", "l", "l", "O", "l", "a", "a"]
    assert skeleton("scope") == skeleton("\u0455\u0441\u043e\u0440\u0435")
    prototypes = _table().prototypes
    assert len(prototypes) > 6000
    assert not [one for one, other in prototypes.items() if any(sign in prototypes for sign in other)], "resolved"


SIGNS = [sign for sign in sorted(_table().prototypes) if unicodedata.is_normalized("NFC", sign)]
WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=12)


@given(WORDS, st.data())
def test_a_name_in_which_a_character_is_replaced_by_its_prototype_looks_like_it(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    sign = data.draw(st.sampled_from(SIGNS))
    name, other = (name[:place] + one + name[place + 1 :] for one in (sign, _table().prototypes[sign]))
    assert name == other or Gallery([name]).like(other) == name


@given(st.text(max_size=40))
def test_any_text_can_be_looked_at(name: str) -> None:
    gallery = Gallery([name], accents=False)
    assert gallery.like(name) is None
    assert gallery.like(name + " ") in (name, None)
    assert isinstance(disguise(name), str)
    gallery.remove(name)
    assert not gallery._names


LATIN = st.text(st.characters(min_codepoint=ord("a"), max_codepoint=ord("z")), min_size=1, max_size=12)


@given(LATIN, st.sampled_from("\u0430\u0435\u043e\u0440\u0441\u0455\u0456\u0458"), st.data())
def test_a_cyrillic_letter_in_a_latin_word_is_a_disguise(word: str, letter: str, data: st.DataObject) -> None:
    assert disguise(word) == ""
    place = data.draw(st.integers(0, len(word)))
    assert "different scripts" in disguise(word[:place] + letter + word[place:])


async def refused(server: object, name: str, **login: str) -> str:
    bot = await Bot.connect(server)
    await bot.send({"key": "LOGIN", "playerName": name, **login})
    answer = await bot.receive()
    bot.close()
    assert answer["key"] == "ERROR", answer
    assert answer["code"] == "bad-name"
    return answer["message"]


@run
async def test_a_server_refuses_names_like_those_of_others(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("Anna:correct horse\nИв\u0430н:battery staple\n")
    async with serving(tmp_path, secrets=secrets, agents=("thrifty",), players=6) as server:
        for name in ("anna", "Ann\u0430", "Änna", "ANNA", "ИВ\u0410\u041d", "\uff34hrifty"):
            assert "which is somebody else's name here" in await refused(server, name)
        assert "different scripts (Cyrillic and Latin)" in await refused(server, "p\u0430ypal")
        names = ["Zoë", "Zoe", "é", "Ä", "小明", "Ваня", "bob", "bob"]
        bots = [await Bot.named(server, name) for name in names]
        assert [bot.name for bot in bots] == [*names[:-1], "bob-2"]
        assert "B0b looks like bob" in await refused(server, "B0b")
        assert "looks like bob-2" in await refused(server, "bob\u20102")
        bots[-2].close()
        bots[-1].close()
        await eventually(lambda: not server.lobby._here.like("B0b"))
        assert (await Bot.named(server, "B0b")).name == "B0b", "bob has left"
        assert (await Bot.named(server, "Anna", secret="correct horse")).name == "Anna"


@run
async def test_names_that_have_played_go_on_working(tmp_path: Path) -> None:
    async with serving(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        rows = [("anna", 1234.0, 3, 1), ("p\u0430ypal", 1200.0, 1, 0)]
        database.executemany("INSERT INTO server_ratings VALUES ('yatzy', ?, ?, ?, ?)", rows)
    database.close()
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("Anna:correct horse\n")
    async with serving(tmp_path, secrets=secrets, players=6) as server:
        for name in ("anna", "p\u0430ypal"):
            bot = await Bot.named(server, name)
            assert bot.name == name
        assert "anna, who has played here as a guest, looks like Anna: give one another name" in server.told
        assert "looks like" in await refused(server, "ANNA")
