"""True values, where a game has them."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import dicegym
from dicegym.cli.console import out, write_json, write_new
from dicegym.cli.options import (
    GameName,
    Outputs,
    Parameters,
    Seed,
    Trust,
    chosen_game,
    output,
    parameters_of,
)
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError

ENDINGS = (".json", ".py")
"""What an answer can be written as."""


class _Asked(NamedTuple):
    """The arguments of `exact`."""

    a: str
    b: str | None
    best_response: bool
    best_table: bool
    bot: Path | None
    """The file of the bot to write."""
    games: int | None
    search: dict[str, Any]
    """Of a search for the best table."""
    trust: bool = False
    """As for `dicegym.agent`."""


class _Answer(NamedTuple):
    """What is true."""

    text: str
    """In words, or the source of a bot."""
    facts: dict[str, Any]
    """The same for JSON: the question, who is asked about, and the value with all its digits."""
    agents: tuple[str, ...]
    """How they were named."""


def exact(
    game: GameName,
    a: Annotated[str | None, typer.Argument(metavar="A", help="an agent")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="another one (default: the game's baseline)")] = None,
    best_response: Annotated[bool, typer.Option(help="instead: the best anyone can do against A who sees all")] = False,
    best_table: Annotated[
        bool, typer.Option(help="instead: the best strategy found against A by what players see")
    ] = False,
    distribution: Annotated[
        bool, typer.Option(help="instead, without A: how the returns of best play are spread, in a game for one")
    ] = False,
    trials: Annotated[int | None, typer.Option(help="how long --best-table searches")] = None,
    files: Annotated[list[Path] | None, output(*ENDINGS)] = None,
    force: Annotated[bool, typer.Option(help="replace existing files")] = False,
    seed: Seed = None,
    games: Annotated[int | None, typer.Option(help="of a game for one: games in which choices are looked at")] = None,
    trust: Trust = False,
    parameter: Parameters = None,
) -> None:
    """Compute exact win rates: no simulation, no error.

    An agent that samples is replaced by one drawn table of its answers, and the answer says so. With --best-table, a
    .py file is the strategy as a bot.

    In a game for one: the mean return of A, from what its choices cost, or how the returns of best play are spread.

    Examples: dicegym values exact hog expectation bacon; dicegym values exact yatzy --distribution -p players=1
    """
    from dicegym.arena.provenance import VERSION, provenance, record_of
    from dicegym.games.parts import solitaire, solver
    from dicegym.players.roster import agent_name, resolve

    written = Outputs(files, *ENDINGS, force=force)
    bot = written[".py"]
    _check_question(a, b, best_response, best_table, distribution, trials, bot)
    table = chosen_game(game, parameter)
    search = {"seed": seed or 0} | ({} if trials is None else {"trials": trials})
    asked = _Asked(a or "", b, best_response, best_table, bot, games, search, trust)
    with progress_bar("steps") as progress:
        if distribution:
            answer = _spread(table, asked, parameter, progress)
        elif (alone := solitaire(table)) is not None:
            answer = _alone(alone, table, asked, seed or 0, progress)
        elif (values := solver(table)) is not None:
            answer = _duel(values, table, asked, progress)
        else:
            raise ParameterError(_how_to_ask(table, asked, parameter))
    if bot is not None:
        write_new(bot, answer.text)
    else:
        out.print(answer.text)
    if written[".json"] is not None:
        records = tuple(record_of(agent_name(table, spec), spec, resolve(table, spec)) for spec in answer.agents)
        about = {"game": table.name, **asdict(provenance(table, entries=records))}
        write_json(written[".json"], {"version": VERSION, **about, **answer.facts})


def _duel(values: Any, table: dicegym.Game, asked: _Asked, progress: Any) -> _Answer:
    """Answer for a game for two; ``values`` is its `dicegym.games.parts.Duel`."""
    if asked.games is not None:
        raise ParameterError(f"--games {asked.games} is for games for one, and {table!r} is solved without any")
    from dicegym.games.parts import tabulated

    first = dicegym.agent(table, asked.a, trust=asked.trust)
    own, draws = tabulated(values.tabulate, first, table)
    facts: dict[str, Any] = {"a": first.name, "one_draw": draws}
    named = f"one drawn table of {first.name}" if draws else first.name
    if asked.best_response:
        value = values.best_response(own, table)[0]
        text = f"{value:.6f} best response to {named} that sees everything"
        return _Answer(text, {"question": "best response", **facts, "value": value}, (asked.a,))
    if asked.best_table and asked.bot is not None:
        source = values.best_bot(first, table, **asked.search, progress=progress)
        return _Answer(source, {"question": "best table", **facts, **asked.search, "file": str(asked.bot)}, (asked.a,))
    if asked.best_table:
        value = values.best_table(own, table, **asked.search, progress=progress)[0]
        text = f"{value:.6f} best table found against {named}"
        return _Answer(text, {"question": "best table", **facts, **asked.search, "value": value}, (asked.a,))
    other = asked.b or table.spec.baseline
    second = dicegym.agent(table, other, trust=asked.trust)
    against, other_draws = tabulated(values.tabulate, second, table)
    value = values.win_rate(own, against, table)
    rival = f"one drawn table of {second.name}" if other_draws else second.name
    text = f"{value:.6f} {'' if draws or other_draws else 'exact '}win rate of {named} against {rival}"
    if draws or other_draws:
        text += "; another draw wins something else, and `dicegym evaluate --sampled` plays games"
    facts["one_draw"] = draws or other_draws
    return _Answer(text, {"question": "win rate", **facts, "b": second.name, "value": value}, (asked.a, other))


def _alone(values: Any, table: dicegym.Game, asked: _Asked, seed: int, progress: Any) -> _Answer:
    """Answer for a game that is played alone; ``values`` is its `dicegym.games.parts.Solitaire`."""
    if asked.b is not None or asked.best_table:
        extra = f"B, which is {asked.b!r}" if asked.b is not None else "--best-table"
        raise ParameterError(f"{table!r} is played alone: leave out {extra}")
    if asked.best_response:
        best = values.optimum(table, progress=progress)
        text = f"{best:.6f} best possible mean return"
        return _Answer(text, {"question": "best return", "value": best}, ())
    player = dicegym.agent(table, asked.a, trust=asked.trust)
    number = {} if asked.games is None else {"games": asked.games}
    best = values.optimum(table, progress=progress)
    mean, half, games = values.mean_return(player, table, **number, seed=seed, progress=progress)
    cost = f"the best possible {best:.2f} less what its choices cost, known exactly, in {games} games"
    text = f"{mean:.2f} ± {half:.2f} mean return of {player.name}: {cost}"
    facts = {"question": "mean return", "a": player.name, "seed": seed}
    return _Answer(text, {**facts, "value": mean, "half": half, "games": games, "best": best}, (asked.a,))


def _spread(table: dicegym.Game, asked: _Asked, given: list[str] | None, progress: Any) -> _Answer:
    """Answer how the returns of best play are spread."""
    from dicegym.cli.spread import told
    from dicegym.games.parts import solitaire, solver

    values = solitaire(table)
    if solver(table) is not None:
        raise ParameterError(f"--distribution is for games for one, and {table!r} is for two: leave it out")
    if values is None:
        raise ParameterError(_how_to_ask(table, asked, given, "--distribution"))
    text, facts = told(values.distribution(table, progress=progress))
    return _Answer(text, {"question": "distribution", **facts}, ())


def _how_to_ask(table: dicegym.Game, asked: _Asked, given: list[str] | None, *options: str) -> str:
    """Return why there is no answer, and the command that has one."""
    from dicegym.games.parts import solved_with

    settings = solved_with(table)
    agents = [name for name in (asked.a, asked.b) if name]
    player = asked.a or table.spec.baseline
    play = f"`{shlex.join(['dicegym', 'evaluate', player, '--game', table.name])}` plays games"
    if settings is None:
        return f"{table!r} has no exact values: {play} instead"
    parameters = parameters_of(given) | dict(settings)
    settled = [word for name, value in parameters.items() for word in ("-p", f"{name}={value}")]
    command = shlex.join(["dicegym", "values", "exact", table.name, *agents, *options, *settled])
    known = " and ".join(f"{name}={value}" for name, value in settings.items())
    return f"{table!r} has no exact values, but with {known} there are: `{command}`; else {play}"


def _check_question(
    a: str | None,
    b: str | None,
    best_response: bool,
    best_table: bool,
    distribution: bool,
    trials: int | None,
    bot: Path | None,
) -> None:
    """Raise ParameterError if the arguments of `exact` ask two things at once, or something is for none of them."""
    questions = {"--best-response": best_response, "--best-table": best_table, "--distribution": distribution}
    asked = [option for option, given in questions.items() if given]
    if len(asked) > 1:
        raise ParameterError(f"{' and '.join(asked)} are {len(asked)} questions: ask one at a time")
    if distribution and a is not None:
        raise ParameterError(f"--distribution is about best play: leave out {a!r}; `dicegym evaluate` plays its games")
    if not distribution and a is None:
        raise ParameterError("exact is asked about an agent: `dicegym games GAME` lists them")
    if asked and b is not None:
        raise ParameterError(f"{asked[0]} is about A alone: leave out B, which is {b!r}")
    if not best_table:
        for option, value in (("--output", bot), ("--trials", trials)):
            if value is not None:
                raise ParameterError(f"{option} {value} is for --best-table alone: give that too, or leave this out")
