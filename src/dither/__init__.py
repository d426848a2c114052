"""Local differential privacy, exact to the last bit.

`__init__.pyi` lists the public names and the modules that define them. Type checkers read it, and so does
the lazy loader: a module is imported when one of its names is first used; `import dither` imports none.
"""

import lazy_loader

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a public name, which is imported now, or the version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("dither")
    return _public(name)
