"""The games for TextArena: ``import dicegym.textarena``, then ``textarena.make("dicegym-hog-v0")``.

The caller plays every seat. Observations are the rules and what the seat may know (`dicegym.players.prompts`), actions
are JSON objects. An invalid answer ends the game, as usual in TextArena: its player's reward is -1, the others' is 0.
"""

from __future__ import annotations

from typing import Any

from dicegym.errors import DependencyError, ParameterError, StepError

try:
    import textarena
except ImportError as error:
    raise DependencyError.for_extra("textarena", "llm", "an environment of TextArena") from error

from dicegym.games import game as make_game
from dicegym.players.prompts import INSTRUCTION, AnswerError, observation_text, read_answer, rules_text
from dicegym.registry import GAMES


class TextArenaEnv(textarena.Env):  # type: ignore[misc]  # the library is untyped
    """A game for all its seats.

    Args:
        game: its name.
        **parameters: of the game; ``players`` is given to `reset`.
    """

    def __init__(self, game: str, **parameters: int) -> None:
        self._name, self._parameters = game, parameters
        self._game = make_game(game, **parameters)
        self._state: Any = None
        self._fault: tuple[int, str] | None = None

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin game 0 of a seed (default: 0). Raises ParameterError for an invalid number of players."""
        self._game = make_game(self._name, players=num_players, **self._parameters)
        self._state = self._game.new_state(0 if seed is None else seed)
        self._fault = None

    def get_observation(self) -> tuple[int, str]:
        """Return the seat to move and its observation."""
        state = self._begun()
        text = observation_text(self._game, state.record, state.player)
        return state.player, f"{rules_text(self._game)}\n{INSTRUCTION}\n{text}"

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play an answer; return whether the game is over, and the ``reason`` if the answer was invalid."""
        state = self._begun()
        if state.over or self._fault:
            raise StepError("the game is over: call reset()")
        try:
            for number in read_answer(self._game, state.record, action):
                state.step(number)
        except AnswerError as error:
            self._fault = state.player, str(error)
            return True, {"reason": str(error)}
        return bool(state.over), {}

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """Return each seat's reward, and whether its invalid answer ended the game."""
        state, seats = self._begun(), range(self._game.players)
        rewards = dict(zip(seats, state.returns(), strict=True))
        if self._fault:
            rewards = {seat: -1.0 if seat == self._fault[0] else 0.0 for seat in seats}
        reason = self._fault[1] if self._fault else ""
        invalid = self._fault[0] if self._fault else None
        return rewards, {seat: {"invalid_move": seat == invalid, "reason": reason} for seat in seats}

    def _begun(self) -> Any:
        if self._state is None:
            raise ParameterError("there is no game yet: call reset(num_players)")
        return self._state


for _name in GAMES:
    textarena.register(f"dicegym-{_name}-v0", TextArenaEnv, game=_name)
