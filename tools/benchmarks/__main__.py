"""Run every table: each module of this folder that has a `main`."""

from __future__ import annotations

import importlib
import pkgutil

from tools import benchmarks

for module in sorted(found.name for found in pkgutil.iter_modules(benchmarks.__path__)):
    if module in ("__main__", "timing"):
        continue
    main = getattr(importlib.import_module(f"tools.benchmarks.{module}"), "main", None)
    if main is not None:
        print(f"\n## {module}\n")
        main()
