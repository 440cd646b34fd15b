"""Moving progress bars on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import progress as bar
from rich.console import Console, ConsoleOptions, RenderableType
from rich.constrain import Constrain
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from dicegym.cli.console import err
from dicegym.cli.progress import estimate_left
from dicegym.columns import clock
from dicegym.escape import one_line


class Bars:
    """The bars of a command: one, or one for each of several things.

    Args:
        unit: what is counted, such as "steps".
    """

    def __init__(self, unit: str) -> None:
        self._bars = _WithRoom(
            TextColumn("{task.fields[which]}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(20),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn(unit, table_column=Column(no_wrap=True)),
            TimeElapsedColumn(),
            _Left(),
            # A narrow terminal costs the end of this text, and no figures.
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
            console=Console(stderr=True),
            expand=True,
        )
        self._tasks: dict[str, bar.TaskID] = {}
        self._told = False

    def show(self, which: str, done: int, total: int, text: str) -> None:
        """Move the bar of ``which``, "" if there is only one, and make it if there is none."""
        self._told = True
        self._bars.start()  # does nothing if it has started
        if which not in self._tasks:
            self._tasks[which] = self._bars.add_task("", total=None, which=which)
        task = self._tasks[which]
        if which and done and not self._bars.tasks[task].completed:
            self._bars.reset(task)  # its time begins when it does
        self._bars.update(task, completed=done, total=total or None, description=one_line(text))

    def compiling(self, text: str) -> None:
        """Show ``text`` until there is progress."""
        if not self._told:
            self.show("", 0, 0, text)
            self._told = False

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        if self._bars.live.is_started:
            self._bars.console.print(one_line(text, 2000), markup=False, highlight=False, soft_wrap=True)
        else:
            err.print(text)

    def close(self) -> None:
        """Stop the bars."""
        if self._bars.live.is_started:
            self._bars.stop()


class _Left(bar.ProgressColumn):
    """The time left: `rich`'s own column looks at the last half minute, and forgets what interrupts."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[bar.TaskID, tuple[float, float, int]] = {}
        """When each task was begun, when it was seen first after that, and how much of it was done by then."""

    def render(self, task: bar.Task) -> Text:
        """Return it for one task, as `rich` asks for."""
        if task.start_time is None or task.total is None:
            return Text("-:--:--", style="progress.remaining")
        now, done = task.get_time(), int(task.completed)
        begun, since, before = self._first.get(task.id, (None, now, done))
        if begun != task.start_time or done < before:
            since, before = now, done
            self._first[task.id] = task.start_time, since, before
        seconds = estimate_left(now - since, before, done, int(task.total))
        return Text("-:--:--" if seconds is None else clock(seconds), style="progress.remaining")


class _WithRoom(bar.Progress):
    """Bars with room for the ``^C`` that a terminal writes behind them, lest it wraps and a bar is seen twice."""

    def get_renderables(self) -> Iterator[RenderableType]:
        return map(_Narrower, super().get_renderables())


class _Narrower:
    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield Constrain(self._shown, options.max_width - 3)
