"""Classes for annotations: what functions return, and bases of what they take.

`from dither.results import Estimate`. A caller makes none of them, so that none stands among the names of
`dt`. `results.pyi` lists the modules that define them; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("dither", __file__)
