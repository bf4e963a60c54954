"""Configure Sphinx for the documentation: the configuration of ``minitape site``, and extensions for the reference."""

import runpy
from importlib.util import find_spec

import minitape.bridges.framework_import
from minitape.cli.site import SETTINGS_FOLDER

globals().update(runpy.run_path(str(SETTINGS_FOLDER / "conf.py")))

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
html_logo = html_favicon = str(SETTINGS_FOLDER / "static" / "logo.svg")
html_static_path = [str(SETTINGS_FOLDER / "static")]

default_role = "code"  # In docstrings, `name` stands for code.
autodoc_typehints = "none"  # The text of a docstring describes the types of the arguments.
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
# The bridges are described without their frameworks, which take gigabytes.
FRAMEWORKS = ("torch", "tensorflow", "keras", "jax", "jaxlib", "lightning", "transformers")
autodoc_mock_imports = [name for name in FRAMEWORKS if not find_spec(name)]
minitape.bridges.framework_import.import_framework = lambda *framework: None
# Types from other packages, and classes that are not part of the reference.
nitpick_ignore_regex = [("py:.*", ".*")]


def add_search_fields(app, page_name, *context):
    """On the search page only, load the search fields that `build.py` wrote."""
    if page_name == "search":
        app.add_js_file("search_fields.js")


def setup(app):
    """Register the documentation's additions to the settings of `minitape site`."""
    app.connect("html-page-context", add_search_fields)
