"""Arrow columns that hold nothing but the values of their rows. Needs the extra `frames`.

A dictionary, a view or a run of an Arrow column may hold values of rows that were left out, and a writer
would write them. A writer also writes the bytes that are stored at a null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dither.files.arrow import arrow, plain

if TYPE_CHECKING:
    import pyarrow

    from dither.arrays import Integers, Mask


def rows_of(column: pyarrow.Array, rows: Integers) -> pyarrow.Array:
    """Return some rows of a column, in a type that stores every value beside its row and nothing else.

    A dictionary column becomes a column of its values.
    """
    pa = arrow()
    wanted = plain_type(column.type)
    if pa.types.is_nested(wanted):  # `take` copies the values stored at a null of a struct
        cells = plain(column)
        return pa.array([cells[row] for row in rows.tolist()], wanted)
    return decoded(column, wanted).take(pa.array(rows))


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
        return pa.struct([_plain_field(kind.field(place)) for place in range(kind.num_fields)])
    if _is("map", kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), kind.keys_sorted)
    return kind


def decoded(column: pyarrow.Array, wanted: pyarrow.DataType) -> pyarrow.Array:
    """Return a column in the type `wanted`, which `plain_type` returned for its own."""
    if column.type == wanted:
        return column
    pa = arrow()
    if not pa.types.is_nested(wanted) and not _is("run_end_encoded", column.type):
        try:
            return column.cast(wanted)
        except pa.ArrowNotImplementedError:  # dictionaries of views
            pass
    return pa.array(plain(column), wanted)


def is_missing(column: pyarrow.Array) -> Mask:
    """Return True for every null, also for one that is a value of a dictionary or a run."""
    if column.null_count == 0 and arrow().types.is_primitive(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    if _is("dictionary", column.type) or _is("run_end_encoded", column.type):
        column = decoded(column, plain_type(column.type))
    absent: Mask = column.is_null().to_numpy(zero_copy_only=False)
    return absent


def compacted(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose dictionaries hold only values that occur, in the same order.

    A dictionary inside a list or a struct becomes the values themselves.
    """
    for place, field in enumerate(table.schema):
        if arrow().types.is_dictionary(field.type):
            column = _used_values(table.column(place), field.type)
        elif has_dictionary(field.type):
            wanted = plain_type(field.type)
            column = arrow().chunked_array(
                [decoded(one, wanted) for one in table.column(place).chunks], wanted
            )
        else:
            continue
        # Polars writes the values of an enum there.
        metadata = {key: text for key, text in (field.metadata or {}).items() if not key.startswith(b"_PL_")}
        table = table.set_column(place, field.with_type(column.type).with_metadata(metadata or None), column)
    return table


def has_dictionary(kind: pyarrow.DataType) -> bool:
    """Return whether a type is a dictionary or has one inside."""
    return "dictionary<" in str(kind)


def _used_values(column: pyarrow.ChunkedArray, kind: Any) -> pyarrow.ChunkedArray:
    pa = arrow()
    values = plain_type(kind.value_type)
    make = pa.DictionaryArray.from_arrays
    chunks = [
        make(one.indices, decoded(one.dictionary, values), ordered=kind.ordered) for one in column.chunks
    ]
    wanted = pa.dictionary(kind.index_type, values, kind.ordered)
    whole = pa.chunked_array(chunks, wanted).unify_dictionaries()
    indices = [one.indices.drop_null().to_numpy(zero_copy_only=False) for one in whole.chunks]
    used = np.unique(np.concatenate([np.empty(0, np.int64), *indices]).astype(np.int64))
    compact = []
    for one in whole.chunks:
        absent = one.indices.is_null().to_numpy(zero_copy_only=False)
        new = np.searchsorted(used, one.indices.fill_null(0).to_numpy(zero_copy_only=False))
        new[absent] = 0  # no value stays stored at a null
        compact.append(
            make(
                pa.array(new, kind.index_type, mask=absent),
                one.dictionary.take(pa.array(used)),
                ordered=kind.ordered,
            )
        )
    return pa.chunked_array(compact, wanted)


def _plain_field(field: pyarrow.Field) -> pyarrow.Field:
    return arrow().field(field.name, plain_type(field.type), field.nullable)


def _is(name: str, kind: pyarrow.DataType) -> bool:
    """Return whether a type is of a family; False if this version of pyarrow does not know the family."""
    test = getattr(arrow().types, f"is_{name}", None)
    return test is not None and bool(test(kind))
