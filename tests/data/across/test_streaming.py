"""Files larger than memory: a process that perturbs many rows stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

# `resource.getrusage` gives a peak that a process inherits from the one that started it, here from pytest.
# VmHWM is the peak of this program alone: it begins anew when the program is loaded.
_PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
"""
_RUN = f"""
import sys
from dither.cli import main
{_PEAK}
main(sys.argv[1:], standalone_mode=False)
print(peak())
"""


def _peak(program: str, *arguments: str) -> int:
    """Run a program in a process of its own and return the last number that it prints, its peak in MiB."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of one process is measured on Linux only")
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def test_the_peak_is_the_process_s_own() -> None:
    large = bytearray(b"x") * (400 << 20)
    assert _peak(f"{_PEAK}\nprint(peak())") < 100
    assert _peak(f"{_PEAK}\nlarge = bytearray(b'x') * (200 << 20); del large\nprint(peak())") > 200
    del large


@pytest.mark.parametrize(("ending", "rows"), [("parquet", 10**8), ("arrow", 5 * 10**7), ("csv", 3 * 10**6)])
def test_memory_does_not_grow_with_the_file(ending: str, rows: int, tmp_path: Path) -> None:
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if ending == "csv":
        with path.open("w") as stream:
            stream.write("minutes\n")
            stream.writelines(f"{value:.2f}\n" for value in np.random.default_rng(1).random(rows))
    else:
        from pyarrow import parquet

        million = pa.record_batch({"minutes": np.random.default_rng(1).random(10**6, dtype=np.float32)})
        make = parquet.ParquetWriter if ending == "parquet" else pa.ipc.new_file
        with make(str(path), million.schema) as writer:
            for _ in range(rows // 10**6):
                writer.write_batch(million)
    asked = ("--column", "minutes", "--interval", "0", "1", "--epsilon", "1")
    assert _peak(_RUN, "perturb", str(path), *asked, "-o", str(out)) < 300
    assert _peak(_RUN, "estimate", str(out), "--json") < 300
