"""A stand-in for pyspark that runs in this process, so that refusals and workers are tested without Java."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

_KINDS = ("Short", "Integer", "Long", "Binary", "String")


class StubError(Exception):
    """An error of Spark, with its condition."""

    def __init__(self, text: str, condition: str | None = None) -> None:
        super().__init__(text)
        self._condition = condition

    def getCondition(self) -> str | None:
        return self._condition


@dataclass
class Field:
    name: str
    dataType: Any  # noqa: N815  (as in pyspark)
    nullable: bool = True
    metadata: dict[str, str] | None = None


@dataclass
class Schema:
    fields: list[Field]

    def __getitem__(self, name: str) -> Field:
        return next(one for one in self.fields if one.name == name)


@dataclass
class Kind:
    """A type of Spark, by its SQL name."""

    name: str

    def simpleString(self) -> str:
        return self.name


@dataclass
class Session:
    settings: dict[str, str] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)
    workers_have_dither: bool = True

    @property
    def conf(self) -> Any:
        return self.settings

    @property
    def read(self) -> Any:
        session = self

        class Reader:
            def schema(self, schema: Schema) -> Any:
                self._schema = schema
                return self

            def parquet(self, path: str) -> Any:
                return Frame(session, pq.read_table(path), self._schema)

        return Reader()


class Frame:
    """A frame whose rows are an Arrow table, in one partition unless `partitions` is set."""

    isStreaming = False  # noqa: N815
    partitions = 1

    def __init__(self, session: Session, table: Any, schema: Schema | None = None) -> None:
        self.sparkSession, self.table = session, table
        self.schema = schema or Schema(
            [Field(one.name, Kind(_sql(one.type)), True, {}) for one in table.schema]
        )

    @property
    def columns(self) -> list[str]:
        return [one.name for one in self.schema.fields]

    def select(self, *names: str) -> Frame:
        plain = [name.strip("`") for name in names]
        chosen = Schema([self.schema[one] for one in plain])
        frame = Frame(self.sparkSession, self.table.select(plain), chosen)
        frame.partitions = self.partitions
        return frame

    def parts(self) -> list[Any]:
        """Return the partitions, each as an iterator of batches."""
        size = -(-max(self.table.num_rows, 1) // self.partitions)
        parts = [self.table.slice(begin, size) for begin in range(0, max(self.table.num_rows, 1), size)]
        return [iter(part.to_batches(max_chunksize=97)) for part in parts]

    def mapInArrow(self, function: Any, schema: Any) -> Any:
        frame = self

        class Lazy:
            """Runs the function at every action, as Spark does."""

            def _run(self) -> Any:
                try:
                    if not frame.sparkSession.workers_have_dither:
                        raise ModuleNotFoundError("No module named 'dither'")
                    return pa.Table.from_batches([one for part in frame.parts() for one in function(part)])
                except Exception as error:  # as the driver sees it
                    kind = type(error)
                    text = f"Traceback\n{kind.__module__}.{kind.__qualname__}: {error}\n SQLSTATE: 38000"
                    raise StubError(text) from None

            def collect(self) -> Any:
                return [tuple(row.values()) for row in self._run().to_pylist()]

            def groupBy(self, *keys: str) -> Any:
                self._keys = list(keys)
                return self

            def agg(self, total: Any) -> Any:
                assert total == "sum of count"
                return self

            def sort(self, *keys: str) -> Any:
                assert list(keys) == self._keys
                return self

            def toArrow(self) -> Any:
                added = self._run().group_by(self._keys).aggregate([("count", "sum")])
                named = added.select([*self._keys, "count_sum"]).rename_columns([*self._keys, "count"])
                return named.sort_by([(key, "ascending") for key in self._keys])

            @property
            def write(self) -> Any:
                return self

            def mode(self, name: str) -> Any:
                assert name == "error"
                return self

            def options(self, **settings: str) -> Any:
                frame.sparkSession.written["options"] = settings
                return self

            def parquet(self, path: str) -> None:
                if Path(path).exists():
                    raise StubError("exists", "PATH_ALREADY_EXISTS")
                pq.write_table(self._run(), path)

        return Lazy()


def _sql(kind: Any) -> str:
    return {"double": "double", "string": "string", "int64": "bigint", "int32": "int"}[str(kind)]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in in the place of pyspark."""
    modules = {
        "pyspark": {"TaskContext": type("TaskContext", (), {"get": staticmethod(lambda: None)})},
        "pyspark.sql": {"DataFrame": Frame},
        "pyspark.sql.functions": {"sum": lambda name: SimpleNamespace(alias=lambda to: f"sum of {to}")},
        "pyspark.errors": {"PySparkException": StubError},
        "pyspark.sql.types": {
            "StructType": Schema,
            "StructField": Field,
            **{f"{name}Type": lambda name=name: Kind(name) for name in _KINDS},
        },
    }
    for name, members in modules.items():
        module = ModuleType(name)
        for key, value in members.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["pyspark"].sql = sys.modules["pyspark.sql"]  # type: ignore[attr-defined]
    sys.modules["pyspark.sql"].types = sys.modules["pyspark.sql.types"]  # type: ignore[attr-defined]
    sys.modules["pyspark.sql"].functions = sys.modules["pyspark.sql.functions"]  # type: ignore[attr-defined]
