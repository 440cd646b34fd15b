"""A folder of curves: those that lack are learned, what is there stays, and all of it is put together."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.untuned.curve import POINTS, UntunedCurve, learn
from benchmarks.untuned.ways import WAYS, Way, random_play, way_named
from dicegym import games
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError, unknown_name
from dicegym.files import read_text, write_text
from dicegym.learning.card import collect_versions
from dicegym.learning.curves import ENOUGH, Band, band_of
from dicegym.learning.run_folder import alone_in
from dicegym.registry import ENVIRONMENTS, Environment

ABOUT = "curves.json"
MOST_SEEDS = 100
LONGEST = 24 * 60.0
"""Minutes of a curve."""

CurvesProgress = Callable[[int, int, str], None]
"""Is told (seconds of learning done, seconds in all, text)."""


class UntunedPanel(NamedTuple):
    """All curves of one environment."""

    environment: str
    random: float
    """Mean result of random play."""
    curves: dict[str, list[UntunedCurve]]
    """By the name of their way."""

    def times(self, way: str) -> np.ndarray:
        """Return the middle of each part of the time, in minutes: float64[POINTS]."""
        return (np.arange(POINTS) + 0.5) / POINTS * min(curve.minutes for curve in self.curves[way])

    def band(self, way: str) -> Band:
        """Return what the seeds of a way come to at its `times`; ``steps`` number these.

        Between two points a curve lies on the line between them; before the first episode it is as random play.
        """
        parts = np.arange(POINTS)
        every = [(parts + 0.5) / POINTS * curve.minutes for curve in self.curves[way]]
        return band_of(parts, self._at(way, self.times(way), every))

    def band_by_steps(self, way: str, most: int | None = None) -> Band:
        """Return what the seeds of a way come to by decisions of the learner, at equal distances up to ``most``.

        None: as many as all its seeds made. More than that are cut to it.
        """
        common = min(curve.steps for curve in self.curves[way])
        at = (np.arange(POINTS) + 0.5) / POINTS * (common if most is None else min(most, common))
        return band_of(at.astype(np.int64), self._at(way, at, [curve.middles() for curve in self.curves[way]]))

    def _at(self, way: str, at: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
        """Return the curves of a way, whose points lie at ``places``, at other ones: float64[seeds, len(at)]."""
        rows = []
        for curve, own in zip(self.curves[way], places, strict=True):
            results = curve.smoothed()
            known = ~np.isnan(results)
            rows.append(np.interp(at, [0.0, *own[known]], [self.random, *results[known]]))
        return np.array(rows)

    def learned(self, way: str) -> float | None:
        """Return after how many minutes the lower end of the band stays above random play.

        None: not in the last tenth of the time, or there is one seed alone, which says nothing.
        """
        if len(self.curves[way]) < 2:
            return None
        band = self.band(way)
        above = (band.low if len(self.curves[way]) >= ENOUGH else band.lowest) > self.random
        if not above[-POINTS // 10 :].all():
            return None
        since = 0 if above.all() else POINTS - int(above[::-1].argmin())
        return float(self.times(way)[since])


def path_of(folder: Path, environment: str, way: str, seed: int) -> Path:
    """Return the file of one curve."""
    return folder / environment / way / f"seed-{seed}.json"


def named_environments(names: Sequence[str]) -> list[Environment]:
    """Return environments by their identifiers, all of them if none is named. Raises UnknownNameError."""
    known = {environment.id: environment for environment in ENVIRONMENTS}
    for name in names:
        if name not in known:
            raise unknown_name("environment", name, list(known))
    return [known[name] for name in names or known]


def learn_all(
    folder: str | Path,
    seeds: int = 5,
    minutes: float = 5.0,
    environments: Sequence[str] = (),
    ways: Sequence[str] = (),
    progress: CurvesProgress | None = None,
) -> None:
    """Learn what lacks in a folder: every environment in every way by every seed, for so many minutes each.

    Curves that are there stay as they are if they had the time and the rules that are asked for, so that the same call
    goes on after an interruption, and asking for more seeds adds some. It goes seed by seed: whatever ends it leaves
    something of everything.

    Args:
        folder: of the curves; one program at a time writes there.
        seeds: 1 to so many.
        minutes: of processor time for each curve.
        environments: identifiers; none: all that are registered.
        ways: names of `benchmarks.untuned.ways.WAYS`; none: all.
        progress: told how far all of it is.

    Raises:
        ParameterError: a number is none that can be, or another program writes in the folder.
        UnknownNameError: there is no such environment or way.
    """
    target, tell = Path(folder), progress or (lambda done, of, text: None)
    whole_number("seeds", seeds, 1, MOST_SEEDS, "the number of curves for each way")
    if not 0 < minutes <= LONGEST:
        raise ParameterError(f"minutes={minutes!r} cannot be: give more than 0 and at most {LONGEST:.0f}")
    chosen = [way_named(name) for name in ways] or list(WAYS)
    places = named_environments(environments)
    with alone_in(target):
        about = _about(target)
        for place in places:
            fingerprint = games.game(place.game, **place.settings).fingerprint
            known = about["environments"].get(place.id, {})
            if known.get("fingerprint") != fingerprint:
                about["environments"][place.id] = {"fingerprint": fingerprint, "random": random_play(place)}
                for path in (target / place.id).glob("*/seed-*.json"):
                    path.unlink()  # of other rules
        about |= collect_versions()
        write_text(target / ABOUT, json.dumps(about, indent=1) + "\n")
        _learn_those(target, _lacking(target, places, chosen, seeds, minutes), minutes, tell)


def _lacking(
    folder: Path, environments: Sequence[Environment], ways: Sequence[Way], seeds: int, minutes: float
) -> list[tuple[Environment, Way, int]]:
    every = [(environment, way, seed) for seed in range(1, seeds + 1) for environment in environments for way in ways]

    def lacks(environment: Environment, way: Way, seed: int) -> bool:
        path = path_of(folder, environment.id, way.name, seed)
        return not path.is_file() or UntunedCurve.read(path).minutes < minutes

    return [one for one in every if lacks(*one)]


def _learn_those(
    folder: Path, todo: Sequence[tuple[Environment, Way, int]], minutes: float, tell: CurvesProgress
) -> None:
    warmed: set[tuple[str, str]] = set()
    total = round(60 * minutes * len(todo))
    for number, (environment, way, seed) in enumerate(todo):
        which, before = f"{environment.id}, {way.name}, seed {seed}", 60 * minutes * number
        tell(round(before), total, f"{which}: preparing")
        if (environment.id, way.name) not in warmed:
            way.warm(environment)
            warmed.add((environment.id, way.name))

        def told(done: float, of: float, text: str, which: str = which, before: float = before) -> None:
            tell(round(before + 60 * done), total, f"{which}: {text}")

        path = path_of(folder, environment.id, way.name, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        learn(environment, way, seed, minutes, told).write(path)
    tell(total, total, "all curves are there")


def _about(folder: Path) -> dict[str, Any]:
    """Return what the folder says of itself, or what an empty one would."""
    path = folder / ABOUT
    if not path.is_file():
        return {"environments": {}}
    instead = "name a folder that `python -m benchmarks curves` made, or another one"
    try:
        found: dict[str, Any] = json.loads(read_text(path, instead))
        environments = found["environments"]
        if not all(isinstance(one["random"], float) and one["fingerprint"] for one in environments.values()):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ParameterError(f"{path} is not what curves are kept with: {instead}") from None
    return found


class UntunedCurves(NamedTuple):
    """All curves in a folder."""

    panels: list[UntunedPanel]
    machine: str
    versions: dict[str, str]

    @property
    def minutes(self) -> list[float]:
        """How long curves are, each length once."""
        return sorted({one.minutes for panel in self.panels for curves in panel.curves.values() for one in curves})


def read_all(folder: str | Path) -> UntunedCurves:
    """Return the curves in a folder, by environment and way in the order of their lists.

    Raises ParameterError (DamagedFileError) if there are none, or for a file that holds something else.
    """
    target = Path(folder)
    about = _about(target)
    panels = []
    for environment, said in sorted(about["environments"].items(), key=_rank):
        curves = {
            way.name: [
                UntunedCurve.read(path) for path in sorted((target / environment / way.name).glob("seed-*.json"))
            ]
            for way in WAYS
        }
        there = {name: found for name, found in curves.items() if found}
        if there:
            panels.append(UntunedPanel(environment, float(said["random"]), there))
    if not panels:
        raise ParameterError(f"{target} holds no curves: `python -m benchmarks curves --run-dir {target}` learns them")
    versions = about.get("versions", {"dicegym": version("dicegym")})
    return UntunedCurves(panels, str(about.get("machine", "")), {str(k): str(v) for k, v in versions.items()})


def _rank(item: tuple[str, Any]) -> int:
    known = [environment.id for environment in ENVIRONMENTS]
    return known.index(item[0]) if item[0] in known else len(known)
