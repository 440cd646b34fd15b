"""DAgger: a policy that imitates a teacher in the states that the policy itself reaches.

Ross, Gordon and Bagnell, "A reduction of imitation learning and structured prediction to no-regret online learning"
(AISTATS 2011). Games are cheap here, so every rollout brings new states and none is kept: the online learner of that
paper. The policy is MaskablePPO's, and `MaskablePPO` loads its files; the value network is not trained.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, ClassVar

import llvmlite.binding
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from dicegym.engine.validate import finite_number, one_of, whole_number
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.learning.teacher import Teacher

MOST_TRIALS = 1_000_000
NEVER = 1e-3
"""Share of decisions below which the teacher does not act at all."""
PRECISIONS = ("float32", "auto")
COMPUTES = ("avx512bf16", "amx-bf16", "avx10.2", "bf16")
"""LLVM's names of instructions for products of bfloat16: Intel's and AMD's, then Arm's."""


class NoRollout(MaskableRolloutBuffer):
    """Replaces PPO's rollout buffer, which DAgger does not need."""

    def reset(self) -> None:
        """Allocate nothing."""


class DAgger(MaskablePPO):
    """Imitate a teacher, with the interface of MaskablePPO; see the module.

    Args:
        policy: as for `MaskablePPO`, like all arguments that are not listed here.
        env: an `SB3VecEnv`, or wrappers around one.
        teacher: a source of values, or "reply(AGENT)"; see `dicegym.learning.teacher.Teacher`.
        reply_trials: further attempts at a better response for "reply(AGENT)", before any game is played.
        softness: cost, in win rate, at which an action is taught 1/e as likely as the best.
        mix: the teacher acts in a share of ``mix ** k`` of the decisions of rollout ``k``, in all of the first.
        greedy: share of the games in which the learner plays its best action. In the others it samples its policy,
            and so reaches states after mistakes.
        explore: how often a game in which the learner samples continues with any legal action instead, so that it also
            learns rare states.
        cost_weight: extra weight of a state for each ``softness`` that the learner's best action costs there, so that
            it learns expensive mistakes first (Ross and Bagnell, "Reinforcement and imitation learning via interactive
            no-regret learning", 2014, weigh by costs too). No effect with equilibria, whose actions have no costs.
        precision: of passes and gradients: "float32", or "auto": bfloat16 where the processor computes with it, several
            times as fast. Weights stay float32.

    Example:
        >>> from dicegym.envs import SB3VecEnv
        >>> from dicegym.training import DAgger
        >>> model = DAgger("MlpPolicy", SB3VecEnv("hog", 64, seed=0, goal=20), n_steps=16, batch_size=256)
        >>> model.learn(1024).num_timesteps
        1024
    """

    policy_aliases: ClassVar[Any] = MaskablePPO.policy_aliases

    def __init__(
        self,
        policy: Any,
        env: Any,
        learning_rate: Any = 1e-3,
        n_steps: int = 32,
        batch_size: int = 2048,
        n_epochs: int = 1,
        teacher: str = "exact",
        reply_trials: int = 0,
        softness: float = 0.0025,
        mix: float = 0.5,
        greedy: float = 0.5,
        explore: float = 0.0,
        cost_weight: float = 0.0,
        precision: str = "float32",
        stats_window_size: int = 100,
        tensorboard_log: str | None = None,
        policy_kwargs: dict[str, Any] | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: torch.device | str = "auto",
        _init_setup_model: bool = True,
    ) -> None:
        self.teacher = teacher
        attempts = "the number of further attempts at a better response (0: none)"
        self.reply_trials = whole_number("reply_trials", reply_trials, 0, MOST_TRIALS, attempts)
        self.softness = finite_number("softness", softness, "a cost in win rate", above=0)
        for name, share in (("mix", mix), ("greedy", greedy), ("explore", explore)):
            if not 0 <= finite_number(name, share, "a share") <= 1:
                raise ParameterError(f"{name}={share!r} is not a share: give a number from 0 to 1")
        self.mix, self.greedy, self.explore = float(mix), float(greedy), float(explore)
        self.cost_weight = finite_number("cost_weight", cost_weight, "how much costs count")
        if self.cost_weight < 0:
            raise ParameterError(f"cost_weight={cost_weight!r} would teach the worst actions: give 0 or more")
        self.precision = one_of("precision", precision, PRECISIONS)
        self._teacher: Teacher | None = None
        super().__init__(
            policy,
            env,
            learning_rate,
            n_steps,
            batch_size,
            n_epochs,
            rollout_buffer_class=NoRollout,
            stats_window_size=stats_window_size,
            tensorboard_log=tensorboard_log,
            policy_kwargs=policy_kwargs,
            verbose=verbose,
            seed=seed,
            device=device,
            _init_setup_model=_init_setup_model,
        )
        if self.env is not None and _init_setup_model:
            self._seat_teacher(_games_of(self.env))  # raises before anything is played

    def _seat_teacher(self, games: SB3VecEnv) -> Teacher:
        """Return the teacher for these games."""
        if self._teacher is None or self._teacher.game != games.batch.game:
            self._teacher = Teacher(games.batch.game, self.teacher, self.softness, self.reply_trials)
            met = [player.name for player in games.batch.pool.players]
            if self._teacher.replies_to not in (None, *met):
                warnings.warn(
                    f"the teacher responds to {self._teacher.replies_to}, which is not among the learner's opponents: "
                    f"{', '.join(met)}",
                    stacklevel=2,
                )
        return self._teacher

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_teacher", "_lessons"]

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: Any, n_rollout_steps: int, use_masking: bool = True
    ) -> bool:
        """Play ``n_rollout_steps`` decisions of each game, and label all of them by the teacher."""
        games = _games_of(env)
        teacher = self._seat_teacher(games)
        helped = self.mix ** (self._n_updates // self.n_epochs)
        drawn = torch.arange(env.num_envs) >= round(self.greedy * env.num_envs)
        seen, states, masks = [], [], []
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            mask = games.action_masks()
            seen.append(np.asarray(self._last_obs))
            states.append(games.batch.states)
            masks.append(mask)
            actions = self._choose(seen[-1], mask, drawn)
            if helped >= NEVER:
                rows = np.flatnonzero(torch.rand(env.num_envs).numpy() < helped)
                lesson = teacher.lesson(states[-1][rows])
                actions[rows] = lesson.draw_actions(torch.rand(len(rows), dtype=torch.float64).numpy())
            observed, _, dones, infos = env.step(actions)
            self._last_obs, self._last_episode_starts = np.asarray(observed), dones
            self.num_timesteps += env.num_envs
            callback.update_locals({"dones": dones})
            if not callback.on_step():
                return False
            self._update_info_buffer(infos, dones)
        labels = teacher.lesson(np.concatenate(states))
        kept = (np.concatenate(seen), np.concatenate(masks), *(part for part in labels if part is not None))
        self._lessons = tuple(map(torch.from_numpy, kept))
        callback.on_rollout_end()
        return True

    def _logits(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Return logits, float32[n, n_actions], with the lowest number for illegal actions."""
        quick = self.precision == "auto" and computes_bfloat16(self.device)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=quick):
            features = torch.as_tensor(self.policy.extract_features(observations, self.policy.pi_features_extractor))
            logits: torch.Tensor = self.policy.action_net(self.policy.mlp_extractor.forward_actor(features))
        return logits.float().masked_fill(~masks, torch.finfo(torch.float32).min)

    def _choose(self, observations: np.ndarray, masks: np.ndarray, drawn: torch.Tensor) -> np.ndarray:
        """Return the best action of each game; where ``drawn`` (bool[n]), a sampled one, some of them uniform."""
        with torch.no_grad():
            inputs = torch.from_numpy(observations).to(self.device), torch.from_numpy(masks).to(self.device)
            logits = self._logits(*inputs).cpu()
        if self.explore:
            free = drawn & (torch.rand(len(drawn)) < self.explore)
            logits[free] = logits[free].masked_fill(torch.from_numpy(masks)[free], 0.0)  # uniform over legal actions
        noise = torch.empty(int(drawn.sum()), logits.shape[1]).exponential_().log_()
        logits[drawn] -= noise  # the highest is then drawn from the softmax (Gumbel, 1954)
        actions: np.ndarray = logits.argmax(dim=1).numpy()
        return actions

    def train(self) -> None:
        """Fit the policy to the teacher's labels of the last rollout."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        losses, costs_of_best, divergences = [], [], []
        weight = self.cost_weight / self._teacher.softness if self._teacher is not None else 0.0
        for _ in range(self.n_epochs):
            for rows in torch.split(torch.randperm(len(self._lessons[0])), self.batch_size or 1):
                observations, masks, policies, *costs = (part[rows].to(self.device) for part in self._lessons)
                log_policy = torch.log_softmax(self._logits(observations, masks), dim=1)
                losses_of = -(policies * log_policy).sum(dim=1)
                divergences.append((losses_of.detach() - torch.special.entr(policies).sum(dim=1)).mean().item())
                if costs:
                    best = log_policy.detach().argmax(dim=1, keepdim=True)
                    cost = costs[0].gather(1, best)[:, 0]
                    costs_of_best.append(cost.mean().item())
                    losses_of = losses_of * (1 + weight * cost)
                loss = losses_of.mean()
                self.policy.optimizer.zero_grad()
                torch.autograd.backward(loss)
                self.policy.optimizer.step()
                losses.append(loss.item())
            self._n_updates += 1
        self.logger.record("train/loss", float(np.mean(losses)))
        self.logger.record("train/kl", float(np.mean(divergences)))
        if costs_of_best:
            self.logger.record("train/cost", float(np.mean(costs_of_best)))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")


def _games_of(env: VecEnv) -> SB3VecEnv:
    """Return the batch in ``env``. Raises ParameterError if it is not an `SB3VecEnv`."""
    games = env.unwrapped
    if not isinstance(games, SB3VecEnv):
        raise ParameterError(f"DAgger needs the records of games, which {env!r} does not have: give an SB3VecEnv")
    return games


@functools.cache
def computes_bfloat16(device: torch.device) -> bool:
    """Return whether a device has instructions for products of bfloat16, instead of emulating them."""
    if device.type == "cpu":
        has = llvmlite.binding.get_host_cpu_features()  # only the latest versions of PyTorch list them
        return any(has.get(name, False) for name in COMPUTES)
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
