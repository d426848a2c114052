"""Formulas as MathML, made while the site is built: nothing is fetched, and no script runs in a browser.

Displayed formulas are TeX between dollar signs. Formulas inside of sentences, tables and docstrings are plain
Unicode, which `notation` finds and translates. Names such as `dt.mean` become links to their pages, and code
with aligned columns is marked, because its lines must not be broken.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import name_page
import notation
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

_AS_WRITTEN = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.title,
    nodes.comment,
)
_LETTER = re.compile(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])")
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S")  # two spaces inside of a line
_STOPS = tuple(".,;:)?!’”")
_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")  # 10 000 stays on one line


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer, chosen by `html_math_renderer = "mathml"`, and the transform."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_transform(SetFormulas)
    app.add_transform(LinkNames)
    app.add_transform(MarkColumns)
    return {"env_version": 4, "parallel_read_safe": True, "parallel_write_safe": True}


class SetFormulas(SphinxTransform):
    """Replaces formulas in the text of a page by formulas that are set."""

    default_priority = 900

    def apply(self, **_: Any) -> None:
        """Change the page in place."""
        texts = [text for text in self.document.findall(nodes.Text) if not _as_written(text)]
        known = frozenset().union(*(notation.letters(text.astext()) for text in texts))
        for node in self.document.findall(lambda found: isinstance(found, nodes.math | nodes.math_block)):
            known |= set(_LETTER.findall(node.astext()))
        for text in texts:
            pieces = notation.pieces(text.astext(), known)
            if any(tex for _, tex in pieces) or _THOUSANDS.search(text.astext()):
                text.parent.replace(text, [node for piece in pieces for node in _nodes(*piece)])


class LinkNames(SphinxTransform):
    """Makes names of the library, such as `dt.mean`, links to their pages."""

    default_priority = 890

    def apply(self, **_: Any) -> None:
        """Change the page in place."""
        for literal in list(self.document.findall(nodes.literal)):
            page = name_page.page_of(literal.astext())
            if (
                page is None
                or page == self.env.docname
                or _inside(literal, nodes.reference, pending_xref, nodes.title)
            ):
                continue
            address = self.app.builder.get_relative_uri(self.env.docname, page)
            link = nodes.reference("", "", internal=True, refuri=address, classes=["name-link"])
            literal.replace_self(link)
            link += literal


class MarkColumns(SphinxTransform):
    """Marks blocks of code in which columns are aligned: their lines are not broken but scroll."""

    default_priority = 891

    def apply(self, **_: Any) -> None:
        """Change the page in place."""
        for block in self.document.findall(nodes.literal_block):
            lines = [
                line for line in block.astext().splitlines() if not line.lstrip().startswith((">>>", "..."))
            ]
            if sum(bool(_COLUMNS.search(line.partition("  #")[0].strip())) for line in lines) >= 2:
                block["classes"].append("aligned")


def _inside(node: Any, *kinds: type) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def _as_written(node: Any) -> bool:
    while node is not None and not isinstance(node, nodes.document):
        if isinstance(node, _AS_WRITTEN):
            return True
        node = node.parent
    return False


def _nodes(text: str, tex: str) -> list[Any]:
    if not tex:
        return [nodes.Text(_THOUSANDS.sub("\u202f", text))]
    first, *rest = notation.breakable(tex)  # browsers break no line inside of a formula
    found: list[Any] = [nodes.math(first, first)]
    for part in rest:  # {} makes the operator stand between two sides
        found += [nodes.Text("\u200b"), nodes.math(f"{{}} {part}", f"{{}} {part}")]
    return found


# HTML needs no name space for MathML, inline is the default, and one token needs no row.
_REDUNDANT = re.compile(r' xmlns="[^"]*"| display="inline"|<mrow>(<m[ion]>[^<]*</m[ion]>)</mrow>')


@cache
def _mathml(tex: str, display: str) -> str:
    text = convert(tex, display=display).replace("<mo>/</mo>", '<mo lspace="0" rspace="0">/</mo>')
    return _REDUNDANT.sub(r"\1", text)


def _inline(translator: Any, node: Any) -> None:
    text = _mathml(node.astext(), "inline")
    after = node.next_node(descend=False, siblings=True)
    if isinstance(after, nodes.Text) and after.astext().startswith(_STOPS):
        kind = "script before-stop" if re.search(r"</ms\w+></mrow></math>$", text) else "before-stop"
        text = text.replace("<math>", f'<math class="{kind}">', 1)
    translator.body.append(text)
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula">{_mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode
