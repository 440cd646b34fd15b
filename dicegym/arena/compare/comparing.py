"""Compare two players by pairs of games on the same dice, until the pairs decide which is better.

If the two play each other, they exchange seats in the second game of a pair. If they play others, each plays one game
of the pair, in the same seat among the same others. The dice of a game depend only on its key, seat and turn. So both
players have the same luck, and their scores differ by how they play.

A block of pairs is two matches (`PairedMatch`): all first games, and all second games. Entries are loaded for each
match, as in a contest.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dicegym.arena.adjusted_results import LuckLedger
from dicegym.arena.compare.comparison import FORMAT, Comparison, Decision
from dicegym.arena.compare.estimate import Interval, Stopped, difference, need_scipy
from dicegym.arena.compare.sequential import GRAIN, Claims, NormalTest, SequentialTest, margin_of
from dicegym.arena.director import Director, Format, check_table
from dicegym.arena.entries import AgentSpec, Named
from dicegym.arena.executors import Executors, local
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch, read_outcome
from dicegym.arena.results import Standing
from dicegym.arena.running import run_contest
from dicegym.arena.storage import Settings, Storage
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, finite_number, whole_number
from dicegym.errors import ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.games.parts import Progress
from dicegym.games.worth import first_place_shares
from dicegym.players.roster import agent_name
from dicegym.sandbox import jail
from dicegym.sandbox.jobs import Entry, Failure
from dicegym.sandbox.limits import Limits

MOST_GAMES = 100_000
"""Default of the most games of a comparison."""
ELO = (0.0, 20.0)
"""Default claims where the two play each other: not better at all, or better by 20 Elo."""
LARGEST_ELO = 2000
MARGINS = (0.0, 0.05)
"""Default claims where they play others: not better at all, or better by 5 points in 100 games."""
ALIKE = 1e-9
"""Luck-adjusted results that differ by less are equal."""
BLOCK = 50
"""Pairs of a block: enough games that starting the bots costs little in comparison."""
Scores = NDArray[np.float64]


def compare(
    game: Game | str,
    first: AgentSpec,
    second: AgentSpec,
    others: Sequence[AgentSpec] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    *,
    elo: tuple[float, float] | None = None,
    margins: tuple[float, float] | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    games: int = MOST_GAMES,
    less_luck: bool = False,
    isolation: str = jail.Isolation.AUTO,
    executors: Executors | None = None,
    store: str | os.PathLike[str] | Storage | None = None,
) -> Comparison:
    """Decide whether ``second`` is better than ``first``, with as few games as possible.

    Games come in pairs on the same dice. At a table for two they play each other, once in either seat. At a larger
    table, and wherever ``others`` are named, they take turns in the same seat among the same others. After each pair a
    sequential test tells whether that is enough (`dicegym.arena.compare.sequential`).

    The result depends only on ``seed`` and the players, not on the number of processes: games begun beyond the deciding
    pair do not count.

    Args:
        game: the game or its name.
        first: an agent as for `dicegym.agent`, or one with a name (`dicegym.arena.Named`): the present player.
        second: another: the candidate.
        others: the others at the table. If they are more than the seats, they take turns; if fewer, they sit there
            several times. None at a table for two: the two play each other.
        seed: names all games and the players' private randomness; None: drawn. The result has it.
        workers: number of processes (default: of usable processors).
        progress: called after each block with (games counted, the most games or 0, the state of the test).
        limits: of each entry, for a match of as many games as in the game's contest. Matches of a comparison that have
            more games get more time in proportion. Default: 10 s and 512 MiB.
        elo: the claims: (a difference of ratings that does not count as better, one that does). Default: (0, 20).
        margins: the claims as differences of scores per game, from -1 to 1, instead of ``elo``. Where the two do not
            meet, ``elo`` has no meaning. Default there: (0, 0.05).
        alpha: the error rate of "better" if the difference is the first claim.
        beta: the error rate of "not better" if the difference is the second claim.
        games: the most games; with a larger number the same comparison continues.
        less_luck: adjust scores for luck (`dicegym.analysis.variance_reduction`), which decides sooner. Pairs then
            have any value, and the test assumes a normal distribution.
        isolation: how untrusted bots are isolated; see `dicegym.arena.contest`.
        executors: make what runs the matches, instead of ``workers`` processes; see `dicegym.arena.executors`.
        store: where the matches are stored, see `dicegym.arena.storage.Storage`; None: nowhere. The same comparison
            again plays only what is missing there, and continues where ``games`` were too few.

    Raises:
        ParameterError: the claims cannot be tested, or the game is for one player.
        UnknownNameError: a game, agent or file does not exist.
        DependencyError: SciPy is not installed (extra ``arena``).

    Example:
        >>> from dicegym.contest import compare
        >>> compare("hog", "always_roll(0)", "bacon", seed=1, workers=1).decision.name
        'BETTER'
    """
    need_scipy()
    game = make_game(game)
    check_table(game)
    luck = LuckLedger(game) if less_luck else None
    company = _company(game, others)
    claims = _claims(elo, margins, alpha, beta, bool(company))
    most = whole_number("games", games, 2, MOST, "the most games of a comparison") // 2
    specs = _named(game, [first, second, *company])
    course = _Course(game, tuple(specs), claims, margins is None and not company, most, luck, progress)
    limits, more = Limits.of(limits), max(1.0, BLOCK / game.spec.games_per_match)
    limits = replace(limits, seconds=limits.seconds * more, start=limits.start_seconds, move=limits.move_seconds)
    settings = Settings(game, FORMAT, course.deciding, limits)
    form = Format(course.run, FORMAT)
    result: Comparison = run_contest(
        form, settings, specs, seed, store, executors or local(workers), isolation, less_luck
    )
    return result


def _claims(
    elo: tuple[float, float] | None, margins: tuple[float, float] | None, alpha: float, beta: float, apart: bool
) -> Claims:
    """Return the claims to test. Raises ParameterError."""
    if elo is not None and margins is not None:
        raise ParameterError(f"elo={elo} and margins={margins} say the same thing twice: give one of them")
    if apart and elo is not None:
        raise ParameterError(
            f"elo={elo} cannot be tested, as the two do not meet each other but play others in turn: give margins, "
            "differences of their scores per game, such as (0, 0.05)"
        )
    if margins is None and not apart:
        low, high = map(margin_of, _pair("elo", ELO if elo is None else elo, LARGEST_ELO))
    else:
        low, high = _pair("margins", MARGINS if margins is None else margins, 1)
    for name, rate in (("alpha", alpha), ("beta", beta)):
        if not 0 < finite_number(name, rate, "an error rate") < 0.5:
            raise ParameterError(f"{name}={rate} is not an error rate of a test: use a number above 0 and below 0.5")
    return Claims(low, high, float(alpha), float(beta))


def _pair(name: str, given: Any, most: int) -> tuple[float, float]:
    """Return two increasing numbers between -``most`` and ``most``. Raises ParameterError for anything else."""
    with contextlib.suppress(TypeError, ValueError):
        low, high = (finite_number(name, one, "a claim") for one in given)
        if -most < low < high < most:
            return low, high
    raise ParameterError(
        f"{name}={given!r} cannot be tested: give two numbers between {-most} and {most}, the smaller one first; "
        "the closer they are, the more games it takes"
    )


def _company(game: Game, others: Sequence[AgentSpec] | None) -> list[AgentSpec]:
    """Return the others at the table, at least as many as its seats; empty if the two play each other."""
    if isinstance(others, str | Named) or not isinstance(others, Iterable | None):
        others = [others]
    if not others:
        if game.players == 2:
            return []
        raise ParameterError(f"{game!r} seats {game.players - 1} others at the table: name one or more as others")
    return list(itertools.islice(itertools.cycle(others), max(len(others), game.players - 1)))


def _named(game: Game, specs: Sequence[AgentSpec]) -> dict[str, AgentSpec]:
    """Return the entries by unique names: as usual, otherwise as they were given, otherwise numbered."""
    usual = [one_line(spec.name if isinstance(spec, Named) else agent_name(game, spec)) for spec in specs]
    given = [one_line(str(spec)) if isinstance(spec, str) else name for spec, name in zip(specs, usual, strict=True)]
    named: dict[str, AgentSpec] = {}
    for spec, name, text in zip(specs, usual, given, strict=True):
        own = text if usual.count(name) > 1 and given.count(text) == 1 else name
        numbered = (f"{own} ({number})" for number in itertools.count(2))
        unique = next(one for one in itertools.chain([own], numbered) if one not in named)
        named[unique] = spec.spec if isinstance(spec, Named) else spec
    return named


# --- pairs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedMatch(Match):
    """Half of a block of pairs, whose dice depend only on the seed and the number of the block, not on the players.

    Seats are drawn from the game's key by the order of the entries, as in each match. If two entries are exchanged,
    they exchange seats.
    """

    @property
    def seed(self) -> int:
        """The seed of the games, equal for both halves of a block and for all players."""
        return named_seed("pairs", self.game.name, self.contest_seed, self.number)

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entries in their order and limits; see `Job.facts`."""
        return super().facts | {"kind": "pairs"}


class Lineup(NamedTuple):
    """The compared players, and the others at their table; no others: the two play each other."""

    first: Entry
    second: Entry
    others: tuple[Entry, ...] = ()

    def block(self, game: Game, seed: int, number: int, pairs: int) -> tuple[PairedMatch, PairedMatch]:
        """Return both matches of block ``number``, from 0; ``seed`` is the comparison's. The others take turns."""
        sides: list[tuple[Entry, ...]] = [(self.first, self.second), (self.second, self.first)]
        if self.others:
            beside = game.players - 1
            company = [self.others[(number * beside + i) % len(self.others)] for i in range(beside)]
            sides = [(self.first, *company), (self.second, *company)]
        one, two = (PairedMatch(game, entries, seed, pairs, number=number) for entries in sides)
        return one, two

    def scores(self, one: Scores, two: Scores) -> Scores:
        """Return the scores of both players in the pairs of a block: float64[2, pairs, games of each in a pair].

        ``one`` holds the scores of each player in the first games, from 0 to 1: float64[pairs, players of the match];
        ``two`` those in the second games.
        """
        if self.others:
            return np.stack([one[:, :1], two[:, :1]])
        return np.stack([np.stack([one[:, 0], two[:, 1]], axis=1), np.stack([one[:, 1], two[:, 0]], axis=1)])


def differences(scores: Scores) -> Scores:
    """Return how much more the second player scored in each pair, from -1 to 1: float64[pairs].

    ``scores`` are from `Lineup.scores`.
    """
    first, second = scores.mean(axis=2)
    found: Scores = np.round(second - first, GRAIN)  # sums of thirds are equal in any order
    return found


# --- playing --------------------------------------------------------------------------------------------------------


@dataclass
class _Course:
    """A comparison in progress."""

    game: Game
    names: tuple[str, ...]  # of the first, the second and the others
    claims: Claims
    elo: bool
    most: int  # pairs
    luck: LuckLedger | None = None  # of luck-adjusted scores
    progress: Progress | None = None
    scores: list[Scores] = field(default_factory=list)  # of the pairs that count, by block
    played: list[PlayedMatch] = field(default_factory=list)  # the matches of these blocks

    @property
    def deciding(self) -> dict[str, Any]:
        """The plain values that identify the comparison when it is run again; the most games are not one of them."""
        how = {} if self.luck is None else {"less_luck": True}
        return {"names": list(self.names), **how, **self.claims._asdict()}

    def run(self, director: Director) -> Comparison:
        """Play until the test decides, and return the result."""
        self.director, self.over = director, bool(director.failures)
        self.test = (SequentialTest if self.luck is None else NormalTest)(self.claims)
        by_name = {entry.name: entry for entry in director.entries}
        if not self.over:
            first, second, *others = (by_name[name] for name in self.names)
            self._play(Lineup(first, second, tuple(others)))
        return self._comparison()

    def _play(self, lineup: Lineup) -> None:
        """Play block by block, and count blocks in their order when both matches have ended."""
        waiting: dict[int, dict[str, tuple[Match, Any]]] = {}  # block -> first entry of a match -> match and outcome
        number = 0
        for job, outcome in self.director.play(self._jobs(lineup)):
            waiting.setdefault(job.number, {})[job.entries[0].name] = job, outcome
            while not self.over and len(waiting.get(number, ())) == 2:
                own = waiting.pop(number)
                self._count(lineup, [own[name] for name in self.names[:2]])
                number += 1

    def _jobs(self, lineup: Lineup) -> Iterator[Match]:
        """Yield matches block by block until the test decides, or the games run out."""
        for number in range(-(-self.most // BLOCK)):
            pairs = min(BLOCK, self.most - number * BLOCK)
            for match in lineup.block(self.game, self.director.seed, number, pairs):
                if self.over:
                    return
                yield match

    def _count(self, lineup: Lineup, played: Sequence[tuple[Match, Any]]) -> None:
        """Count the next block."""
        halves = []
        for match, outcome in played:
            if isinstance(outcome, Failure):
                self.director.failures[match.entries[outcome.actor].name] = outcome.reason
                self.over = True
                return
            if self.luck is None:
                halves.append(first_place_shares(outcome["returns"]))
            else:
                halves.append(np.subtract(*self.luck.luck_of_match(match, outcome)))
            self.played.append(read_outcome(match, outcome))
        scores = lineup.scores(*halves)
        self.scores.append(scores[:, : self.test.add(differences(scores))])
        self.over = self.test.accepted is not None or self.test.pairs >= self.most
        if self.progress is not None:
            claims = self.claims
            limit = 2 * self.most if self.most != MOST_GAMES // 2 else 0  # the default is too large to wait for
            where = f"log-likelihood ratio {self.test.ratio:+.2f} of {claims.lower:.2f} .. {claims.upper:+.2f}"
            self.progress(2 * self.test.pairs, limit, where)

    def _comparison(self) -> Comparison:
        test, common = self.test, self.director.common(self.played)
        decision, standings, size = Decision.UNDECIDED, list[Standing](), None
        if self.director.failures:
            decision = Decision.DISQUALIFIED
        elif test.accepted is not None:
            decision = Decision.BETTER if test.accepted else Decision.NOT_BETTER
        if self.scores and not self.director.failures:
            scores = np.concatenate(self.scores, axis=1)
            size = self._difference(differences(scores))
            for place, name, own in zip((1 + (test.accepted == 1), 1), self.names, scores, strict=False):
                figures = {"score": float(own.mean()), "games": own.size, "faults": common["faults"].get(name, 0)}
                standings.insert(0, Standing(place, name, figures))  # the candidate first
        first, second, *others = self.names
        return Comparison(
            **common | {"options": self.deciding},
            first=first,
            second=second,
            others=tuple(others),
            players=self.game.players,
            claims=self.claims,
            elo=self.elo,
            decision=decision,
            ratio=test.ratio,
            pairs=test.pairs,
            games=2 * test.pairs,
            most_games=2 * self.most,
            counts=test.counts,
            luck_taken_out=self.luck is not None,
            standings=tuple(standings),
            difference=size,
        )

    def _difference(self, found: Scores) -> Interval:
        normal = self.luck is not None
        alike = np.ptp(found) <= (ALIKE if normal else 0)  # the variance of equal values is not 0, by rounding
        variance = 0.0 if alike else float(found.var())
        return difference(Stopped(len(found), float(found.mean()), variance, self.test.accepted, normal), self.claims)
