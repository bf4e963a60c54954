"""A graph as plain data: what ``Graph.as_graph_def`` returns."""

from __future__ import annotations

from typing import Any


class NodeDef:
    """One operation: its name, type, and the names of its inputs (a control input begins with "^")."""

    __slots__ = ("name", "op", "input", "device")

    def __init__(self, operation: Any) -> None:
        self.name, self.op, self.device = operation.name, operation.type, ""
        inputs = [t.op.name if not t.value_index else t.name for t in operation.inputs]
        self.input = [*inputs, *(f"^{o.name}" for o in operation.control_inputs)]

    def __str__(self) -> str:
        inputs = "".join(f'input: "{name}"\n' for name in self.input)
        return f'name: "{self.name}"\nop: "{self.op}"\n{inputs}'

    __repr__ = __str__


class GraphDef:
    """All operations of a graph, in order."""

    __slots__ = ("node",)

    def __init__(self, graph: Any) -> None:
        self.node = [NodeDef(op) for op in graph.get_operations()]

    def __str__(self) -> str:
        indented = ("".join(f"  {line}\n" for line in str(node).splitlines()) for node in self.node)
        return "".join(f"node {{\n{text}}}\n" for text in indented)

    __repr__ = __str__
