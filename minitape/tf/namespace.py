"""Public namespaces of ``tf``: which names a module offers, and what it says when asked for another.

The file of a namespace (``math.py``, ``nn/__init__.py``, ...) is a table of names and of the modules that hold them.
If a file also defines functions (``errors.py``), what is not public has an underscore.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from ..engine.hooks import load, places
from ..functions.calls import in_traces
from .api import is_of_tensorflow, missing, not_here

if TYPE_CHECKING:
    from importlib.abc import Loader

    from ..engine.types import Object
else:
    Loader = object

# what is built on tf: no names of it, but attributes, which are imported when they are first asked for
TOOLS = ("minitape.bridges", "minitape.check", "minitape.cli", "minitape.course")


# what functions are while another one is traced, or TensorFlow 1 defers calls: see minitape.functions.calls, .deferred
wrap: Callable[[str, Object], Object] = in_traces


def public(namespace: str, names: Collection[str]) -> tuple[Callable[[str], Object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that holds the ``names`` of ``namespace`` itself, beside other
    things.

    Only these are listed and completed.

    >>> find, listed = public("tf.nest", ["flatten", "is_nested"])
    >>> listed()
    ['flatten', 'is_nested']
    """

    def find(name: str) -> Object:
        if name.startswith("_"):
            raise AttributeError(name, name=name)
        raise missing(namespace, name, importlib.import_module(f"minitape{namespace[2:]}"))

    return find, lambda: sorted(names)


def lazy(
    namespace: str,
    homes: Mapping[str, str],
    space: dict[str, Object],
    more: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[Callable[[str], Object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that is nothing but ``namespace``: the module's last line.

    Public is what ``homes`` (see :func:`places`) and ``more`` name, and what the module defines itself without an
    underscore. ``space`` is the module's globals; a name is loaded when it is first asked for and stays there. A name
    that is not there raises AttributeError: see :mod:`minitape.tf.api`.
    """
    home = {**(more or {}), **places(homes)}
    own = [name for name, value in space.items() if not (name.startswith("_") or isinstance(value, ModuleType))]
    space.pop("annotations", None)  # of `from __future__ import annotations`
    names = space["__all__"] = sorted({*home, *own} - {"annotations"})
    refuse, listed = public(namespace, names)
    if "__path__" in space:
        _hide_submodules(sys.modules[space["__name__"]], {name for name, (_, theirs) in home.items() if not theirs})

    def find(name: str) -> Object:
        if name in home:
            found = load(*home[name])
            space[name] = found = wrap(name, found)
            return found
        if namespace == "tf" and "minitape." + name in TOOLS:
            return importlib.import_module(f"minitape.{name}")
        return refuse(name)

    find.__dict__["homes"] = home  # from which the stubs for editors are written
    return find, listed


def wrap_functions(wrapped: Callable[[str, Object], Object]) -> None:
    """From now on each public name gives what ``wrapped(name, object)`` makes of it."""
    global wrap
    if wrap is wrapped:
        return
    wrap = wrapped
    for name, module in list(sys.modules.items()):
        if name == "minitape" or name.startswith(("minitape.tf", "minitape.compat")):
            for key in set(getattr(module, "__all__", None) or ()) & vars(module).keys():
                vars(module)[key] = wrapped(key, vars(module)[key])


class Package(ModuleType):
    """A package that is a namespace: of its submodules, only those that are namespaces themselves become attributes.

    ``from .tape import GradientTape`` and ``import minitape.engine.back.tape as module`` do not need the attribute.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not _is_hidden(self, name, value, self._namespaces):
            super().__setattr__(name, value)


def _is_hidden(package: ModuleType, name: str, value: object, namespaces: set[str]) -> bool:
    full = f"{package.__name__}.{name}"
    return isinstance(value, ModuleType) and value.__name__ == full and name not in namespaces and full not in TOOLS


def _hide_submodules(package: ModuleType, namespaces: set[str]) -> None:
    for name, value in list(vars(package).items()):
        if _is_hidden(package, name, value, namespaces):
            delattr(package, name)
    package.__dict__["_namespaces"] = namespaces
    package.__class__ = Package


class Aliases(Loader):
    """Makes ``import minitape.nn`` give the module ``minitape.tf.nn``: one module, under the path that TensorFlow
    has.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def install(self) -> None:
        """Comes first: below `minitape.nn` the folder of `minitape.tf.nn` would be searched, and its modules made
        twice.
        """
        sys.meta_path.insert(0, self)
        sys.meta_path.append(NotHere())  # last: what no other finder has found

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module with one of the names, or below it."""
        package, _, inner = name.partition(".")
        own = package == "minitape" and inner.partition(".")[0] in self.names
        return ModuleSpec(name, self, is_package=True) if own else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, whose own specification is kept meanwhile."""
        module = importlib.import_module(spec.name.replace("minitape.", "minitape.tf.", 1))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs a second time."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


class NotHere:
    """Says of ``import minitape.image`` and ``from minitape import image`` what is said of ``tf.image``."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """ModuleNotFoundError for a name of TensorFlow's."""
        package, _, inner = name.partition(".")
        if package != "minitape":
            return
        namespace, _, last = f"tf.{inner.removeprefix('tf.')}".rpartition(".")
        if is_of_tensorflow(namespace, last):
            # without ``name``: of a module of that name Python would say that there is nothing to import
            raise ModuleNotFoundError(not_here(f"{namespace}.{last}"))
