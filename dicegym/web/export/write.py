"""Writes the demo: a folder of pages for any host of files, which also open from a disk.

Links are relative, nothing is asked of a server, and a content security policy in each page lets it load nothing but
what lies beside it. Rules and screens are translated from the game's own Python; pages of contests and of single games
are those of `dicegym.arena`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dicegym
from dicegym.arena.pages.contests import moment, page_title
from dicegym.arena.pages.contests import write_page as write_contest
from dicegym.arena.pages.stored import stored_page
from dicegym.arena.pages.template import made_environment, trusted
from dicegym.arena.replay.page import write_page as write_replay
from dicegym.arena.replay.stored import stored_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored import StoredContest
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, TranslationError
from dicegym.files import write_text
from dicegym.games import loadable
from dicegym.players import model
from dicegym.players.about import describe
from dicegym.players.roster import agent_names, resolve
from dicegym.web.export.data import game_script, literal, model_script
from dicegym.web.export.screens import help_of, screen
from dicegym.web.export.translate.games import TranslatedGame, translated
from dicegym.web.rules.section import card_of, rules_of

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
SCRIPTS = ("python.js", "engine.js", "forms.js", "widgets.js", "play.js")
"""What a page of a game runs, in order; the game's own script comes before the last."""
SHARED = ("style.css", "widgets.css", "rules.css", "widgets.js", "icon.svg")
"""Files of the pages with a server that these use too."""
MOST_REPLAYS = 3
"""Games of each contest that have a page of their own."""


class Opponent(NamedTuple):
    """Whom a page can play."""

    id: str
    name: str
    note: str
    twin: str = ""
    """What its compiled twin is called in the game's script."""
    file: str = ""
    """The script with its weights, from the folder of all."""


class Written(NamedTuple):
    """What was written."""

    folder: Path
    files: int
    size: int
    """In bytes."""
    left_out: tuple[str, ...]
    """What there is no page for, and why."""


class Demo:
    """A demo in the making.

    Args:
        folder: where it goes; it is made. Files of an older demo in it are replaced.
        tell: is told what is being written.

    Raises:
        ParameterError: there is something else at ``folder``.
    """

    def __init__(self, folder: Path, tell: Callable[[str], object] = lambda line: None) -> None:
        self._folder, self._tell = folder, tell
        self._left_out: list[str] = []
        self._written: list[Path] = []
        if folder.exists() and not folder.is_dir():
            raise ParameterError(f"{folder} is no folder: name one that the demo may be written to")
        self._games: list[dict[str, Any]] = []

    # --- games -------------------------------------------------------------------------------------------------------

    def game(self, name: str, models: Sequence[Path] = ()) -> None:
        """Write a game: its page, its rules, its script, and the weights of its models.

        Args:
            name: of the game.
            models: files of models that play it, besides those that ship.

        Raises:
            UnknownNameError: there is no such game.
            ParameterError: nobody plays it that a browser can be.
            TranslationError: its rules cannot be translated.
            ModelError: a model is none of this game, or PyTorch alone can play it.
        """
        self._tell(f"{name}: rules, screen and opponents")
        game = dicegym.game(name)
        rules = translated(game)
        shown = screen(game)
        for part, why in (shown.refused | {f"agent {agent}": why for agent, why in rules.refused.items()}).items():
            self._left_out.append(f"{name}: {part} is left out: {why}")
        opponents = [*self._models(game, models), *self._twins(game, rules)]
        if not opponents:
            raise ParameterError(
                f"{name} has nobody to play against in a browser: name a model with --model FILE.zip, or write "
                "compiled twins of its bots"
            )
        self._put(f"files/game-{name}.js", game_script(game, rules, shown))
        card, (low, high) = card_of(name), game.spec.players
        offered = [one._asdict() for one in opponents]
        about = {"name": name, "root": "../files/", "opponents": offered}
        self._page(
            f"play/{name}.html",
            "play.html",
            game=card,
            opponents=opponents,
            players=max(2, low) if high > 1 else 1,
            low=max(2, low) if high > 1 else 1,
            high=high,
            help=help_of(game),
            files=[*SCRIPTS[:-1], f"game-{name}.js", SCRIPTS[-1]],
            dice=trusted(_dice()),
            about=trusted(literal(about)),
        )
        self._put(f"files/picture-{name}.svg", str(card.picture))
        self._page(f"rules/{name}.html", "rules.html", rules=rules_of(name))
        named = ", ".join(one.name for one in opponents[:3])
        more = f" and {len(opponents) - 3} more" if len(opponents) > 3 else ""
        self._games.append({**card._asdict(), "opponents": named + more})

    def leave_out(self, name: str, why: DicegymError) -> None:
        """Note that there is no page for a game."""
        self._left_out.append(f"{name} is left out: {why}")

    def _models(self, game: Game, models: Sequence[Path]) -> Iterator[Opponent]:
        shipped = [found for name in agent_names(game) if isinstance(found := resolve(game, name), str | Path)]
        for place, path in enumerate([*models, *(Path(one) for one in shipped)]):
            given = place < len(models)
            try:
                player = model.load(path, game)
                network = player.plain_network()
            except DicegymError as error:
                if given:
                    raise
                self._left_out.append(f"{game.name}: {path.stem} is left out: {error}")
                continue
            name = f"{path.parent.name}-{path.stem}" if given else path.stem
            file = f"model-{game.name}-{_plain(name)}.js"
            self._put(f"files/{file}", model_script(name, game, network, player.temperature))
            yield Opponent(f"model {name}", name, describe(game, str(path)), file=file)

    def _twins(self, game: Game, rules: TranslatedGame) -> Iterator[Opponent]:
        for name, function in rules.twins.items():
            yield Opponent(f"agent {name}", name, describe(game, name), twin=function)

    # --- contests ----------------------------------------------------------------------------------------------------

    def store(self, where: str) -> None:
        """Write the standings of all contests of a store, and some of their games.

        Raises ParameterError if there is no store.
        """
        with StoreReader(where) as reader:
            contests: list[dict[str, Any]] = []
            replays: list[dict[str, str]] = []
            for contest in reader.contests():
                known = contest.game in loadable()
                title = page_title(card_of(contest.game).title if known else contest.game, contest.format)
                self._tell(f"contest {contest.id}: {title}")
                with self._place(f"contests/{contest.id}.html") as path:
                    write_contest(stored_page(reader, contest)._replace(back="../index.html#contests"), path)
                when = moment(contest.ended) if contest.ended else f"begun {moment(contest.began)}"
                note = f"{contest.entries} entries, {contest.played} matches, {when}"
                contests.append({"id": contest.id, "title": title, "note": note})
                replays += self._replays(reader, contest, title)
            self._contests, self._replays_written = contests, replays

    _contests: Sequence[Any] = ()
    _replays_written: Sequence[Any] = ()

    def _replays(self, reader: StoreReader, contest: StoredContest, title: str) -> Iterator[dict[str, str]]:
        """Write the first games of matches between those who came first."""
        places = {row["name"]: row["place"] for row in reader.standings(contest.id)}
        matches = [match for match in reader.matches(contest.id) if match.failed is None and match.games]
        matches.sort(key=lambda match: (sum(places.get(name, len(places) + 1) for name in match.entries), match.id))
        for match in matches[:MOST_REPLAYS]:
            called = f"{match.id}.1"
            try:
                replay = stored_replay(reader, called)
                with self._place(f"replays/{called}.html") as path:
                    write_replay(replay, path, back="../index.html#replays")
            except DicegymError as error:
                self._left_out.append(f"game {called}: {error}")
                continue
            yield {"id": called, "title": f"{title}: {' - '.join(match.entries)}", "note": f"contest {contest.id}"}

    # --- pages -------------------------------------------------------------------------------------------------------

    def finish(self) -> Written:
        """Write what all pages share and the first page; return what there is now."""
        for name in SHARED:
            self._put(f"files/{name}", (resources.files("dicegym.web") / "static" / name).read_text(encoding="utf-8"))
        for name in {*SCRIPTS, "demo.css"} - set(SHARED):
            self._put(f"files/{name}", (_own() / "scripts" / name).read_text(encoding="utf-8"))
        self._page(
            "index.html", "index.html", games=self._games, contests=self._contests, replays=self._replays_written
        )
        size = sum(path.stat().st_size for path in self._written)
        return Written(self._folder, len(self._written), size, tuple(self._left_out))

    def _page(self, place: str, template: str, **values: Any) -> None:
        menu = [("index.html#play", "Play")]
        menu += [("index.html#contests", "Standings")] if self._contests else []
        menu += [("index.html#replays", "Games")] if self._replays_written else []
        menu.append(("index.html#rules", "Rules"))
        shown = {"policy": POLICY, "root": "../" * place.count("/"), "version": dicegym.__version__, "menu": menu}
        self._put(place, _environment().get_template(template).render(shown | {"here": place} | values))

    def _put(self, place: str, text: str) -> None:
        with self._place(place) as path:
            write_text(path, text)

    def _place(self, place: str) -> _Kept:
        path = self._folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        return _Kept(path, self._written)


class _Kept:
    """Notes a file once it is written."""

    def __init__(self, path: Path, written: list[Path]) -> None:
        self._path, self._written = path, written

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            self._written.append(self._path)


def export(
    folder: Path,
    *,
    store: str | None = None,
    games: Sequence[str] = (),
    models: Sequence[Path] = (),
    tell: Callable[[str], object] = lambda line: None,
) -> Written:
    """Write a demo.

    Args:
        folder: where it goes.
        store: of contests; None: no standings.
        games: names; empty: all that there are, and those that cannot be written are left out.
        models: files of models to play against, besides those that ship; each plays the game it was trained on.
        tell: is told what is being written.

    Raises:
        ParameterError: ``folder`` is none, there is no such store, a model plays none of the games, or nobody plays a
            game that was named.
        UnknownNameError: there is no such game.
        ModelError: a model is damaged, or PyTorch alone can play it.
        TranslationError: the rules of a game that was named cannot be translated.
        OSError: files cannot be written.
    """
    chosen = list(dict.fromkeys(games)) or list(loadable())
    for name in chosen:
        dicegym.game(name)  # which says what there is, before anything is written
    by_game: dict[str, list[Path]] = {}
    for path in models:
        by_game.setdefault(model.trained_on(path).name, []).append(path)
    if missing := sorted(set(by_game) - set(chosen)):
        raise ParameterError(f"a model plays {missing[0]}, which is not exported: add --game {missing[0]}")
    demo = Demo(folder, tell)
    if store is not None:
        demo.store(store)
    for name in chosen:
        try:
            demo.game(name, by_game.get(name, ()))
        except (ParameterError, TranslationError) as error:
            if games or by_game.get(name):
                raise
            demo.leave_out(name, error)  # a game of another package costs the others nothing
    return demo.finish()


def _plain(name: str) -> str:
    """Return a name as part of a file's name."""
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in name)


def _own() -> Any:
    return resources.files("dicegym.web.export")


def _dice() -> str:
    """Return the symbols of dice, to stand inside a page."""
    text = (resources.files("dicegym.web") / "static" / "dice.svg").read_text(encoding="utf-8")
    return text.partition(">")[2].rpartition("</svg>")[0]


@functools.cache
def _environment() -> Environment:
    import jinja2

    return made_environment(jinja2.PackageLoader("dicegym.web.export"))
