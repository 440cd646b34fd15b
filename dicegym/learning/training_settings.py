"""The settings of a training: the type, range, default and meaning of each.

`dicegym.learning.configuration` reads them from files and the command line; ``dicegym runs settings`` prints
them as a table. Making a section validates its values.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from dicegym.engine.validate import MOST
from dicegym.errors import DependencyError

try:
    from pydantic import BeforeValidator, ConfigDict, Field, Strict
    from pydantic.dataclasses import dataclass
except ImportError as error:
    raise DependencyError.for_extra(str(error.name), "train", "training") from error

LARGEST_TRAINING_SEED = (1 << 32) - 1
"""The largest seed that PyTorch and NumPy take, which Stable-Baselines3 seeds."""


def as_whole(value: object) -> object:
    """Return a whole float as an integer, as people write a million as 1e6; return anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The titles name a setting's values in errors and in the table. Without `Strict`, "5" and true would be numbers.
_Whole = Annotated[int, Strict(), BeforeValidator(as_whole)]
_Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Whole = Annotated[_Whole, Field(title="a whole number")]
Count = Annotated[_Whole, Field(ge=1, le=MOST, title="a whole number from 1 on")]
CountOrNone = Annotated[_Whole, Field(ge=0, le=MOST, title="a whole number, or 0 for none")]
SeedNumber = Annotated[
    _Whole, Field(ge=0, le=LARGEST_TRAINING_SEED, title=f"a whole number from 0 to {LARGEST_TRAINING_SEED}")
]
Number = Annotated[_Number, Field(title="a number")]
ZeroToOne = Annotated[_Number, Field(ge=0, le=1, title="a number from 0 to 1")]
Flag = Annotated[bool, Strict(), Field(title="true or false")]
AnyText = Annotated[str, Field(title="a text")]
Logs = Annotated[list[Literal["tensorboard"]], Field(title='["tensorboard"], or [] for nothing')]
Tables = Annotated[list[str | list[str]], Field(title="a list of agents, or of lists of agents who share a table")]
Sizes = list[Annotated[_Whole, Field(ge=1)]]
Layers = Annotated[
    Sizes | dict[str, Sizes],
    Field(title="a list of sizes such as [128, 128], or one a network as in {pi=[128], vf=[256]}"),
]
# What is not given is left to the algorithm.
CountIfGiven = Annotated[_Whole | None, Field(ge=1, title="a whole number from 1 on")]
CountOrNoneIfGiven = Annotated[_Whole | None, Field(ge=0, title="a whole number, or 0 for none")]
AboveZeroIfGiven = Annotated[_Number | None, Field(gt=0, title="a number above 0")]
ZeroOrMoreIfGiven = Annotated[_Number | None, Field(ge=0, title="a number from 0 on")]
ZeroToOneIfGiven = Annotated[_Number | None, Field(ge=0, le=1, title="a number from 0 to 1")]
TextIfGiven = Annotated[str | None, Field(title="a text")]

_CLOSED = ConfigDict(extra="forbid", use_attribute_docstrings=True)
_OPEN = ConfigDict(extra="allow", use_attribute_docstrings=True)


@dataclass(frozen=True, config=_CLOSED)
class RunSettings:
    """The length of a training, and how it is measured."""

    steps: Count = 1_000_000
    """decisions of the learner in all"""
    seed: SeedNumber = 1
    """seed of networks, games and all draws in training; the same seed gives the same run"""
    games: Count = 1024
    """games in the batch; a rollout holds games * n_steps decisions"""
    torch_threads: Count = 2
    """threads for passes and updates of the networks; with 1 the curve does not depend on the number of cores"""
    device: AnyText = "cpu"
    """where the networks learn: "cpu", "cuda", "cuda:1", "mps" or "auto"; "cpu" suits small networks"""
    evaluate_every: Count = 500_000
    """steps between evaluations; the first ones come earlier, at 1/16, 1/8, 1/4 and 1/2 of it"""
    reward_scale: Number = 1.0
    """factor for rewards, for learners that expect them near 1"""
    evaluate_games: Count = 1_000
    """games of an evaluation where there is no exact value"""
    evaluate_against: Tables = field(default_factory=list)
    """opponents of evaluations, a column of the curve each; a list shares a table; empty: the game's baseline"""
    less_luck: Flag = False
    """use variance reduction, in games for one with exact values: the same mean, a smaller interval"""
    best_by: Literal["mean", "worst", "last", "exploitability"] = "mean"
    """score that selects the best model: the "mean" or the "worst" over several opponents; "exploitability", its win
    rate against its computed best response; or "last", which keeps the latest model"""
    temperature: ZeroOrMoreIfGiven = None
    """how the model and its past selves act: 0: the best action; above: sampled from softmax(logits / temperature);
    not given: 1 in games with hidden dice, otherwise 0"""
    average: ZeroToOne = 0.0
    """step of a moving average of the parameters towards the learner after each rollout; evaluations and files use the
    average, past selves the learner; 0: everything uses the learner"""
    start_from: AnyText = ""
    """model whose networks the run starts from: a file, a training's folder or an agent; "": fresh networks"""
    card_games: CountOrNone = 10_000
    """games for each line of the card at the end, where there is no exact value; 0: no card"""
    checkpoint_every: Count = 500_000
    """steps between checkpoints: the most that a kill can lose"""
    log: Logs = field(default_factory=lambda: ["tensorboard"])
    """where to log: "tensorboard", files in the folder; []: nowhere"""


@dataclass(frozen=True, config=_CLOSED)
class SelfPlaySettings:
    """How past selves join the opponents; used only if "self" is among them."""

    snapshot_every: Count = 500_000
    """steps between past selves that join"""
    keep: Count = 8
    """number of past selves that stay; the easiest to beat leave first"""
    priority: Literal["hard", "uniform"] = "uniform"
    """which opponents the learner meets most often: the "hard" ones, or all alike ("uniform")"""
    games: Count = 200
    """games between any two members where there is no exact value"""


@dataclass(frozen=True, config=_OPEN)
class AlgorithmSettings:
    """Arguments of the algorithm; other arguments of its class may be added. The algorithm has its own defaults."""

    name: AnyText = "FastMaskablePPO"
    """the algorithm: FastMaskablePPO, MaskablePPO, PPO, A2C, DQN, or DAgger, which imitates a teacher"""
    learning_rate: AboveZeroIfGiven = None
    """step size of the updates"""
    learning_rate_end: ZeroOrMoreIfGiven = None
    """final step size, reached linearly; not given: the step size stays"""
    n_steps: CountIfGiven = None
    """decisions of each game in a rollout; if not given, PPO collects 32,768 over all games"""
    batch_size: CountIfGiven = None
    """decisions in one update; if not given, PPO takes a quarter of a rollout"""
    n_epochs: CountIfGiven = None
    """passes over a rollout"""
    gamma: ZeroToOneIfGiven = None
    """discount per decision"""
    gae_lambda: ZeroToOneIfGiven = None
    """how far rewards are credited back, from 0 (one decision) to 1 (all)"""
    clip_range: AboveZeroIfGiven = None
    """how far one rollout's updates may change the probability of an action"""
    ent_coef: ZeroOrMoreIfGiven = None
    """weight of the entropy bonus"""
    ent_coef_end: ZeroOrMoreIfGiven = None
    """final weight of the entropy bonus, reached linearly; not given: the weight stays"""
    vf_coef: ZeroOrMoreIfGiven = None
    """weight of the value network's error"""
    max_grad_norm: AboveZeroIfGiven = None
    """largest norm of a gradient; longer ones are clipped"""
    stats_window_size: CountIfGiven = None
    """episodes over which the logged means are taken"""
    train_freq: CountIfGiven = None
    """DQN: steps of the batch between updates"""
    exploration_fraction: AboveZeroIfGiven = None
    """DQN: share of the training over which exploration falls"""
    kl_coef: ZeroOrMoreIfGiven = None
    """FastMaskablePPO: weight of the pull towards an anchor, a slow copy of the policy"""
    kl_anchor_rate: ZeroToOneIfGiven = None
    """FastMaskablePPO: step of the anchor towards the policy after each update"""
    teacher: TextIfGiven = None
    """DAgger: a source of values such as "exact", or "reply(AGENT)"; the next settings are DAgger's too"""
    reply_trials: CountOrNoneIfGiven = None
    """further attempts at a better response before any game is played"""
    softness: AboveZeroIfGiven = None
    """cost, in win rate, at which an action is taught 1/e as likely as the best"""
    mix: ZeroToOneIfGiven = None
    """the teacher acts in a share mix**k of the decisions of rollout k"""
    greedy: ZeroToOneIfGiven = None
    """share of the games in which the learner plays its best action instead of sampling"""
    explore: ZeroToOneIfGiven = None
    """how often a game in which it samples continues with any legal action"""
    cost_weight: ZeroOrMoreIfGiven = None
    """extra weight of a state for each softness that the learner's best action costs there"""
    precision: TextIfGiven = None
    """"float32", or "auto": bfloat16 where the processor computes with it"""


@dataclass(frozen=True, config=_OPEN)
class NetworkSettings:
    """The networks; other arguments of the policy's class (``policy_kwargs``) may be added."""

    policy: AnyText = "MlpPolicy"
    """the policy, by a name that the algorithm knows"""
    privileged: Flag = False
    """whether the value network sees hidden information, such as others' dice, in training; the policy never does"""
    net_arch: Layers = field(default_factory=lambda: [256, 256])
    """sizes of the hidden layers: of all networks, or of policy (pi) and value network (vf)"""
    activation: AnyText = "ReLU"
    """activation between layers, a class of torch.nn"""


@dataclass(frozen=True, config=_CLOSED)
class TrainingSettings:
    """All settings of a training, in the sections of its configuration file."""

    game: Annotated[dict[str, Whole], Field(title="a whole number")] = field(default_factory=dict)
    """players and parameters of the game; the others have the game's defaults"""
    run: RunSettings = field(default_factory=RunSettings)
    environment: Annotated[dict[str, object], Field(title="an argument of SB3VecEnv")] = field(default_factory=dict)
    """further arguments of the learner's games, such as max_episode_steps"""
    opponents: Annotated[dict[str, Number], Field(title="a number above 0")] = field(default_factory=dict)
    """agent = weight, from which each game draws; self = weight: past selves; empty: the game's default opponents"""
    self_play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    algorithm: AlgorithmSettings = field(default_factory=AlgorithmSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
