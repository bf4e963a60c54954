"""``model.summary()``: what Keras' table says, in plain columns."""

from __future__ import annotations

from typing import Any

from ..engine.values import nest
from ..engine.values.dtypes import as_dtype


def summary_text(model: Any) -> str:
    """The layers of a model, their output shapes and the numbers of their weights."""
    rows = [["Layer (type)", "Output Shape", "Param #"]]
    for layer in getattr(model, "operations", model.layers):
        name = f"{layer.name} ({getattr(layer, '_kind', type(layer).__name__)})"
        rows.append([name, _shape_text(layer), f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"])
    first, second, third = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{name:{first}}  {shape:{second}}  {count:>{third}}" for name, shape, count in rows]
    return "\n".join([f'Model: "{model.name}"', *lines, *_totals(model)]) + "\n"


def _shape_text(layer: Any) -> str:
    """The shapes of what a layer gave last, or would give; "?" where it cannot tell."""
    if layer._inbound_nodes:
        return ", ".join(str(x.shape) for x in nest.flatten(layer._inbound_nodes[-1].outputs))
    if layer._build_shape is None:
        return "?"
    try:
        return str(getattr(layer, "output_shape", None) or layer.compute_output_shape(layer._build_shape))
    except Exception:
        return "?"


def _totals(model: Any) -> list[str]:
    trainable, frozen = model.trainable_weights, model.non_trainable_weights
    has_steps = model.compiled and model.optimizer and model.optimizer.built
    optimizer = model.optimizer.variables if has_steps else []
    groups = [("Total", [*trainable, *frozen, *optimizer]), ("Trainable", trainable), ("Non-trainable", frozen)]
    if has_steps:
        groups.append(("Optimizer", optimizer))
    return [f" {name} params: {_count(vs):,} ({_memory(vs)})" for name, vs in groups]


def _count(variables: Any) -> int:
    return sum(v.shape.num_elements() for v in variables)


def _memory(variables: Any) -> str:
    size = float(sum(v.shape.num_elements() * as_dtype(v.dtype).size for v in variables))
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} TB"
