"""The program that is extracted from the proofs: compiled once a process, asked for many draws at once."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dither.core.kernels.window.integers import Lottery
from tools import proofs


@cache
def built() -> Path:
    """Return a folder with all files checked and the program compiled; skip the test where Coq is missing."""
    if (lacking := proofs.missing(program=True)) is not None:
        pytest.skip(lacking)
    folder = Path(tempfile.mkdtemp(prefix="dither-proofs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    proofs.check(folder, (*proofs.CHAPTERS, "Extract"))
    proofs.compile_program(folder)
    return folder


def high_bits(value: np.ndarray, bits: int) -> np.ndarray:
    """Return rows of bytes whose highest bits are the numbers, as `Source.bits` reads them."""
    size = (bits + 7) // 8
    shifted = value.astype(np.uint64) << np.uint64(8 * size - bits)
    return little(shifted, size)


def little(value: np.ndarray, size: int) -> np.ndarray:
    """Return numbers as rows of bytes, the lowest first."""
    return value.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :size]


def draw_many(words: tuple[object, ...], inputs: np.ndarray, tapes: np.ndarray) -> np.ndarray:
    """Return the reports of the extracted program: an input and a row of bytes for each."""
    records = np.concatenate([little(inputs, 8), tapes], axis=1)
    command = [str(built() / "draws"), "many", str(tapes.shape[1]), *map(str, words)]
    done = subprocess.run(command, input=records.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, dtype="<u4")


def tapes_of(
    lottery: Lottery, words: np.ndarray, late: np.ndarray, uniform: np.ndarray | None = None
) -> np.ndarray:
    """Return the bytes that `Lottery.draw_one` would take for given words.

    `late` has a word for each draw, which counts where the first word leaves the draw open; its bytes come
    before the uniform ones there, and are not taken elsewhere. `uniform` are rows of bytes.
    """
    early_size, late_size = (lottery.bits - 32) // 8, 4
    more = np.empty((words.size, 0), np.uint8) if uniform is None else uniform
    hanging = words >= words.dtype.type((1 << 8 * early_size) - lottery.tickets)
    first, then = little(late, late_size), more
    tapes = np.empty((words.size, early_size + late_size + more.shape[1]), dtype=np.uint8)
    tapes[:, :early_size] = little(words, early_size)
    tapes[:, early_size:] = np.where(
        hanging[:, None], np.concatenate([first, then], axis=1), np.concatenate([then, first], axis=1)
    )
    return tapes
