"""The public names of this room."""

from . import audits as audits
from . import goals as goals
