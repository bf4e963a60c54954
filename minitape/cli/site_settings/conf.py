"""The settings of Sphinx, for ``minitape site`` and ``docs/build.py``."""

import minitape

project = "minitape"
author = "The minitape authors"
copyright = f"2026, {author}"
version = release = minitape.__version__

extensions = ["myst_parser"]
myst_heading_anchors = 4
smartquotes = False
nitpicky = True  # a name that is not described is a broken link
suppress_warnings = ["misc.highlighting_failure"]  # blocks of engine.md quote parts of files, which are no programs

html_theme = "furo"
html_title = "minitape"
html_logo = html_favicon = "static/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_language = "en"  # Sphinx's own for Chinese finds nothing without another package
html_show_search_summary = False  # it would fetch pages, which a browser forbids where no server is
html_copy_source = html_show_sourcelink = html_show_sphinx = False
pygments_style, pygments_dark_style = "friendly", "monokai"
toc_object_entries_show_parents = "hide"
