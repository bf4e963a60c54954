"""Models of symbolic tensors as configurations, which JSON can hold: their layers, and the calls between them.

The form is that of Keras. Plain operations on symbolic tensors are written as minitape's own: what is called, and its
arguments, in which ``__input__`` stands for a tensor. A configuration may come from a stranger: what it can call is in two
tables, the functions of ``tf.keras.ops`` and the operators, and nothing is looked for anywhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tf
from ..engine import nest
from ..engine.namespace import load
from . import ops
from .operations.common import CONCRETE
from .serial import made, plain
from .symbolic import OPERATORS, InputLayer, KerasTensor, Step

# -- functions of tensors ---------------------------------------------------------------------------------------------

# where each function of ``tf.keras.ops`` is that may be called on symbolic tensors
FUNCTIONS = {
    name: home
    for name, home in ops.__getattr__.homes.items()
    if f"minitape.{home[0]}" not in CONCRETE or name == "cast"
}


class Slot:
    """Stands for tensor number ``at`` among the arguments of a function."""

    def __init__(self, at: int) -> None:
        self.at = at


class Applied:
    """A function with its other arguments, as a function of tensors: one of ``tf.keras.ops``, or a tensor's operator.

    ``what`` is its name; ValueError for one that is in neither table.
    """

    def __init__(self, what: str, args: Any, kwargs: Any) -> None:
        _named(what)
        self.what, self.args, self.kwargs = what, args, kwargs

    def __call__(self, *tensors: Any) -> Any:
        args, kwargs = nest.map_structure(lambda v: tensors[v.at] if isinstance(v, Slot) else v, (self.args, self.kwargs))
        return _named(self.what)(*args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """What it is, for JSON; TypeError for an argument that JSON cannot hold."""
        return {"what": self.what, "args": _written(self.args), "kwargs": _written(self.kwargs)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Applied:
        """The function that a configuration tells of."""
        return cls(config["what"], tuple(_read(config["args"])), _read(config["kwargs"]))


def _named(what: Any) -> Any:
    """The function or the operator of this name."""
    if isinstance(what, str) and what in OPERATORS:
        return lambda x, *rest: getattr(x, what)(*rest)
    if isinstance(what, str) and what in FUNCTIONS:
        return load(*FUNCTIONS[what])
    raise ValueError(
        f"{what!r} is neither a function of tf.keras.ops that takes symbolic tensors nor an operator, and a configuration names "
        "nothing else. Of a function of your own make a layer, and register its class "
        "(`@keras.saving.register_keras_serializable()`)."
    )


def applied(what: str, args: Any, kwargs: Any, name: str) -> Any:
    """The symbolic result of a function of ``tf.keras.ops``, or of an operator, of symbolic and other arguments."""
    tensors: list[Any] = []

    def leaf(value: Any) -> Any:
        if not isinstance(value, KerasTensor):
            return value
        tensors.append(value)
        return Slot(len(tensors) - 1)

    return Step(Applied(what, *nest.map_structure(leaf, (args, kwargs))), name)(*tensors)


def _written(value: Any) -> Any:
    if isinstance(value, Slot):
        return {"__input__": value.at}
    if isinstance(value, slice):
        return {"__slice__": [_written(v) for v in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"__ellipsis__": True}
    if isinstance(value, dict):
        return {key: _written(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(v) for v in value]
    if hasattr(value, "numpy") or isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        return {"__array__": array.tolist(), "dtype": array.dtype.name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"An argument of type {type(value).__name__} cannot be written into a configuration: {value!r}")


def _read(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_read(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "__input__" in value:
        return Slot(value["__input__"])
    if "__slice__" in value:
        return slice(*map(_read, value["__slice__"]))
    if "__ellipsis__" in value:
        return Ellipsis
    if "__array__" in value:
        return tf.constant(value["__array__"], value["dtype"])
    return {key: _read(v) for key, v in value.items()}


# -- models -----------------------------------------------------------------------------------------------------------


def config_of(model: Any) -> dict[str, Any]:
    """The configuration of a model of symbolic tensors, as Keras writes it."""
    places, calls = _places(model)

    def written(value: Any) -> Any:
        if not isinstance(value, KerasTensor):
            return _written(value)
        kind = {"shape": tuple(value.shape), "dtype": value.dtype, "keras_history": places[id(value)]}
        return {"class_name": "__keras_tensor__", "config": kind}

    layers = []
    for operation in model._operations:
        about = plain(operation)
        about["name"] = operation.name
        about["inbound_nodes"] = [
            {"args": tuple(nest.map_structure(written, a) for a in node.args),
             "kwargs": {name: nest.map_structure(written, v) for name, v in node.kwargs.items()}}
            for node in calls[id(operation)] if not isinstance(operation, InputLayer)
        ]  # fmt: skip
        layers.append(about)
    ends = {"input_layers": model._inputs_struct, "output_layers": model._outputs_struct}
    return {"name": model.name, "trainable": model.trainable, "layers": layers,
            **{name: nest.map_structure(lambda x: places[id(x)], end) for name, end in ends.items()}}  # fmt: skip


def _places(model: Any) -> tuple[dict[int, list[Any]], dict[int, list[Any]]]:
    """Of each tensor its layer's name, the number of the call and of the output; and the calls of each layer."""
    calls: dict[int, list[Any]] = {id(operation): [] for operation in model._operations}
    starts = [x._keras_history for x in model.inputs]
    places = {}
    for node in [*starts, *[n for n in model._nodes if n not in starts]]:
        known = calls.setdefault(id(node.layer), [])
        for i, output in enumerate(nest.flatten(node.outputs)):
            places[id(output)] = [node.layer.name, len(known), i]
        known.append(node)
    return places, calls


def model_of(kind: Any, config: dict[str, Any]) -> Any:
    """The model of symbolic tensors that a configuration tells of: its layers are made, and called again."""
    layers = {about["name"]: made(about) for about in config["layers"]}
    outputs = {(name, 0): [layer.output] for name, layer in layers.items() if isinstance(layer, InputLayer)}
    waiting = [(about["name"], i, node) for about in config["layers"] for i, node in enumerate(about["inbound_nodes"])]
    while waiting:
        left = []
        for name, i, node in waiting:
            needed = _tensors(node)
            if (i and (name, i - 1) not in outputs) or any(tuple(place[:2]) not in outputs for place in needed):
                left.append((name, i, node))
                continue
            args, kwargs = _given(node["args"], outputs), _given(node["kwargs"], outputs)
            outputs[name, i] = nest.flatten(layers[name](*args, **kwargs))
        if len(left) == len(waiting):
            raise ValueError(f"The calls of the layers {sorted({n for n, _, _ in left})} need tensors that nothing gives.")
        waiting = left
    ends = (_end(config[name], outputs) for name in ("input_layers", "output_layers"))
    model = kind(*ends, name=config["name"])
    model._trainable = config.get("trainable", True)
    return model


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def _tensors(value: Any) -> list[Any]:
    """The places of all tensors among the arguments of a call."""
    if _is_tensor(value):
        return [value["config"]["keras_history"]]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [place for part in parts for place in _tensors(part)]


def _given(value: Any, outputs: dict[Any, Any]) -> Any:
    """The arguments of a call with the tensors in their places."""
    if _is_tensor(value):
        return _at(value["config"]["keras_history"], outputs)
    if isinstance(value, (list, tuple)):
        return [_given(v, outputs) for v in value]
    if isinstance(value, dict) and not any(str(key).startswith("__") for key in value):
        return {key: _given(v, outputs) for key, v in value.items()}
    return _read(value)


def _at(place: Any, outputs: dict[Any, Any]) -> Any:
    return outputs[place[0], place[1]][place[2]]


def _end(value: Any, outputs: dict[Any, Any]) -> Any:
    """The inputs or outputs of the model, in their structure."""
    if isinstance(value, dict):
        return {key: _end(v, outputs) for key, v in value.items()}
    if len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], int):
        return _at(value, outputs)
    return [_end(v, outputs) for v in value]
