"""The trusted curator: means, sums and counts with exact noise, for data that one party holds.

Everywhere else in dither each person perturbs their own value. Here one party sees all values and releases
an answer with noise: far more accurate, if that party is trusted. One record added or removed changes the
probability of any answer by a factor of at most e^ε, exactly, on integers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
