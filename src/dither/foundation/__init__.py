"""Arrays, numerical methods, randomness, canonical JSON, losses, tables, plots, atomic files.

This package does not depend on mechanisms or reports.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
