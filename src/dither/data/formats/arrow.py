"""Arrow columns: convert them to values and reports, and back. Needs the extra `frames`.

A dictionary, a view or a run of an Arrow column may hold values of rows that were left out, and a writer
would write them. A writer also writes the bytes that are stored at a null. So columns that are kept are
converted to types that hold only the values of their rows.

pyarrow's `to_numpy` and `array` import pandas, and that takes longer than a small file: `to_numbers` and
`from_numbers` do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dither.core.question import Question
from dither.core.reports import Reports
from dither.errors import MalformedReport, MissingExtra, OutsideDomain
from dither.foundation.arrays import Array, Integers, Mask

if TYPE_CHECKING:
    import pyarrow

SPECIFICATION: Final = b"dither"  # the key of the specification in a schema's metadata
BATCH: Final = 1 << 18  # rows of a batch


def arrow() -> Any:
    """Return the module pyarrow; raise MissingExtra if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("data frames", "frames") from None
    return pyarrow


def to_objects(column: pyarrow.Array) -> list[Any]:
    """Return a column as Python objects. Raise OutsideDomain if Python has no such object."""
    try:
        cells: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # a date before the year 1 or after 9999; the error would show it
        raise OutsideDomain(f"a value of type {column.type} is beyond the range of Python") from None
    return cells


def to_numbers(column: pyarrow.Array) -> Array:
    """Return a column of integers or floats as numpy's numbers, without a copy if it has no nulls."""
    if column.null_count:
        numbers: Array = column.to_numpy(zero_copy_only=False)
        return numbers
    return np.from_dlpack(column)


def to_ids(column: pyarrow.Array) -> np.ma.MaskedArray | tuple[Array, Integers] | None:
    """Return the ids of people as 64-bit numbers, equal for equal ids and masked if missing.

    Texts are UTF-8 bytes and where each one begins. None for other kinds, and if a text is missing.
    """
    types = arrow().types
    if types.is_integer(column.type) or (types.is_floating(column.type) and column.type.bit_width > 16):
        absent = is_missing(column)
        numbers = to_numbers(column.fill_null(0))
        if types.is_floating(column.type):
            absent |= np.isnan(numbers)
            words = (numbers.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
        else:
            words = numbers.astype(np.int64, copy=False).view(np.uint64)
        return np.ma.MaskedArray(words, absent)
    if column.null_count or not (types.is_string(column.type) or types.is_large_string(column.type)):
        return None
    texts = column.cast(arrow().large_string())
    _, begins, data = texts.buffers()
    offsets = np.frombuffer(begins, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, dtype=np.uint8)
    return content[offsets[0] : offsets[-1]], offsets - offsets[0]


def to_mask(column: pyarrow.Array) -> Mask:
    """Return a column of booleans without nulls as a mask."""
    mask: Mask = to_numbers(column.cast(arrow().uint8())) != 0
    return mask


def from_numbers(numbers: Array, absent: Mask | None = None) -> pyarrow.Array:
    """Return an array of integers or floats as a column, without a copy; null where a mask is True."""
    pa = arrow()
    valid = None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))
    buffers = [valid, pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def numbers_of(column: pyarrow.Array) -> Array:
    """Return a column of numbers without nulls. Raise OutsideDomain if its type is not numeric."""
    pa = arrow()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if is_number(column.type):
        return to_numbers(column)
    raise OutsideDomain(f"numbers were expected; the column is of type {column.type}")


def is_number(kind: pyarrow.DataType) -> bool:
    """Return whether a type is an integer or float type."""
    pa = arrow()
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def encode_column(column: pyarrow.Array) -> tuple[Integers, list[Any]]:
    """Return the distinct values of a column, and for each row the index of its value; a null is None."""
    encoded = column.dictionary_encode("encode")
    return to_numbers(encoded.indices), to_objects(encoded.dictionary)


def encode_dictionary(column: pyarrow.DictionaryArray, rows: Integers) -> tuple[Integers, list[Any]]:
    """Return the values of some rows of a dictionary column, and for each row the index of its value.

    Only the texts of the dictionary are decoded. No row may be null.
    """
    indices = to_numbers(column.indices.fill_null(0))
    codes = indices if rows.size == len(column) else indices[rows]
    used = np.zeros(len(column.dictionary), dtype=np.bool_)
    used[codes] = True
    wanted = plain_type(column.dictionary.type)
    values = decode_column(column.dictionary, wanted).take(from_numbers(np.flatnonzero(used)))
    return (np.cumsum(used) - 1)[codes], to_objects(values)


def report_type(question: Question) -> pyarrow.DataType:
    """Return the Arrow type of a report: an unsigned integer, or bytes of a fixed length."""
    pa = arrow()
    layout = question.layout
    return pa.binary(layout.itemsize) if layout.subdtype else pa.from_numpy_dtype(layout)


def to_column(reports: Reports) -> pyarrow.Array:
    """Return reports as a column."""
    pa = arrow()
    if reports.question.layout.subdtype is None:
        return from_numbers(reports.cells)
    rows = np.ascontiguousarray(reports.cells)
    return pa.Array.from_buffers(report_type(reports.question), len(rows), [None, pa.py_buffer(rows)])


def with_gaps(reports: Reports, there: Mask) -> pyarrow.Array:
    """Return reports as a column with nulls where a mask is False. Only positions are used, no value."""
    index = np.cumsum(there) - 1
    return to_column(reports).take(from_numbers(np.where(there, index, 0), ~there))


def from_column(column: pyarrow.Array, question: Question) -> Array:
    """Return the integers of a column of reports; nulls (people who did not answer) are left out.

    Whether a device can have sent the numbers is not checked here: pass the result to `question.reports`.
    """
    if question.layout.subdtype is None:
        if not arrow().types.is_integer(column.type):
            raise MalformedReport(f"reports are integers; the column is of type {column.type}")
        return to_numbers(column.drop_null())
    width = question.layout.itemsize
    rows = [row for row in column.to_pylist() if row is not None]  # Arrow drops no nulls of views
    if not all(isinstance(row, bytes) and len(row) == width for row in rows):
        raise MalformedReport(f"reports are {width} bytes each; the column is of type {column.type}")
    base, shape = question.layout.subdtype
    return np.frombuffer(b"".join(rows), base).reshape(len(rows), *shape)


def rows_of(column: pyarrow.Array, rows: Integers) -> pyarrow.Array:
    """Return some rows of a column, in a type that stores only every value with its row.

    A dictionary column becomes a column of its values.
    """
    pa = arrow()
    wanted = plain_type(column.type)
    if pa.types.is_nested(wanted):  # `take` copies the values stored at a null of a struct
        cells = to_objects(column)
        return pa.array([cells[row] for row in rows.tolist()], wanted)
    return decode_column(column, wanted).take(from_numbers(rows))


def plain_type(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return the type of the same values without dictionaries, views and runs."""
    pa = arrow()
    if _is("dictionary", kind) or _is("run_end_encoded", kind):
        return plain_type(kind.value_type)
    if _is("string_view", kind):
        return pa.large_string()
    if _is("binary_view", kind):
        return pa.large_binary()
    if _is("list", kind) or _is("list_view", kind):
        return pa.list_(_plain_field(kind.value_field))
    if _is("large_list", kind) or _is("large_list_view", kind):
        return pa.large_list(_plain_field(kind.value_field))
    if _is("fixed_size_list", kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if _is("struct", kind):
        return pa.struct([_plain_field(kind.field(index)) for index in range(kind.num_fields)])
    if _is("map", kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), kind.keys_sorted)
    return kind


def decode_column(column: pyarrow.Array, wanted: pyarrow.DataType) -> pyarrow.Array:
    """Return a column in the type `wanted`, a result of `plain_type` for its own type."""
    if column.type == wanted:
        return column
    pa = arrow()
    if _is("dictionary", column.type) and not pa.types.is_nested(wanted):
        return decode_column(column.dictionary, wanted).take(column.indices)
    if not pa.types.is_nested(wanted) and not _is("run_end_encoded", column.type):
        return column.cast(wanted)
    return pa.array(to_objects(column), wanted)


def is_missing(column: pyarrow.Array) -> Mask:
    """Return True for every null, including nulls in dictionaries and runs."""
    if column.null_count == 0 and arrow().types.is_primitive(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    if _is("dictionary", column.type):
        absent = to_mask(column.indices.is_null())
        if column.dictionary.null_count:
            indices = to_numbers(column.indices.fill_null(0))
            absent |= is_missing(column.dictionary)[indices]
        return absent
    if _is("run_end_encoded", column.type):
        column = decode_column(column, plain_type(column.type))
    return to_mask(column.is_null())


def compact_table(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose dictionaries contain only values that occur, in the same order.

    A dictionary inside a list or a struct becomes the values themselves.
    """
    for index, field in enumerate(table.schema):
        if arrow().types.is_dictionary(field.type):
            column = _used_values(table.column(index), field.type)
        elif has_dictionary(field.type):
            wanted = plain_type(field.type)
            column = arrow().chunked_array(
                [decode_column(chunk, wanted) for chunk in table.column(index).chunks], wanted
            )
        else:
            continue
        # Polars writes the values of an enum there.
        metadata = {key: text for key, text in (field.metadata or {}).items() if not key.startswith(b"_PL_")}
        table = table.set_column(index, field.with_type(column.type).with_metadata(metadata or None), column)
    return table


def has_dictionary(kind: pyarrow.DataType) -> bool:
    """Return whether a type is a dictionary or contains one."""
    return "dictionary<" in str(kind)


def _used_values(column: pyarrow.ChunkedArray, kind: Any) -> pyarrow.ChunkedArray:
    """Return a column whose dictionaries all contain exactly the values that occur in any chunk."""
    pa = arrow()
    values = plain_type(kind.value_type)
    make = pa.DictionaryArray.from_arrays
    chunks = [
        make(chunk.indices, decode_column(chunk.dictionary, values), ordered=kind.ordered)
        for chunk in column.chunks
    ]
    wanted = pa.dictionary(kind.index_type, values, kind.ordered)
    complete = pa.chunked_array(chunks, wanted).unify_dictionaries()
    indices = [to_numbers(chunk.indices.drop_null()) for chunk in complete.chunks]
    used = np.unique(np.concatenate([np.empty(0, np.int64), *indices]).astype(np.int64))
    compact = []
    for chunk in complete.chunks:
        absent = to_mask(chunk.indices.is_null())
        new = np.searchsorted(used, to_numbers(chunk.indices.fill_null(0)))
        new[absent] = 0  # no value remains stored at a null
        positions = from_numbers(new.astype(kind.index_type.to_pandas_dtype()), absent)
        compact.append(make(positions, chunk.dictionary.take(from_numbers(used)), ordered=kind.ordered))
    return pa.chunked_array(compact, wanted)


def _plain_field(field: pyarrow.Field) -> pyarrow.Field:
    return arrow().field(field.name, plain_type(field.type), field.nullable)


def _is(name: str, kind: pyarrow.DataType) -> bool:
    """Return whether a type is of a family; False if this version of pyarrow does not know the family."""
    test = getattr(arrow().types, f"is_{name}", None)
    return test is not None and bool(test(kind))
