"""The public names, each from the module that defines it."""

from .answers import Ranges as Ranges
from .answers import Tables as Tables
from .moments import Covariance as Covariance
from .moments import Variance as Variance
from .numbers import Distribution as Distribution
from .numbers import Frequencies as Frequencies
from .numbers import Goal as Goal
from .numbers import Mean as Mean
from .numbers import Quantile as Quantile
from .numbers import SingleValues as SingleValues
from .places import CompletePaths as CompletePaths
from .places import Districts as Districts
from .places import Locations as Locations
from .places import Maps as Maps
from .places import MeanPlace as MeanPlace
from .vectors import MeanOfVectors as MeanOfVectors
