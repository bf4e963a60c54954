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
from typing import TYPE_CHECKING, NamedTuple

from ..recording.state import state
from ..values.errors import NotFoundError
from ..values.invalid import invalid, mismatch

if TYPE_CHECKING:
    from ..types import Value
    from ..values.dtypes import DType

_SHORT = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}  # a signature's name of a DType
_PYTHON = {short.lower(): name for name, short in _SHORT.items()}
_LITERAL = ("bool", "float", "double", "int32", "int64", "string")  # inputs of one type only


class OpDef(NamedTuple):
    """The definition of one operation."""

    text: str  # signature and attributes, in TensorFlow's words
    # for each input: its name, its type attribute (or type), and whether it is a list
    inputs: list[tuple[str, str, bool]]
    allowed: dict[str, list[str]]  # the types each type attribute may have; no entry for any type
    lacking: dict[str, list[str]]  # those of them that have no kernel


@functools.cache
def _lines() -> dict[str, str]:
    # pathlib takes longer to load
    with open(os.path.join(os.path.dirname(__file__), "opdefs.txt"), encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(" | ", 1) for line in file)


@functools.cache
def definition(op: str) -> OpDef | None:
    """The definition of an operation; None for one that is not in the table."""
    line = _lines().get(op)
    if line is None:
        return None
    text, _, lacks = line.partition(" | ")
    signature, *attributes = text.split("; attr=")
    arguments = [argument.split(":") for argument in filter(None, signature.split(" -> ")[0].split(", "))]
    types = [re.match(r"(\w+):type.*allowed=\[([^\]]*)\]", attribute) for attribute in attributes]
    return OpDef(
        text,
        [(name, kind.split("*")[-1], "*" in kind) for name, kind in arguments],
        {found[1]: found[2].split(", ") for found in types if found},
        {attr: names.split(",") for attr, names in (part.split(":") for part in lacks.split())},
    )


_accepted: set[tuple[object, ...]] = set()  # arguments that passed the checks before


def accept(op: str, *dtypes: DType) -> None:
    """Raises what TensorFlow raises when ``op`` is called on inputs of these DTypes and there is no kernel for them.

    InvalidArgumentError for a type that is not allowed or that differs from another input's; NotFoundError for one that
    is allowed but not implemented on CPUs.
    """
    key = (op, *map(id, dtypes))  # DTypes live as long as the program
    if key in _accepted:
        return
    found = definition(op)
    if found is None:
        return
    bound: dict[str, DType] = {}
    for position, dtype in enumerate(dtypes):
        attr = next((attr for at, (_, attr, is_list) in enumerate(found.inputs) if is_list or at == position), None)
        if attr is None:
            break
        first = bound.setdefault(attr, dtype)
        if first is not dtype or (attr in _LITERAL and attr != dtype.kernel_name):
            raise _unlike(op, found, position, attr if attr in _LITERAL else first.kernel_name, dtype)
        accept_attr(op, attr, dtype)
    for attr, names in found.lacking.items():
        if attr in bound and _name(bound[attr]) in names:
            raise _no_kernel(op, found, bound)
    _accepted.add(key)


def accept_attr(op: str, attr: str, dtype: DType) -> None:
    """The same for one type attribute; also one that no input carries, such as an index type."""
    found = definition(op)
    if found is None or _name(dtype) in found.allowed.get(attr, [_name(dtype)]):
        return
    names = [name.lower() for name in found.allowed[attr]]
    parameter = next((name for name, kind, _ in found.inputs if kind == attr), None)
    if state.graph is not None and parameter is not None:  # refused in Python
        raise TypeError(
            f"Value passed to parameter '{parameter}' has DataType {dtype.name} not in list of allowed values: "
            + ", ".join(_PYTHON.get(name, name) for name in names)
        )
    raise _not_allowed(op, found, f"{attr}' of {dtype.kernel_name}", ", ".join(names))




def _not_allowed(op: str, found: OpDef, what: str, names: str) -> Exception:
    signature = re.sub(r"(allowed=\[|default=|, )(?=[A-Z][A-Z0-9]+\b)", r"\1DT_", found.text)
    return invalid(
        f"Value for attr '{what} is not in the list of allowed values: {names}\n\t; NodeDef: {{{{node {op}}}}}; "
        f"Op<name={op}; signature={signature}>",
        op,
    )


def refused_operand(op: str, x: Value, y: Value, error: Exception) -> Exception:
    """What a graph says of an operand that cannot be converted: with its place."""
    name, value, like = ("y", y, x) if hasattr(x, "graph") else ("x", x, y)
    if type(error) is ValueError:
        return ValueError(f"Tried to convert '{name}' to a tensor and failed. Error: {error}")
    return TypeError(
        f"Expected {like.dtype.name} passed to parameter '{name}' of op '{op}', got {value!r} of type "
        f"'{type(value).__name__}' instead. Error: {error}"
    )


def has_default(op: str, attr: str) -> bool:
    """Whether a type attribute has a default: NumPy arrays given for it are then cast to it, whatever they hold."""
    found = definition(op)
    return found is not None and f"attr={attr}:type,default=" in found.text


def _name(dtype: DType) -> str:
    return _SHORT.get(dtype.name, dtype.name.upper())


def _unlike(op: str, found: OpDef, position: int, wanted: str, dtype: DType) -> Exception:
    """The error for an input whose dtype is not that of another one, or not the only one that there is."""
    if state.graph is not None:  # refused in Python
        name = found.inputs[min(position, len(found.inputs) - 1)][0]
        return TypeError(
            f"Input '{name}' of '{op}' Op has type {dtype.name} that does not match expected type of "
            f"{_PYTHON.get(wanted, wanted)}."
        )
    return mismatch(op, position, wanted, dtype)


def _no_kernel(op: str, found: OpDef, bound: dict[str, DType]) -> NotFoundError:
    values = {attr: f"DT_{_name(dtype)}" for attr, dtype in bound.items()}
    for attribute in found.text.split("; attr=")[1:]:
        plain = re.match(r"(\w+):(?:bool|int|float|string),default=([^,;]*)", attribute)
        if plain:
            values[plain[1]] = plain[2]
    shown = ", ".join(f"{attr}={values[attr]}" for attr in sorted(values))
    return NotFoundError(
        None,
        None,
        f"Could not find device for node: {{{{node {op}}}}} = {op}[{shown}]\nAll kernels "
        f"registered for op {op}:\n [Op:{op}] name: ",
    )
