"""Nothing public is undocumented: every name, every mechanism, every verb and every option has its place."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

import dither as dt
from dither.cli.main import VERBS, main
from dither.core.registry import names
from tests.support.repository import PYPROJECT, ROOT

sys.path.insert(0, str(ROOT / "docs"))

import catalogue
import draw_coverage
import draw_layers
import interfaces
import listings
import name_page
import outcome_words
import parameter_words
import site_parts

VERBS_AND_ALL = listings.commands(main, "dither")
PAGES = {
    "start": "Start in ten minutes",
    "epsilon": "What ε (epsilon) means",
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


@pytest.mark.parametrize("path", sorted(name_page.public()))
@pytest.mark.some(every=5)
def test_every_public_name_has_a_page(path: str) -> None:
    """With a signature or a value, parameters, an example; the API page leads there, and nothing is empty."""
    thing = name_page.public()[path]
    if name_page.document(path).startswith("mechanisms/"):
        return  # tested below
    page = name_page.page(path, thing)
    if isinstance(thing, ModuleType):
        assert all(f"`{name_page.called(path)}.{name}`" in page for name in thing.__all__)
        return
    assert "\n## Signature\n" in page or "\n## Value\n" in page or "\nAny of " in page
    if inspect.isfunction(thing) and inspect.signature(thing).parameters:
        rows = page.partition("\n## Parameters\n")[2].partition("\n## ")[0]
        assert all(f"| `{name}` |" in rows for name in inspect.signature(thing).parameters)
    shown = page.partition("\n## Example\n")[2].partition("\n## ")[0]
    assert "```" in shown or "shows it at work" in shown
    said = re.sub(r"```.*?```", "", page.partition("\n## ")[0].partition("\n\n")[2], flags=re.DOTALL)
    assert len(said.split("\n\n", 1)[-1].strip()) > 5, f"dt.{path} says nothing"
    assert not re.search(r"^- `[^`]+`: *$", page, re.MULTILINE), f"a method of dt.{path} says nothing"
    assert not re.search(r"<(function|object|class)\b| at 0x", page), (
        f"the page of dt.{path} shows an address"
    )


def test_every_name_has_words_for_its_parameters_and_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all names in every run, without running the examples: a name without them stops `make docs`."""
    monkeypatch.setattr(name_page.prose, "session", list)
    for path, thing in name_page.public().items():
        name_page.parameters(path, thing)
        if name_page.document(path).startswith("api/") and not isinstance(thing, ModuleType):
            assert name_page.example(path, thing)


def test_the_first_functions_have_results_and_errors_and_only_existing_names_have_words() -> None:
    """A parameter that is renamed, or an error that does not exist, is found here."""
    public = name_page.public()
    first = [path for path in dt.__all__ if inspect.isfunction(public[path])]
    assert [path for path in first if "\n## Raises\n" not in "\n".join(["", *name_page.outcome(path)])] == []
    for path, texts in parameter_words.OWNED.items():
        assert texts.keys() <= inspect.signature(public[path]).parameters.keys(), path
    for path, (_, errors) in outcome_words.OUTCOMES.items():
        assert callable(public[path])
        assert set(re.findall(r"`([A-Z]\w+)`", " ".join(errors))) <= set(dt.errors.__all__)


def test_the_api_page_leads_to_every_name() -> None:
    page = listings.api()
    for name in dt.__all__:
        assert f"({name_page.document(name)}.md)" in page, f"dt.{name} is not on the API page"
    assert len({name_page.document(path).lower() for path in name_page.public()}) == len(name_page.public())
    assert len(page) < 40_000


@pytest.mark.parametrize("name", sorted(names()))
@pytest.mark.some(every=5)
def test_every_mechanism_has_a_page(name: str) -> None:
    kind = names()[name]
    page = catalogue.page(name, kind)
    parts = (
        "- **Promise:**",
        "- **Reports:**",
        "- **Use when:**",
        "- **Do not use if** ",
        "- **Reference:**",
        f"({name}.png)",
    )
    for part in (*parts, "## Example", "## Parameters", "- source: <a ", "- tests: <a ", "## See also"):
        assert part in page, f"the page of {name} has no {part}"
    assert not re.search(r"<(function|object|class)\b| at 0x|lambda", page), f"{name} shows an address"
    assert f"(mechanisms/{name}.md)" in catalogue.listing()
    assert page.index(f"({name}.png)") < page.index("## Example") < page.index("<summary>The formulas")
    for dither_name in re.findall(
        r"`(dt\.[\w.]+)`", page.partition("**Do not use if**")[2].partition("\n")[0]
    ):
        assert name_page.page_of(dither_name), f"{name}: {dither_name} has no page"


def test_no_two_mechanisms_are_described_alike() -> None:
    said = [listings.prose.summary(kind) for kind in names().values()]
    assert len(set(said)) == len(said)


def test_every_mechanism_has_a_card() -> None:
    assert set(catalogue.CARDS) == set(names())


@pytest.mark.some("OLH", "JRR")
@pytest.mark.parametrize(
    "name", ["Podium", "OLH", "JRR", "TraCSC", "PEM", "Polar", "Cumulative", "Marginals"]
)
def test_every_kind_of_mechanism_is_drawn(name: str, tmp_path: Path) -> None:
    catalogue.portraits.draw(catalogue.example(name, names()[name]), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_one_navigation_tree_of_seven_words_leads_to_every_page() -> None:
    """A page is below one word, or continues such a page, once; the benchmarks have a list of their own."""
    tree = site_parts.navigation()
    words = [word for word, _ in tree]
    assert words == ["Start", "Recipes", "Choose", "Collect", "Analyse", "Trust", "Reference"]
    assert all(len(pages) <= 25 for pages in tree.values())
    listed = [page for _, first in tree for page in site_parts.listed(first)]
    assert len(listed) == len(set(listed))
    site_parts.write()  # the pages that are made of other files
    benchmarks = (ROOT / "docs" / "benchmarks" / "README.md").read_text(encoding="utf-8")
    listed += [f"benchmarks/{name}" for name in re.findall(r"\]\((?:[./\w]*/)?(\w+)\.md\)", benchmarks)]
    made = {target.rpartition(".")[0] for target in site_parts.PAGES.values()} | {"project/cite"}
    written = {page.stem for page in (ROOT / "docs").glob("*.md")} | site_parts.GENERATED | made
    assert written - {"index"} == set(listed)
    for page, title in PAGES.items():
        assert (ROOT / "docs" / f"{page}.md").read_text().startswith(f"# {title}")


def test_names_in_sentences_lead_to_their_pages() -> None:
    assert name_page.page_of("dt.mean") == "api/mean"
    assert name_page.page_of("dt.goals.Mean(n=5)") == "api/goals.Mean"
    assert name_page.page_of("dt.Podium(dt.Interval(0, 1), epsilon=1)") == "mechanisms/Podium"
    assert name_page.page_of("dt.nothing_like_that") is name_page.page_of("mean") is None


def test_the_glossary_is_a_list_of_terms_with_names() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^([^\n:#]+)\n: (.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(terms) > 25
    assert not re.search(r"^[^\n:]+ : ", text, re.MULTILINE)  # a term and its text on one line are no list
    led = [term for term, said in terms if re.search(r"`dt\.\w+|\]\(\w+\.md", said)]
    assert len(led) >= 0.8 * len(terms)
    for term, said in terms:
        for name in re.findall(r"`(dt\.[\w.]+)", said):
            assert name_page.page_of(name), f"{term}: {name} has no page"


def test_pictures_have_texts() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        for said, _ in re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"), re.DOTALL):
            assert len(said) > 20, f"{page.name}: {said}"
    for file in (ROOT / "examples" / "notebooks").glob("*.ipynb"):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            shown = [kind for output in cell.get("outputs", []) for kind in output.get("data", {})]
            if any(kind.startswith("image/") for kind in shown):
                said = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
                assert len(said) > 20, f"{file.name}: the picture of {cell.get('id')} has no text"


def test_the_gallery_has_twelve_pictures_of_six_lines() -> None:
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("gallery.md", "gallery_more.md")]
    entries = [entry for page in pages for entry in page.split("\n## ")[1:]]
    assert len(entries) == 12
    for entry in entries:
        picture = re.search(r"\(pictures/gallery/(\w+\.png)\)", entry)
        (lines,) = re.findall(r"^```python\n(.*?)^```$", entry, re.MULTILINE | re.DOTALL)
        assert picture is not None
        assert entry.startswith("I ")
        assert sum(bool(line) for line in lines.split("\n")) <= 6, entry.partition("\n")[0]
        assert "axes." not in lines.replace("axes.figure.savefig", ""), entry.partition("\n")[0]
        assert "matplotlib" not in lines
        assert f'savefig("{picture[1]}")' in lines
        assert (ROOT / "docs" / "pictures" / "gallery" / picture[1]).stat().st_size > 5_000


@pytest.mark.parametrize("page", ["choose", "frequencies"])
def test_what_is_never_the_best_is_not_in_a_first_table(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert not re.search(r"\b(SUE|BLH|HadamardResponse|OGPMU)\b", first)
    if page == "choose":  # short paragraphs
        prose = re.sub(r"```.*?```|^[|#-].*?$", "", text, flags=re.DOTALL | re.MULTILINE)
        assert max(len(part.split()) for part in prose.split("\n\n")) <= 75


def test_the_readme_is_one_screen() -> None:
    """At most 500 words and 20 links; the site's index leads to the pages."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"\]\([^)]+\)", readme)) <= 20
    prose = re.sub(r"```.*?```|\]\([^)]*\)", "", readme, flags=re.DOTALL)
    assert len(prose.split()) <= 500


def test_the_first_page_names_every_extra() -> None:
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", start.partition("### Extras")[2].partition("\n## ")[0], re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(
        PYPROJECT["project"]["optional-dependencies"]
    )


def test_every_page_says_what_it_is_for() -> None:
    """In its first lines; lists of references and of deviations are looked up, not read."""
    for page in (ROOT / "docs").glob("*.md"):
        if page.stem in ("index", "references", "deviations", *site_parts.GENERATED):
            continue
        title, first = page.read_text(encoding="utf-8").split("\n\n")[:2]
        assert re.fullmatch(r"# .+", title), page.name
        sentence = re.split(r"[.:](?:\s|$)", first)[0]
        assert re.match(r"[\w`\[]", sentence), f"{page.name} begins with something else than a sentence"
        assert 4 <= len(sentence.split()) <= 45, f"{page.name}: {sentence}"
        assert "his page you" not in sentence, page.name


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
    from dither.collection.web.endpoints import ENDPOINTS

    page = interfaces.collector()
    paths = {path for endpoint in ENDPOINTS for path in endpoint.described}
    assert len(paths) > 5
    assert [path for path in paths if f"`{path}`" not in page] == []


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
    *(page for page in (ROOT / "docs").glob("*.md") if page.stem not in site_parts.GENERATED),
    *(ROOT / "examples" / "notebooks").glob("*.ipynb"),
]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_names_that_are_mentioned_exist(page: Path) -> None:
    for first, second in re.findall(r"\bdt\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?", page.read_text()):
        assert hasattr(dt, first), f"{page.name} mentions dt.{first}"
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


def test_the_rooms_are_listed_and_drawn() -> None:
    """The table of the rooms has each room of the contract of imports once, and so has the picture."""
    rooms = sorted(room for layer in draw_layers.layers() for room in layer)
    section = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## Rooms")[2]
    table = section.partition("\n|---|---|\n")[2].partition("\n\n")[0]
    first_column = " ".join(row.split("|")[1] for row in table.splitlines())
    assert sorted(re.findall("`([a-z_]+)`", first_column)) == rooms
    for name, narrow in (("layers", False), ("layers-portrait", True)):
        drawn = draw_layers.PICTURE.with_stem(name).read_text(encoding="utf-8")
        assert drawn == draw_layers.picture(narrow=narrow)


def test_the_picture_of_coverage_is_of_the_tables_of_its_page() -> None:
    described = draw_coverage.description().replace("&", "&amp;")
    for name in ("coverage", "coverage-portrait"):
        assert described in draw_coverage.PICTURE.with_stem(name).read_text(encoding="utf-8"), (
            "python docs/draw_coverage.py draws it again"
        )


def test_pictures_with_words_have_a_narrow_version_for_phones() -> None:
    pictures = {
        file.stem for file in (ROOT / "docs" / "pictures").rglob("*.*") if file.suffix in (".png", ".svg")
    }
    wide = {name for name in pictures if not name.endswith("-portrait")}
    assert {name for name in wide if f"{name}-portrait" not in pictures} == set()
    assert len(wide) > 20


RECIPES = sorted((ROOT / "docs").glob("recipe_*.md"))


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_a_recipe_is_at_most_forty_lines_with_its_picture(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(lines.splitlines()) <= 40
    picture = re.search(r"\(pictures/recipes/(\w+)\.png\)", text)
    assert picture is not None
    assert f'savefig("{picture[1]}.png")' in lines
    for name in (picture[1], f"{picture[1]}-portrait"):
        assert (ROOT / "docs" / "pictures" / "recipes" / f"{name}.png").stat().st_size > 5_000
    assert page.stem in site_parts.navigation()["Recipes", "recipes"]
