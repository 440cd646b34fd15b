from dicegym.engine.batch import Batch as Batch
from dicegym.engine.game import Game as Game
from dicegym.engine.state import State as State
from dicegym.games import game as game
from dicegym.pictures.drawing import draw as draw
from dicegym.play.player import Player as Player
from dicegym.play.turn import Turn as Turn
from dicegym.players.model import save_model as save_model
from dicegym.players.roster import agent as agent
from dicegym.players.roster import agent_names as agent_names

from . import agents as agents
from . import contest as contest
from . import envs as envs
from . import errors as errors
from . import pettingzoo as pettingzoo
from . import text as text
from . import training as training
from . import values as values
from . import wrappers as wrappers

__version__: str
