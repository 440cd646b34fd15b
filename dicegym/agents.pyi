from dicegym.bots.export import export_source as export_source
from dicegym.bots.new import new_bot as new_bot
from dicegym.play.player import FunctionPlayer as FunctionPlayer
from dicegym.players.llm import LlmPlayer as LlmPlayer
from dicegym.players.sb3_models import load_model as load_model
