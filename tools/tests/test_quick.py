"""The quick run takes the tests of what changed and of what imports it, and no others."""

from __future__ import annotations

from tools.quick import importers, mirror_files, module_of

DIRECT = {
    "dither.a.low": {"dither.b.middle"},
    "dither.b.middle": {"dither.c.high"},
    "dither.c.high": set[str](),
}
TESTS = [
    "tests/a/test_low.py",
    "tests/a/test_low_topic.py",
    "tests/a/test_lowest.py",
    "tests/b/test_middle.py",
    "tests/c/test_high.py",
]


def test_a_file_is_a_module() -> None:
    assert module_of("src/dither/core/wire.py") == "dither.core.wire"
    assert module_of("src/dither/core/__init__.py") == "dither.core"


def test_importers_are_found_by_steps() -> None:
    assert importers({"dither.a.low"}, DIRECT, 0) == {"dither.a.low"}
    assert importers({"dither.a.low"}, DIRECT, 1) == {"dither.a.low", "dither.b.middle"}
    assert importers({"dither.a.low"}, DIRECT, 9) == {"dither.a.low", "dither.b.middle", "dither.c.high"}


def test_tests_mirror_modules() -> None:
    assert mirror_files({"dither.a.low"}, TESTS) == {"tests/a/test_low.py", "tests/a/test_low_topic.py"}
    assert mirror_files({"dither.b.middle", "dither.c.high"}, TESTS) == {
        "tests/b/test_middle.py",
        "tests/c/test_high.py",
    }
