"""The trusted curator: means, sums and counts with exact noise, for data that one party holds.

Everywhere else in dither each person perturbs their own value. Here one trusted party sees all values and
releases an answer with noise, which is far more accurate. Adding or removing one record changes the
probability of any answer by a factor of at most e^ε, exactly, on integers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
