"""Nothing public is undocumented: every name, every mechanism, every verb and every option has its place."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

import dither as dt
from dither.cli.main import VERBS, main
from dither.registry import names
from tests.support.repository import PYPROJECT, ROOT

sys.path.insert(0, str(ROOT / "docs"))

import catalogue
import interfaces
import listings

VERBS_AND_ALL = listings.commands(main, "dither")
PAGES = {
    "start": "Start in ten minutes",
    "epsilon": "What ε means",
    "choose": "Which mechanism",
    "missing": "Missing and repeated answers",
    "collect": "Collecting",
    "threats": "Threats",
    "theory": "Why these mechanisms",
    "reproduce": "The papers, reproduced",
    "extend": "Extend",
    "terminal": "At the terminal",
}


@pytest.mark.parametrize(("name", "command"), VERBS_AND_ALL, ids=[name for name, _ in VERBS_AND_ALL])
def test_every_verb_and_option_has_help(name: str, command: click.Command) -> None:
    assert command.help, f"{name} has no help"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"


def test_verbs_have_a_line_each() -> None:
    assert all(line.endswith(".") for line in VERBS.values())


def test_the_command_line_page_has_every_verb_and_option() -> None:
    page = listings.cli()
    for name, command in VERBS_AND_ALL:
        chapter = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                missing = [word for word in parameter.opts if word not in chapter]
                assert missing == [], f"{name} is not told in full"
    told = (ROOT / "docs" / "terminal.md").read_text()
    assert [verb for verb in VERBS if verb not in told and verb != "version"] == []


def test_the_api_pages_have_every_public_name() -> None:
    pages = listings.api()
    for name in dt.__all__:
        heading = f"(api/{name}.md)" if f"api/{name}" in pages else f"\n### dt.{name}\n"
        assert heading in pages["api"], f"dt.{name} is not on the API page"
    modules = [page.removeprefix("api/") for page in pages if page != "api"]
    assert {"central", "data", "errors", "goals", "privacy", "randomness"} <= set(modules)
    for module in modules:
        for name in listings.names_of(getattr(dt, module)):
            assert f"\n## dt.{module}.{name}\n" in pages[f"api/{module}"]


def test_everything_on_the_api_pages_says_what_it_is() -> None:
    """A heading, a signature or a value, and then a sentence."""
    for page, text in listings.api().items():
        for entry in re.split(r"^#{2,4} (?=dt\.)", text, flags=re.MULTILINE)[1:]:
            title, _, rest = entry.partition("\n")
            said = re.sub(r"```.*?```", "", rest, flags=re.DOTALL).strip()
            assert said, f"{title} on {page} says nothing"
        assert not re.search(r"^- `[^`]+`: *$", text, re.MULTILINE), f"a method on {page} says nothing"
        assert not re.search(r"<(function|object|class)\b| at 0x", text), f"{page} shows an address"


@pytest.mark.parametrize("name", sorted(names()))
def test_every_mechanism_has_a_page(name: str) -> None:
    kind = names()[name]
    page = catalogue.page(name, kind)
    parts = ("- **Promise:**", "- **Reports:**", "- **Use when:**", "- **Reference:**", f"({name}.png)")
    for part in (*parts, "## Example", "## Parameters", "- source: <a ", "- tests: <a ", "## See also"):
        assert part in page, f"the page of {name} has no {part}"
    assert not re.search(r"<(function|object|class)\b| at 0x|lambda", page), f"{name} shows an address"
    assert f"(mechanisms/{name}.md)" in catalogue.listing()


def test_no_two_mechanisms_are_described_alike() -> None:
    said = [listings.prose.summary(kind) for kind in names().values()]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    "name", ["Podium", "OLH", "JRR", "TraCSC", "PEM", "Polar", "Cumulative", "Marginals"]
)
def test_every_kind_of_mechanism_is_drawn(name: str, tmp_path: Path) -> None:
    catalogue.portraits.draw(catalogue.example(name, names()[name]), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "docs" / "index.md").read_text()
    listed = set(re.findall(r"^([a-z][\w/]*)$", contents, re.MULTILINE))
    assert {"notebooks/collect", "project/changelog", "benchmarks/README"} <= listed
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert written <= listed
    for page, title in PAGES.items():
        assert (ROOT / "docs" / f"{page}.md").read_text().startswith(f"# {title}")


def test_the_readme_leads_to_every_page_and_names_every_extra() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index", "api", "cli", "catalogue"}
    assert written - set(re.findall(r"\(docs/(\w+)\.md", readme)) == set()
    rows = re.findall(r"^\| (`.*?) \|", readme, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(
        PYPROJECT["project"]["optional-dependencies"]
    )


def test_every_page_says_what_it_is_for() -> None:
    """In its first lines; lists of references and of deviations are looked up, not read."""
    for page in (ROOT / "docs").glob("*.md"):
        if page.stem in ("index", "api", "cli", "catalogue", "references", "deviations"):
            continue
        first = " ".join(page.read_text(encoding="utf-8").split("\n")[1:6])
        assert re.search(r"(After (reading )?this page|With this page)", first), page.name


def test_every_export_of_the_client_is_described() -> None:
    page = interfaces.client()
    for point, module in interfaces.entry_points().items():
        assert f"\n## {point}\n" in page
        for name, _ in interfaces.names_of(module):
            chapter = page.partition(f"\n### {name}\n")[2].partition("\n##")[0]
            assert re.sub(r"```.*?```", "", chapter, flags=re.DOTALL).strip(), (
                f"{name} of {point} says nothing"
            )


def test_every_endpoint_is_described(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    page, source = interfaces.collector(), ROOT / "src" / "dither" / "service" / "web"
    paths = {
        path
        for file in source.glob("*.py")
        if file.name != "pages.py"  # pages are for people
        for path in re.findall(r"(?:Route\(|[A-Z]+: Final = )\"(/[^\"]*)\"", file.read_text(encoding="utf-8"))
    }
    assert len(paths) > 5
    assert [path for path in paths - {"/openapi.json", "/v1/admin/{action}"} if f"`{path}`" not in page] == []


def test_every_citation_is_in_the_references() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    cited = {
        key
        for source in sources
        for key in re.findall(r"\[((?:[A-Z][A-Za-z]*\d\d)|Thesis)[\],;:]", source.read_text())
    }
    known = set(re.findall(r"\*\*\[(\w+)\]\*\*", (ROOT / "docs" / "references.md").read_text()))
    assert cited - known == set()
    assert known - cited == set()


WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(page for page in (ROOT / "docs").glob("*.md") if page.stem not in ("api", "cli", "catalogue")),
    *(ROOT / "notebooks").glob("*.ipynb"),
]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_names_that_are_mentioned_exist(page: Path) -> None:
    for first, second in re.findall(r"\bdt\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?", page.read_text()):
        assert first in dt.__all__, f"{page.name} mentions dt.{first}"
        if second and (isinstance(getattr(dt, first), ModuleType | type)):
            assert hasattr(getattr(dt, first), second), f"{page.name} mentions dt.{first}.{second}"


def _check_commands(text: str, place: str) -> None:
    """Every option after `dither VERB` belongs to that verb or to one of those below it."""
    options = {
        name.removeprefix("dither "): {word for one in command.params for word in one.opts}
        for name, command in VERBS_AND_ALL
    }
    for line in re.findall(r"\bdither ((?:[a-z]+ )?[a-z]+\b[^`|\n]*)", re.sub(r"\\\n\s*", " ", text)):
        words = line.partition(" -- ")[0].split()  # what follows is another command
        verb = " ".join(words[:2]) if " ".join(words[:2]) in options else words[0]
        asked = {word.rstrip(".,;:)") for word in words if word.startswith("--")}
        if not asked and verb not in options:
            continue  # prose about dither
        known = {"--help"}.union(
            *(found for name, found in options.items() if f"{name} ".startswith(f"{verb} "))
        )
        assert asked <= known, f"{place}: dither {line}"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    _check_commands(page.read_text(), page.name)


@pytest.mark.parametrize(("name", "command"), VERBS_AND_ALL, ids=[name for name, _ in VERBS_AND_ALL])
def test_help_teaches_by_examples(name: str, command: click.Command) -> None:
    """Every verb shows itself at work; the parts of a group may be shown together."""
    above = dict(VERBS_AND_ALL).get(name.rpartition(" ")[0])
    told = (command.help or "") + ((above.help or "") if above and name.count(" ") > 1 else "")
    assert name in told or name == "dither version", f"{name} --help has no example"
    _check_commands(told, name)
