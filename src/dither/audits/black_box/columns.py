"""Reports as columns: numbers, labels, lengths, types, low-order bits. Every event is about one column.

A column of numbers is a float array, in which NaN also stands for "has no such number". A column of labels
is an array of objects, in which None stands for "has no such label".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Floats
from dither.audits.black_box.calls import Failed, Outputs

_MOST_PARTS: Final = 32  # of one report that become columns
_MOST_BITS: Final = 512
_DETAILED: Final = 6  # number columns whose low-order bits are looked at
_FEW: Final = 64  # whole numbers closer together are looked at one by one anyway
_LETTERS: Final = 8  # of a text that become columns

Columns = dict[str, Array]


@final
@dataclass(frozen=True, eq=False)
class Context:
    """What of the claim some columns use: the inputs as numbers, and the scale of Laplace noise for it."""

    inputs: Floats | None = None
    scale: float | None = None  # length of the interval / ε


def columns(outputs: Outputs, context: Context) -> Columns:
    """Return the columns of reports."""
    array = _regular(outputs)
    if array is None:
        plain = _flattened(outputs)
    elif array.dtype.names:
        plain = {}
        for name in array.dtype.names:
            field = array[name].reshape(len(array), -1)
            more = field.shape[1] > 1
            plain |= {
                f"report[{name!r}]" + (f"[{at}]" if more else ""): field[:, at].astype(np.float64)
                for at in range(min(field.shape[1], _MOST_PARTS))
            }
    elif array.ndim == 1:
        plain = {"report": array}
    else:
        plain = _rows(array.reshape(len(array), -1))
    return _detailed(plain, context)


def _regular(outputs: Outputs) -> Array | None:
    """Return reports that are all numbers of one type as an array; None for any others."""
    if isinstance(outputs, np.ndarray):
        return outputs if outputs.dtype.kind in "fiub" or outputs.dtype.names else None
    kinds = {type(one) for one in outputs}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind in (int, float, bool) or (isinstance(kind, type) and issubclass(kind, np.number | np.bool_)):
        array = np.array(outputs)
        return array if array.dtype.kind in "fiub" else None
    if kind in (list, tuple, np.ndarray):
        try:
            array = np.array(outputs)
        except ValueError:
            return None
        return array if array.dtype.kind in "fiub" and array.ndim > 1 else None
    return None


def _rows(rows: Array) -> Columns:
    """Return the columns of reports that are rows of numbers: each number, and which of them are equal."""
    width = rows.shape[1]
    if rows.dtype == np.uint8 and width <= _MOST_BITS // 8:
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        whole: Columns = {"report": rows[:, 0]} if width == 1 else {}
        return whole | {f"bit {at} of the report": bits[:, at].astype(np.float64) for at in range(8 * width)}
    if rows.dtype == np.bool_ and width <= _MOST_BITS:
        return {f"report[{at}]": rows[:, at].astype(np.float64) for at in range(width)}
    found: Columns = {f"report[{at}]": rows[:, at] for at in _parts(width)}
    if width > 1:
        ordered = np.sort(rows, axis=1)
        found["how many different numbers are in the report"] = 1.0 + (ordered[:, 1:] != ordered[:, :-1]).sum(
            axis=1
        )
    if width > _MOST_PARTS:
        found["the sum of the report"] = rows.sum(axis=1, dtype=np.float64)
    return found


def _parts(width: int) -> list[int]:
    return list(range(width)) if width <= _MOST_PARTS else [*range(_MOST_PARTS - 1), width - 1]


def _flattened(outputs: Outputs) -> Columns:
    rows: list[dict[str, Any]] = []
    for one in outputs:
        row: dict[str, Any] = {}
        _flatten("report", one, row, 0)
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))[: _MOST_BITS * 2]
    return {name: _column(name, rows) for name in names}


def _column(name: str, rows: list[dict[str, Any]]) -> Array:
    values = [row.get(name) for row in rows]
    if all(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    labels = np.empty(len(values), dtype=object)
    labels[:] = [
        value if value is None or isinstance(value, str | bytes) else repr(value) for value in values
    ]
    return labels


def _flatten(name: str, one: Any, row: dict[str, Any], depth: int) -> None:
    """Put the numbers, labels, lengths and types of one report into a row."""
    if isinstance(one, np.generic):
        one = one.item()
    row[f"type of {name}"] = f"error {one.error}" if isinstance(one, Failed) else type(one).__name__
    if isinstance(one, bool | int | float):
        row[f"{name} as written"] = repr(one)  # 3 and 3.0 are different reports
        row[name] = float(one) if abs(one) < 1e300 else repr(one)
        if isinstance(one, float) and abs(one) >= 1e300:
            row[name] = one
    elif isinstance(one, str | bytes):
        row[f"text of {name}"] = one
        row[f"length of {name}"] = float(len(one))
        codes = list(one[:_LETTERS]) if isinstance(one, bytes) else [ord(letter) for letter in one[:_LETTERS]]
        row |= {f"{name}[{at}]": float(code) for at, code in enumerate(codes)}
    elif depth > 3 or one is None or isinstance(one, Failed):
        return
    elif isinstance(one, set | frozenset):
        row[f"length of {name}"] = float(len(one))
        ordered = sorted(map(repr, one))
        row[f"all of {name}"] = ", ".join(ordered)
        row |= {f"{name} contains {element}": 1.0 for element in ordered[:_MOST_PARTS]}
    elif isinstance(one, Mapping):
        row[f"keys of {name}"] = repr(sorted(map(repr, one)))
        for key in list(one)[:_MOST_PARTS]:
            _flatten(f"{name}[{key!r}]", one[key], row, depth + 1)
    elif isinstance(one, list | tuple | np.ndarray):
        row[f"length of {name}"] = float(len(one)) if np.ndim(one) or not isinstance(one, np.ndarray) else 0.0
        parts = list(one) if row[f"length of {name}"] else []
        for at in _parts(len(parts)):
            _flatten(f"{name}[{at}]", parts[at], row, depth + 1)
        row[f"how many different parts are in {name}"] = float(len(set(map(repr, parts))))


def _detailed(plain: Columns, context: Context) -> Columns:
    """Return the columns with low-order bits, spacing, distances and the grid of a coarse uniform number."""
    found: Columns = {}
    detailed = 0
    for name, column in plain.items():
        if column.dtype.kind == "O":
            found[name] = column
            continue
        numbers = column.astype(np.float64, copy=False)
        found[name] = numbers
        if detailed >= _DETAILED or not name.startswith("report"):
            continue
        detailed += 1
        finite = numbers[np.isfinite(numbers)]
        whole = bool((finite == np.floor(finite)).all())
        if whole and finite.size and float(finite.max() - finite.min()) >= _FEW:
            with np.errstate(invalid="ignore"):
                found[f"{name} modulo 8"] = np.mod(numbers, 8.0)
        if not whole:
            found[f"the lowest bit of {name} (a power of 2)"] = lowest_bit(numbers)
    number = list(plain.values())
    if context.inputs is not None and all(column.dtype.kind != "O" for column in number):
        width = context.inputs.shape[1]
        if width == len(plain) and 1 < width <= 4:
            rows = np.stack([column.astype(np.float64) for column in number], axis=1)
            for at, place in enumerate(context.inputs):
                found[f"the distance of the report from input {at}"] = np.sqrt(
                    ((rows - place) ** 2).sum(axis=1)
                )
        if width == 1 and context.scale is not None and len(plain) == 1 and number[0].dtype.kind == "f":
            found |= _uniform_grid(number[0].astype(np.float64), context.inputs[:, 0], context.scale)
    return found


def lowest_bit(numbers: Floats) -> Floats:
    """Return the exponent of the lowest bit that is set: 4 of 0.0625 is −4; NaN for 0 and what is not finite.

    Floating-point noise leaves its spacing here: sums are multiples of the last bit of the larger term
    [Mironov12].
    """
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(numbers)
        bits = np.abs(np.where(np.isfinite(mantissa), mantissa, 0.0) * 2.0**53).astype(np.int64)
    lowest = bits & -bits
    with np.errstate(divide="ignore"):
        zeros = np.log2(lowest.astype(np.float64))
    return np.where(bits == 0, np.nan, zeros + exponent - 53.0)


_GRIDS: Final = (16, 23, 24, 31, 32)  # bits of a uniform number from which noise may have been computed


def _uniform_grid(numbers: Floats, inputs: Floats, scale: float) -> Columns:
    """Return how near exp(−|report − input|/scale) is to a multiple of 2^−bits, for the first two inputs.

    Laplace noise is −scale·ln(U) with a sign. If U has only so many bits, this is 0 up to rounding under the
    input itself, and anything under other inputs [Mironov12]. The number is log2 of the distance in units.
    """
    found: Columns = {}
    for at, value in enumerate(inputs[:2].tolist()):
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            uniform = np.exp(-np.abs(numbers - value) / scale)
            for bits in _GRIDS:
                steps = uniform * 2.0**bits
                off = np.abs(steps - np.rint(steps))
                found[f"log2 of the distance of U·2^{bits} from a whole number, noise about input {at},"] = (
                    np.log2(np.maximum(off, 2.0**-30))
                )
    return found
