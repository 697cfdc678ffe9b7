"""Formulas as MathML, written when the site is built, so that pages need no script and no network.

Browsers draw MathML themselves. The renderer is chosen with `html_math_renderer = "mathml"`.
"""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
# Dots over letters are accents, drawn at full size.
ACCENT = re.compile(r"<mover>(?=(?:(?!</mover>).)*<mo>&#x0*(?:2D9|A8|2DA);</mo></mover>)")


def mathml(node: nodes.Element, display: str) -> str:
    # latex2mathml knows `align*` where Markdown pages write `aligned`, as TeX wants it within $$.
    latex = node.astext().replace("{aligned}", "{align*}")
    result = convert(latex, display=display)
    if latex.count("{") != latex.count("}"):
        LOGGER.warning("braces do not match in %r", latex, location=node)
    if "\\" in result:  # what latex2mathml does not know it leaves as it is
        LOGGER.warning("unknown command in %r", latex, location=node)
    return ACCENT.sub('<mover accent="true">', result)


def inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
