"""Tables, trips and data frames: values in, reports out; reports in, summaries, estimates and trips out.

`__init__.pyi` lists the public names and the modules that define them; each is imported when it is first
used. Polars expressions are registered by `from dither.data import polars`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
