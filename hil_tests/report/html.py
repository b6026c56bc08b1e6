"""HTML and SVG of this distribution: templates that lie beside the module which fills them.

Owns how they are found and filled. Text is escaped. A page holds its style and its pictures, so
that it opens without a network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parents[1]),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def filled(template: str, **facts: Any) -> Markup:
    """Fill a template, named by its path in this distribution: `report/page.html`."""
    return Markup(_TEMPLATES.get_template(template).render(facts))
