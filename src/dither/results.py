"""Classes for annotations: results of functions, and bases of their arguments.

`from dither.results import Estimate`. Callers do not construct them, so they are not among the names of
`dt`. `results.pyi` lists the modules that define them; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("dither", __file__)
