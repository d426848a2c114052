"""Formulas as MathML, made while the site is built: nothing is fetched, and no script runs in a browser.

Displayed formulas are TeX between dollar signs. Formulas inside of sentences, tables and docstrings are plain
Unicode, which `notation` finds and translates.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import notation
from docutils import nodes
from latex2mathml.converter import convert
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
_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")  # 10 000 stays on one line


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer, chosen by `html_math_renderer = "mathml"`, and the transform."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_transform(SetFormulas)
    return {"env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}


class SetFormulas(SphinxTransform):
    """Replaces formulas in the text of a page by formulas that are set."""

    default_priority = 900

    def apply(self, **_: Any) -> None:
        """Change the page in place."""
        texts = [text for text in self.document.findall(nodes.Text) if not _as_written(text)]
        known = frozenset().union(*(notation.letters(text.astext()) for text in texts))
        for node in self.document.findall(lambda one: isinstance(one, nodes.math | nodes.math_block)):
            known |= set(_LETTER.findall(node.astext()))
        for text in texts:
            pieces = notation.pieces(text.astext(), known)
            if any(tex for _, tex in pieces) or _THOUSANDS.search(text.astext()):
                text.parent.replace(text, [node for piece in pieces for node in _nodes(*piece)])


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


@cache
def _mathml(tex: str, display: str) -> str:
    return convert(tex, display=display).replace("<mo>/</mo>", '<mo lspace="0" rspace="0">/</mo>')


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula">{_mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode
