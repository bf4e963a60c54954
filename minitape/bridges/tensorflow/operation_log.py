"""Read the properties of TensorFlow's operations, tensors and variables.

The functions find out whether a gradient passes an operation, which name to show, and which line runs.
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

from ...recording.sites import NOWHERE, Site, find_user_call_stack, find_user_site

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
# The later inputs of these operations are axes, shapes and positions, which are not shown as rows.
OPS_WITH_PARAMETERS = set(
    "Sum Mean Max Min Prod All Any Reshape Tile Transpose ExpandDims StridedSlice Slice Pad PadV2 MirrorPad "
    "Fill BroadcastTo "
    "Cumsum Cumprod ArgMax ArgMin Split SplitV GatherV2 ReverseV2 OneHot ResourceGather Roll MatrixDiagV3 "
    "Squeeze EuclideanNorm".split()
)
# The results of these operations do not depend on the values of their inputs.
SHAPE_OPS = {"Shape", "ShapeN", "Rank", "Size", "BroadcastGradientArgs", "VarIsInitializedOp"}
_match_default_name = re.compile(r"(.*/)?[Vv]ariable(_\d+)?(:0)?").fullmatch

CUT_BY_CAUSE = {
    "stop_gradient": "stop_gradient",
    "integer_dtype": "integer",
    "nondifferentiable": "nondifferentiable",
    "not_recorded": "paused",
}


def find_variable_name(variable: Any) -> str | None:
    """Return the name that the program gave a variable, or None if it has TensorFlow's default name.

    Args:
        variable: A variable of TensorFlow or Keras.
    """
    name = getattr(variable, "path", None) or getattr(variable, "name", None) or ""
    return None if not name or _match_default_name(name) else name.removesuffix(":0")


def to_site_before_autograph(site: Site) -> Site:
    """Return the line that the user wrote for a line of a file that Autograph generated.

    Autograph runs the functions that are passed to ``tf.map_fn`` and similar functions from generated files. A line of
    any other file is returned unchanged.
    """
    file, line = site
    if file is None or "__autograph_generated_file" not in file:
        return site
    for factories in list(api._TRANSPILER._cache._cache.values()):
        for factory in list(factories.values()):
            if getattr(factory.module, "__file__", None) == file:
                lines = {generated.lineno: origin.loc for generated, origin in factory.source_map.items()}
                return (lines[line].filename, lines[line].lineno) if line in lines else NOWHERE
    return NOWHERE


class RunningLine:
    """Finds the line of the program that runs, even while a call of a ``tf.function`` runs again.

    Attributes:
        replayed_call: While a call runs again, the call stack of the original call, and the number of outer statements
            that replay it. Otherwise None.
        function_names: The names of the ``tf.function`` objects that run, if functions are opened.
    """

    def __init__(self) -> None:
        """Start outside of any replayed call and function."""
        self.replayed_call: tuple[Sequence[Site], int] | None = None
        self.function_names: list[str] = []

    def find_site(self) -> Site:
        """Return the line of the program that runs."""
        site = NOWHERE if self.replayed_call else to_site_before_autograph(find_user_site())
        if site != NOWHERE:
            return site
        return next(reversed(self.find_call_stack()), NOWHERE)

    def find_call_stack(self) -> list[Site]:
        """Return the line of the program that runs, and the calls that led to it, the outermost first."""
        outer_stack, skipped_count = self.replayed_call or ((), 0)
        inner_sites = map(to_site_before_autograph, find_user_call_stack()[skipped_count:])
        return [*outer_stack, *(site for site in inner_sites if site != NOWHERE)]

    def list_open_scopes(self) -> list[str]:
        """Return the names of the open functions and name scopes. Keras opens a name scope for each layer."""
        name = context.context().scope_name or ""
        parts = (name.decode() if isinstance(name, bytes) else name).split("/")
        return [*self.function_names, *filter(None, parts)]


def unwrap_keras_variable(value: Any) -> Any:
    """Return the TensorFlow variable of a Keras variable; return any other value unchanged."""
    return getattr(value, "_value", value) if type(value).__module__.startswith("keras") else value


def to_handle_or_value(value: Any) -> Any:
    """Return the handle of a variable of TensorFlow or Keras; return any other value unchanged."""
    value = unwrap_keras_variable(value)
    return value.handle if isinstance(value, tf.Variable) else value


def is_watched_by_open_tape(tensor: Any) -> bool:
    """Return whether an open tape watches a tensor or a handle."""
    return bool(pywrap_tfe.TFE_Py_TapeSetShouldRecordBackprop([tensor]))


def find_break_cause(op: str, result: Any) -> str:
    """Return the cause for which no gradient passes an operation, or "" if a gradient passes it.

    Args:
        op: TensorFlow's name of the operation.
        result: The result of the operation; its dtype decides about casts and integers.
    """
    if op in ("StopGradient", "PreventGradient"):
        return "stop_gradient"
    if op in SHAPE_OPS or is_dataset_op(op):
        return "nondifferentiable"
    if not (result.dtype.is_floating or result.dtype.is_complex or result.dtype in (tf.resource, tf.variant)):
        return "integer_dtype" if op == "Cast" else "nondifferentiable"
    cause = find_missing_gradient_cause(op)
    return "" if cause == "no_gradient_registered" else cause


def changes_variable(op: str) -> bool:
    """Return whether an operation assigns a new value to a variable."""
    return op.startswith(
        ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStridedSliceAssign")
    )


def find_missing_gradient_cause(op: str) -> str:
    """Return the cause for which TensorFlow has no gradient of an operation, or "" if it has one.

    If nothing is registered for an operation ("no_gradient_registered"), TensorFlow raises an error when the program
    requests the gradient. For an operation that is registered as not differentiable, TensorFlow returns None.

    >>> [find_missing_gradient_cause(op) for op in ("Greater", "DenseBincount", "Exp")]
    ['nondifferentiable', 'no_gradient_registered', '']
    """
    try:
        return "nondifferentiable" if ops.gradient_registry.lookup(op) is None else ""
    except LookupError:
        return "" if op.startswith("__") or is_custom_gradient_op(op) else "no_gradient_registered"


def is_dataset_op(op: str) -> bool:
    """Return whether an operation creates a dataset, whose elements are computed outside of the program."""
    return ("Dataset" in op or op == "MakeIterator") and not op.startswith("__")


def is_custom_gradient_op(op: str) -> bool:
    """Return whether an operation is a call of a function with the program's own gradient."""
    return ":" in op


def to_display_name(op: str) -> str:
    """Return the name of an operation that is shown; for a call of a ``tf.function``, the name of the function.

    >>> to_display_name("MatMul"), to_display_name("__inference_step_12"), to_display_name("__forward_step_12")
    ('MatMul', 'step', 'step')
    """
    if not op.startswith("__"):
        return op.partition(":")[0]
    return op.removeprefix("__inference_").removeprefix("__forward_").rpartition("_")[0] or op
