"""Random bytes from a cryptographic generator, and exact draws made of them.

Everything random in dither is made of bytes from a `Source`. The default source is a stream cipher keyed by
the operating system: AES-256-GCM's keystream where the machine has AES instructions, ChaCha20 elsewhere. No
two calls share a byte: not those of two threads, not one made by a signal handler during another, not those
of a process and its fork. The default source erases its keys, so that a later image of the memory does not
contain what would undo earlier reports (`System`).

No float decides anything here: an integer below n, a coin with probability p/q and a choice by integer
weights are exact.
"""

from dither.randomness.reproducible import Keyed, Seeded
from dither.randomness.source import Source
from dither.randomness.system import SYSTEM, System

__all__ = ["SYSTEM", "Keyed", "Seeded", "Source", "System"]
