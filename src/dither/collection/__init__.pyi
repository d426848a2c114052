"""The public names of this room."""

from .client import Client as Client
from .contract import Contract as Contract
from .contract import Published as Published
