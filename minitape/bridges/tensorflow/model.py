"""The variables of a TensorFlow program, by the names that it has for them: ``gen.out.kernel``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ...explain.sentences import fill
from ...explain.value_texts import TENSOR
from ...recording.values import numbers_of
from ..rows import list_program_names
from .calls import steps_of
from .operations import handle_of, name_of

DEEP = 12  # layers in layers


def parts_of(recording: Any, model: Any) -> dict | None:
    """The variables of a layer, model or module that it was made to train, behind the name that the program has for
    it, and others whose gradient was asked for; None for what is none of these.
    """
    if not isinstance(model, (tf.Module, tf.keras.layers.Layer)):
        return None
    name = next(
        (name for name, value in list_program_names() if value is model and not name.startswith("_")),
        type(model).__name__,
    )
    asked = asked_for(recording)
    return {path: v for path, v in variables_of(model, name) if is_float(v) or id(handle_of(v)) in asked}


def asked_for(recording: Any) -> set[int]:
    """The handles of the variables whose gradient the program asked for."""
    recordings = [recording, *(inner for _, inner in steps_of(recording))]
    gave = (pair for one in recordings for sweep in one.sweeps for pair in sweep.gave)
    return {id(handle) for one, _ in gave if (handle := one()) is not None}


def variables_of(holder: Any, path: str, deep: int = 0, seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """What a layer, a list or a dictionary has of variables to train, each by its path."""
    seen = set() if seen is None else seen
    if id(holder) in seen or deep > DEEP:
        return
    if not isinstance(holder, (list, tuple)):  # one that was made for this has the place of an earlier one
        seen.add(id(holder))
    if is_variable(holder):
        yield path, holder
    elif isinstance(holder, (list, tuple)):
        for at, part in enumerate(holder[:1000]):
            yield from variables_of(part, f"{path}[{at}]", deep + 1, seen)
    elif isinstance(holder, dict):
        for key, part in list(holder.items())[:1000]:
            yield from variables_of(part, f"{path}[{key!r}]", deep + 1, seen)
    elif isinstance(holder, (tf.Module, tf.keras.layers.Layer)):
        own = {name: value for name, value in vars(holder).items() if name != "optimizer"}
        for name in sorted(own, key=lambda name: name.startswith("_")):  # stable: in the order of the program
            public = name if not name.startswith("_") else name.lstrip("_")
            if name == public or is_variable(own[name]):
                yield from variables_of(own[name], f"{path}.{public}", deep + 1, seen)
        if isinstance(holder, tf.keras.layers.Layer):
            yield from variables_of(list(getattr(holder, "layers", ())), f"{path}.layers", deep + 1, seen)
            for layer in getattr(holder, "_layers", ()):  # also what it has private names for, as an attention has
                yield from variables_of(layer, f"{path}.{layer.name}", deep + 1, seen)


def is_variable(value: Any) -> bool:
    """Whether a value is a variable, and none that a layer keeps for itself.

    >>> is_variable(tf.Variable(1)), is_variable(1.0)
    (True, False)
    """
    if not isinstance(value, (tf.Variable, tf.keras.Variable)):
        return False
    return not getattr(value, "path", "").rpartition("/")[2].startswith(("moving_", "seed_generator"))


def is_float(variable: Any) -> bool:
    """Whether a variable holds floats."""
    return bool(tf.as_dtype(variable.dtype).is_floating)


def trained(recording: Any) -> dict:
    """The variables that the block read or changed, and that are to be trained."""
    log, asked = recording.log, asked_for(recording)
    read = {
        key: v
        for key, v in log.tensors.variables.items()
        if is_variable(v) and log.tensors.rows_of(v) and (key in asked or (is_float(v) and (v.trainable or not asked)))
    }
    given = (thing() for s in recording.sweeps for thing, there in s.gave if not there)
    refused = {id(one): one for one in given if hasattr(one, "dtype")}
    found, seen = dict[str, Any](), set[int]()
    for name, value in sorted(
        list_program_names(), key=lambda item: isinstance(item[1], (list, tuple))
    ):  # a place in one says little
        if name.startswith("_") or isinstance(value, type):
            continue
        for path, variable in variables_of(value, name):
            key = id(handle_of(variable))
            if key in read | refused and key not in seen:
                seen.add(key)
                found[path] = variable
    for key, variable in read.items():
        if key not in seen and variable.trainable:
            name = name_of(variable) or "variable"
            found[name if name not in found else f"{name} ({len(found)})"] = variable
    names = {id(value): name for name, value in list_program_names()}
    return found | {names.get(key, fill(TENSOR)): one for key, one in refused.items() if one.dtype.is_floating}


def weights_of(recording: Any, source: Any) -> tuple:
    """A variable before and after its last step."""
    key = id(handle_of(source))
    if not any(key in step.handles for step in recording.log.optimizer_steps):
        return None, None
    rows = [row for row in recording.log.tensors.rows_of(source) if recording.entries[row].kind != "operation"]
    values = [array for row in rows if (array := numbers_of(recording.entries[row].value)) is not None]
    with tf.init_scope(), recording.asleep():
        now = np.asarray(source.value() if isinstance(source, tf.Variable) else source.value, np.float64)
    if not values or not np.array_equal(values[-1], now):
        values.append(now)
    return tuple([None, None, *values][-2:])
