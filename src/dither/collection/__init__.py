"""Accounts of people, signed campaigns, the collector with its stores, and the client. Needs `service`."""

import lazy_loader

from dither.collection.carried import load_device

load_device()  # before any module of this room, all of which may import `dither_device`
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
