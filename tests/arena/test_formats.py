"""Contests of every format in every game: run, decided by outcomes alone, continued, and refused."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from made_up import Disorderly, Play, Returns, disorderly

import dicegym
from dicegym.arena import ContestResult, Named, contest
from dicegym.arena.contest_options import KNOWN
from dicegym.arena.entries import entries_of
from dicegym.arena.formats.settling import fold, nearest_first
from dicegym.arena.match import Match
from dicegym.arena.running import FORMATS, format_named
from dicegym.engine.dice import named_seed
from dicegym.errors import DicegymError, ParameterError, UnknownNameError
from dicegym.registry import GAMES
from dicegym.sandbox.jobs import Entry, Failure

ALSO = (("lucky", "round_robin"), ("liarsdice", "one_table"))
"""A full table, and one with hidden dice."""
NAMES = "abcdefg"
QUICK = {"hog": {"goal": 20}, "lucky": {"rounds": 10}}
"""Parameters with which random games and the test before a contest are short."""


def small(name: str, form: str) -> dicegym.Game:
    """Return the game for tables of two or three, as it has any."""
    game = dicegym.game(name, **QUICK.get(name, {}))
    return game if game.players < 3 else dicegym.game(name, seats(form), **QUICK.get(name, {}))


def seats(form: str) -> int:
    """Return how many sit at a table in tests."""
    return 2 if form == "swiss" else 3


def field(game: dicegym.Game, form: str, most: int = len(NAMES)) -> dict[str, str]:
    """Return entries, as many as can take part."""
    seats = game.spec.players[1] if form == "one_table" else most
    return {name: str(game.spec.baseline) for name in NAMES[: min(most, seats)]}


def hold(game: dicegym.Game, form: str, entries: Any, play: Play | None = None, seed: int = 0, **more: Any) -> Any:
    """Run a contest in this process, in an order that ``seed`` draws."""
    executors = disorderly(play, seed, ahead=1 + seed % 5)
    return contest(game, entries, 7, format=form, executors=executors, **more)


def chance(match: Match, of: Callable[[str], float] = lambda name: 0.0, level: float = 0.2) -> Returns:
    """Make up games by strength and by luck from the match's seed; now and then all results are equal."""
    luck = random.Random(match.seed)
    return [
        [of(entry.name) + luck.random() if luck.random() > level else 0.0 for entry in match.entries]
        for _ in range(match.games)
    ]


def faulty(match: Match, of: dict[str, float]) -> Returns | Failure:
    """Make up games in which some entries fail now and then."""
    luck = random.Random(match.seed + 1)
    failed = [i for i, entry in enumerate(match.entries) if luck.random() < of.get(entry.name, 0.0)]
    if failed:
        return Failure(failed[0], f"failed against {' '.join(entry.name for entry in match.entries)} {match.number}")
    return chance(match)


# --- every format in every game ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=[] if name == GAMES[0] or (name, form) in ALSO else [pytest.mark.slow])
        for name in GAMES
        for form in FORMATS
    ],
)
def test_every_format_is_held_in_every_game(name: str, form: str) -> None:
    game = small(name, form)
    entries = field(game, form, 5)
    result: ContestResult = hold(game, form, entries, games=2)
    assert result.format == form
    assert result.options["games"] == 2
    assert {row.name for row in result.standings} == set(entries)
    assert min(row.place for row in result.standings) == 1
    assert result.text().startswith(f"{game.spec.title}: {len(entries)} entries, {form.replace('_', ' ')}")
    plain = json.loads(json.dumps(result.to_json()))
    assert (plain["format"], len(plain["matches"])) == (form, len(result.matches))
    for row in result.matches:
        assert row.games == sum(games for _, games in row.places)
        assert sum(row.shares) == pytest.approx(row.games)
        won = [sum(games for places, games in row.places if places[i] == 1 == places.count(1)) for i in range(2)]
        assert won == list(row.wins[:2])
    places = result.match_places()
    assert [(one.entries, one.places) for one in places] == [(row.entries, row.places) for row in result.matches]
    turned = dict(reversed(entries.items()))
    assert hold(game, form, turned, seed=3, games=2) == result


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("form", "players"),
    [
        pytest.param(form, players, marks=[pytest.mark.slow] if players == 2 else [])
        for form in FORMATS
        for players in {2, seats(form)}
    ],
)
def test_what_counts_does_not_depend_on_when_matches_end(form: str, players: int) -> None:
    """With failing entries, disqualifications, reasons, output and all figures stay the same."""
    game = dicegym.game("yatzy", players)
    struck: Counter[str] = Counter()
    for luck in range(4):
        entries = {f"{name}{luck}": "in_order" for name in field(game, form)}
        odds = {f"b{luck}": 0.3, f"d{luck}": 0.3, f"e{luck}": 0.1}
        more = {"games": 3} | ({} if form == "groups" else {"seeds": 2})
        results = [hold(game, form, entries, partial(faulty, of=odds), seed, **more) for seed in range(5)]
        assert all(result == results[0] for result in results)
        result = results[0]
        struck.update(bad.name[0] for bad in result.disqualified)
        assert {row.name for row in result.standings} == set(entries) - {bad.name for bad in result.disqualified}
        assert all(bad.reason.startswith("failed against") for bad in result.disqualified)
        named = {row.name for row in result.standings}
        assert all(named.issuperset(one.entries) for one in result.match_places())
    assert set(struck) == {"b", "d", "e"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_contest_that_broke_off_goes_on_from_its_store(form: str, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    game = dicegym.game("yatzy")
    entries = field(game, form, 5)
    more: dict[str, Any] = {"games": 60} if form == "groups" else {"games": 3, "seeds": 2}
    whole = hold(game, form, entries, chance, **more)
    for store, breaks in ((tmp_path / f"{at}.sqlite", at) for at in (0, 3)):
        made: list[Disorderly] = []
        broken = disorderly(chance, 1, ahead=3, most=breaks, made=made)
        if breaks < len(whole.matches):
            with pytest.raises(KeyboardInterrupt):
                contest(game, entries, 7, format=form, executors=broken, store=store, **more)
        again = disorderly(chance, 2, made=made)
        result = contest(game, entries, 7, format=form, executors=again, store=store, **more)
        assert result.text() == whole.text()
        assert result == whole
        keys = [(tuple(one.name for one in match.entries), match.seed) for one in made for match in one.matches]
        assert len(keys) == len(set(keys)), "nothing is played twice"
    if form == "round_robin":  # and another format finds what it needs there
        made.clear()
        how = {"format": "swiss", "executors": disorderly(chance, made=made), "store": store}
        assert contest(game, entries, 7, **how, **more) == hold(game, "swiss", entries, chance, **more)
        assert not made[0].matches


# --- seeds, rounds, seats, names ---------------------------------------------------------------------------


def test_seeds_play_each_match_again_with_other_dice() -> None:
    game = dicegym.game("liarsdice")
    once = hold(game, "round_robin", field(game, "", 3), chance, games=4)
    result = hold(game, "round_robin", field(game, "", 3), chance, games=4, seeds=3)
    assert [row.number for row in result.matches] == [0, 1, 2] * 3
    assert len({row.seed for row in result.matches}) == 9
    assert [row for row in result.matches if not row.number] == list(once.matches)
    who = [part for one in entries_of(game, field(game, "", 2)).entries for part in (one.name, one.content)]
    assert once.matches[0].seed == named_seed("match", "liarsdice", 7, *who)
    assert result.matches[1].seed == named_seed("match", "liarsdice", 7, *who, 1)
    assert {row["wins"] + row["losses"] for row in result.standings} <= set(range(7))
    assert sum(row["share"] for row in result.standings) == pytest.approx(3 / 2)
    assert "9 matches of 4 games" in result.heading
    level = hold(game, "round_robin", field(game, "", 2), lambda match: [[0.0, 0.0]] * match.games)
    assert {(row["wins"], row["losses"]) for row in level.standings} == {(0, 0)}, "a match that nobody won"


def test_seats_are_chosen() -> None:
    result = hold(dicegym.game("lucky", players=4), "round_robin", field(dicegym.game("lucky"), "", 5), chance)
    assert {len(row.entries) for row in result.matches} == {4}
    assert result.provenance.players == 4
    assert (
        len(hold(dicegym.game("yatzy", players=3), "round_robin", dict.fromkeys("abcd", "in_order"), chance).matches)
        == 4
    )
    game = dicegym.game("liarsdice")
    entries = field(game, "one_table", game.players + 1)
    result = hold(game, "one_table", entries, chance, games=2)
    assert result.provenance.players == len(entries) != game.players
    assert f"seats: {len(entries)};" in result.text()


def test_entries_are_seeded_by_lot() -> None:
    game = dicegym.game("yatzy")
    named = dict.fromkeys("gcabfed", "in_order")
    drawn = {row.name: row["start"] for row in hold(game, "swiss", named, chance).standings}
    assert sorted(drawn.values()) == list(range(1, 8))
    turned = hold(game, "swiss", dict(reversed(named.items())), chance)
    assert {row.name: row["start"] for row in turned.standings} == drawn, "by lot, whatever the order"
    assert sorted(drawn, key=drawn.__getitem__) not in (list("gcabfed"), sorted(named))


def test_entries_of_a_list_may_have_names() -> None:
    result = contest(
        "yatzy", ["gather", Named("x", "in_order"), Named("y", "in_order")], 7, executors=disorderly(chance)
    )
    assert {row.name for row in result.standings} == {"gather", "x", "y"}
    alone = Named("x", "in_order")
    with pytest.raises(ParameterError, match="fewer than 2"):
        contest("yatzy", alone)
    with pytest.raises(ParameterError, match=r"two entries are called 'gather'.*name=path on the command line"):
        contest("yatzy", ["gather", Named("gather", "in_order")])


@pytest.mark.parametrize(
    ("form", "more", "message"),
    [
        ("groups", {"seeds": 2}, "seeds=2 means nothing to the format 'groups'"),
        ("round_robin", {"rounds": 3}, "rounds=3 means nothing.*: swiss$"),
        ("swiss", {"rounds": 0}, "rounds=0 cannot be used as the number of rounds"),
        ("swiss", {"seeds": 0}, "seeds=0 cannot be used"),
        ("swiss", {"games": 0}, "games=0 cannot be used as the number of games of a match"),
        ("swiss", {"rounds": 4}, "rounds=4 cannot be played by 3 entries, as after 3 everybody has met everybody"),
        ("swiss", {"round": 3}, "no option of contests 'round'.*Did you mean 'rounds'.*less_luck, seed, .*store"),
        ("double-elimination", {}, "no format of contests 'double-elimination'.*Use swiss"),
    ],
)
def test_what_a_format_does_not_know_is_refused_before_it_plays(
    form: str, more: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Disorderly, "run", lambda *_: pytest.fail("something was played"))
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        contest("yatzy", field(dicegym.game("yatzy"), "", 3), format=form, executors=disorderly(), **more)


def test_fields_that_do_not_fit_the_tables_are_refused() -> None:
    for game, entries, form, words in (
        (dicegym.game("yatzy", players=3), 3, "swiss", r"a Swiss .* pairs entries.*: give players=2, or run groups"),
        ("liarsdice", 7, "one_table", "7 entries do not fit one table of Liar's Dice, where 6 can sit"),
        ("lucky", 2, "round_robin", r"name at least 7, or use fewer seats, such as players=2"),
    ):
        with pytest.raises(DicegymError, match=words):
            contest(game, field(dicegym.game(game), "", entries), format=form, executors=disorderly())


def test_formats_are_named_with_either_dash() -> None:
    assert format_named("round-robin") is format_named("round_robin") is FORMATS["round_robin"]
    with pytest.raises(UnknownNameError, match="Did you mean 'swiss'"):
        format_named("swis")
    assert all(form.name == name for name, form in FORMATS.items())
    named = {name for one in KNOWN.values() for name in one}
    assert named <= set(FORMATS)


# --- which matches count -----------------------------------------------------------------------------------


def test_an_entry_is_struck_at_its_first_match_that_counts() -> None:
    """b fails against a, so the failure of c against b does not count, and further matches are played."""
    tables = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    failure = {1: Failure(1, "c against b")}
    assert fold(tables, failure) == ([1], [0]), "as long as b seems to be well, c is out"
    both = failure | {0: Failure(1, "b against a")}
    assert fold(tables, both) == ([0], [2, 3])
    assert fold(tables, {}) == ([], [0, 1, 2, 3])


# --- the order of matches of many entries -----------------------------------------------------------------------------


HOG = dicegym.game("hog")
BOT = "def final_strategy(score, opponent_score):\n    return 4\n"


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    folder = tmp_path_factory.mktemp("bots")
    for number in range(70):
        (folder / f"bot_{number:02}.py").write_text(BOT)
    return entries_of(HOG, folder).entries


def pairs(entries: list[Entry]) -> list[Match]:
    return [Match(HOG, pair, 1, 9) for pair in itertools.combinations(entries, 2)]


def starts(matches: list[Match], at_once: int) -> int:
    """Return how many processes a referee starts that keeps those of the entries which played last."""
    kept: OrderedDict[str, None] = OrderedDict()
    started = 0
    for match in matches:
        for entry in match.entries:
            started += entry.name not in kept
            kept[entry.name] = None
            kept.move_to_end(entry.name)
        while len(kept) > at_once:
            kept.popitem(last=False)
    return started


@pytest.mark.parametrize("missing", ["all", "some"])
def test_few_processes_are_started(bots: list[Entry], missing: str) -> None:
    jobs = pairs(bots)
    numbers = [number for number in range(len(jobs)) if missing == "all" or number % 7]
    order = nearest_first(jobs, numbers)
    assert sorted(order) == numbers
    one_by_one = starts([jobs[number] for number in numbers], 32)
    assert starts([jobs[number] for number in order], 32) < one_by_one / 6


def test_few_entries_and_larger_tables_are_played_as_they_come(bots: list[Entry]) -> None:
    few = pairs(bots[:32])
    assert nearest_first(few, range(len(few))) == list(range(len(few)))
    tables = [Match(HOG, (bots[i], bots[i + 1], bots[i + 2]), 1, 9) for i in range(60)]
    assert nearest_first(tables, range(60)) == list(range(60))


def test_entries_without_processes_do_not_count(bots: list[Entry], tmp_path: Path) -> None:
    """Their order does not matter."""
    trusted = entries_of(HOG, {f"trusted {number}": "bacon" for number in range(34)}).entries
    jobs = pairs(trusted)
    assert nearest_first(jobs, range(len(jobs))) == list(range(len(jobs)))
    mixed = pairs([*bots[:34], *trusted[:10]])
    order = nearest_first(mixed, range(len(mixed)))
    assert sorted(order) == list(range(len(mixed)))
    untrusted = [[one for one in mixed[number].entries if not one.trusted] for number in order]
    assert sum(len(some) for some in untrusted) == 34 * 33 + 34 * 10
