"""How the operations and tensors of a graph are found by their names."""

from __future__ import annotations

from typing import Any

from ..engine.tensor.tensor import Tensor
from ..engine.values.class_names import methods_of
from .symbolic import Operation, SymbolicTensor


@methods_of("Graph")
class Named:
    """The part of a graph that looks its operations up: ``by_name`` holds them in the order of their creation."""

    by_name: dict[str, Operation]
    as_default: Any
    read: Any

    def get_operations(self) -> list[Operation]:
        """All operations in the order of their creation."""
        return list(self.by_name.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; KeyError when there is none."""
        if name not in self.by_name:
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
        return self.by_name[name]

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor of that name, such as "add:0"; KeyError when there is none."""
        op_name, colon, index = name.partition(":")
        if not colon or not index.isdigit():
            raise ValueError(f"The name '{name}' looks like an (invalid) Operation name, not a Tensor. "
                             'Tensor names must be of the form "<op_name>:<output_index>".')  # fmt: skip
        if op_name not in self.by_name:
            raise KeyError(
                f"The name '{name}' refers to a Tensor which does not exist. The operation, '{op_name}', does not exist in the graph."
            )
        op = self.by_name[op_name]
        if int(index) >= op.count:
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist. The operation, '{op_name}', "
                           f"exists but only has {op.count} outputs.")  # fmt: skip
        return op.outputs[int(index)]

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that ``obj`` (itself one, or a name) stands for; TypeError for the kind not allowed."""
        kinds = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        if hasattr(obj, "assigned"):
            obj = obj.assigned
        if hasattr(obj, "_read"):
            with self.as_default():
                return self.read(obj)
        allowed = (SymbolicTensor,) * allow_tensor + (Operation,) * allow_operation
        if isinstance(obj, allowed):
            if obj.graph is not self:
                raise ValueError(f"{'Tensor' if isinstance(obj, Tensor) else 'Operation'} {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, str):
            named = allow_tensor and (":" in obj or not allow_operation)
            return self.get_tensor_by_name(obj) if named else self.get_operation_by_name(obj)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
