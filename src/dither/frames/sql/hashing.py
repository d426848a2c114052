"""The hash family of `OLH` in SQL: 64-bit products in two limbs of 32 bits, one factor cut into 16 bits.

No intermediate number reaches 2^50, except multiplier·item + offset < 2^63. So no dialect overflows, whether
its 64-bit integers are signed, wrap around, or raise an error. `kernels/sets/hashing.py` defines the family.
"""

from __future__ import annotations

from typing import Final

from dither.errors import InvalidParameter
from dither.frames.sql.dialects import SqlDialect
from dither.kernels.sets.hashing import FIRST, GOLDEN, SECOND

MOST_ITEMS: Final = 1 << 31  # multiplier·item + offset is below 2^63
_HALF: Final = 1 << 16

Stage = dict[str, str]  # new columns by name; a stage is computed from the one before, `s`


def stages(dialect: SqlDialect, seed: str) -> list[Stage]:
    """Return what turns the column `seed` into the columns `hi` and `lo`, the multiplier and the offset.

    They are the halves of SplitMix64's finaliser [SplitMix14].
    """
    begin = {
        "hi": dialect.without_low(f"({seed} + 1)", 32),
        "lo": dialect.low_bits(f"({seed} + 1)", 32),
    }
    return [
        begin,
        *_product(dialect, GOLDEN),
        _mixed(dialect, 30),
        *_product(dialect, FIRST),
        _mixed(dialect, 27),
        *_product(dialect, SECOND),
        _mixed(dialect, 31),
    ]


def bucket(dialect: SqlDialect, items: int, buckets: int) -> str:
    """Return the bucket of the column `item` under the function of the columns `hi` and `lo`."""
    if items > MOST_ITEMS:
        raise InvalidParameter(f"a query counts up to {MOST_ITEMS} categories by hashing, not {items}")
    place = dialect.low_bits("((s.hi * s.item) + s.lo)", 32)
    return dialect.without_low(f"({place} * {buckets})", 32)


def _product(dialect: SqlDialect, factor: int) -> list[Stage]:
    """Return what replaces hi·2^32 + lo by its product with a 64-bit constant, modulo 2^64."""
    high, low = factor >> 32, factor & 0xFFFFFFFF

    def modulo(limb: str, constant: int) -> str:  # below 2^48 + 2^32, and equal to the product modulo 2^32
        upper = dialect.low_bits(f"({dialect.without_low(limb, 16)} * {constant})", 16)
        return f"(({dialect.low_bits(limb, 16)} * {constant}) + ({upper} * {_HALF}))"

    return [
        {
            "near": f"({dialect.low_bits('s.lo', 16)} * {low})",
            "far": f"({dialect.without_low('s.lo', 16)} * {low})",
            "across": f"({modulo('s.lo', high)} + {modulo('s.hi', low)})",
        },
        {
            "near": "s.near",
            "carried": f"({dialect.without_low('s.near', 16)} + s.far)",
            "across": "s.across",
        },
        {
            "hi": dialect.low_bits(f"({dialect.without_low('s.carried', 16)} + s.across)", 32),
            "lo": f"(({dialect.low_bits('s.carried', 16)} * {_HALF}) + {dialect.low_bits('s.near', 16)})",
        },
    ]


def _mixed(dialect: SqlDialect, by: int) -> Stage:
    """Return what replaces the word w = hi·2^32 + lo by w xor (w >> by), for `by` below 32."""
    down = f"(({dialect.low_bits('s.hi', by)} * {1 << (32 - by)}) + {dialect.without_low('s.lo', by)})"
    return {
        "hi": dialect.either("s.hi", dialect.without_low("s.hi", by)),
        "lo": dialect.either("s.lo", down),
    }
