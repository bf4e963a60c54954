"""Check for optional packages and name the commands that install them."""

import importlib.util

from .messages import say

LAB_EXTRA = "lab"
EXTRAS = {
    "sphinx": "docs",
    "myst_parser": "docs",
    "furo": "docs",
    "jupyterlite_core": "lite",
    "jupyterlite_pyodide_kernel": "lite",
}
"""The extra of minitape that installs a package. All other packages belong to LAB_EXTRA."""


def require_packages(*packages: str) -> None:
    """Check that all packages are installed before any work begins.

    Args:
        packages: The import names of the packages.

    Raises:
        ModuleNotFoundError: If a package is not installed. The message names the first missing package.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def describe_missing_package(package: str) -> str:
    """Return a message that names a missing package and the command that installs it.

    >>> print(describe_missing_package("furo"))
    this command needs the package furo, but it is not installed. Type: pip install "minitape[docs]"

    Args:
        package: The import name of the package.

    Returns:
        The translated message.
    """
    message = 'this command needs the package {package}, but it is not installed. Type: pip install "minitape[{part}]"'
    return say(message, package=package, part=EXTRAS.get(package, LAB_EXTRA))
