"""True values, where a game has them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, check_writable, out, write_new
from dicegym.cli.progress import progress_bar
from dicegym.errors import ParameterError

GAMES = 1000
"""Of an estimate for one player unless told otherwise."""


class ExactQuestion(NamedTuple):
    """What is asked."""

    game: shared_options.GameName
    a: Annotated[str | None, Argument(metavar="A", help="an agent")] = None
    b: Annotated[str | None, Argument(metavar="B", help="its opponent (default: the game's baseline)")] = None
    best_response: Annotated[
        bool, Option("--best-response", help="instead: the best response to A that sees everything")
    ] = False
    best_table: Annotated[
        bool, Option("--best-table", help="instead: the best strategy found against A that uses what players see")
    ] = False
    trials: Annotated[int | None, Option(help="how long --best-table searches")] = None
    seed: shared_options.Seed = None
    games: Annotated[int | None, Option(help="for one player: games whose choices are evaluated")] = None
    trust: shared_options.Trust = False
    parameter: shared_options.Parameters = None

    def check(self, bot: Path | None) -> None:
        """Raise ParameterError if two things are asked at once, or an option has no use."""
        questions = ("best_response", "best_table")
        asked = [f"--{name.replace('_', '-')}" for name in questions if getattr(self, name)]
        if len(asked) > 1:
            raise ParameterError(f"{' and '.join(asked)} are {len(asked)} questions: ask one at a time")
        if self.a is None:
            raise ParameterError("no agent is named: `dicegym games GAME` lists them")
        if asked and self.b is not None:
            raise ParameterError(f"{asked[0]} is about A alone: leave out B, which is {self.b!r}")
        for option, value in () if self.best_table else (("--output", bot), ("--trials", self.trials)):
            if value is not None:
                raise ParameterError(f"{option} {value} is for --best-table alone: give that too, or leave this out")

    def player(self, table: dicegym.Game, name: str | None) -> dicegym.Player:
        """Return an agent that is asked about."""
        return dicegym.agent(table, str(name), trust=self.trust)

    def explain_missing(self, table: dicegym.Game) -> ParameterError:
        """Return the error of a game without exact values: why, and the command that has an answer."""
        from dicegym.games.parts import list_solved_settings

        settings = list_solved_settings(table)
        agent = self.a or table.spec.baseline
        play = f"`{shared_options.command_line('dicegym', 'evaluate', agent, game=table.name)}` plays"
        if settings is None:
            return ParameterError(f"{table!r} has no exact values: {play} games instead")
        parameters = shared_options.parameters_of(self.parameter) | dict(settings)
        words = ["dicegym", "values", "exact", table.name, *filter(None, (self.a, self.b))]
        command = shared_options.command_line(*words, p=[f"{name}={value}" for name, value in parameters.items()])
        known = " and ".join(f"{name}={value}" for name, value in settings.items())
        return ParameterError(
            f"{table!r} has no exact values, but with {known} there are: `{command}`; else {play} games"
        )


class _Answer(NamedTuple):
    """What is true."""

    text: str
    """In words, or the source of a bot."""
    facts: dict[str, Any]
    """The same for JSON: the question, the agents, and the value with all its digits."""
    agents: tuple[str | None, ...] = ()
    """How they were named."""


def exact(
    question: ExactQuestion,
    written: Annotated[Outputs, ".json", ".py"] = NO_FILES,
    force: Annotated[bool, Option("--force", help="replace an existing .py file")] = False,
) -> None:
    """Compute exact win rates, without simulation.

    An agent that samples is replaced by one table of its answers, drawn once, and the answer says so. With
    --best-table, a .py file is the strategy as a bot.

    In a game for one player: the mean return of A, computed from the regret of its choices.

    Examples: dicegym values exact hog expectation bacon; dicegym values exact yatzy planner -p players=1
    """
    from dicegym.arena.provenance import VERSION, provenance, record_of
    from dicegym.games.parts import solitaire, solver
    from dicegym.players.roster import agent_name, resolve

    bot = written[".py"]
    if bot is not None:
        check_writable(bot, force)
    question.check(bot)
    table = shared_options.make_game(question.game, question.parameter)
    with progress_bar("steps") as progress:
        if (alone := solitaire(table)) is not None:
            answer = _alone(alone, table, question, progress)
        elif (values := solver(table)) is not None:
            answer = _duel(values, table, question, bot, progress)
        else:
            raise question.explain_missing(table)
    if bot is not None:
        write_new(bot, answer.text)
    else:
        out.print(answer.text)
    records = tuple(record_of(agent_name(table, one), one, resolve(table, one)) for one in answer.agents if one)
    about = {"version": VERSION, "game": table.name, **asdict(provenance(table, entries=records))}
    written.json(about | answer.facts)


def _duel(values: Any, table: dicegym.Game, asked: ExactQuestion, bot: Path | None, progress: Any) -> _Answer:
    """Answer for a game for two; ``values`` is its `dicegym.games.parts.Duel`, ``bot`` the file to write."""
    if asked.games is not None:
        raise ParameterError(f"--games {asked.games} is for games for one, and {table!r} is solved without any")
    from dicegym.games.parts import tabulate_player

    first = asked.player(table, asked.a)
    own, draws = tabulate_player(values.tabulate, first, table)
    facts: dict[str, Any] = {"a": first.name, "one_draw": draws}
    named = f"one drawn table of {first.name}" if draws else first.name
    if asked.best_response:
        value = values.best_response(own, table)[0]
        text = f"{value:.6f} best response to {named} that sees everything"
        return _Answer(text, {"question": "best response", **facts, "value": value}, (asked.a,))
    if asked.best_table:
        search = {"seed": asked.seed or 0} | ({} if asked.trials is None else {"trials": asked.trials})
        facts = {"question": "best table", **facts, **search}
        if bot is not None:
            source = values.best_bot(first, table, **search, progress=progress)
            return _Answer(source, {**facts, "file": str(bot)}, (asked.a,))
        value = values.best_table(own, table, **search, progress=progress)[0]
        return _Answer(f"{value:.6f} best table found against {named}", {**facts, "value": value}, (asked.a,))
    other = asked.b or table.spec.baseline
    second = asked.player(table, other)
    against, other_draws = tabulate_player(values.tabulate, second, table)
    value = values.win_rate(own, against, table)
    rival = f"one drawn table of {second.name}" if other_draws else second.name
    text = f"{value:.6f} {'' if draws or other_draws else 'exact '}win rate of {named} against {rival}"
    if draws or other_draws:
        text += "; another draw wins something else, and `dicegym evaluate --sampled` plays games"
    facts["one_draw"] = draws or other_draws
    return _Answer(text, {"question": "win rate", **facts, "b": second.name, "value": value}, (asked.a, other))


def _alone(values: Any, table: dicegym.Game, asked: ExactQuestion, progress: Any) -> _Answer:
    """Answer for a game that is played alone; ``values`` is its `dicegym.games.parts.Solitaire`."""
    if asked.b is not None or asked.best_table:
        extra = f"B, which is {asked.b!r}" if asked.b is not None else "--best-table"
        raise ParameterError(f"{table!r} is played alone: leave out {extra}")
    player = None if asked.best_response else asked.player(table, asked.a)
    best = values.optimum(table, progress=progress)
    if player is None:
        return _Answer(f"{best:.6f} best possible mean return", {"question": "best return", "value": best})
    from dicegym.learning.evaluate import evaluate

    seed = asked.seed or 0
    score = evaluate(table, player, games=GAMES if asked.games is None else asked.games, seed=seed, less_luck=True)
    mean, half, games = score.value, score.high - score.value, score.games
    cost = f"the best possible {best:.2f} less what its choices cost, known exactly, in {games} games"
    text = f"{mean:.2f} ± {half:.2f} mean return of {player.name}: {cost}"
    facts = {"question": "mean return", "a": player.name, "seed": seed}
    return _Answer(text, {**facts, "value": mean, "half": half, "games": games, "best": best}, (asked.a,))
