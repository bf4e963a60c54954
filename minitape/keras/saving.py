"""``tf.keras.saving``: models and weights in files.

The files are minitape's own: NumPy archives of the weights (and, for a whole model, its class and configuration, and how
it was compiled), under the names that Keras demands. They are not those of Keras.
"""

from __future__ import annotations

import inspect
import json
import os
from typing import Any

import numpy as np

from ..engine import nest
from ..engine.namespace import public
from ..engine.shape import TensorShape
from ..tf.archive import arrays_in, write
from . import losses, metrics, optimizers, schedules
from .serial import from_config, known, made, plain, reading, registered, unknown
from .utils import register_keras_serializable

_WEIGHTS, _MODELS = (".weights.h5",), (".keras", ".h5", ".hdf5")


def _check(filepath: Any, endings: tuple[str, ...], overwrite: bool) -> str:
    path = os.fspath(filepath)
    if not path.endswith(endings):
        raise ValueError(
            f"The filename must end in `{endings[0]}`. Received: filepath={path}"
            if endings is _WEIGHTS
            else f"Invalid filepath extension for saving. Please add either a `.keras` extension for the native "
            f"Keras format (recommended) or a `.h5` extension. Use `model.export(filepath)` if you want to export "
            f"a SavedModel for use with TFLite/TFServing/etc. Received: filepath={path}."
        )
    if os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{path} exists already; pass overwrite=True to replace it.")
    return path


def save_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Writes a model's weights to a file of minitape's own.

    Raises ValueError unless the name ends in ``.weights.h5``, FileExistsError without ``overwrite`` where it is there.

    >>> import minitape as tf, pathlib, tempfile
    >>> layers = tf.keras.layers
    >>> one, other = (tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)]) for _ in range(2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.weights.h5")
    ...     one.save_weights(path)
    ...     other.load_weights(path)
    >>> bool(tf.reduce_all(one(tf.ones([1, 2])) == other(tf.ones([1, 2]))))
    True
    """
    path, arrays = _check(filepath, _WEIGHTS, overwrite), _numbered(model.weights)
    write(path, arrays)


def _numbered(variables: Any, prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}{i}": v.numpy() for i, v in enumerate(variables)}


def _read(filepath: Any) -> dict[str, Any]:
    """The arrays in a file of minitape's own; nothing in it is run. ValueError for another kind of file."""
    return arrays_in(filepath, "file that minitape wrote: it reads its own files, not those of Keras")


def load_weights(model: Any, filepath: Any) -> None:
    """Reads weights that ``save_weights`` wrote.

    Raises ValueError when they do not fit the model, for a model that is not built, and for another kind of file.

    >>> import minitape as tf, pathlib, tempfile
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    >>> before = model.get_weights()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.weights.h5")
    ...     model.save_weights(path)
    ...     model.set_weights([0 * w for w in before])
    ...     model.load_weights(path)
    >>> bool((model.get_weights()[0] == before[0]).all())
    True
    """
    if not model.built:
        raise ValueError("You are loading weights into a model that has not yet been built. Try building the model first "
                         "by calling it on some data or by using `build()`.")  # fmt: skip
    model.set_weights(_in_order(_read(filepath), filepath))


def _in_order(arrays: dict[str, Any], filepath: Any, prefix: str = "") -> list[Any]:
    """The arrays that ``_numbered`` named so."""
    try:
        return [arrays[f"{prefix}{i}"] for i in range(len(arrays))]
    except KeyError as error:
        raise ValueError(f"{os.fspath(filepath)} is no file that minitape wrote: it lacks the weight {error}.") from None


def save_model(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Writes a model: its class, its configuration, its weights, and how it was compiled with the optimizer's state.

    Raises ValueError unless the name ends in ``.keras`` or ``.h5`` (the file is the same), FileExistsError without ``overwrite`` where the file is there,
    TypeError for a configuration that is no JSON.

    >>> import minitape as tf, pathlib, tempfile
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.keras")
    ...     tf.keras.models.save_model(model, path)
    ...     again = tf.keras.models.load_model(path)
    >>> bool(tf.reduce_all(model(tf.ones([1, 2])) == again(tf.ones([1, 2]))))
    True
    """
    path, about = _check(filepath, _MODELS, overwrite), described(model)
    arrays = _numbered(model.weights)
    if model.compiled:
        about["compiled"] = _plainly(model._compile_arguments)
        optimizer = model.optimizer
        if optimizer is not None and optimizer.built:
            arrays |= _numbered(optimizer.variables, "optimizer_")
    text = json.dumps(about)
    write(path, {"about": np.array(text), **arrays})


def described(model: Any) -> dict[str, Any]:
    """The class and the configuration of a model, as JSON can hold them."""
    from .model import Functional
    from .sequential import Sequential

    kind = "Sequential" if isinstance(model, Sequential) else "Functional" if isinstance(model, Functional) else None
    config = model.get_config()
    if kind is None:
        config = {k: v for k, v in config.items() if k in model._init_arguments or k == "name"}
    shape = nest.map_structure(lambda size: list(size) if isinstance(size, TensorShape) else size, model._build_shape)
    return {"class_name": type(model).__name__, "kind": kind, "build_shape": shape, "config": config}


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """A new model, with fresh weights, of the text that ``model.to_json()`` gave.

    ``custom_objects`` is as for ``load_model``, whose safe mode is on; TypeError for a class that is not known.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    >>> tf.keras.models.model_from_json(model.to_json()).count_params()
    3
    """
    with known(custom_objects), reading():
        about = _about(json_string, "the text")
        model = _made(about)
        if not model.built and about["build_shape"] is not None:
            model.build(tuple(about["build_shape"]))
    return model


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True, safe_mode: bool = True) -> Any:
    """The model in a file that ``save_model`` wrote, compiled as it was if ``compile``.

    Classes and functions of the user must be registered (``register_keras_serializable``) or given in
    ``custom_objects``, a dictionary by their names. No code is ever taken from a file; without ``safe_mode`` a layer may read its
    vocabulary from another file that this one names. Raises ValueError when there is no such file, for one of another kind and
    for a ``Lambda`` layer of a lambda, TypeError for a class that is not known.

    >>> import minitape as tf, pathlib, tempfile
    >>> class Double(tf.keras.layers.Layer):
    ...     def call(self, x):
    ...         return 2.0 * x
    >>> model = tf.keras.Sequential([tf.keras.Input((1,)), Double()])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.keras")
    ...     model.save(path)
    ...     again = tf.keras.models.load_model(path, custom_objects={"Double": Double})
    >>> again(tf.constant([[3.0]])).numpy()
    array([[6.]], dtype=float32)
    """
    path = os.fspath(filepath)
    if not os.path.exists(path):
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip file.")
    arrays = _read(path)
    about = _about(str(arrays.pop("about", None)), path)
    with known(custom_objects), reading(safe_mode, 2**20 + sum(array.size for array in arrays.values())):  # as the file has, and metrics
        return _restored_model(about, arrays, path, compile)


def _about(text: Any, where: str) -> dict[str, Any]:
    """The description of a model that a text holds; ValueError for another text."""
    try:
        about = json.loads(text)
        if {"class_name", "kind", "build_shape", "config"} <= about.keys() and isinstance(about["class_name"], str):
            return about
    except (AttributeError, RecursionError, TypeError, ValueError):
        pass
    raise ValueError(f"{where} does not describe a model as minitape does (it reads its own files, not those of Keras). Write it "
                     "with `model.save` or `model.to_json`.")  # fmt: skip


def _restored_model(about: dict[str, Any], arrays: dict[str, Any], path: str, compile: bool) -> Any:
    """The model that a file tells of, with its weights, compiled on demand."""
    model = _made(about)
    weights = _in_order({name: array for name, array in arrays.items() if name.isdigit()}, path)
    if weights and not model.weights and about["build_shape"] is not None:
        model.build(tuple(about["build_shape"]))
    if weights or model.weights:
        model.set_weights(weights)
    if compile and "compiled" in about:
        model.compile(**_restored(about["compiled"]))
        state = _in_order({name: array for name, array in arrays.items() if not name.isdigit()}, path, "optimizer_")
        if state:
            model.optimizer.build(model.trainable_variables)
            for variable, value in zip(model.optimizer.variables, state, strict=True):
                variable.assign(value)
    return model


def _made(about: dict[str, Any]) -> Any:
    """The model that a file tells of, without its weights; of an unknown class it is a plain one, if it can be."""
    if about["kind"] is not None:
        name = about["class_name"] if about["class_name"] in registered else about["kind"]
        return made({"class_name": name, "config": about["config"]})
    kind = registered.get(about["class_name"])
    if not inspect.isclass(kind):
        raise unknown("class", about["class_name"])
    return kind(**about["config"])


def _plainly(value: Any) -> Any:
    """The arguments of ``compile`` as JSON can hold them: objects by class and configuration, functions by name."""
    if isinstance(value, dict):
        return {name: _plainly(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plainly(v) for v in value]
    written = plain(value)
    return written if written is value else _plainly(written)


def _restored(value: Any) -> Any:
    """The other way: names stay for ``compile`` to look up, unless they are the user's own."""
    if isinstance(value, list):
        return [_restored(v) for v in value]
    if not isinstance(value, dict):
        return registered.get(value, value) if isinstance(value, str) else value
    if "class_name" not in value:
        return {name: _restored(v) for name, v in value.items()}
    name, module = str(value["class_name"]), str(value.get("module"))
    table = _TABLES.get(module, {})
    kind = registered.get(name) or table.get(name.lower() if module == "keras.optimizers" else name)
    return from_config(kind, {**value, "config": _restored(value.get("config"))})


# the classes that the arguments of `compile` may name
_TABLES = {"keras.losses": losses.TABLE, "keras.metrics": metrics.TABLE, "keras.optimizers": optimizers.TABLE,
           "keras.optimizers.schedules": schedules.TABLE}  # fmt: skip


__all__ = ["load_model", "load_weights", "register_keras_serializable", "save_model", "save_weights"]
__getattr__, __dir__ = public("tf.keras.saving", __all__)
