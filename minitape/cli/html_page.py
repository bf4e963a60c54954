"""The page around a report: complete in itself, without scripts, in the reader's own theme."""

from __future__ import annotations

from html import escape

from ..common.texts import language

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#ccc, #555); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid var(--line); }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: 0.1rem 0.6rem; }
"""


def page(title: str, style: str, summary: str, body: str) -> str:
    """A page with its title, one sentence, and a body that is HTML already; ``style`` follows what all pages have.

    >>> "<h1>A &amp; B</h1>" in page("A & B", "", "All well.", "<p>...</p>")
    True
    """
    return PAGE.format(
        language=language(), title=escape(title), style=STYLE + style, summary=escape(summary), body=body
    )


def header_cells(*names: str) -> str:
    """The cells of a table's first row."""
    return "".join(f"<th>{escape(name)}</th>" for name in names)


PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p>{summary}</p>
{body}
</body>
</html>
"""
