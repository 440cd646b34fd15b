"""The settings of a training: what each is called, what it takes, its default and its meaning, each said once, here.

`dicegym.learning.configuration` reads them from files and the command line; ``dicegym runs settings`` prints
this page as a table. Making a section checks its values.
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
"""PyTorch and NumPy, which Stable-Baselines3 seeds, take no larger ones."""


def _whole(value: object) -> object:
    """Return a float that is whole as the whole number that it is, as 1e6 is how people write a million."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The titles say in errors and in the table what a setting takes. Without `Strict`, "5" and true were numbers.
_Whole = Annotated[int, Strict(), BeforeValidator(_whole)]
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
Priority = Literal["hard", "uniform"]
BestBy = Literal["mean", "worst", "last", "exploitability"]
Tables = Annotated[list[str | list[str]], Field(title="a list of agents, or of lists of agents who share a table")]
Layers = Annotated[
    list[Annotated[_Whole, Field(ge=1)]] | dict[str, list[Annotated[_Whole, Field(ge=1)]]],
    Field(title="a list of sizes such as [128, 128], or one a network as in {pi=[128], vf=[256]}"),
]
CountIfGiven = Annotated[Annotated[_Whole, Field(ge=1)] | None, Field(title="a whole number from 1 on")]
CountOrNoneIfGiven = Annotated[Annotated[_Whole, Field(ge=0)] | None, Field(title="a whole number, or 0 for none")]
AboveZeroIfGiven = Annotated[Annotated[_Number, Field(gt=0)] | None, Field(title="a number above 0")]
ZeroOrMoreIfGiven = Annotated[Annotated[_Number, Field(ge=0)] | None, Field(title="a number from 0 on")]
ZeroToOneIfGiven = Annotated[Annotated[_Number, Field(ge=0, le=1)] | None, Field(title="a number from 0 to 1")]
TextIfGiven = Annotated[str | None, Field(title="a text")]

_CLOSED = ConfigDict(extra="forbid", use_attribute_docstrings=True)
_OPEN = ConfigDict(extra="allow", use_attribute_docstrings=True)


@dataclass(frozen=True, config=_CLOSED)
class RunSettings:
    """How long a training is, and how it is measured."""

    steps: Count = 1_000_000
    """decisions of the learner in all"""
    seed: SeedNumber = 1
    """same seed, same run: of networks, games and what is drawn in training"""
    games: Count = 1024
    """games in the batch; a rollout holds as many times n_steps decisions"""
    torch_threads: Count = 2
    """threads of the networks' passes and updates; with 1 the curve does not depend on how many cores there are"""
    device: AnyText = "cpu"
    """where the networks learn: "cpu", "cuda", "cuda:1", "mps" or "auto"; "cpu" suits small networks"""
    evaluate_every: Count = 500_000
    """steps from one evaluation to the next; the first ones come earlier, at 1/16, 1/8, 1/4 and 1/2 of it"""
    reward_scale: Number = 1.0
    """what rewards are multiplied by, for learners that expect them near 1"""
    evaluate_games: Count = 1_000
    """games of an evaluation where there is no exact value"""
    evaluate_against: Tables = field(default_factory=list)
    """opponents of evaluations, each a column of the curve, lists sharing a table; empty: the game's baseline"""
    less_luck: Flag = False
    """of a player alone measure what its choices cost, where exact values tell: the same mean, a smaller interval"""
    best_by: BestBy = "mean"
    """which score chooses the best model: of several opponents their "mean" or the "worst"; or what is left to it
    against its best response, which is computed ("exploitability"); or none, and the "last" one is it"""
    temperature: ZeroOrMoreIfGiven = None
    """how the model and its past selves play: 0: their best action; above: drawn from softmax(logits / temperature);
    not given: drawn at 1 in games with hidden dice, else the best action"""
    average: ZeroToOne = 0.0
    """share of the way to the learner that an average of its parameters moves after each rollout; evaluations and files
    are of that average, past selves of the learner; 0: all of the learner"""
    start_from: AnyText = ""
    """a model whose networks the run begins with: a file, a training's folder or an agent; "": they are drawn"""
    card_games: CountOrNone = 10_000
    """games of each line of the card at the end, where there is no exact value; 0: no card is written"""
    checkpoint_every: Count = 500_000
    """steps from one checkpoint to the next: what a kill may cost"""
    log: Logs = field(default_factory=lambda: ["tensorboard"])
    """where what is recorded goes: "tensorboard", files in the folder; []: nowhere"""


@dataclass(frozen=True, config=_CLOSED)
class SelfPlaySettings:
    """How past selves join the opponents; only if "self" is among them."""

    snapshot_every: Count = 500_000
    """steps from one past self that joins to the next"""
    keep: Count = 8
    """how many past selves stay; the easiest to beat leave first"""
    priority: Priority = "uniform"
    """whom the learner meets most: who is "hard" to beat, or nobody ("uniform")"""
    games: Count = 200
    """games between any two members where there is no exact value"""


@dataclass(frozen=True, config=_OPEN)
class AlgorithmSettings:
    """What the algorithm is made with; other arguments of its class may be added. What is not given is as it has it."""

    name: AnyText = "FastMaskablePPO"
    """the algorithm: FastMaskablePPO, MaskablePPO, PPO, A2C, DQN or QRDQN; or DAgger, which is taught"""
    learning_rate: AboveZeroIfGiven = None
    """step size of the updates"""
    learning_rate_end: ZeroOrMoreIfGiven = None
    """what the step size falls to, linearly, by the end; not given: it stays"""
    n_steps: CountIfGiven = None
    """decisions of each game in a rollout; if not given, PPO's is 32,768 for all games together"""
    batch_size: CountIfGiven = None
    """decisions of one update; if not given, of PPO a quarter of a rollout"""
    n_epochs: CountIfGiven = None
    """passes over a rollout"""
    gamma: ZeroToOneIfGiven = None
    """discount a decision"""
    gae_lambda: ZeroToOneIfGiven = None
    """how far rewards are credited back, from 0 (one decision) to 1 (all)"""
    clip_range: AboveZeroIfGiven = None
    """how far one rollout's updates may change a choice's probability"""
    ent_coef: ZeroOrMoreIfGiven = None
    """bonus on choosing at random"""
    ent_coef_end: ZeroOrMoreIfGiven = None
    """what that bonus changes to, linearly, by the end; not given: it stays"""
    vf_coef: ZeroOrMoreIfGiven = None
    """weight of the value network's error"""
    max_grad_norm: AboveZeroIfGiven = None
    """length to which the gradient of an update is cut"""
    kl_coef: ZeroOrMoreIfGiven = None
    """FastMaskablePPO: pull to a slow copy of the policy"""
    kl_anchor_rate: ZeroToOneIfGiven = None
    """FastMaskablePPO: share of the way to the policy that this copy moves after each update"""
    teacher: TextIfGiven = None
    """DAgger: a source of values such as "exact", or "reply(AGENT)"; the next ones are DAgger's too"""
    reply_trials: CountOrNoneIfGiven = None
    """further tries at a better response before anything is played"""
    softness: AboveZeroIfGiven = None
    """cost, in win rate, at which an action is taught 1/e as likely as the best"""
    mix: ZeroToOneIfGiven = None
    """the teacher acts in a share mix**k of the decisions of rollout k"""
    greedy: ZeroToOneIfGiven = None
    """share of the games in which the learner plays its best action instead of sampling"""
    explore: ZeroToOneIfGiven = None
    """how often a game in which it samples continues with any legal action"""
    cost_weight: ZeroOrMoreIfGiven = None
    """how much more a state counts for each softness that the learner's best action costs there"""
    precision: TextIfGiven = None
    """"float32", or "auto": bfloat16 where the processor computes with that"""


@dataclass(frozen=True, config=_OPEN)
class NetworkSettings:
    """The networks that are trained; what else the policy's class takes (``policy_kwargs``) may be added."""

    policy: AnyText = "MlpPolicy"
    """the policy, by a name that the algorithm knows"""
    privileged: Flag = False
    """whether the value network sees what others hide, such as their dice, in training; the policy never does"""
    net_arch: Layers = field(default_factory=lambda: [256, 256])
    """sizes of the hidden layers, of all networks or of policy (pi) and value (vf)"""
    activation: AnyText = "ReLU"
    """what stands between layers, a class of torch.nn"""


@dataclass(frozen=True, config=_CLOSED)
class TrainingSettings:
    """All settings of a training, in the sections of its configuration file."""

    game: Annotated[dict[str, Whole], Field(title="a whole number")] = field(default_factory=dict)
    """players and parameters of the game; what is not given is as the game has it"""
    run: RunSettings = field(default_factory=RunSettings)
    """how long a training is, and how it is measured"""
    environment: Annotated[dict[str, object], Field(title="an argument of SB3VecEnv")] = field(default_factory=dict)
    """what else the learner's games are made with, such as max_episode_steps"""
    opponents: Annotated[dict[str, Number], Field(title="a number above 0")] = field(default_factory=dict)
    """agent = weight, from which each game draws; self = weight: past selves; empty: the game's default opponents"""
    self_play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    """how past selves join the opponents, if "self" is among them"""
    algorithm: AlgorithmSettings = field(default_factory=AlgorithmSettings)
    """what the algorithm of Stable-Baselines3 is made with; any other argument of its class may be added"""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    """the networks that are trained; what else the policy's class takes may be added"""
