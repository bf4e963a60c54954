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
# operations whose later inputs say how, not what: their axes, shapes and places are not shown as rows
OPS_WITH_PARAMETERS = set(
    "Sum Mean Max Min Prod All Any Reshape Tile Transpose ExpandDims StridedSlice Slice Pad PadV2 MirrorPad "
    "Fill BroadcastTo "
    "Cumsum Cumprod ArgMax ArgMin Split SplitV GatherV2 ReverseV2 OneHot ResourceGather Roll MatrixDiagV3 "
    "Squeeze EuclideanNorm".split()
)
# operations that say nothing of values
SHAPE_OPS = {"Shape", "ShapeN", "Rank", "Size", "BroadcastGradientArgs", "VarIsInitializedOp"}
_match_default_name = re.compile(r"(.*/)?[Vv]ariable(_\d+)?(:0)?").fullmatch

CUT_BY_CAUSE = {
    "stop_gradient": "stop_gradient",
    "integer_dtype": "integer",
    "nondifferentiable": "nondifferentiable",
    "not_recorded": "paused",
}


def find_variable_name(variable: Any) -> str | None:
    """Return the name that a variable was given; None for a default one."""
    name = getattr(variable, "path", None) or getattr(variable, "name", None) or ""
    return None if not name or _match_default_name(name) else name.removesuffix(":0")


def to_site_before_autograph(site: Site) -> Site:
    """Return where the user wrote a line.

    Autograph runs the functions that ``tf.map_fn`` and the like are given from files of its own.
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
    """Where the program is, also while a call of a ``tf.function`` runs again."""

    def __init__(self) -> None:
        # of a call that is replayed: its call stack, and how many of the statements that run now are not its own
        self.replayed_call: tuple[Sequence[Site], int] | None = None
        self.function_names: list[str] = []  # the tf.functions that run, where they are opened

    def find_site(self) -> Site:
        """Return the line of the program that runs."""
        site = NOWHERE if self.replayed_call else to_site_before_autograph(find_user_site())
        return site if site != NOWHERE else next(reversed(self.find_call_stack()), NOWHERE)

    def find_call_stack(self) -> list[Site]:
        """Return the line of the program that runs, and the calls that led there, the outermost first."""
        outer_stack, skipped_count = self.replayed_call or ((), 0)
        return [
            *outer_stack,
            *(
                site
                for site in map(to_site_before_autograph, find_user_call_stack()[skipped_count:])
                if site != NOWHERE
            ),
        ]

    def list_open_scopes(self) -> list[str]:
        """Return the open name scopes: Keras opens one for each layer."""
        name = context.context().scope_name or ""
        parts = (name.decode() if isinstance(name, bytes) else name).split("/")
        return [*self.function_names, *filter(None, parts)]


def unwrap_keras_variable(value: Any) -> Any:
    """Return TensorFlow's variable in one of Keras's; any other value itself."""
    return getattr(value, "_value", value) if type(value).__module__.startswith("keras") else value


def to_handle_or_value(value: Any) -> Any:
    """Return the handle of a variable, TensorFlow's or Keras's; any other value itself."""
    value = unwrap_keras_variable(value)
    return value.handle if isinstance(value, tf.Variable) else value


def is_watched_by_open_tape(tensor: Any) -> bool:
    """Return whether an open tape watches a tensor."""
    return bool(pywrap_tfe.TFE_Py_TapeSetShouldRecordBackprop([tensor]))


def find_break_cause(op: str, result: Any) -> str:
    """Return why no gradient passes an operation with this result; "" where one does."""
    if op in ("StopGradient", "PreventGradient"):
        return "stop_gradient"
    if op in SHAPE_OPS or is_dataset_op(op):
        return "nondifferentiable"
    if not (result.dtype.is_floating or result.dtype.is_complex or result.dtype in (tf.resource, tf.variant)):
        return "integer_dtype" if op == "Cast" else "nondifferentiable"
    return find_missing_gradient_cause(op).replace("no_gradient_registered", "")


def changes_variable(op: str) -> bool:
    """Return whether an operation gives a variable a new value."""
    return op.startswith(
        ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStridedSliceAssign")
    )


def find_missing_gradient_cause(op: str) -> str:
    """Return why TensorFlow has no gradient of an operation; "" where it has one.

    If TensorFlow says nothing about an operation, it raises an error when it is asked for the gradient. For the
    others it gives None.

    >>> [find_missing_gradient_cause(op) for op in ("Greater", "DenseBincount", "Exp")]
    ['nondifferentiable', 'no_gradient_registered', '']
    """
    try:
        return "nondifferentiable" if ops.gradient_registry.lookup(op) is None else ""
    except LookupError:
        return "" if op.startswith("__") or is_custom_gradient_op(op) else "no_gradient_registered"


def is_dataset_op(op: str) -> bool:
    """Return whether an operation makes a dataset, whose elements are computed apart from the program."""
    return ("Dataset" in op or op == "MakeIterator") and not op.startswith("__")


def is_custom_gradient_op(op: str) -> bool:
    """Return whether this is a call of a function with a gradient of the program's own."""
    return ":" in op


def to_display_name(op: str) -> str:
    """Return the name of an operation; of a call of a ``tf.function`` that of the function.

    >>> to_display_name("MatMul"), to_display_name("__inference_step_12"), to_display_name("__forward_step_12")
    ('MatMul', 'step', 'step')
    """
    if not op.startswith("__"):
        return op.partition(":")[0]
    return op.removeprefix("__inference_").removeprefix("__forward_").rpartition("_")[0] or op
