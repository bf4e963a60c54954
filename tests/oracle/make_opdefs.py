"""Writes minitape/engine/tensor/opdefs.txt: what TensorFlow's kernels accept, as TensorFlow prints it in its errors.

    python tests/oracle/make_opdefs.py NAME ...     (in an environment with TensorFlow 2.21)

Without names it writes the operations that are in the file already.
"""

import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import kernels, op_def_registry

TARGET = Path(__file__).parents[2] / "minitape" / "engine" / "tensor" / "opdefs.txt"
SHORT = {1: "float", 2: "double", 19: "half"}
USUAL = {
    "HALF",
    "BFLOAT16",
    "FLOAT",
    "DOUBLE",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "BOOL",
    "COMPLEX64",
    "COMPLEX128",
    "STRING",
}


def type_name(number):
    """FLOAT, INT32, ..."""
    return types_pb2.DataType.Name(number).removeprefix("DT_")


def arguments(found):
    """Input or output arguments: x:T, y:N*T, z:float."""
    shown = []
    for a in found:
        kind = SHORT.get(a.type) or tf.as_dtype(a.type).name if a.type else a.type_attr or a.type_list_attr
        shown.append(f"{a.name}:{a.number_attr + '*' if a.number_attr else ''}{kind}")
    return ", ".join(shown)


def attr_value(value):
    """The value of an attribute."""
    kind = value.WhichOneof("value")
    if kind == "list":
        for field in ("type", "s", "i", "f", "b"):
            items = getattr(value.list, field)
            if len(items):
                show = {"type": type_name, "s": lambda s: f'"{s.decode()}"'}.get(field, str)
                return f"[{', '.join(map(show, items))}]"
        return "[]"
    shown = {
        "type": type_name,
        "b": lambda b: str(b).lower(),
        "s": lambda s: f'"{s.decode()}"',
        "f": lambda f: f"{f:g}",
    }
    return shown.get(kind, str)(getattr(value, kind))


def attribute(a):
    """One attribute: name, type, default, limits."""
    text = f"; attr={a.name}:{a.type}"
    text += f",default={attr_value(a.default_value)}" if a.HasField("default_value") else ""
    text += f",min={a.minimum}" if a.has_minimum else ""
    return text + (f",allowed={attr_value(a.allowed_values)}" if a.HasField("allowed_values") else "")


def lacking(definition):
    """Types that are allowed but have no CPU kernel, by type attribute."""
    found = [k for k in kernels.get_registered_kernels_for_op(definition.name).kernel if k.device_type == "CPU"]
    parts = []
    for a in definition.attr:
        limits = [[c for c in k.constraint if c.name == a.name] for k in found]
        if a.type != "type" or not found or not all(limits):
            continue
        have = {type_name(t) for cs in limits for c in cs for t in c.allowed_values.list.type}
        allowed = {type_name(t) for t in a.allowed_values.list.type} if a.HasField("allowed_values") else USUAL
        if missing := sorted((allowed & USUAL) - have):
            parts.append(f"{a.name}:{','.join(missing)}")
    return " | " + " ".join(parts) if parts else ""


def line(name):
    """The line of one operation."""
    d = op_def_registry.get(name)
    flags = "".join(f"; {f}=true" for f in ("is_commutative", "is_aggregate", "is_stateful") if getattr(d, f))
    return (
        f"{name} | {arguments(d.input_arg)} -> {arguments(d.output_arg)}{''.join(map(attribute, d.attr))}{flags}"
        f"{lacking(d)}"
    )


if __name__ == "__main__":
    known = [text.split(" | ")[0] for text in TARGET.read_text().splitlines()] if TARGET.exists() else []
    TARGET.write_text("".join(line(name) + "\n" for name in sorted({*known, *sys.argv[1:]})))
