"""What the site takes from outside of docs: benchmarks, notebooks, changelog, sources, and links to them."""

from __future__ import annotations

import re
import shutil
import tomllib
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
# pages that are made of files of the repository: where they stand in the site
PAGES = {
    ROOT / "CHANGELOG.md": "project/changelog.md",
    ROOT / ".github" / "SECURITY.md": "project/security.md",
    ROOT / "CONTRIBUTING.md": "project/contributing.md",
    ROOT / "README.md": "index.md",
    **{page: f"benchmarks/{page.name}" for page in sorted((ROOT / "tools" / "benchmarks").glob("*.md"))},
    **{page: f"notebooks/{page.name}" for page in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))},
}
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Pages outside of the navigation tree belong to one of its seven words.
FOLDERS = {"api": "reference", "mechanisms": "reference", "benchmarks": "reference", "project": "reference"}
CITATION = re.compile(r"\[((?:[A-Z][A-Za-z]*\d\d)|Thesis)((?:,[^\]\n]*)?)\](?!\()")
GENERATED = {"api", "cli", "catalogue"}  # pages of docs/ that are made from the code
ROWS_IN_SIGHT = 30
CODE = re.compile(r'href="(?:\.\./)*code/([^"]+)\.txt"')


def write() -> None:
    """Write the pages that are made of other files of the repository."""
    for source, target in PAGES.items():
        if target == "index.md":
            continue
        place = DOCS / target
        place.parent.mkdir(exist_ok=True)
        if source.suffix == ".ipynb":
            _write(place, source.read_text(encoding="utf-8"))
        else:
            _write(place, relinked(source.read_text(encoding="utf-8"), source, target))
    _write(DOCS / "project" / "cite.md", cite())


def write_pages(pages: dict[str, str]) -> None:
    """Write generated pages, and delete those of names that are gone."""
    for name, text in pages.items():
        place = DOCS / f"{name}.md"
        place.parent.mkdir(exist_ok=True)
        _write(place, text)
    folder = DOCS / "api"
    if any(name.startswith("api/") for name in pages):
        for file in folder.glob("*.md"):
            if f"api/{file.stem}" not in pages:
                file.unlink()


def entries(page: str) -> list[tuple[str, str]]:
    """Return title (or "") and name of the pages in the trees of contents of a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    lines = [line for tree in TREE.findall(text) for line in tree.splitlines()]
    found = [re.fullmatch(r"(?:(.*) <)?([\w/]+)>?", line) for line in lines if line and line[0] != ":"]
    return [(entry[1] or "", entry[2]) for entry in found if entry]


@cache
def navigation() -> dict[tuple[str, str], list[str]]:
    """Return the navigation tree: each word and its page, with the pages below it."""
    return {(word, page): [name for _, name in entries(page)] for word, page in entries("index")}


@cache
def subpages(page: str) -> list[str]:
    """Return the pages that continue a page of the navigation tree: its own tree of contents."""
    return [name for _, name in entries(page)] if (DOCS / f"{page}.md").exists() else []


@cache
def listed(first: str) -> list[str]:
    """Return all pages of a part: its own page, the pages below it, and those that continue them."""
    pages = next(pages for (_, page), pages in navigation().items() if page == first)
    return [first, *(name for page in pages for name in (page, *subpages(page)))]


def part_of(page: str) -> str:
    """Return the page of the part of the site that a page belongs to, or an empty text."""
    for _, first in navigation():
        if page in listed(first):
            return first
    return FOLDERS.get(page.partition("/")[0], "")


def without_sphinx_search(app: Any) -> None:
    """Leave out the index and the search page of Sphinx; the site has its own."""
    app.builder.search = False


def outside_of_navigation(app: Any, doctree: Any) -> None:
    """Mark pages that are found by links alone, so that their absence from the navigation is no warning."""
    inside = {"index"}.union(*(listed(first) for _, first in navigation()))
    if app.env.docname not in inside:
        app.env.metadata[app.env.docname]["orphan"] = True


# A word of code without a hyphen needs no mark against breaks inside: a tenth of the longest pages.
_WORD = re.compile(r'(<code class="[^"]*">)<span class="pre">([^<\s-]*)</span>(?=</code>)')


def frame(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give every page the navigation: seven words, the pages of its own part, and those that continue it."""
    part, pathto = part_of(page), context["pathto"]

    def item(level: int, title: str, name: str, below: str = "") -> str:
        mark = ' aria-current="page"' if name == page else ""
        style = f"toctree-l{level}{' current' if name == part else ''}{' current-page' if mark else ''}"
        return f'<li class="{style}"><a class="reference" href="{pathto(name)}"{mark}>{title}</a>{below}</li>'

    def title(name: str) -> str:
        return escape(app.env.titles[name].astext()) if name in app.env.titles else name

    def below(name: str) -> str:
        more = subpages(name) if page == name or page in subpages(name) else []
        return f"<ul>{''.join(item(3, title(other), other) for other in more)}</ul>" if more else ""

    parts = []
    for (word, first), pages in navigation().items():
        inside = "".join(item(2, title(name), name, below(name)) for name in pages) if first == part else ""
        parts.append(item(1, word, first, f"<ul>{inside}</ul>" if inside else ""))
    context["furo_navigation_tree"] = f'<ul aria-label="Parts of the site">{"".join(parts)}</ul>'
    if "body" in context:
        context["body"] = with_portraits(
            app,
            _WORD.sub(r"\1\2", context["body"]).replace(
                '<code class="docutils literal', '<code class="literal'
            ),
        )
    context["site_tabs"] = [(word, first, first == part) for word, first in entries("index")]


def portraits_of(app: Any) -> dict[str, tuple[Path, str]]:
    """Return the narrow versions of the site's pictures: file and new name, by the picture's name."""
    found = {}
    for source, (_, name) in app.env.images.items():
        narrow = Path(app.srcdir) / source
        narrow = narrow.with_stem(f"{narrow.stem}-portrait")
        if narrow.exists():
            found[name] = (narrow, f"{Path(name).stem}-portrait{narrow.suffix}")
    return found


def with_portraits(app: Any, body: str) -> str:
    """Return a page whose pictures are narrow ones on a phone, where they exist."""
    known = portraits_of(app)

    def picture(found: re.Match[str]) -> str:
        name = found[3]
        if name not in known:
            return found[0]
        narrow = f'<source media="(max-width: 46em)" srcset="{found[2]}{known[name][1]}">'
        return f"<picture>{narrow}{found[0]}</picture>"

    return re.sub(r'(<img [^>]*src="([^"]*_images/)([^"]+)"[^>]*>)', picture, body)


def fold_long_tables(app: Any, doctree: Any) -> None:
    """Put every table of many rows into a box that opens, with a line that says what is in it."""
    from docutils import nodes

    for table in list(doctree.findall(nodes.table)):
        rows = [row for part in table.findall(nodes.tbody) for row in part.findall(nodes.row)]
        if len(rows) <= ROWS_IN_SIGHT:
            continue
        heads = [entry.astext() for part in table.findall(nodes.thead) for entry in part.findall(nodes.entry)]
        said = escape(f"Table of {len(rows)} rows: {', '.join(head for head in heads if head)}")
        parent, at = table.parent, table.parent.index(table)
        opened = nodes.raw("", f'<details class="long-table"><summary>{said}</summary>', format="html")
        parent.insert(at, opened)
        parent.insert(at + 2, nodes.raw("", "</details>", format="html"))


def _write(place: Path, text: str) -> None:
    """Write a file only if it changes, so that a second build reads less."""
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


def relinked(text: str, source: Path, page: str) -> str:
    """Return the text of a page of the site, made of `source`, with links that lead to places of the site."""

    def link(found: re.Match[str]) -> str:
        target = (source.parent / found[3]).resolve()
        up, after = "../" * page.count("/"), found[4] or ""
        to = f"{found[1]}[{found[2]}]"
        if target in PAGES:
            return f"{to}({up}{PAGES[target]}{after})"
        if target == DOCS / "playground" / "index.html":
            return f'<a href="{up}playground/index.html">{found[2]}</a>'
        if target.is_relative_to(DOCS) and (target.suffix in (".md", ".png", ".svg") or not target.exists()):
            return f"{to}({up}{target.relative_to(DOCS).as_posix()}{after})"
        if target.exists():
            return f'<a href="{up}{code(target)}">{found[2].strip("`")}</a>'
        return found[0]

    return LINK.sub(link, text)


def cited(text: str, page: str) -> str:
    """Return the text with every citation such as [OGPM25, Thm 3.7] as a link to the list of references."""
    up = "../" * page.count("/")
    if page == "references.md":
        return re.sub(r"\*\*\[(\w+)\]\*\*", r'<a id="\1"></a>**[\1]**', text)
    parts = re.split(r"(^```.*?^```$|^ {4}.*?$|`[^`\n]*`)", text, flags=re.MULTILINE | re.DOTALL)
    for place in range(0, len(parts), 2):  # what is not code
        parts[place] = CITATION.sub(rf'<a href="{up}references.html#\1">[\1\2]</a>', parts[place])
    return "".join(parts)


def code(file: Path) -> str:
    """Return where a file of the repository stands in the site, as text."""
    target = file if file.is_file() else file / "__init__.py"
    return f"code/{target.relative_to(ROOT).as_posix()}.txt"


def link(file: Path) -> str:
    """Return a link to a file of the repository, for pages one folder down."""
    return f'<a href="../{code(file)}">{file.relative_to(ROOT).as_posix()}</a>'


def read(app: Any, name: str, source: list[str]) -> None:
    """Rewrite the links of a page of docs/ that lead out of it."""
    file = DOCS / f"{name}.md"
    if file.exists() and not name.startswith(
        ("project/", "benchmarks/", "notebooks/", "mechanisms/", "api/")
    ):
        source[0] = relinked(source[0], file, f"{name}.md")
        source[0] = cited(source[0], f"{name}.md")
    source[0] = source[0].replace("\n\n```\n", "\n```\n")  # the empty line that ends an example


def finish(app: Any, error: Exception | None) -> None:
    """Copy the files that pages link to, and the playground, into the built site."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    needed = {name for page in out.rglob("*.html") for name in CODE.findall(page.read_text(encoding="utf-8"))}
    for name in needed:
        _copy(ROOT / name, out / "code" / f"{name}.txt")
    for narrow, name in portraits_of(app).values():
        _copy(narrow, out / "_images" / name)
    place = out / "playground" / "index.html"
    place.parent.mkdir(exist_ok=True)
    text = (DOCS / "playground" / "index.html").read_text(encoding="utf-8")
    links = [
        f'<a href="../{name}.html">{word}</a>' for word, name in [("dither", "index"), *entries("index")]
    ]
    header = f'<nav aria-label="Parts of the site">{" ".join(links)}</nav>'
    place.write_text(text.replace("<!-- back -->", header), encoding="utf-8")


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def repository() -> str:
    """Return the address of the repository, if the project states one."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    return str(stated.get("Repository", ""))


def cite() -> str:
    """Return the page that says how to cite."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return (
        "# How to cite\n\nCite dither, and the paper of the mechanism that you use "
        "([references](../references.md)). Programs read `CITATION.cff` of the repository:\n\n"
        f"```yaml\n{text}```\n"
    )
