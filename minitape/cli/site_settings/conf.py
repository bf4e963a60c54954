"""Configure Sphinx for ``minitape site`` and ``docs/build.py``."""

from pathlib import Path

from sphinx.search import languages

import minitape
from minitape.cli.chinese_search import SearchChinese

project = "minitape"
author = "The minitape authors"
copyright = f"2026, {author}"
version = release = minitape.__version__

extensions = ["myst_parser"]
myst_heading_anchors = 4
smartquotes = False
nitpicky = True  # Treat references to undocumented names as broken links.
suppress_warnings = ["misc.highlighting_failure"]  # engine.md quotes fragments that are not valid programs.

html_theme = "furo"
html_title = "minitape"
html_logo = html_favicon = "static/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js", "run_cells.js", "search.js"]
# This ranking puts pages that answer a question before lessons and the API.
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
# For a summary, the search page would have to fetch other pages. Browsers forbid this for local files.
html_show_search_summary = False
html_copy_source = html_show_sourcelink = html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
toc_object_entries_show_parents = "hide"

# Sphinx's own Chinese search needs an additional package.
languages[SearchChinese.lang] = SearchChinese
