"""The public names of this room."""

from . import polars as polars
from . import spark as spark
