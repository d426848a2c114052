"""Accounts of people, signed campaigns, the collector with its stores, and the client. Needs `service`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
