"""Random bytes from a cryptographic generator, and exact draws from them.

All randomness in dither comes from the bytes of a `Source`. The default source is a stream cipher keyed by
the operating system: the keystream of AES-256-GCM if the machine has AES instructions, otherwise ChaCha20. No
two calls use the same byte, even if they are made by different threads, by a signal handler during another
call, or by a process and its fork. The default source erases its keys, so that a later image of the memory
cannot be used to undo earlier reports (`System`).

No float decides a draw: an integer below n, a coin with probability p/q and a choice by integer weights are
exact.
"""

from dither.foundation.randomness.reproducible import Keyed
from dither.foundation.randomness.reproducible import Seeded as Seeded
from dither.foundation.randomness.source import Source
from dither.foundation.randomness.system import SYSTEM
from dither.foundation.randomness.system import System as System

__all__ = ["SYSTEM", "Keyed", "Source"]
