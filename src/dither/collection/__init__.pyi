"""The public names of this room."""

from .campaign import Campaign as Campaign
from .campaign import Published as Published
from .client import Client as Client
