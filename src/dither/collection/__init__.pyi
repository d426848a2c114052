"""The public names of this room."""

from .client import Client as Client
from .campaign import Campaign as Campaign
from .campaign import Published as Published
