"""Import a bridge's framework, or raise an error that names the package to install."""

from importlib import import_module
from typing import Any

from ..engine.types import NumberPair


def import_framework(module_name: str, framework_name: str, minimum_version: NumberPair) -> Any:
    """Import and return the module of a framework.

    Args:
        module_name: The name of the module, such as "torch". minitape's extra for the framework has the same name.
        framework_name: The name of the framework in messages, such as "PyTorch".
        minimum_version: The oldest (major, minor) version that the bridge supports.

    Returns:
        The module.

    Raises:
        ImportError: If the framework is missing or too old.

    >>> import_framework("numpy", "NumPy", (2, 0)).__name__
    'numpy'
    >>> import_framework("numpy", "NumPy", (99, 0))
    Traceback (most recent call last):
    ImportError: minitape.bridges.numpy needs NumPy 99.0 or newer, but 2... is installed.
    """
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise ImportError(
            f"minitape.bridges.{module_name} needs {framework_name}: pip install 'minitape[{module_name}]'."
        ) from error
    if tuple(map(int, module.__version__.split(".")[:2])) < minimum_version:
        version_text = ".".join(map(str, minimum_version))
        raise ImportError(
            f"minitape.bridges.{module_name} needs {framework_name} {version_text} or newer, "
            f"but {module.__version__} is installed."
        )
    return module
