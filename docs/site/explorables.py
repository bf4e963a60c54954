"""Turn each ``mini-tape`` block of a page into an element `<mini-tape>`, whose picture readers can recompute."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

from minitape_widgets.front_end import ELEMENT_SCRIPT

BLOCK = re.compile(r"^```mini-tape(?P<attributes>[^\n]*)\n(?P<program>.*?)^```$", re.MULTILINE | re.DOTALL)


class Explorable(NamedTuple):
    """A program on a page that readers can change.

    Attributes:
        program: The source text.
        attributes: The attributes of the element, as HTML writes them.
    """

    program: str
    attributes: str


def find_explorables(page_text: str) -> list[Explorable]:
    r"""Return the explorables on a page.

    >>> find_explorables("```mini-tape at=\"x=3\"\ny = x * x\n```\n")
    [Explorable(program='y = x * x\n', attributes='at="x=3"')]
    """
    return [Explorable(block["program"], block["attributes"].strip()) for block in BLOCK.finditer(page_text)]


def embed_explorables(page_text: str, script_url: str) -> str:
    r"""Replace the ``mini-tape`` blocks of a page with elements.

    Args:
        page_text: The page in Markdown.
        script_url: The address of the script, relative to the page.

    >>> print(embed_explorables("```mini-tape\ny = x < 1\n```\n", "m.js"))
    <script src="m.js" defer></script>
    <mini-tape>y = x &lt; 1&#10;</mini-tape>
    <BLANKLINE>
    """
    script = f'<script src="{html.escape(script_url)}" defer></script>\n'

    def build_element(match: re.Match[str]) -> str:
        nonlocal script
        # The element stays on one line, because a blank line would end a block of HTML in Markdown.
        program = html.escape(match["program"], quote=False).replace("\n", "&#10;")
        element = f"{script}<mini-tape{match['attributes'].rstrip()}>{program}</mini-tape>"
        script = ""
        return element

    return BLOCK.sub(build_element, page_text)


def read_script() -> str:
    """Return the script that defines the element."""
    return ELEMENT_SCRIPT.read_text(encoding="utf-8")
