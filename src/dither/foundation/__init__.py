"""Arrays, numerical methods, randomness, canonical JSON, losses, tables, plots, atomic files.

Nothing here knows what a report is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
