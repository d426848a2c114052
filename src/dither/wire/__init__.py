"""Questions as data: names, specifications and the wire format."""

from dither.campaigns.campaign import Campaign
from dither.campaigns.wire import from_bytes, from_json, to_bytes, to_json

__all__ = ["Campaign", "from_bytes", "from_json", "to_bytes", "to_json"]
