"""Mechanisms: one short file for each paper, with its formulas and theorems. Samplers are in `core`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
