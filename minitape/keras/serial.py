"""How Keras finds an object by its name: ``"relu"``, ``"Adam"``, ``{"class_name": ..., "config": ...}``.

A configuration may come from a stranger. It names what is public in Keras, from tables, and what the user registered or
gave; no name leads to a module or an attribute, and nothing in it is run as code.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping
from typing import Any

from ..engine.above import load
from ..engine.block import During, Exit
from . import layers


class Configured:
    """What can be made anew from its arguments: ``get_config`` gives them, ``from_config`` takes them."""

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> tf.keras.regularizers.L2(0.5).get_config(), tf.keras.initializers.Constant(2.0).get_config()
        ({'l2': 0.5}, {'value': 2.0})
        """
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Another one with these arguments.

        >>> import minitape as tf
        >>> tf.keras.initializers.Constant.from_config({"value": 2.0})((2,)).numpy()
        array([2., 2.], dtype=float32)
        """
        return cls(**config)


def lookup(kind: str, identifier: Any, table: Mapping[str, Any], instance: bool = True) -> Any:
    """The object meant by ``identifier``: itself if callable, else what ``table`` holds under that name.

    Classes are instantiated when ``instance`` is set. Raises ValueError for an unknown name.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        made = lookup(kind, identifier.get("class_name"), table, instance=False)
        with reading():
            return made(**identifier.get("config", {})) if inspect.isclass(made) else made
    found = table.get(identifier) if isinstance(identifier, str) else identifier
    if isinstance(identifier, str) and found is None:
        found = registered.get(identifier)
    if found is None or not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found() if instance and inspect.isclass(found) else found


registered: dict[str, Any] = {}


class known:
    """In the block these classes and functions of the user are found by their names, as registered ones are."""

    def __init__(self, custom_objects: Mapping[str, Any] | None) -> None:
        self._objects = dict(custom_objects or {})
        self._before: dict[str, Any] | None = None

    def __enter__(self) -> Any:
        self._before = {name: registered[name] for name in self._objects if name in registered}
        registered.update(self._objects)
        return self

    def _leave(self, *error: Any) -> None:
        for name in self._objects:
            registered.pop(name, None)
        registered.update(self._before or {})
        self._before = self._held = None

    __exit__ = Exit(_leave, lambda block: block._before is not None)


OBJECTS, WEIGHTS = 20_000, 2**28  # layers and other objects, and numbers in variables, that a description may ask for that is not trusted


class _Mode(threading.local):
    safe: bool | None = None  # None where nothing is read
    left: dict[str, int] | None = None  # of what the description may ask for


_mode = _Mode()


def reading(safe_mode: bool | None = None, weights: int | None = None) -> During:
    """In the block objects are made of a configuration: in safe mode, unless this block or one around it says otherwise."""
    left = _mode.left or {"objects": OBJECTS, "weights": WEIGHTS if weights is None else weights}
    return During(_mode, safe=_mode.safe is not False if safe_mode is None else bool(safe_mode), left=left)


def in_safe_mode() -> bool:
    """Whether objects are being made of a configuration that is not trusted."""
    return bool(_mode.safe)


def asked(what: str, count: int = 1) -> None:
    """So many "objects" or "weights" are about to be made; ValueError where a description that is not trusted asks for too many."""
    if _mode.safe and _mode.left is not None:
        _mode.left[what] -= count
        if _mode.left[what] < 0:
            raise ValueError(
                f"A description that is not trusted asks for too many {what}. If you trust it, read it with `load_model(..., safe_mode=False)`."
            )


def no_code(what: str) -> ValueError:
    """The error for code in a configuration, in the words of Keras."""
    return ValueError(
        f"Requested the deserialization of a {what}. This carries a potential risk of arbitrary code execution and thus it is "
        "disallowed by default. minitape takes no code from a file with `safe_mode=False` either: give the function a name with "
        "`def`, decorate it with `@keras.saving.register_keras_serializable()`, and save the model again."
    )


def is_code(value: Any) -> bool:
    """Whether a part of a configuration is what Keras makes of a lambda."""
    return isinstance(value, dict) and value.get("class_name") == "__lambda__"


def unknown(kind: str, name: Any) -> TypeError:
    """The error for a class or function of a configuration that nobody knows."""
    return TypeError(
        f"Could not locate {kind} '{name}'. Make sure custom classes and functions are decorated with "
        "`@keras.saving.register_keras_serializable()`, or give it in `custom_objects`."
    )


# classes that are no names of ``tf.keras.layers`` -> their modules
BUILT_IN = {"Functional": "keras.model", "Sequential": "keras.sequential", "Step": "keras.symbolic"}


def made(config: Any) -> Any:
    """The layer, model or plain operation that a configuration tells of; what is no configuration stays itself.

    Raises TypeError for a class that is not known.
    """
    if not isinstance(config, dict):
        return config
    if is_code(config):
        raise no_code("Python lambda")
    name = config.get("class_name")
    if not isinstance(name, str):
        raise unknown("class", name)
    kind = registered.get(name)
    if kind is None and name in BUILT_IN:
        kind = load(BUILT_IN[name], name)
    if kind is None and name in dir(layers):
        found = getattr(layers, name)
        kind = found if getattr(found, "_tracked_as", None) == "layers" else None
    return from_config(kind, config)


def from_config(kind: Any, config: Mapping[str, Any]) -> Any:
    """An object of the class that was found for the name in a configuration; TypeError where it is no such class."""
    if kind is None:
        raise unknown("class", config.get("class_name"))
    if not inspect.isclass(kind) or not hasattr(kind, "from_config"):
        raise TypeError(f"Unable to reconstruct an instance of '{config['class_name']}' because the class is missing a "
                        f"`from_config()` method. Full object config: {config}")  # fmt: skip
    with reading():
        asked("objects")
        return kind.from_config(config.get("config") or {})


def serialize(obj: Any) -> Any:
    """A layer, or another thing of Keras, as a dictionary that JSON can hold: its class and its arguments.

    >>> import minitape as tf
    >>> tf.keras.layers.serialize(tf.keras.layers.Dense(3))["class_name"]
    'Dense'
    """
    return plain(obj)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """A new layer of what ``serialize`` gave; TypeError for a class that is neither Keras's nor in ``custom_objects``.

    >>> import minitape as tf
    >>> tf.keras.layers.deserialize(tf.keras.layers.serialize(tf.keras.layers.Dense(3))).units
    3
    """
    with known(custom_objects):
        return made(config)


def policy(dtype: str) -> dict[str, Any]:
    """How Keras writes down the type that a layer works in."""
    return {"module": "keras", "class_name": "DTypePolicy", "config": {"name": dtype}, "registered_name": None}


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if hasattr(value, "get_config"):
        return {
            "module": _module_of(value),
            "class_name": type(value).__name__,
            "config": value.get_config(),
            "registered_name": None,
        }
    if callable(value):
        return getattr(value, "__name__", str(value))
    return value


# the modules whose classes belong to another namespace than that of their own name
_BELONG = {
    "keras.metrics": "metric counting auc accuracies",
    "keras.losses": "loss",
    "keras.optimizers": "optimizer",
    "keras.optimizers.schedules": "schedules",
    "keras.layers": "symbolic layer",
}
_NAMESPACE = {f"minitape.keras.{name}": space for space, names in _BELONG.items() for name in names.split()}


def _module_of(value: Any) -> str:
    name = type(value).__module__
    if name.startswith("minitape.keras.layers"):
        return "keras.layers"
    if name in _NAMESPACE:
        return _NAMESPACE[name]
    return "keras." + name.rsplit(".", 1)[-1] if name.startswith("minitape.keras") else name
