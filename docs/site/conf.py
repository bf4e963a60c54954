"""The Sphinx configuration of the documentation: that of ``minitape site``, and what reads the reference."""

import runpy
from importlib.util import find_spec

import minitape.bridges.framework_import
from minitape.cli.site import SETTINGS_FOLDER

globals().update(runpy.run_path(str(SETTINGS_FOLDER / "conf.py")))

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
html_logo = html_favicon = str(SETTINGS_FOLDER / "static" / "logo.svg")
html_static_path = [str(SETTINGS_FOLDER / "static")]

default_role = "code"  # Docstrings write `name` for code.
autodoc_typehints = "none"  # The text of a docstring says what an argument is.
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
# The bridges are described without their frameworks, which take gigabytes.
FRAMEWORKS = ("torch", "tensorflow", "keras", "jax", "jaxlib", "lightning", "transformers")
autodoc_mock_imports = [name for name in FRAMEWORKS if not find_spec(name)]
minitape.bridges.framework_import.import_framework = lambda *framework: None
# Types of other packages, and classes that are no part of the reference.
nitpick_ignore_regex = [("py:.*", ".*")]


def add_search_fields(app, page_name, *context):
    """Load the parts of the pages that `build.py` wrote for the search, on the page of the search only."""
    if page_name == "search":
        app.add_js_file("search_fields.js")


def setup(app):
    """Register what the documentation adds to the settings of `minitape site`."""
    app.connect("html-page-context", add_search_fields)
