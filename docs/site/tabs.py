"""Turn a page's sections about frameworks into tabs, of which one is shown at a time.

Without the style sheet, readers see sections that open and close. In Markdown, they are plain sections.
"""

from __future__ import annotations

import re

TITLES = ("minitape's tape", "minitape 的磁带", "PyTorch", "TensorFlow", "JAX")
SECTIONS = re.compile(rf"(?:^## (?:{'|'.join(map(re.escape, TITLES))})\n(?:(?!^## )[^\n]*\n)*){{2,}}", re.MULTILINE)


def put_frameworks_in_tabs(page_text: str) -> str:
    r"""Return a page whose neighbouring sections about frameworks are tabs. The first tab is open.

    >>> print(put_frameworks_in_tabs("## PyTorch\n\na\n\n## JAX\n\nb\n\n## Why\n\nc\n"))
    <div class="tabs">
    <BLANKLINE>
    <details name="framework" open>
    <summary>PyTorch</summary>
    <BLANKLINE>
    a
    <BLANKLINE>
    </details>
    <BLANKLINE>
    <details name="framework">
    <summary>JAX</summary>
    <BLANKLINE>
    b
    <BLANKLINE>
    </details>
    <BLANKLINE>
    </div>
    <BLANKLINE>
    ## Why
    <BLANKLINE>
    c
    <BLANKLINE>
    """
    return SECTIONS.sub(lambda match: format_tabs(match[0]), page_text)


def format_tabs(sections_text: str) -> str:
    """Return the HTML of tabs for some sections in Markdown."""
    tabs = []
    for section in re.split(r"^## ", sections_text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        is_open = "" if tabs else " open"
        tabs.append(
            f'<details name="framework"{is_open}>\n<summary>{title}</summary>\n\n{body.strip()}\n\n</details>\n\n'
        )
    return f'<div class="tabs">\n\n{"".join(tabs)}</div>\n\n'
