"""Baselines for research, `dt.rivals`: mechanisms to compare better ones with.

NGram, LSRR, ATP            choices among public points; `as_published` returns what their papers define
Strawman, Gridding          a walk by sectors and distances; the cells of a grid
Sectors                     a direction by k-ary randomized response on sectors
OGPMU                       an unbiased report from a wide range; Podium has a smaller variance
Purkayastha                 noise on a circle
SUE, BLH                    bits with the same noise for all, as in RAPPOR; hashing to one bit

The baselines of TraCS are repaired so that each keeps its ε.
"""

from dither.mechanisms.frequency.olh import BLH
from dither.mechanisms.frequency.oue import SUE
from dither.mechanisms.numeric.ogpm import OGPMU
from dither.mechanisms.numeric.purkayastha import Purkayastha
from dither.mechanisms.places.rivals import ATP, LSRR, Gridding, NGram, Sectors, Strawman

__all__ = [
    "ATP",
    "BLH",
    "LSRR",
    "OGPMU",
    "SUE",
    "Gridding",
    "NGram",
    "Purkayastha",
    "Sectors",
    "Strawman",
]
