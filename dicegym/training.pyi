from dicegym.learning.approximate_best_response import best_response as best_response
from dicegym.learning.dagger import DAgger as DAgger
from dicegym.learning.evaluate import evaluate as evaluate
from dicegym.learning.fast_ppo import FastMaskablePPO as FastMaskablePPO
from dicegym.learning.seeds.seeded_training import train_seeds as train_seeds
from dicegym.learning.train import train as train
