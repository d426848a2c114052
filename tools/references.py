"""Write the lists of docs/references.md and the references of CITATION.cff: `python -m tools.references`.

Both come from docs/references.bib. A comment "% ## Title" in it begins a section of the page.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.wrap import wrap

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"
PAGE = ROOT / "docs" / "references.md"
CITATION = ROOT / "CITATION.cff"
_KINDS = {"article": "article", "inproceedings": "conference-paper", "phdthesis": "thesis", "misc": "article"}


class Reference(NamedTuple):
    """An entry of the bibliography, and the section of the page that lists it."""

    section: str
    kind: str
    key: str
    fields: dict[str, str]

    @property
    def authors(self) -> list[str]:
        """The names in order; "others" stands for the rest, and braces hold a name that is not a person's."""
        return self.fields["author"].split(" and ")

    def words(self) -> str:
        """Return the entry as the page prints it."""
        *most, last = (name.strip("{}") for name in self.authors)
        names = f"{', '.join(most)} and others" if last == "others" else ", ".join([*most, last])
        title = self.fields["title"].strip("{}")
        end = "" if title.endswith("?") else "."
        return " ".join([f"**[{self.key}]** {names}. *{title}{end}*", *self._published()])

    def _published(self) -> Iterator[str]:
        """Yield the sentences after the title: where and when it was published, and the note."""
        given = self.fields.get
        year = f", {given('year')}" if given("year") else ""
        if given("journal"):
            issue = f"({given('number')})" if given("number") else ""
            volume = f" {given('volume')}{issue}" if given("volume") else ""
            yield f"{given('journal')}{volume}{year}."
        elif given("booktitle"):
            series = f", {given('series')}" if given("series") else ""
            yield f"{given('booktitle')} {given('year')}{series}."
        elif given("publisher"):
            edition = f"{given('edition')} edition, " if given("edition") else ""
            yield f"{edition}{given('publisher')}{year}."
        elif given("school"):
            yield f"{given('type')}, {given('school')}{year}."
        elif given("type"):
            yield f"{given('type')} {given('number')}, {given('month')} {given('year')}."
        elif not given("eprint"):
            yield f"{given('year')}."
        if given("eprint"):
            alone = not any(map(given, ("journal", "booktitle", "publisher")))
            yield f"arXiv {given('eprint')}{year if alone else ''}."
        if given("ids"):
            yield f"Also **[{given('ids')}]**,"
        if given("note"):
            yield self.fields["note"]

    def citation(self) -> str:
        """Return the entry as a reference of the Citation File Format."""
        lines = [f"- type: {_KINDS[self.kind]}"]
        title = self.fields["title"].strip("{}")
        if len(title) > 90:
            lines += ["  title: >-", f"    {title}"]
        else:
            lines.append(f'  title: "{title}"' if ":" in title else f"  title: {title}")
        lines.append("  authors:")
        for name in self.authors:
            first, _, family = name.rpartition(" ")
            lines += [f"    - family-names: {family}", f"      given-names: {first}"]
        for field, name in (("journal", "journal"), ("booktitle", "collection-title")):
            if field in self.fields:
                series = f", {self.fields['series']}" if "series" in self.fields else ""
                lines.append(f"  {name}: {self.fields[field]}{series}")
        if "school" in self.fields:
            lines += ["  institution:", f"    name: {self.fields['school']}"]
        if "year" in self.fields:
            lines.append(f"  year: {self.fields['year']}")
        if "eprint" in self.fields:
            lines.append(f"  url: https://arxiv.org/abs/{self.fields['eprint']}")
        return textwrap.indent("\n".join(lines), "  ")


def read(text: str) -> list[Reference]:
    """Return the entries of a bibliography."""
    found, section = [], ""
    for part in re.split(r"^(?=@|% ## )", text, flags=re.MULTILINE):
        if heading := re.match(r"% ## (.+)", part):
            section = heading[1]
        elif entry := re.match(r"@(\w+)\{(\w+),\n(.*?)^\}", part, re.MULTILINE | re.DOTALL):
            fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry[3], re.MULTILINE))
            found.append(Reference(section, entry[1], entry[2], fields))
    return found


def page(references: list[Reference], text: str) -> str:
    """Return the text of the page with the lists of its sections written anew."""
    for section in dict.fromkeys(reference.section for reference in references):
        items = [wrap([f"- {one.words()}"]) for one in references if one.section == section]
        lines = "\n".join(line for item in items for line in item)
        begin = text.index(f"## {section}\n\n") + len(f"## {section}\n\n")
        end = text.index("\n\n## ", begin)
        text = text[:begin] + lines + text[end:]
    return text


def citation(references: list[Reference], text: str) -> str:
    """Return the text of the citation file with the papers of the first section as its references."""
    first = [reference for reference in references if reference.section == references[0].section]
    return text.partition("references:\n")[0] + "\n".join(
        ["references:", *(reference.citation() for reference in first), ""]
    )


def main() -> None:
    """Write both files."""
    references = read(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    for path, write in ((PAGE, page), (CITATION, citation)):
        path.write_text(write(references, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
