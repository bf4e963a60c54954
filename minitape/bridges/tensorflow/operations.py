"""What TensorFlow says of an operation, a tensor or a variable: whether a gradient passes it, what it is called, and
where it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.autograph.impl import api
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

from ...recording.sites import NOWHERE, Site, here, way_here

LABELS = {
    "AddV2": "+",
    "Add": "+",
    "Greater": ">",
    "Less": "<",
    "Sub": "−",
    "Mul": "×",
    "RealDiv": "÷",
    "MatMul": "@",
    "BatchMatMulV2": "@",
    "Neg": "−x",
    "Square": "x²",
    "Sqrt": "√",
    "Sum": "Σ",
    "Pow": "xʸ",
    "StridedSlice": "[ ]",
}
# operations whose later inputs say how, not what: their axes, shapes and places are not shown as rows
HOW = set(
    "Sum Mean Max Min Prod All Any Reshape Tile Transpose ExpandDims StridedSlice Slice Pad PadV2 MirrorPad "
    "Fill BroadcastTo "
    "Cumsum Cumprod ArgMax ArgMin Split SplitV GatherV2 ReverseV2 OneHot ResourceGather Roll MatrixDiagV3 "
    "Squeeze EuclideanNorm".split()
)
# say nothing of values
SHAPES = {"Shape", "ShapeN", "Rank", "Size", "BroadcastGradientArgs", "VarIsInitializedOp"}
_NAMELESS = re.compile(r"(.*/)?[Vv]ariable(_\d+)?(:0)?").fullmatch

CUTS = {
    "stop_gradient": "stop_gradient",
    "integer_dtype": "integer",
    "nondifferentiable": "nondifferentiable",
    "not_recorded": "paused",
}


def name_of(variable: Any) -> str | None:
    """The name that a variable was given."""
    name = getattr(variable, "path", None) or getattr(variable, "name", None) or ""
    return None if not name or _NAMELESS(name) else name.removesuffix(":0")


def written(site: Site) -> Site:
    """Where the user wrote a line; autograph runs the functions that ``tf.map_fn`` and the like are given from files of
    its own.
    """
    file, line = site
    if file is None or "__autograph_generated_file" not in file:
        return site
    for factories in list(api._TRANSPILER._cache._cache.values()):
        for factory in list(factories.values()):
            if getattr(factory.module, "__file__", None) == file:
                lines = {at.lineno: origin.loc for at, origin in factory.source_map.items()}
                return (lines[line].filename, lines[line].lineno) if line in lines else NOWHERE
    return NOWHERE


class RunningLine:
    """Where the program is, also while a call of a ``tf.function`` runs again."""

    def __init__(self) -> None:
        # of a call that runs again: the way to it, and how many of the statements that run now it has not made
        self.outer: tuple[Sequence[Site], int] | None = None
        self.opened: list[str] = []  # the tf.functions that run, where they are opened

    def here(self) -> Site:
        """The line of the program that runs."""
        site = NOWHERE if self.outer else written(here())
        return site if site != NOWHERE else next(reversed(self.way()), NOWHERE)

    def way(self) -> list[Site]:
        """The same, with the calls that led there."""
        way, other = self.outer or ((), 0)
        return [*way, *(site for site in map(written, way_here()[other:]) if site != NOWHERE)]

    def scopes(self) -> list[str]:
        """The open name scopes: Keras opens one for each layer."""
        name = context.context().scope_name or ""
        parts = (name.decode() if isinstance(name, bytes) else name).split("/")
        return [*self.opened, *filter(None, parts)]


def variable_of(value: Any) -> Any:
    """TensorFlow's variable in one of Keras's; any other value itself."""
    return getattr(value, "_value", value) if type(value).__module__.startswith("keras") else value


def handle_of(value: Any) -> Any:
    """The handle of a variable, TensorFlow's or Keras's; any other value itself."""
    value = variable_of(value)
    return value.handle if isinstance(value, tf.Variable) else value


def watching(tensor: Any) -> bool:
    """Whether an open tape watches a tensor."""
    return bool(pywrap_tfe.TFE_Py_TapeSetShouldRecordBackprop([tensor]))


def reason_of(op: str, tensor: Any) -> str:
    """Why no gradient passes an operation of this kind, with this result; empty where one does."""
    if op in ("StopGradient", "PreventGradient"):
        return "stop_gradient"
    if op in SHAPES or is_dataset(op):
        return "nondifferentiable"
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype in (tf.resource, tf.variant)):
        return "integer_dtype" if op == "Cast" else "nondifferentiable"
    return why_no_gradient(op).replace("no_gradient_registered", "")


def changes_variable(op: str) -> bool:
    """Whether an operation gives a variable a new value."""
    return op.startswith(
        ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStridedSliceAssign")
    )


def why_no_gradient(op: str) -> str:
    """Why TensorFlow has no gradient of an operation; empty where it has one. Of one that it says nothing about it
    raises an error when it is asked for the gradient, of the others it gives None.

    >>> why_no_gradient("Greater"), why_no_gradient("DenseBincount"), why_no_gradient("Exp")
    ('nondifferentiable', 'no_gradient_registered', '')
    """
    try:
        return "nondifferentiable" if ops.gradient_registry.lookup(op) is None else ""
    except LookupError:
        return "" if op.startswith("__") or is_custom(op) else "no_gradient_registered"


def is_dataset(op: str) -> bool:
    """Whether an operation makes a dataset, whose elements are computed apart from the program."""
    return ("Dataset" in op or op == "MakeIterator") and not op.startswith("__")


def is_custom(op: str) -> bool:
    """Whether this is a call of a function with a gradient of the program's own."""
    return ":" in op


def plain(op: str) -> str:
    """The name of an operation; of a call of a ``tf.function`` that of the function.

    >>> plain("MatMul"), plain("__inference_step_12"), plain("__forward_step_12")
    ('MatMul', 'step', 'step')
    """
    if not op.startswith("__"):
        return op.partition(":")[0]
    return op.removeprefix("__inference_").removeprefix("__forward_").rpartition("_")[0] or op
