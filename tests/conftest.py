"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Tests run in several processes; threads of small matrix products would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.support.postgresql import postgresql  # a fixture

__all__ = ["postgresql"]

# The same examples on every machine: a failure is reproduced by running the test again.
settings.register_profile("dither", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dither")


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Solved mechanisms are remembered in a folder of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_CACHE", str(tmp_path_factory.mktemp("designs")))
        yield
