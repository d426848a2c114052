"""Papers, one short file each: the formula, with its theorem beside it. No engine is written here."""

from dither.mechanisms.numeric.duchi import Duchi
from dither.mechanisms.numeric.hybrid import Hybrid
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.ogpmu import OGPMU
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.podium import Podium
from dither.mechanisms.numeric.sw import SW

__all__ = ["OGPM", "OGPMU", "PM", "SW", "Duchi", "Hybrid", "Laplace", "Podium"]
