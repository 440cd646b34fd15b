from dicegym.envs.multi import TurnEnv as TurnEnv
from dicegym.envs.multi import parallel_env as parallel_env
from dicegym.envs.sb3 import SB3VecEnv as SB3VecEnv
from dicegym.envs.simultaneous import SimultaneousEnv as SimultaneousEnv
from dicegym.envs.single import SingleAgentEnv as SingleAgentEnv
from dicegym.envs.vector import BatchEnv as BatchEnv
