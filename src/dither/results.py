"""What dither's functions return: classes for annotations, `from dither.results import Estimate`.

`results.pyi` lists them and the modules that define them; each is imported when it is first used. None of them
is made by a caller, so that none stands among the names of `dt`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("dither", __file__)
