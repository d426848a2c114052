"""Run every table: each module of this folder that has a `main`. One that fails does not stop the others."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback

from tools import benchmarks

failed = []
for module in sorted(found.name for found in pkgutil.iter_modules(benchmarks.__path__)):
    if module in ("__main__", "timing"):
        continue
    main = getattr(importlib.import_module(f"tools.benchmarks.{module}"), "main", None)
    if main is not None:
        print(f"\n## {module}\n")
        try:
            main()
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed.append(module)
if failed:
    raise SystemExit(f"\nThese tables failed: {', '.join(failed)}")
