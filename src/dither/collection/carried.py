"""The package `dither_device` that was built with this dither, loaded under its own name.

`dither.collection` needs it. The wheel of dither holds a copy of the package in a folder of its own, so that
installing or removing the distribution dither-device changes nothing here.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

_NAME: Final = "dither_device"
_FOLDERS: Final = (
    Path(__file__).parents[1] / "clients" / "python",  # in a wheel
    Path(__file__).parents[3] / "clients" / "python" / "src",  # where dither runs from its repository
)


def load_device() -> None:
    """Import `dither_device` from this distribution; keep a module that the program has already imported.

    Raise ImportError if that module has another version: both could decide differently about an account.
    """
    for folder in _FOLDERS:
        file = folder / _NAME / "__init__.py"
        if not file.is_file():
            continue
        spec = spec_from_file_location(_NAME, file, submodule_search_locations=[str(file.parent)])
        if spec is None or spec.loader is None:
            continue
        module, imported = module_from_spec(spec), sys.modules.get(_NAME)
        if imported is None:
            sys.modules[_NAME] = module
        spec.loader.exec_module(module)
        if imported is not None and imported.__version__ != module.__version__:
            raise ImportError(
                f"dither needs dither-device {module.__version__}, and {imported.__version__} was imported "
                f"from {imported.__file__}: install the same version, or import dither.collection first"
            )
        return
