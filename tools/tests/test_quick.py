"""The quick run takes the tests of what changed and of what imports it, and no others."""

from __future__ import annotations

from tools.quick import (
    BESIDE,
    ROOT,
    chosen,
    folder_tests,
    importers,
    importing_tests,
    mirror_files,
    module_of,
)

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
    assert module_of("clients/python/src/dither_device/rules.py") == "dither_device.rules"
    assert (
        module_of("docs/index.md") is module_of("src/dither/py.typed") is module_of("tools/house.py") is None
    )


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


def test_what_is_beside_the_package_has_its_tests() -> None:
    assert folder_tests({"docs/account.md"}) == folder_tests({"README.md"}) == {"tests/docs"}
    assert folder_tests({"clients/go/draw.go", "src/dither/errors.py"}) == {"tests/conformance/test_go.py"}
    assert [path for tests in BESIDE.values() for path in tests if not (ROOT / path).exists()] == []


def test_a_changed_file_of_the_tests_runs_those_that_import_it() -> None:
    tests = {
        "tests/a/test_low.py": "from tests.support.sources import scripted\n",
        "tests/b/test_middle.py": "from tests.support.sources_of import scripted\n",
    }
    assert importing_tests({"tests/support/sources.py", "docs/sources.md"}, tests) == {"tests/a/test_low.py"}


def test_the_rules_of_an_account_are_tested_in_both_packages() -> None:
    found = chosen({"clients/python/src/dither_device/rules.py"}, 2)
    assert {"clients/python/tests", "tests/collection/account/test_account.py"} <= set(found)
    assert "tests/estimation/test_linear.py" not in found
    assert chosen(set(), 2) == []
