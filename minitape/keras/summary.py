"""``model.summary()``: the table that Keras prints, drawn without any library."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from ..engine import nest
from ..engine.dtypes import as_dtype

WIDE = (0.45, 0.80, 1.0)


def _parts(model: Any) -> list[Any]:
    """The layers, of a functional model with the plain operations between them."""
    return getattr(model, "operations", model.layers)


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Any = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
) -> None:
    """Prints the table of a model's layers and the numbers of its weights."""
    text = summary_text(model, line_length, positions, expand_nested, show_trainable)
    if print_fn is not None:
        print_fn(text)
    else:
        sys.stdout.write(text)


def summary_text(
    model: Any,
    line_length: int | None = None,
    positions: Any = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
) -> str:
    """The table as text."""
    connected = _branches(model)
    header = ["Layer (type)", "Output Shape", "Param #"] + (["Connected to"] if connected else [])
    aligned = "llr" + ("l" if connected else "")
    places = list(positions or ((0.3, 0.56, 0.74, 1.0) if connected else WIDE))
    length = 108 if connected else 88
    if show_trainable:
        length += 12
        places = [p * 0.90 for p in places] + [1.0]
        header.append("Trainable")
        aligned += "c"
    length = line_length or min(length, shutil.get_terminal_size().columns - 4)
    widths, at = [], 0
    for place in places:
        width = int(place * length) - at
        if width < 4:
            raise ValueError("Insufficient console width to print summary.")
        widths.append(width)
        at += width
    rows = [row for layer in _parts(model) for row in _rows_of(layer, model, connected, expand_nested, show_trainable)]
    return f'Model: "{model.name}"\n' + _table([header, *rows], _fitted(widths, length), aligned) + _totals(model)


def _fitted(widths: list[int], length: int) -> list[int]:
    """The widths of the columns' texts, made smaller evenly until the table with its frame is ``length`` wide."""
    over = sum(widths) + 3 * len(widths) + 1 - length
    fitted = []
    for left, width in zip(range(len(widths), 0, -1), widths, strict=True):
        less = round(over / left)
        over -= less
        fitted.append(max(width - less, 1))
    return fitted


def _rows_of(layer: Any, model: Any, connected: bool, expand: bool, trainable: bool, depth: int = 0) -> list[list[str]]:
    name = ("   " * depth + "└ " if depth else "") + f"{layer.name} ({getattr(layer, '_kind', type(layer).__name__)})"
    params = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
    row = [name, _shape_text(layer), params]
    if connected:
        row.append(_connections(layer, model))
    if trainable:
        row.append(("Y" if layer.trainable else "N") if layer.weights else "-")
    rows = [row]
    if expand and getattr(layer, "layers", None):
        for inner in _parts(layer):
            rows += _rows_of(inner, model, connected, expand, trainable, depth + 1)
    return rows


def _shape_text(layer: Any) -> str:
    if layer._inbound_nodes:
        shapes: Any = [_one(x.shape) for x in nest.flatten(layer._inbound_nodes[-1].outputs)]
    elif layer._build_shape is not None and hasattr(layer, "compute_output_shape"):
        try:
            given = layer._build_shape, *layer._other_build_shapes
            found = getattr(layer, "output_shape", None) or layer.compute_output_shape(*given)
        except Exception:  # a shape that the layer cannot tell is shown as "?"
            return "?"
        shapes = (
            _one(found)
            if isinstance(found, tuple) and all(n is None or isinstance(n, int) for n in found)
            else str(found)
        )
    else:
        return "?"
    flat = nest.flatten(shapes)
    return flat[0] if len(flat) == 1 else str(shapes).replace("'", "")


def _one(shape: Any) -> str:
    return f"({', '.join(str(n) for n in shape)})"


def _branches(model: Any) -> bool:
    """True when some layer has several inputs, or is used several times."""
    nodes = getattr(model, "_nodes", [])
    once = len({id(n.layer) for n in nodes}) == len(nodes)
    starts = len(model.inputs) if nodes else 1
    used = [id(t) for n in nodes for t in n.tensors]
    return bool(nodes) and (
        starts > 1 or not once or any(len(n.tensors) > 1 for n in nodes) or len(set(used)) < len(used)
    )


def _connections(layer: Any, model: Any) -> str:
    mine = [n for n in layer._inbound_nodes if n in model._nodes]
    return (
        ", ".join(
            f"{t._keras_history.layer.name}[{t._keras_history.layer._inbound_nodes.index(t._keras_history)}][{_output(t)}]"
            for n in mine
            for t in n.tensors
        )
        or "-"
    )


def _output(tensor: Any) -> int:
    """Which of the outputs of its layer a symbolic tensor is."""
    return next(i for i, output in enumerate(nest.flatten(tensor._keras_history.outputs)) if output is tensor)


def _table(rows: list[list[str]], widths: list[int], aligned: str) -> str:
    def line(left: str, fill: str, middle: str, right: str) -> str:
        return left + middle.join(fill * (w + 2) for w in widths) + right + "\n"

    text = line("┏", "━", "┳", "┓")
    for i, row in enumerate(rows):
        cells = [_wrapped(cell, w) for cell, w in zip(row, widths, strict=True)]
        bar = "┃" if i == 0 else "│"
        height = max(map(len, cells))
        if i == 0:  # a heading stands at the bottom
            cells = [[""] * (height - len(c)) + c for c in cells]
        for k in range(height):
            parts = [_placed(c[k] if k < len(c) else "", w, a) for c, w, a in zip(cells, widths, aligned, strict=True)]
            text += bar + bar.join(f" {p} " for p in parts) + bar + "\n"
        if i == 0:
            text += line("┡", "━", "╇", "┩")
        elif i < len(rows) - 1:
            text += line("├", "─", "┼", "┤")
    return text + line("└", "─", "┴", "┘")


def _placed(text: str, width: int, how: str) -> str:
    return {"l": text.ljust, "r": text.rjust, "c": text.center}[how](width)


def _wrapped(text: str, width: int) -> list[str]:
    """Text broken at blanks, but for those it begins with, into lines that fit; the end of too long a word is left out."""
    words = text.lstrip(" ").split(" ")
    words[0] = " " * (len(text) - len(text.lstrip(" "))) + words[0]
    lines = [""]
    for word in words:
        word = word if len(word) <= width else word[: width - 1] + "…"
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _totals(model: Any) -> str:
    trainable, frozen = model.trainable_weights, model.non_trainable_weights
    optimizer = (
        model.optimizer.variables
        if getattr(model, "compiled", False) and model.optimizer and model.optimizer.built
        else None
    )
    groups = [("Total", [*trainable, *frozen, *(optimizer or [])]), ("Trainable", trainable), ("Non-trainable", frozen)]
    if optimizer is not None:
        groups.append(("Optimizer", optimizer))
    return "".join(f" {name} params: {_count(vs):,} ({_memory(vs)})\n" for name, vs in groups)


def _count(variables: Any) -> int:
    return sum(v.shape.num_elements() for v in variables)


def _memory(variables: Any) -> str:
    size = float(sum(v.shape.num_elements() * as_dtype(v.dtype).size for v in variables))
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} PB"
