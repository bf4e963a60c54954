"""What TensorFlow's kernels accept: the table behind "Value for attr 'T' of ... is not in the list of allowed values".

``opdefs.txt`` holds one line for each operation: its name, its signature as TensorFlow prints it, and the types
that the definition allows but for which there is no CPU kernel. ``tests/oracle/make_opdefs.py`` writes it.
The inputs of a primitive are the first inputs of the operation that its ``op`` names, in the same order; an operation
that is not in the table accepts everything.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .errors import NotFoundError
from .invalid import invalid
from .state import state

if TYPE_CHECKING:
    from .dtypes import DType
    from .typed import Value

_OF_NUMPY = (np.ndarray, np.generic)

_SHORT = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
_LITERAL = ("bool", "float", "double", "int32", "int64", "string")  # inputs of one type only
_PYTHON = {"FLOAT": "float32", "DOUBLE": "float64", "HALF": "float16"}
_LONG = {"FLOAT": "float", "DOUBLE": "double", "HALF": "half"}


class OpDef(NamedTuple):
    """The definition of one operation."""

    text: str  # signature and attributes, in TensorFlow's words
    inputs: tuple[tuple[str, bool], ...]  # for each input: its type attribute (or type), and whether it is a list
    allowed: dict[str, tuple[str, ...]]  # the types each type attribute may have; no entry for any type
    lacking: dict[str, frozenset[str]]  # those of them that have no kernel


@functools.cache
def _lines() -> dict[str, str]:
    with open(os.path.join(os.path.dirname(__file__), "opdefs.txt"), encoding="utf-8") as file:  # pathlib takes longer to load
        return dict(line.rstrip("\n").split(" | ", 1) for line in file)


@functools.cache
def definition(op: str) -> OpDef | None:
    """The definition of an operation; None for one that is not in the table."""
    line = _lines().get(op)
    if line is None:
        return None
    text, _, lacks = line.partition(" | ")
    signature, *attributes = text.split("; attr=")
    inputs = []
    for argument in filter(None, signature.split(" -> ")[0].split(", ")):
        kind = argument.split(":")[1]
        inputs.append((kind.split("*")[-1], "*" in kind))
    allowed = {}
    for attribute in attributes:
        found = re.match(r"(\w+):type.*allowed=\[([^\]]*)\]", attribute)
        if found:
            allowed[found[1]] = tuple(found[2].split(", "))
    lacking = {part.split(":")[0]: frozenset(part.split(":")[1].split(",")) for part in lacks.split()}
    return OpDef(text, tuple(inputs), allowed, lacking)


_accepted: set[tuple[object, ...]] = set()  # what was asked before and found right


def accept(op: str, *dtypes: DType) -> None:
    """Raises what TensorFlow raises when ``op`` is called on inputs of these DTypes and there is no kernel for them.

    InvalidArgumentError for a type that is not allowed or that differs from another input's; NotFoundError for one that
    is allowed but not implemented on CPUs.

    >>> import minitape as tf
    >>> accept("Sin", tf.float32)
    >>> try:
    ...     accept("AddV2", tf.float32, tf.int32)
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message[:56])
    cannot compute AddV2 as input #1(zero-based) was expecte
    """
    key = (op, *map(id, dtypes))  # DTypes live as long as the program
    if key in _accepted:
        return
    found = definition(op)
    if found is None:
        return
    bound: dict[str, DType] = {}
    for position, dtype in enumerate(dtypes):
        attr = _attr_of(found, position)
        if attr is None:
            break
        if attr not in bound:
            bound[attr] = dtype
            if attr in _LITERAL and attr != dtype.kernel_name:
                raise _unlike(op, position, attr, dtypes)
            if attr in found.allowed and _name(dtype) not in found.allowed[attr]:
                if state.graph is not None:
                    raise _not_passed(found, position, attr, dtype)
                raise _not_allowed(op, found, attr, dtype)
        elif bound[attr] is not dtype:
            raise _unlike(op, position, bound[attr].kernel_name, dtypes)
    for attr, names in found.lacking.items():
        if attr in bound and _name(bound[attr]) in names:
            raise _no_kernel(op, found, bound)
    _accepted.add(key)


def accept_attr(op: str, attr: str, dtype: DType) -> None:
    """The same for one type attribute that no input carries, such as an index type."""
    found = definition(op)
    if found is not None and attr in found.allowed and _name(dtype) not in found.allowed[attr]:
        position = next((i for i, (kind, _) in enumerate(found.inputs) if kind == attr), None)
        if state.graph is not None and position is not None:
            raise _not_passed(found, position, attr, dtype)
        raise _not_allowed(op, found, attr, dtype)


def accept_text(op: str, attr: str, value: str) -> None:
    """The same for an attribute that is one of a few words, such as ``padding``."""
    found = definition(op)
    words = re.search(rf"\b{attr}:string[^;]*allowed=\[([^\]]*)\]", found.text) if found is not None else None
    if found is not None and words is not None and f'"{value}"' not in words[1].split(", "):
        raise invalid(f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: {words[1]}\n\t; "
                      f"NodeDef: {{{{node {op}}}}}; {_summary(op, found)}", op)  # fmt: skip


def _summary(op: str, found: OpDef) -> str:
    """The definition in TensorFlow's words: Op<name=...; signature=...; attr=...>."""
    text = re.sub(r"(allowed=\[|default=|, )(?=[A-Z][A-Z0-9]+\b)", r"\1DT_", found.text)
    return f"Op<name={op}; signature={text}>"


def refused_operand(op: str, x: Value, y: Value, error: Exception) -> Exception:
    """What a graph says of an operand that cannot be converted: with its place, and after it has looked at x."""
    tensor, value, name = (x, y, "y") if hasattr(x, "dtype") and not isinstance(x, _OF_NUMPY) else (y, x, "x")
    if name == "y":
        try:
            accept(op, x.dtype)
        except TypeError as refused:
            return refused
    if type(error) is ValueError:
        return ValueError(f"Tried to convert '{name}' to a tensor and failed. Error: {error}")
    return TypeError(f"Expected {tensor.dtype.name} passed to parameter '{name}' of op '{op}', got {value!r} of type "
                     f"'{type(value).__name__}' instead. Error: {error}")  # fmt: skip


def has_default(op: str, attr: str) -> bool:
    """Whether a type attribute has a default: NumPy arrays given for it are then cast to it, whatever they hold."""
    found = definition(op)
    return found is not None and f"attr={attr}:type,default=" in found.text


def _attr_of(found: OpDef, position: int) -> str | None:
    """The type attribute of an input; a list among the inputs takes all that follow."""
    for place, (attr, is_list) in enumerate(found.inputs):
        if is_list or place == position:
            return attr
    return None


def _name(dtype: DType) -> str:
    return _SHORT.get(dtype.name, dtype.name.upper())


def _not_allowed(op: str, found: OpDef, attr: str, dtype: DType) -> Exception:
    names = ", ".join(_LONG.get(n, n.lower()) for n in found.allowed[attr])
    return invalid(
        f"Value for attr '{attr}' of {dtype.kernel_name} is not in the list of allowed values: {names}\n\t; "
        f"NodeDef: {{{{node {op}}}}}; {_summary(op, found)}", op,
    )  # fmt: skip


def _not_passed(found: OpDef, position: int, attr: str, dtype: DType) -> TypeError:
    """The same while a graph is being built, which is refused in Python."""
    names = ", ".join(_PYTHON.get(n, n.lower()) for n in found.allowed[attr])
    return TypeError(
        f"Value passed to parameter '{_parameter(found, position)}' has DataType {dtype.name} not in list of allowed values: {names}"
    )


def _parameter(found: OpDef, position: int) -> str:
    """The name of an input."""
    return found.text.split(", ")[min(position, len(found.inputs) - 1)].split(":")[0]


def _unlike(op: str, position: int, wanted: str, dtypes: Sequence[DType]) -> Exception:
    """The error for an input whose dtype is not that of another one, or not the only one that there is."""
    found, dtype = definition(op), dtypes[position]
    if state.graph is not None and found is not None:  # refused in Python
        name, kind = _parameter(found, position), _PYTHON.get(wanted.upper(), wanted)
        listed = next((at for at, (_, is_list) in enumerate(found.inputs) if is_list and at <= position), None)
        if listed is not None:
            types, name = ", ".join(d.name for d in dtypes), _parameter(found, listed)
            why = f"do not match expected type {kind}." if wanted in _LITERAL else "don't all match."
            return TypeError(f"Tensors in list passed to '{name}' of '{op}' Op have types [{types}] that {why}")
        if wanted in _LITERAL and found.inputs[position][0] in _LITERAL:
            return TypeError(f"Input '{name}' of '{op}' Op has type {dtype.name} that does not match expected type of "
                             f"{kind}.")  # fmt: skip
        return TypeError(f"Input '{name}' of '{op}' Op has type {dtype.name} that does not match type {kind} of "
                         f"argument '{_parameter(found, 0)}'.")  # fmt: skip
    return invalid(f"cannot compute {op} as input #{position}(zero-based) was expected to be a {wanted} "
                   f"tensor but is a {dtype.kernel_name} tensor", op)  # fmt: skip


def _no_kernel(op: str, found: OpDef, bound: dict[str, DType]) -> NotFoundError:
    values = {attr: f"DT_{_name(dtype)}" for attr, dtype in bound.items()}
    for attribute in found.text.split("; attr=")[1:]:
        plain = re.match(r"(\w+):(?:bool|int|float|string),default=([^,;]*)", attribute)
        if plain:
            values[plain[1]] = plain[2]
    shown = ", ".join(f"{attr}={values[attr]}" for attr in sorted(values))
    return NotFoundError(None, None, f"Could not find device for node: {{{{node {op}}}}} = {op}[{shown}]\nAll kernels "
                                     f"registered for op {op}:\n [Op:{op}] name: ")  # fmt: skip
