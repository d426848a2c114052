"""Classes for annotations, `from dither.results import Estimate`: what functions return, and bases of what they take.

`results.pyi` lists them and the modules that define them; each is imported when it is first used. A caller makes
none of them, so that none stands among the names of `dt`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("dither", __file__)
