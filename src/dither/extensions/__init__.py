"""Central differential privacy, utility of classifiers, protocols between devices.

No other package imports an extension, except the public modules and the terminal commands.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
