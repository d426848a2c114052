"""The public name of this room."""

from . import goals as goals
