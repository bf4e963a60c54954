"""What TensorFlow's graphs say when the shapes of an operation's inputs do not fit, while the graph is being built."""

from __future__ import annotations

import math
from typing import Any

from ..engine.shape import TensorShape
from ..engine.state import state

_ENUM = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}


def enum(dtype: Any) -> str:
    """The name of a dtype in TensorFlow's protocol buffers."""
    return _ENUM.get(dtype.name, "DT_" + dtype.name.upper())


def brackets(shape: TensorShape) -> str:
    """A shape as kernels print it."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"


def unmergeable(first: TensorShape, second: TensorShape) -> str:
    """Why what is known about a shape contradicts what is said, in the words of TensorFlow's graphs."""
    if first.rank != second.rank:
        return f"Shapes must be equal rank, but are {first.rank} and {second.rank}"
    pairs = list(zip(first.as_list(), second.as_list(), strict=True))
    at = next(i for i, (m, n) in enumerate(pairs) if m != n and None not in (m, n))
    return (f"Dimension {at} in both shapes must be equal, but are {pairs[at][0]} and {pairs[at][1]}. Shapes are "
            f"{brackets(first)} and {brackets(second)}.")  # fmt: skip


def wrong_default(tensor: Any, shape: TensorShape) -> ValueError:
    """The error for the default of a placeholder that has not its ``shape``."""
    op = "PlaceholderWithDefault"
    names = [f"{op}/input" if name == "Const" else name for name in _inputs([tensor])[0]]
    node = _node("", op, f"dtype={enum(tensor.dtype)}, shape={brackets(shape)}", names, [brackets(tensor.shape)])
    return ValueError(f"{unmergeable(tensor.shape, shape)} {node}.".replace("{{node }}", "{{node}}"))


def refused(error: ValueError, op: str, tensors: list[Any], **attrs: Any) -> ValueError:
    """The error with the words that a graph has for it: the operation, its inputs and their shapes."""
    known = all(t.shape.is_fully_defined() for t in tensors) or op == "ConcatV2"
    text = _WORDS[op](state.graph.unique_name(_NAMES[op], False), tensors, **attrs) if known else None
    return error if text is None else ValueError(text)


def _node(name: str, op: str, attrs: str, inputs: list[str], shapes: list[str]) -> str:
    return f"for '{{{{node {name}}}}} = {op}[{attrs}]({', '.join(inputs)})' with input shapes: {', '.join(shapes)}"


def _inputs(tensors: list[Any]) -> tuple[list[str], list[str]]:
    names = [_input_name(t) for t in tensors]
    return names, [brackets(t.shape) for t in tensors]


def _inputs_of(name: str, tensors: list[Any]) -> list[str]:
    """The names of the tensors of a list; values that are not of the graph are called after the operation."""
    return [
        _input_name(t) if hasattr(t, "value_index") and t.op.type != "Const" else f"{name}/values_{i}"
        if not hasattr(t, "value_index") else t.op.name
        for i, t in enumerate(tensors)
    ]  # fmt: skip


def _input_name(tensor: Any) -> str:
    if not hasattr(tensor, "value_index"):
        return "Const"  # an eager tensor, which the graph takes as a constant
    return tensor.name if tensor.value_index else tensor.op.name


def _reshape(name: str, tensors: list[Any], shape: Any) -> str | None:
    (x,), sizes = tensors, [int(n) for n in shape]
    have, known = math.prod(x.shape.as_list()), math.prod(n for n in sizes if n >= 0)
    names, shapes = _inputs(tensors)
    shown = "[" + ",".join("?" if n < 0 else str(n) for n in sizes) + "]"
    where = _node(name, "Reshape", f"T={enum(x.dtype)}, Tshape=DT_INT32", [*names, f"{name}/shape"],
                  [*shapes, f"[{len(sizes)}]"])  # fmt: skip
    tail = f"{where} and with input tensors computed as partial shapes: input[1] = {shown}."
    if min(sizes, default=0) < 0:
        return f"Dimension size must be evenly divisible by {known} but is {have} {tail}" if known else None
    return f"Cannot reshape a tensor with {have} elements to shape {shown} ({known} elements) {tail}"


def _concat(name: str, tensors: list[Any], axis: int) -> str | None:
    rests = []
    rank = len(tensors[0].shape)
    attrs = f"N={len(tensors)}, T={enum(tensors[0].dtype)}, Tidx=DT_INT32"
    names, shapes = [*_inputs_of(name, tensors), f"{name}/axis"], [*_inputs(tensors)[1], "[]"]
    other = next((len(t.shape) for t in tensors if len(t.shape) != rank), None)
    if other is not None:
        return f"Shape must be rank {rank} but is rank {other} {_node(name, 'ConcatV2', attrs, names, shapes)}."
    if rank == 0:
        return f"Can't concatenate scalars (use tf.stack instead) {_node(name, 'ConcatV2', attrs, names, shapes)}."
    if not -rank <= axis < rank:
        where = _node(name, "ConcatV2", attrs, names, shapes)
        return (f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank} {where} and with "
                f"computed input tensors: input[{len(tensors)}] = <{axis}>.")  # fmt: skip
    for t in tensors:
        sizes = t.shape.as_list()
        del sizes[axis]
        rests.append(sizes)
    for rest in rests[1:]:
        for i, (m, n) in enumerate(zip(rests[0], rest, strict=True)):
            if m != n:
                where = _node(name, "ConcatV2", attrs, names, shapes)
                first, second = (brackets(TensorShape(r)) for r in (rests[0], rest))
                return (f"Dimension {i} in both shapes must be equal, but are {m} and {n}. Shapes are {first} and "
                        f"{second}. {where} and with computed input tensors: input[{len(tensors)}] = <{axis}>.")  # fmt: skip
    return None


def _slice(name: str, tensors: list[Any], spec: Any) -> str | None:
    (x,), begin, end, masks = tensors, [], [], [0, 0, 0]
    for at, part in enumerate(spec if isinstance(spec, tuple) else (spec,)):
        if type(part) is int:
            begin.append(part)
            end.append(part + 1)
            masks[2] |= 1 << at
        elif part == slice(None):
            begin.append(0)
            end.append(0)
            masks[0], masks[1] = masks[0] | 1 << at, masks[1] | 1 << at
        else:
            return None
    many = len(begin) > len(x.shape)
    bad = (
        []
        if many
        else [(at, i) for at, i in enumerate(begin) if masks[2] >> at & 1 and not -x.shape[at] <= i < x.shape[at]]
    )
    if not bad and not many:
        return None
    kinds = (f"Index=DT_INT32, T={enum(x.dtype)}, begin_mask={masks[0]}, ellipsis_mask=0, end_mask={masks[1]}, "
             f"new_axis_mask=0, shrink_axis_mask={masks[2]}")  # fmt: skip
    names, shapes = _inputs(tensors)
    places = [f"{name}/stack", f"{name}/stack_1", f"{name}/stack_2"]
    where = _node(name, "StridedSlice", kinds, [*names, *places], [*shapes, *[f"[{len(begin)}]"] * 3])
    if many:
        rank = len(x.shape)
        return (f"Index out of range using input dim {rank}; input has only {rank} dims {where} and with computed input "
                f"tensors: input[3] = <{' '.join('1' * len(begin))}>.")  # fmt: skip
    values = ", ".join(f"input[{i}] = <{' '.join(map(str, v))}>"
                       for i, v in enumerate((begin, end, [1] * len(begin)), 1))  # fmt: skip
    at, index = bad[0]
    return f"slice index {index} of dimension {at} out of bounds. {where} and with computed input tensors: {values}."


def wrong_rank(
    op: str, tensors: list[Any], places: str, wanted: int, got: int, attrs: str, least: bool = False
) -> ValueError:
    """The error for an input that has not so many axes (at least as many, with ``least``).

    ``places`` are the letters by which values that are not of the graph are called.
    """
    names, shapes = _inputs(tensors)
    names = [n if hasattr(t, "value_index") else f"{op}/{p}" for n, t, p in zip(names, tensors, places, strict=True)]
    least_words = "at least " if least else ""
    return ValueError(
        f"Shape must be {least_words}rank {wanted} but is rank {got} {_node(op, op, attrs, names, shapes)}."
    )


def wrong_size(op: str, tensors: list[Any], wanted: int, got: int, attrs: str, *rest: tuple[str, str]) -> ValueError:
    """The error for an axis that is not so long; ``rest`` are (name, shape) of further inputs."""
    names, shapes = _inputs(tensors)
    node = _node(op, op, attrs, [*names, *(n for n, _ in rest)], [*shapes, *(s for _, s in rest)])
    return ValueError(f"Dimension must be {wanted} but is {got} {node}.")


def wrong_squeeze(tensor: Any, axis: int, axes: list[int]) -> ValueError:
    """The error for an axis that cannot be squeezed: it is longer than 1, or not there."""
    rank, shown = tensor.shape.rank, ",".join(map(str, axes))
    node = _node("Squeeze", "Squeeze", f"T={enum(tensor.dtype)}, squeeze_dims=[{shown}]", *_inputs([tensor]))
    if -rank <= axis < rank:
        why = f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {tensor.shape[axis]}"
    else:
        why = f"squeeze_dims[{axes.index(axis)}] not in [-{rank},{rank})."
    return ValueError(f"{why} {node}.")


def wrong_axis(op: str, tensor: Any, axes: tuple[int, ...], scalar: bool, keep: bool) -> ValueError:
    """The error for an axis to reduce that is not there; ``scalar`` when it was given alone, not in a list."""
    rank = tensor.shape.rank
    name = state.graph.unique_name(op, False)
    names, shapes = _inputs([tensor])
    attrs = f"T={enum(tensor.dtype)}, Tidx=DT_INT32, keep_dims={str(keep).lower()}"
    attrs = attrs.removeprefix("T=DT_BOOL, ") if op in ("All", "Any") else attrs
    shapes = [*shapes, "[]" if scalar else f"[{len(axes)}]"]
    node = _node(name, op, attrs, [*names, f"{name}/reduction_indices"], shapes)
    bad = next(a for a in axes if not -rank <= a < rank)
    return ValueError(f"Invalid reduction dimension {bad} for input with {rank} dimensions. {node} and with computed input "
                      f"tensors: input[1] = <{' '.join(map(str, axes))}>.")  # fmt: skip


def wrong_number(op: str, labels: tuple[str, ...], tensors: list[Any], dtype: Any) -> ValueError:
    """The error for the first of several inputs that has axes and may have none; ``labels`` are what they are called."""
    at = next(i for i, t in enumerate(tensors) if t.shape.rank)
    name = state.graph.unique_name("range", False)
    words, casts = [], 0
    for label, t in zip(labels, tensors, strict=True):
        if hasattr(t, "value_index"):
            words.append(_input_name(t))
        elif t.dtype == dtype:
            words.append(f"{name}/{label}")
        else:
            words.append(f"{name}/Cast{f'_{casts}' if casts else ''}")
            casts += 1
    node = _node(name, op, f"Tidx={enum(dtype)}", words, [brackets(t.shape) for t in tensors])
    return ValueError(f"Shape must be rank 0 but is rank {tensors[at].shape.rank}\n\t for '{labels[at]}' {node}.")


_WORDS: dict[str, Any] = {"Reshape": _reshape, "ConcatV2": _concat, "StridedSlice": _slice}
_NAMES = {"Reshape": "Reshape", "ConcatV2": "concat", "StridedSlice": "strided_slice"}
