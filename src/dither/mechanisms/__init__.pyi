"""The public names of this room."""

from . import jrr as jrr
from . import optimal as optimal
from . import rivals as rivals
from .frequency.krr import RR as RR
from .frequency.subset import SubsetIndices as SubsetIndices
from .numeric.base import Shape as Shape
from .numeric.base import WindowMechanism as WindowMechanism
