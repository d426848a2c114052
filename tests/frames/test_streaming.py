"""Files larger than memory: a process that perturbs many rows stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

_RUN = """
import resource, sys
from dither.cli import main
main(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def _peak(*arguments: str) -> int:
    """Run the command line in a process of its own and give its peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize(("ending", "rows"), [("parquet", 10**8), ("csv", 3 * 10**6)])
def test_memory_does_not_grow_with_the_file(ending: str, rows: int, tmp_path: Path) -> None:
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if ending == "csv":
        with path.open("w") as stream:
            stream.write("minutes\n")
            stream.writelines(f"{value:.2f}\n" for value in np.random.default_rng(1).random(rows))
    else:
        from pyarrow import parquet

        million = pa.record_batch({"minutes": np.random.default_rng(1).random(10**6, dtype=np.float32)})
        with parquet.ParquetWriter(path, million.schema) as writer:
            for _ in range(rows // 10**6):
                writer.write_batch(million)
    asked = ("--column", "minutes", "--interval", "0", "1", "--epsilon", "1")
    assert _peak("perturb", str(path), *asked, "-o", str(out)) < 500
    assert _peak("estimate", str(out), "--json") < 500
