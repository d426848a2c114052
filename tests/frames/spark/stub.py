"""A stand-in for pyspark that runs in this process, so that refusals and workers are tested without Java."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


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
    """A frame of one partition, whose rows are an Arrow table."""

    isStreaming = False  # noqa: N815

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
        return Frame(self.sparkSession, self.table.select(plain), Schema([self.schema[one] for one in plain]))

    def mapInArrow(self, function: Any, schema: Any) -> Any:
        frame = self

        class Lazy:
            """Runs the function at every action, as Spark does."""

            def _run(self) -> Any:
                try:
                    return pa.Table.from_batches(
                        list(function(iter(frame.table.to_batches(max_chunksize=97))))
                    )
                except Exception as error:  # as the driver sees it
                    kind = type(error)
                    text = f"Traceback\n{kind.__module__}.{kind.__qualname__}: {error}\n SQLSTATE: 38000"
                    raise StubError(text) from None

            def collect(self) -> Any:
                return [tuple(row.values()) for row in self._run().to_pylist()]

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
    return {"double": "double", "string": "string", "int64": "bigint"}[str(kind)]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in in the place of pyspark."""
    modules = {
        "pyspark": {"TaskContext": type("TaskContext", (), {"get": staticmethod(lambda: None)})},
        "pyspark.sql": {"DataFrame": Frame},
        "pyspark.errors": {"PySparkException": StubError},
        "pyspark.sql.types": {
            "StructType": Schema,
            "StructField": Field,
            **{
                f"{name}Type": lambda name=name: Kind(name) for name in ("Short", "Integer", "Long", "Binary")
            },
        },
    }
    for name, members in modules.items():
        module = ModuleType(name)
        for key, value in members.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)
    sys.modules["pyspark"].sql = sys.modules["pyspark.sql"]  # type: ignore[attr-defined]
    sys.modules["pyspark.sql"].types = sys.modules["pyspark.sql.types"]  # type: ignore[attr-defined]
