"""The wire format: mechanisms, reports and campaigns as JSON, TOML and bytes."""

from dither.wire.codec import Campaign, from_bytes, from_json, to_bytes, to_json

__all__ = ["Campaign", "from_bytes", "from_json", "to_bytes", "to_json"]
