"""The public names of this room."""

from . import central as central
from . import classifiers as classifiers
from . import protocols as protocols
