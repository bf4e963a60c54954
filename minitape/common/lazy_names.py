"""Load a module's names on first use. A table lists where each name is defined."""

from collections.abc import Callable, Mapping
from importlib import import_module


def parse_name_table(names_by_module: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the place where each public name in a table is defined.

    Args:
        names_by_module: Maps module paths relative to ``minitape`` to public names separated by spaces.
            ``public=other`` means that the module defines the name as ``other``. ``public=`` stands for the module
            itself.

    Returns:
        A dictionary that maps each public name to a pair: the module, and the name in that module. The second item is
        "" if the public name stands for the module itself.

    >>> parse_name_table({"tf.printing": "print=print_ element", "math": "math="})["print"]
    ('tf.printing', 'print_')
    """
    home_by_name = {}
    for module, names in names_by_module.items():
        for entry in names.split():
            name, has_other_name, name_there = entry.partition("=")
            home_by_name[name] = (module, name_there if has_other_name else name)
    return home_by_name


def load_minitape_object(relative_module: str, name: str) -> object:
    """Load an object from one of minitape's modules.

    Args:
        relative_module: The module's path relative to ``minitape``, such as "tf.printing", or an absolute path that
            begins with ``minitape_widgets``.
        name: The object's name in the module, or "" for the module itself.

    Returns:
        The object or the module.
    """
    is_absolute = relative_module.startswith("minitape_widgets")
    module_path = relative_module if is_absolute else f"minitape.{relative_module}".removesuffix(".")
    loaded_module = import_module(module_path)
    return getattr(loaded_module, name) if name else loaded_module


def build_lazy_getattr_and_dir(
    module_globals: dict[str, object], names_by_module: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Build ``__getattr__`` and ``__dir__`` for a module whose names are loaded on first use.

    This function also sets the module's ``__all__``.

    Args:
        module_globals: The ``globals()`` of the module.
        names_by_module: The table of names, in the format of :func:`parse_name_table`.

    Returns:
        The functions ``__getattr__`` and ``__dir__``. As Python requires, ``__getattr__`` raises AttributeError for a
        name that is not in the table.
    """
    home_by_name = parse_name_table(names_by_module)
    module_globals["__all__"] = sorted(home_by_name)

    def load_on_first_use(name: str) -> object:
        if name not in home_by_name:
            raise AttributeError(f"module {module_globals['__name__']!r} has no attribute {name!r}", name=name)
        loaded = module_globals[name] = load_minitape_object(*home_by_name[name])
        return loaded

    # The script that writes the stubs for editors reads the names from this attribute.
    load_on_first_use.__dict__["homes"] = home_by_name
    return load_on_first_use, lambda: sorted(home_by_name)
