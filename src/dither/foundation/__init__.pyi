"""The public names of this room."""

from . import randomness as randomness
