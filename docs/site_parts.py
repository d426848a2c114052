"""What the site takes from outside of docs: benchmarks, notebooks, changelog, sources, and links to them."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
# pages that are made of files of the repository: where they stand in the site
PAGES = {
    ROOT / "CHANGELOG.md": "project/changelog.md",
    ROOT / "SECURITY.md": "project/security.md",
    ROOT / "CONTRIBUTING.md": "project/contributing.md",
    ROOT / "README.md": "index.md",
    **{page: f"benchmarks/{page.name}" for page in sorted((ROOT / "benchmarks").glob("*.md"))},
    **{page: f"notebooks/{page.name}" for page in sorted((ROOT / "notebooks").glob("*.ipynb"))},
}
CITATION = re.compile(r"\[((?:[A-Z][A-Za-z]*\d\d)|Thesis)((?:,[^\]\n]*)?)\](?!\()")
_NEEDED: set[Path] = set()  # files that pages link to, which are copied into the site as text


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
    listed = "\n".join(
        f"{page.stem}" for page in sorted((ROOT / "benchmarks").glob("*.md")) if page.stem != "README"
    )
    index = (DOCS / "benchmarks" / "README.md").read_text(encoding="utf-8")
    _write(DOCS / "benchmarks" / "README.md", f"{index}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n")
    _write(DOCS / "project" / "cite.md", cite())


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
    """Return where a file of the repository stands in the site, as text, and remember to copy it there."""
    target = file if file.is_file() else file / "__init__.py"
    _NEEDED.add(target)
    return f"code/{target.relative_to(ROOT).as_posix()}.txt"


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
    for file in _NEEDED | {DOCS / "playground" / "index.html"}:
        page = file.parent.name == "playground" and file.suffix == ".html"
        target = out / ("playground/index.html" if page else f"code/{file.relative_to(ROOT).as_posix()}.txt")
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
