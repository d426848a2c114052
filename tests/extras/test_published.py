"""What is published: the page of the package, the recipe, and what the README says that can be measured."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import zlib
from pathlib import Path

import pytest

from dither.errors import INSTALL, INSTALL_DEVICE
from tests.support.repository import PYPROJECT, ROOT

PROJECT = PYPROJECT["project"]
_WRITTEN = (".py", ".pyi", ".ts", ".java", ".md", ".html", ".toml", ".txt")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGET = re.compile(r"\]\(([^)\s]+)\)")
ADDRESS = PROJECT.get("urls", {}).get("Repository", "")
DIST = ROOT / "clients" / "javascript" / "dist"


def absolute(address: str) -> str:
    """Return the README as the page of a package has it; hatchling builds with this function."""
    pytest.importorskip("hatchling")
    from tools.hatch_build import absolute as made

    return made(README, address, "v1.2")


def test_the_package_page_is_made_from_the_readme() -> None:
    pytest.importorskip("hatchling")
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    page = ProjectMetadata(str(ROOT), PluginManager()).core.readme
    assert "local differential privacy" in page
    assert all(target.startswith(("https://", "#")) for target in TARGET.findall(page))


@pytest.mark.parametrize("address", ["", "https://git.example/dither"])
def test_no_link_of_the_package_page_leads_to_a_file_of_the_repository(address: str) -> None:
    page = absolute(address)
    own = [name for name in TARGET.findall(README) if not name.startswith(("https://", "#"))]
    assert len(own) > 10
    for target in own:
        assert (ROOT / target.partition("#")[0]).exists(), target
    assert all(target.startswith(("https://", "#")) for target in TARGET.findall(page))
    assert re.findall(r"^```.*?^```$", page, re.M | re.S) == re.findall(r"^```.*?^```$", README, re.M | re.S)
    if address:
        assert f"({address}/raw/v1.2/docs/pictures/crowd.png)" in page
        assert f"[deviations]({address}/blob/v1.2/docs/deviations.md)" in page
        assert len(TARGET.findall(page)) == len(TARGET.findall(README))
    else:
        assert "![" not in page
        assert "deviations says so" in page.replace("\n  ", " ")


def test_the_address_is_known_everywhere_or_nowhere() -> None:
    cited = re.findall(r"^repository-code: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == ([ADDRESS] if ADDRESS else [])


def test_a_newcomer_installs_what_there_is() -> None:
    """Until it is published, the name belongs to nobody, and a package index may have another of it."""
    pages = [ROOT / "README.md", ROOT / "examples/collector/README.md", *(ROOT / "docs").glob("*.md")]
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages if page.stem != "release"}
    commands = {name: re.findall(r"pip install ['\"]?(?:\.|dither\b)", text) for name, text in texts.items()}
    assert commands["start"]
    assert commands["operate"]
    for name, found in commands.items():
        assert not [command for command in found if (command[-1] == ".") == bool(ADDRESS)], name


def test_nobody_is_told_to_install_a_name_that_is_not_ours() -> None:
    """Until a release messages name the clone or a file: anyone could register the name."""
    told = re.compile(
        r"(?:pip|pipx|uv|uvx|npm|npx|pnpm|yarn|bun|conda|mamba)\b[^\n`;&]{0,30}?\b(?:install|add|i)\s+"
        r"(?:-\S+\s+)*['\"]?(?:dither|dither-device|dither_device|dither-ldp)(?![\w./-])"
    )
    assert told.search("pip install dither")
    assert told.search("npm i --save dither-ldp")
    assert not told.search(f"{INSTALL} {INSTALL_DEVICE} npm install ./clients/javascript")
    places = ("src", "clients/python/src", "clients/javascript/src", "clients/java/src", "docs", "examples")
    texts = [file for place in places for file in (ROOT / place).rglob("*") if file.suffix in _WRITTEN]
    texts += [file for folder in ("", "clients/*/") for file in ROOT.glob(f"{folder}README.md")]
    assert len(texts) > 500
    wrong = {file: told.findall(file.read_text(encoding="utf-8")) for file in texts if file.stem != "release"}
    assert not {file: found for file, found in wrong.items() if found}


def test_the_classifiers_are_known_and_name_the_pythons_that_are_tried() -> None:
    trove = pytest.importorskip("trove_classifiers")
    assert set(PROJECT["classifiers"]) <= trove.classifiers
    pythons = [
        line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line)
    ]
    assert f">={pythons[0]}" == PROJECT["requires-python"]


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    recipe = (ROOT / "tools" / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    needed = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip("- ").replace(" ", "") for line in needed.splitlines()}
    assert listed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert f'version: "{PROJECT["version"]}"' in recipe
    (builder,) = PYPROJECT["build-system"]["requires"]
    assert builder in recipe.replace(" ", "")
    for name, function in PROJECT["scripts"].items():
        assert f"{name} = {function}" in recipe
    assert f"summary: {PROJECT['description']}" in recipe


def test_the_version_is_the_same_everywhere() -> None:
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    client = json.loads((DIST.parent / "package.json").read_text(encoding="utf-8"))["version"]
    assert [*cited, client] == [PROJECT["version"]] * 2


def test_the_size_of_the_client_is_what_the_readme_says() -> None:
    size = {path.stem: len(gzip.compress(path.read_bytes(), 9)) / 1000 for path in DIST.glob("*.js")}
    (stated,) = re.findall(r"JavaScript client of ([\d.]+) kB \(compressed\)", README)
    assert float(stated) == round(size["dither"] + size["core"], 1)
    told = (ROOT / "clients" / "javascript" / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `dither-ldp/?(\w*)` \|.*\| (?:\+ )?([\d.]+) kB \|$", told, re.MULTILINE))
    size[""], size["global"] = size["dither"] + size["core"], size["dither.global"]
    assert len(listed) == 28
    for name, kilobytes in listed.items():
        assert float(kilobytes) == pytest.approx(size[name], abs=0.06), name


def test_the_page_of_clients_states_their_sizes() -> None:
    """The jar is measured where Maven makes it."""
    page = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    size = {path.stem: len(gzip.compress(path.read_bytes(), 9)) / 1000 for path in DIST.glob("*.js")}
    main = size.pop("dither") + size.pop("core")
    del size["dither.global"], size["testing"]
    (stated,) = re.findall(
        r"([\d.]+) kB compressed with the core, further .* ([\d.]+) to ([\d.]+) kB \|", page
    )
    assert [*map(float, stated)] == [round(x, 1) for x in (main, min(size.values()), max(size.values()))]
    files = [*(ROOT / "clients" / "python" / "src").rglob("*.py"), ROOT / "clients" / "python" / "README.md"]
    # An entry of an archive has its name twice, and 76 bytes.
    bytes_of = [
        len(zlib.compress(file.read_bytes(), 9)) + 2 * len(f"dither_device/{file.name}") + 76
        for file in files
    ]
    wheel = sum(bytes_of) / 1000
    (told,) = re.findall(r"one wheel of (\d+) kB", page)
    assert wheel < int(told) < wheel + 4  # its licence, its list of files, its description
    java = (ROOT / "clients" / "java" / "src").rglob("*.java")
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in java)
    (counted,) = re.findall(r"a jar of \d+ kB, (\d [\d]{3}) lines", page)
    assert abs(int(counted.replace(" ", "")) - lines) <= 100


def test_the_demonstration_needs_no_development_environment(tmp_path: Path) -> None:
    planned = subprocess.run(
        ["make", "-n", "demo", f"VENV={tmp_path}/venv"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "--editable '.[plot,service]'" in planned
    assert "--group" not in planned
