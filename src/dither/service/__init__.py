"""The collector: campaigns as signed contracts, durable intake, live counts. Needs the extra `service`."""

from dither.service.client import Client
from dither.service.contract import Contract, Published

__all__ = ["Client", "Contract", "Published"]
