"""The names of operations in a graph: what the user gave, else what TensorFlow calls them; and what has a name."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ..engine.recording.frames import traced_file
from ..engine.tensor.tensor import Tensor
from ..engine.values.class_names import methods_of
from .symbolic import Operation, SymbolicTensor


def name_table(text: str) -> dict[str, str]:
    """The words of a text, each ``kernel=name`` or ``function=name``, as a dictionary."""
    return dict(word.split("=") for word in text.split())


# what operators call their operations, where it is not the kernel's name
_OPERATOR_NAMES = name_table("""
AddV2=add Add=add Sub=sub Mul=mul RealDiv=truediv Pow=pow FloorDiv=floordiv FloorMod=mod MatMul=matmul
LogicalAnd=and LogicalOr=or StridedSlice=strided_slice
""")
CONTROL = name_table("""
If=cond StatelessIf=cond While=while StatelessWhile=while Map=while StatelessMap=while
Case=switch_case/indexed_case StatelessCase=switch_case/indexed_case
""")
_FUNCTION_NAMES = CONTROL | name_table("""
AddV2=Add RealDiv=truediv ConcatV2=concat Pack=stack Unpack=unstack StridedSlice=strided_slice
Transpose=transpose Range=range OneHot=one_hot Split=split TensorListStack=TensorArrayV2Stack/TensorListStack
TensorListGetItem=TensorArrayV2Read/TensorListGetItem TensorListSetItem=TensorArrayV2Write/TensorListSetItem
ZerosLike=zeros_like OnesLike=ones_like
""")
# the last operation of a function that is made of several: function:kernel=name
_NAMES_WITHIN = name_table("""
clip_by_value:Maximum=clip_by_value norm:Reshape=norm/Squeeze einsum:Einsum=einsum/Einsum
repeat:Repeat=Repeat/Reshape_1 expand_dims:Reshape=ExpandDims squeeze:Reshape=Squeeze
clip_by_norm:Identity=clip_by_norm embedding_lookup:Identity=embedding_lookup/Identity
saturate_cast:Cast=saturate_cast l2_normalize:Mul=l2_normalize multiply_no_nan:MulNoNan=multiply_no_nan
divide_no_nan:DivNoNan=div_no_nan sigmoid_cross_entropy_with_logits:Add=logistic_loss
concat:Identity=concat/concat
softmax_cross_entropy_with_logits:SoftmaxCrossEntropyWithLogits=softmax_cross_entropy_with_logits/Reshape_2
floordiv:FloorDiv=floordiv reverse:Identity=ReverseV2 global_norm:Sqrt=global_norm/global_norm
batch_normalization:Add=batchnorm/add ensure_shape:Identity=EnsureShape pad:PadV2=Pad sort:TopKV2=sort/TopKV2
argsort:TopKV2=argsort/TopKV2 trace:Sum=Trace diag:MatrixDiagV3=diag diag_part:MatrixDiagPartV3=diag_part
set_diag:MatrixSetDiagV3=set_diag reduce_std:Sqrt=reduce_std/Sqrt erfinv:Erfinv=erfinv/Erfinv
xdivy:Xdivy=xdivy/Xdivy xlog1py:Xlog1py=xlog1py/Xlog1py reciprocal_no_nan:DivNoNan=reciprocal_no_nan
abs:ComplexAbs=Abs normalize:RealDiv=normalize/truediv zero_fraction:RealDiv=zero_fraction/fraction
triangular_solve:MatrixTriangularSolve=triangular_solve/MatrixTriangularSolve
reduce_logsumexp:Add=ReduceLogSumExp fill:BroadcastTo=Fill matvec:Reshape=MatVec/Squeeze
case:StatelessIf=case/cond case:If=case/cond tuple:Identity=tuple/control_dependency
tensordot:MatMul=Tensordot/MatMul
sparse_softmax_cross_entropy_with_logits:SparseSoftmaxCrossEntropyWithLogits=\
SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits
""")
_OPERATORS = {"operator", "direct", "reflected", "compare", "<lambda>", "__getitem__"} | {
    f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv") for side in ("", "r")
}  # what minitape.engine.tensor.operators calls the functions that it makes


_MAKERS = {"get_variable", "__init__", "_traced", "__call__", "call_flat"}


def _public(frames: list) -> str:
    """The name of the outermost function of these frames, past those of AutoGraph and of decorators."""
    for frame in frames:
        if frame.f_code.co_name == "checked":  # the wrapper of operands.deferred
            return frame.f_locals["function"].__name__
        if not frame.f_code.co_filename.endswith(("autograph.py", "calls.py")):
            return frame.f_code.co_name
    return ""


def caller() -> tuple[str, str, str | None]:
    """The code of minitape that the user ran, the public function that it is part of, and its ``name`` argument."""
    frame: FrameType | None = sys._getframe(1)
    last: FrameType | None = None
    while frame is not None and not traced_file(frame.f_code.co_filename):
        frame, last = frame.f_back, frame
    if last is None:
        return "", "", None
    called = last.f_code.co_name
    inner: FrameType | None = sys._getframe(1)
    chain = []
    while inner is not None and inner is not last:
        chain.append(inner)
        inner = inner.f_back
    public = _public([last, *chain[::-1]])
    for frame in (last, *chain[:-6:-1]):
        code, values = frame.f_code, frame.f_locals
        if code.co_name in _MAKERS:  # their name is that of the variable
            return called, public, None
        if "name" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            name = values.get("name")
            return called, public, name if isinstance(name, str) and name != code.co_name else None
        given = values.get("kwargs")
        if isinstance(given, dict) and isinstance(given.get("name"), str):
            return called, public, given["name"]
    return called, public, None


def default_name(kind: str) -> str:
    """The name of an operation of this type, called as a function."""
    return _FUNCTION_NAMES.get(kind, kind)


def name_within(called: str, public: str, kind: str) -> str:
    """The name of an operation that ``called``, a part of the public function ``public``, adds without one."""
    if (within := _NAMES_WITHIN.get(f"{public}:{kind}")) is not None:
        return within
    return _OPERATOR_NAMES.get(kind, kind) if called in _OPERATORS else default_name(kind)


@methods_of("Graph")
class Named:
    """The part of a graph that looks its operations up: ``by_name`` holds them in the order of their creation."""

    by_name: dict[str, Operation]
    as_default: Any
    read: Any




    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that ``obj`` (itself one, or a name) stands for; TypeError for the kind not
        allowed.
        """
        kinds = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        if hasattr(obj, "assigned"):
            obj = obj.assigned
        if hasattr(obj, "_read"):
            with self.as_default():
                return self.read(obj)
        allowed = (SymbolicTensor,) * allow_tensor + (Operation,) * allow_operation
        if isinstance(obj, allowed):
            if obj.graph is not self:
                raise ValueError(
                    f"{'Tensor' if isinstance(obj, Tensor) else 'Operation'} {obj} is not an element of this graph."
                )
            return obj
        if isinstance(obj, str):
            named = allow_tensor and (":" in obj or not allow_operation)
            return self.get_tensor_by_name(obj) if named else self.get_operation_by_name(obj)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
