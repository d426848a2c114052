"""The trusted curator: means, sums and counts with exact noise, for data that one party holds.

Everywhere else in dither each person perturbs their own value. Here one party sees all values and releases
an answer with noise: far more accurate, if that party is trusted. One record added or removed changes the
probability of any answer by a factor of at most e^ε, exactly, on integers.
"""

from dither.central.answer import LearnedBounds, count, hourglass, laplace, mean, staircase, sum, swap_mean
from dither.central.tally import Tally

__all__ = ["LearnedBounds", "Tally", "count", "hourglass", "laplace", "mean", "staircase", "sum", "swap_mean"]
