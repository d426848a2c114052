"""Formulas as MathML, made while the site is built: nothing is fetched, and no script runs in a browser."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext()))
    raise _skip()


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise _skip()


def _skip() -> Exception:
    from docutils.nodes import SkipNode

    return SkipNode()
