"""Papers, one short file each: the formula, with its theorem beside it. No engine is written here."""

from dither.mechanisms.combined import Each, Memoised, Records, Sampled
from dither.mechanisms.frequency.blh import BLH
from dither.mechanisms.frequency.hadamard import HadamardResponse
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.frequency.olh import OLH
from dither.mechanisms.frequency.oue import OUE
from dither.mechanisms.frequency.pem import PEM
from dither.mechanisms.frequency.rr import RR
from dither.mechanisms.frequency.subset import SubsetSelection
from dither.mechanisms.frequency.sue import SUE
from dither.mechanisms.joint import JRR, JointOLH, JointSUE
from dither.mechanisms.numeric.bounded_laplace import BoundedLaplace
from dither.mechanisms.numeric.duchi import Duchi
from dither.mechanisms.numeric.exponential import Exponential
from dither.mechanisms.numeric.gaussian import Calibration, Gaussian
from dither.mechanisms.numeric.hybrid import Hybrid
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.ogpmu import OGPMU
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.podium import Podium
from dither.mechanisms.numeric.purkayastha import Purkayastha
from dither.mechanisms.numeric.staircase import Staircase
from dither.mechanisms.numeric.sw import SW
from dither.mechanisms.trajectory.atp import ATP
from dither.mechanisms.trajectory.gridding import Gridding
from dither.mechanisms.trajectory.lsrr import LSRR
from dither.mechanisms.trajectory.ngram import NGram
from dither.mechanisms.trajectory.planar_laplace import PlanarLaplace
from dither.mechanisms.trajectory.readings import Projected, Rounded, Snapped
from dither.mechanisms.trajectory.strawman import Sectors, Strawman
from dither.mechanisms.trajectory.tracs_c import TraCSC
from dither.mechanisms.trajectory.tracs_d import TraCSD

__all__ = [
    "ATP",
    "BLH",
    "JRR",
    "KRR",
    "LSRR",
    "OGPM",
    "OGPMU",
    "OLH",
    "OUE",
    "PEM",
    "PM",
    "RR",
    "SUE",
    "SW",
    "BoundedLaplace",
    "Calibration",
    "Duchi",
    "Each",
    "Exponential",
    "Gaussian",
    "Gridding",
    "HadamardResponse",
    "Hybrid",
    "JointOLH",
    "JointSUE",
    "Laplace",
    "Memoised",
    "NGram",
    "PlanarLaplace",
    "Podium",
    "Projected",
    "Purkayastha",
    "Records",
    "Rounded",
    "Sampled",
    "Sectors",
    "Snapped",
    "Staircase",
    "Strawman",
    "SubsetSelection",
    "TraCSC",
    "TraCSD",
]
