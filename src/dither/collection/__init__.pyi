"""The public names of this room."""

from .campaign import Campaign as Campaign
from .client import Client as Client
from .published import Published as Published
